package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// checkSDKSpans checks that each span is stored once, with its place: the load under the server's span, and the request in the trace that
// the site's own server saw.
func checkSDKSpans(t *testing.T, s *sdkSite, p *testkit.Process, session string) {
	t.Helper()
	rows := query(t, p, fmt.Sprintf(`SELECT SpanName, SpanKind, StatusCode, SpanAttributes['http.response.status_code'], SpanAttributes['url.path'],
		toJSONString(EventsAttributes), TraceId, SpanId, ParentSpanId, ResourceAttributes['session.id'], ResourceAttributes['svc.sdk.type'],
		ResourceAttributes['service.version'] FROM spans WHERE SpanAttributes['session.id'] = '%s' ORDER BY Timestamp`, session))
	var got []string
	for _, row := range rows {
		if row[0] == "web vitals" { // their number depends on when the page is hidden
			if row[6] != sdkPageTrace && row[8] == "" {
				t.Errorf("web vitals stand alone: %q", row)
			}
			continue
		}
		got = append(got, strings.Join(row[:5], " "))
		if row[9] != session || row[10] != "browser" || row[11] != "2.1" {
			t.Errorf("resource: %q", row)
		}
		if strings.HasSuffix(row[0], "exception") != strings.Contains(row[5], "exception.stacktrace") {
			t.Errorf("events of %s: %s", row[0], row[5])
		}
		if row[0] == "page load" && (row[6] != sdkPageTrace || row[8] != sdkPageSpan) {
			t.Errorf("the load is not in the trace of the page: %q", row)
		}
		if row[0] == "POST" {
			want := "00-" + row[6] + "-" + row[7] + "-01"
			if len(s.pages) == 0 || s.pages[0].Get("Traceparent") != want || s.pages[0].Get("X-Own") != "kept" {
				t.Errorf("the site's server saw %v, want traceparent %s", s.pages, want)
			}
		}
	}
	want := []string{
		"page load Internal Unset 200 /visit", "page load Internal Unset 200 /visit/second", "route change Internal Unset  /cart",
		"POST Client Unset 200 ", "GET Client Error  ", "GET Client Error 404 ",
		"uncaught exception Internal Error  ", "uncaught exception Internal Error  ", "uncaught exception Internal Error  ",
		"exception Internal Error  ",
	}
	if diff := cmp.Diff(sorted(want), sorted(got)); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	var issues struct {
		Data []struct {
			Type  string `json:"exception_type"`
			Count int    `json:"occurrence_count"`
		} `json:"data"`
	}
	sdkRead(t, p, "/v2/error_issues", &issues)
	counts := map[string]int{}
	for _, i := range issues.Data {
		counts[i.Type] += i.Count
	}
	// Both type errors come from the same function. The requests that failed are errors without a type.
	if diff := cmp.Diff(map[string]int{"Error": 1, "TypeError": 2, "RangeError": 1, "": 2}, counts); diff != "" {
		t.Errorf("occurrences of issues by type (-want +got):\n%s", diff)
	}
}

// checkSDKRecording checks that the chunks follow each other, that each page begins with a snapshot, and that what is private is masked.
func checkSDKRecording(t *testing.T, p *testkit.Process, session string) {
	t.Helper()
	rows := query(t, p, fmt.Sprintf(`SELECT ChunkSeq, EventCount, toUInt8(IsCheckpoint), hex(Payload) FROM session_replay_events
		WHERE SessionId = '%s' ORDER BY ChunkSeq`, session))
	snapshots, inputs := 0, 0
	for i, row := range rows {
		payload, err := hex.DecodeString(row[3])
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(bytes.NewReader(payload))
		if err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		plain, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		var events []struct {
			Type int `json:"type"`
			Data struct {
				Source int    `json:"source"`
				Text   string `json:"text"`
			} `json:"data"`
		}
		if err := json.Unmarshal(plain, &events); err != nil {
			t.Fatalf("chunk %d: %v", i, err)
		}
		if row[0] != fmt.Sprint(i) || row[1] != fmt.Sprint(len(events)) {
			t.Errorf("chunk %d is numbered %s and has %d events, not %s", i, row[0], len(events), row[1])
		}
		checkpoint := "0"
		for n, e := range events {
			if e.Type == rrwebFullSnapshot {
				snapshots++
				if checkpoint = "1"; n != 1 {
					t.Errorf("chunk %d has a snapshot at %d: a player cannot start there", i, n)
				}
			}
			if e.Type == rrwebIncremental && e.Data.Source == rrwebInput {
				if inputs++; strings.Trim(e.Data.Text, "*") != "" {
					t.Errorf("an input was recorded as %q", e.Data.Text)
				}
			}
		}
		if row[2] != checkpoint {
			t.Errorf("chunk %d: checkpoint %s, want %s", i, row[2], checkpoint)
		}
		for _, private := range []string{"SECRET", "12<"} {
			if bytes.Contains(plain, []byte(private)) {
				t.Errorf("chunk %d holds %q", i, private)
			}
		}
	}
	if snapshots < 2 || inputs == 0 {
		t.Errorf("%d chunks with %d snapshots and %d inputs", len(rows), snapshots, inputs)
	}
}
