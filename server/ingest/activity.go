package ingest

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
)

// activityPaths are the endpoints for payloads other than OTLP.
func activityPaths() map[string]activity.Kind {
	return map[string]activity.Kind{
		"/v1/events":              activity.ProductEvents,
		"/v1/sessionReplays/meta": activity.SessionReplays,
		"/v1/sessionReplays/blob": activity.SessionReplayEvents,
		"/v1/sessionEvents":       activity.SessionEvents,
	}
}

func (g *Gateway) serveActivity(w http.ResponseWriter, r *http.Request, kind activity.Kind) {
	ctx, started, done := g.begin(w, r)
	defer done()
	u := upload{kind: kind, headers: r.Header, receipt: receipt{signalName: kind.String(), doorName: doorHTTP.String(), agent: r.UserAgent()}}
	var result activity.Result
	fail := g.receive(ctx, r, &u.receipt, kind, u.readMedia, func(key Key, discard bool, body *buffer) (fail *apierr.Error) {
		u.key, u.discard, u.held, u.body = key, discard, body, body.b
		result, fail = g.storeUpload(ctx, &u)
		return fail
	})
	verdict := ""
	if u.test && fail != nil {
		verdict, result, fail = testVerdict(fail), activity.Result{}, nil
	}
	g.metrics.activityAnswered(kind, started, fail)
	g.settle(&u.receipt, fail)
	switch {
	case fail != nil:
		g.refuse(w, r, kind, doorHTTP, fail)
	case kind == activity.SessionReplayEvents && verdict == "":
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	default:
		if u.test {
			result.Accepted = 0
		}
		g.succeed(w, r, func() { writeAccepted(w, result, verdict) })
	}
}

// upload is a request of an activity endpoint.
type upload struct {
	receipt
	kind    activity.Kind
	headers http.Header
	key     Key
	discard bool
	// body is the body as received: NDJSON, possibly gzip, or a chunk, which is always gzip.
	body []byte
	// held is the buffer that body lies in.
	held *buffer
	gzip bool
}

// readMedia checks Content-Type and Content-Encoding. Lines may be plain text, which a page can send without a preflight.
func (u *upload) readMedia(h http.Header) (fail *apierr.Error) {
	sent := strings.ToLower(strings.Join(h.Values("Content-Type"), ", "))
	base, _, err := mime.ParseMediaType(sent)
	if err != nil {
		base = strings.TrimSpace(strings.SplitN(sent, ";", 2)[0])
	}
	if u.kind == activity.SessionReplayEvents {
		switch base {
		case "", "application/octet-stream", "application/gzip", "application/x-gzip":
		default:
			return apierr.New(apierr.IngestUnsupportedMediaType, "This Content-Type is not supported. A chunk of a recording is a gzip file: send application/octet-stream.")
		}
	} else if base != "" && base != "text/plain" && base != "application/octet-stream" && !strings.Contains(sent, "json") {
		return apierr.New(apierr.IngestUnsupportedMediaType, "This Content-Type is not supported. Send application/x-ndjson: one JSON object to a line.")
	}
	u.gzip, fail = contentEncoding(h)
	return fail
}

// accepted is the answer to lines. The contract demands the first field. The others report lines that were rejected or changed.
type accepted struct {
	Accepted int      `json:"accepted"`
	Rejected int      `json:"rejected,omitempty"`
	Reasons  []string `json:"reasons,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// writeAccepted answers lines. verdict is an additional message, or empty.
func writeAccepted(w http.ResponseWriter, result activity.Result, verdict string) {
	answer := accepted{Accepted: result.Accepted, Rejected: result.Rejected}
	for _, n := range result.Reasons {
		answer.Reasons = append(answer.Reasons, n.String())
	}
	for _, n := range result.Warnings {
		answer.Warnings = append(answer.Warnings, n.String())
	}
	if verdict != "" {
		answer.Warnings = append(answer.Warnings, verdict)
	}
	body, _ := json.Marshal(answer) // texts and numbers cannot fail to encode
	h := w.Header()
	h.Set("Content-Type", mediaJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body)
}

// activitySeries are the series of a signal other than OTLP.
type activitySeries struct {
	latency                                                           prometheus.Observer
	accepted, rejected, discarded, undecided, cut, received, inflated prometheus.Counter
}

func newActivitySeries(items, cut, bytes *prometheus.CounterVec, latency *prometheus.HistogramVec) map[string]*activitySeries {
	all := map[string]*activitySeries{}
	for _, signal := range []string{activity.SessionReplays.String(), activity.ProductEvents.String()} {
		all[signal] = &activitySeries{
			latency:   latency.WithLabelValues(signal, doorHTTP.String()),
			accepted:  items.WithLabelValues(signal, "accepted"),
			rejected:  items.WithLabelValues(signal, "rejected"),
			discarded: items.WithLabelValues(signal, "discarded"),
			cut:       cut.WithLabelValues(signal),
			undecided: items.WithLabelValues(signal, "undecided"),
			received:  bytes.WithLabelValues(signal, "received"),
			inflated:  bytes.WithLabelValues(signal, "decompressed"),
		}
	}
	return all
}

func (m *metrics) activityAnswered(kind activity.Kind, started time.Time, fail *apierr.Error) {
	tag := "ok"
	if fail != nil {
		tag = apierr.Spec(fail.Tag).GetTag()
	}
	m.requests.WithLabelValues(kind.String(), doorHTTP.String(), tag).Inc()
	m.activity[kind.String()].latency.Observe(time.Since(started).Seconds())
}
