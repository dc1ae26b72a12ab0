package ingest

import (
	"encoding/json"
	"mime"
	"net/http"
	"strconv"
	"strings"

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
	e := export{
		kind: kind, headers: r.Header,
		receipt: receipt{signalName: kind.String(), doorName: doorHTTP.String(), agent: r.UserAgent()},
	}
	fail := g.receive(ctx, r, &e.receipt, kind, e.readActivityMedia, func(key Key, discard bool, body *buffer) *apierr.Error {
		e.key, e.discard, e.held, e.body = key, discard, body, body.b
		return g.store(ctx, &e)
	})
	verdict := ""
	if e.test && fail != nil {
		verdict, e.lines, fail = testVerdict(fail), activity.Result{}, nil
	}
	g.metrics.answered(&e, started, fail)
	g.settle(&e.receipt, fail)
	switch {
	case fail != nil:
		g.refuse(w, r, kind, doorHTTP, fail)
	case kind == activity.SessionReplayEvents && verdict == "":
		w.Header().Set("Content-Length", "0")
		w.WriteHeader(http.StatusOK)
	default:
		if e.test {
			e.lines.Accepted = 0
		}
		g.succeed(w, r, func() { writeAccepted(w, e.lines, verdict) })
	}
}

// readActivityMedia checks Content-Type and Content-Encoding. Lines may be plain text, which a page can send without a preflight.
func (e *export) readActivityMedia(h http.Header) (fail *apierr.Error) {
	sent := strings.ToLower(strings.Join(h.Values("Content-Type"), ", "))
	base, _, err := mime.ParseMediaType(sent)
	if err != nil {
		base = strings.TrimSpace(strings.SplitN(sent, ";", 2)[0])
	}
	if e.kind == activity.SessionReplayEvents {
		switch base {
		case "", "application/octet-stream", "application/gzip", "application/x-gzip":
		default:
			return apierr.New(
				apierr.IngestUnsupportedMediaType,
				"This Content-Type is not supported. A chunk of a recording is a gzip file: send application/octet-stream.",
			)
		}
	} else if base != "" && base != "text/plain" && base != "application/octet-stream" && !strings.Contains(sent, "json") {
		return apierr.New(
			apierr.IngestUnsupportedMediaType,
			"This Content-Type is not supported. Send application/x-ndjson: one JSON object to a line.",
		)
	}
	e.gzip, fail = contentEncoding(h)
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
