package e2e

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

var seededSessions = struct {
	sync.Mutex
	done map[string]seededSession
}{done: map[string]seededSession{}}

type seededSession struct {
	id         string
	start, end time.Time
}

// seedRecording is the content of each chunk of the seeded session.
const seedRecording = `[{"type":4,"timestamp":1,"data":{"href":"https://shop.example/","width":800,"height":600}},{"type":2,"timestamp":2,"data":{}}]`

// seedSession sends one recorded session with its timeline and product events, once for each organization, and waits until it can
// be read. The session has started the seeded trace.
func seedSession(t *testing.T, s *testkit.Server) seededSession {
	t.Helper()
	seededSessions.Lock()
	defer seededSessions.Unlock()
	if made, ok := seededSessions.done[s.OrgID]; ok {
		return made
	}
	session := "visit-" + strings.ReplaceAll(s.OrgID, "_", "-")
	start := time.Now().UTC().Truncate(time.Second).Add(-10 * time.Minute)
	at := func(seconds int) string {
		return start.Add(time.Duration(seconds) * time.Second).Format("2006-01-02 15:04:05.000")
	}
	var chunk bytes.Buffer
	zw := gzip.NewWriter(&chunk)
	if _, err := zw.Write([]byte(seedRecording)); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	for _, m := range []struct {
		path, body string
		headers    []string
	}{
		{"/v1/sessionReplays/meta", `{"session_id":"` + session + `","start_time":"` + at(0) + `","end_time":"` + at(60) +
			`","version":2,"user_id":"ada","user_name":"Ada","visitor_id":"v-1",` +
			`"country":"CZ","browser_name":"Firefox","device_type":"desktop","service_name":"shop","url_initial":"https://shop.example/pricing?x=1","page_views":2,"click_count":3,"trace_ids":["` + seedTrace + `"],"user_traits":{"plan":"pro"}}`, nil},
		{"/v1/sessionEvents", strings.Join([]string{
			`{"session_id":"` + session + `","timestamp":"` + at(1) + `","seq":1,"type":"navigation","url":"https://shop.example/pricing"}`,
			`{"session_id":"` + session + `","timestamp":"` + at(4) + `","seq":2,"type":"click","target_text":"Buy","target_selector":"#buy"}`,
			`{"session_id":"` + session + `","timestamp":"` + at(5) +
				`","seq":3,"type":"network","net_method":"POST","net_url":"/checkout","net_status":502,"net_duration_ms":250,"trace_id":"` + seedTrace +
				`"}`,
			`{"session_id":"` + session + `","timestamp":"` + at(6) +
				`","seq":4,"type":"custom","message":"order placed","attributes":{"plan":"pro"}}`,
		}, "\n"), nil},
		{"/v1/events", `{"name":"refund","timestamp":"` + at(30) + `","user_id":"ada"}`, nil},
		{"/v1/sessionReplays/blob", chunk.String(), []string{"0", "1"}},
		{"/v1/sessionReplays/blob", chunk.String(), []string{"1", "0"}},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+m.path, strings.NewReader(m.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("x-svc-ingest-key", s.PrivateKey)
		if m.headers != nil {
			req.Header.Set("x-svc-session-id", session)
			req.Header.Set("x-svc-chunk-seq", m.headers[0])
			req.Header.Set("x-svc-is-checkpoint", m.headers[1])
			req.Header.Set("x-svc-event-count", "2")
		} else {
			req.Header.Set("Content-Type", "application/x-ndjson")
		}
		if status, answer := roundTrip(t, req); status != http.StatusOK {
			t.Fatalf("%s: %d %s", m.path, status, answer)
		}
	}
	id := publicid.EncodeText(publicid.SessionReplay, session)
	window := `"start_time":"` + start.Add(-time.Minute).Format(time.RFC3339) + `","end_time":"` +
		start.Add(5*time.Minute).Format(time.RFC3339) + `"`
	for what, want := range map[string]struct {
		operation, request string
		rows               int
	}{
		"chunks":   {"getSessionReplayEvents", `{"id":"` + id + `"}`, 2},
		"timeline": {"getSessionReplayTranscript", `{"id":"` + id + `"}`, 4},
		"events":   {"searchProductEvents", `{` + window + `}`, 3},
	} {
		eventually(t, what, func() bool {
			a := callREST(t, s, s.APIKey, operation(t, want.operation), json.RawMessage(want.request))
			var page struct {
				Data []json.RawMessage `json:"data"`
			}
			return a.err == nil && json.Unmarshal(a.body, &page) == nil && len(page.Data) == want.rows
		})
	}
	made := seededSession{id, start, start.Add(time.Minute)}
	seededSessions.done[s.OrgID] = made
	return made
}
