package oracle_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// sight is an event on the timeline of a session.
type sight struct {
	at                                                  time.Time
	seq                                                 int
	kind, address, trace, level, message, target, stack string
	method, called                                      string
	status, took                                        int
}

func (s *sight) failed() bool {
	return s.kind == "error" || s.kind == "console" && s.level == "error" || s.kind == "network" && s.status >= 400
}

// chunk is a part of a recording.
type chunk struct {
	seq, events, took int
	checkpoint        bool
	body              string
}

// recording is the part of a session that only its own reads show.
type recording struct {
	browser, device, agent string
	isNew                  bool
	active                 time.Time // the last activity that the sender reported
	traces                 []string
	timeline               []*sight
	chunks                 []chunk
}

// addRecordings adds timelines, recordings and traces to sessions. A session reports some of its traces, its timeline names others, and
// spans of others name the session. It uses random numbers of its own.
func (t *telemetry) addRecordings(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 17))
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	traces := by(t.spans, func(s *row) string { return s.trace })
	for _, v := range t.visits {
		near := t.tracesNear(v.start, traces)
		pick := func() string { // the trace of an event; not every event has one
			if len(near) == 0 || r.IntN(3) > 0 {
				return ""
			}
			return near[r.IntN(len(near))]
		}
		v.recording = recording{
			browser: one("Firefox", "Chrome", ""), device: one("desktop", "mobile", "tablet"),
			agent: one("Mozilla/5.0", "Mozilla/5.0", "Mozilla/5.0", "Googlebot/2.1"), isNew: r.IntN(3) == 0,
		}
		if !v.ended && r.IntN(2) == 0 {
			v.active = v.start.Add(time.Duration(r.IntN(60)) * time.Second)
		}
		for range r.IntN(3) {
			if trace := pick(); trace != "" && !slices.Contains(v.traces, trace) {
				v.traces = append(v.traces, trace)
			}
		}
		if trace := pick(); trace != "" {
			if s := traces[trace][r.IntN(len(traces[trace]))]; s.operation() == "" {
				s.attributes["session.id"] = v.id
			}
		}
		moments := func() time.Time { // some events lie before the start or after the end, by the clock of the page
			return v.start.Add(time.Duration(r.IntN(30)-2)*time.Second + time.Duration(r.Int64N(int64(v.end.Sub(v.start))+1)))
		}
		for n := range r.IntN(12) {
			s := &sight{
				at: moments().Truncate(time.Millisecond), seq: n, trace: pick(), kind: one("click", "input", "console", "network", "error"),
				address: one("https://shop.example/", "https://shop.example/cart"),
			}
			switch s.kind {
			case "click", "input":
				s.target = one("#pay", "a.more")
			case "console":
				s.level, s.message = one("error", "warn"), one("out of stock", "Straße")
			case "error":
				s.message, s.stack = "x is undefined", "at pay (shop.js:1:2)"
			default:
				s.method, s.called, s.took = one("GET", "POST"), "https://shop.example/api", r.IntN(3000)
				s.status = []int{200, 404, 503, 0}[r.IntN(4)]
			}
			v.timeline = append(v.timeline, s)
		}
		for n := range r.IntN(4) {
			body := `[{"type":4,"data":"` + strings.Repeat("ü", r.IntN(40)) + `"}]`
			v.chunks = append(v.chunks, chunk{seq: n, events: 1 + r.IntN(9), took: r.IntN(5000), checkpoint: n == 0, body: body})
		}
	}
}

// tracesNear are the traces whose spans begin within fifty minutes of a time, in order of their ids. A session looks for the spans of its
// traces an hour around it.
func (t *telemetry) tracesNear(at time.Time, traces map[string][]*row) (near []string) {
	for trace, spans := range traces {
		if !slices.ContainsFunc(spans, func(s *row) bool { return s.at.Sub(at).Abs() > 50*time.Minute }) {
			near = append(near, trace)
		}
	}
	slices.Sort(near)
	return near
}

// meta are the fields of a session that its recording adds.
func (v *visit) meta() object {
	m := object{
		"browser_name": v.browser, "device_type": v.device, "user_agent": v.agent, "visitor_is_new": v.isNew, "trace_ids": v.traces,
	}
	if v.traces == nil {
		delete(m, "trace_ids")
	}
	if !v.active.IsZero() {
		m["last_activity_at"] = v.active.Format(stamp)
	}
	return m
}

// line is an event of a timeline as the sender writes it.
func (s *sight) line(v *visit) object {
	return object{
		"session_id": v.id, "timestamp": s.at.Format(stamp), "seq": s.seq, "type": s.kind, "url": s.address, "trace_id": s.trace, "level": s.level,
		"message": s.message, "target_selector": s.target, "error_stack": s.stack, "net_method": s.method, "net_url": s.called,
		"net_status": s.status, "net_duration_ms": s.took,
	}
}

// sendChunks sends recordings, some of their chunks twice.
func (a *activity) sendChunks(tb testing.TB, s *testkit.Server) {
	tb.Helper()
	for _, v := range a.visits {
		for n, c := range v.chunks {
			var packed bytes.Buffer
			z := gzip.NewWriter(&packed)
			if _, err := z.Write([]byte(c.body)); err != nil {
				tb.Fatal(err)
			}
			if err := z.Close(); err != nil {
				tb.Fatal(err)
			}
			for range 1 + n%2 {
				req, err := http.NewRequestWithContext(
					tb.Context(), http.MethodPost, s.IngestURL+"/v1/sessionReplays/blob", bytes.NewReader(packed.Bytes()),
				)
				if err != nil {
					tb.Fatal(err)
				}
				for name, value := range map[string]string{
					"Authorization": "Bearer " + s.PrivateKey, "Content-Type": "application/octet-stream", "x-svc-session-id": v.id,
					"x-svc-chunk-seq": strconv.Itoa(c.seq), "x-svc-is-checkpoint": fmt.Sprint(c.checkpoint),
					"x-svc-event-count": strconv.Itoa(c.events), "x-svc-duration-ms": strconv.Itoa(c.took),
				} {
					req.Header.Set(name, value)
				}
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					tb.Fatal(err)
				}
				res.Body.Close()
				if res.StatusCode != http.StatusOK {
					tb.Fatalf("a chunk: %d", res.StatusCode)
				}
			}
		}
	}
}
