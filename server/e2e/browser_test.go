package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

// visit is the shop page's own report.
type visit struct {
	Session  string   `json:"session"`
	TraceIDs []string `json:"traceIds"`
	Spans    []string `json:"spans"`
	Failures []string `json:"failures"`
	Chunks   []struct {
		Sequence int    `json:"sequence"`
		Events   int    `json:"events"`
		Bytes    int    `json:"bytes"`
		SHA256   string `json:"sha256"`
	} `json:"chunks"`
	Timeline int `json:"timeline"`
	Counts   struct {
		PageViews int `json:"page_views"`
		Clicks    int `json:"click_count"`
		Errors    int `json:"error_count"`
	} `json:"counts"`
	Answers []struct {
		Path     string   `json:"path"`
		Status   int      `json:"status"`
		Readable []string `json:"readable"`
		Text     string   `json:"text"`
	} `json:"answers"`
	Refusal struct {
		Status    int     `json:"status"`
		Code      string  `json:"code"`
		RequestID *string `json:"requestId"`
	} `json:"refusal"`
	Problems []string `json:"problems"`
	Browser  string   `json:"browser"`
}

// TestBrowser opens a page in Chromium that is watched by the OpenTelemetry web SDK and recorded by rrweb, uses it as a person would, and
// reads everything back that the page sent to the other origin with the public key: spans, session, timeline, and a recording that
// rrweb's player plays.
func TestBrowser(t *testing.T) {
	t.Parallel()
	browser := chromium(t, os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1")
	dir := npmInstall(t, "browser", "playwright-core")
	built := t.TempDir()
	build := exec.CommandContext(t.Context(), "node", "build.mjs", built)
	build.Dir = dir
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build.mjs: %v\n%s", err, out)
	}
	server := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	watch := watchIngest(t, &server.Server)
	site := servePages(t, built, watch, &server.Server)
	for _, encoding := range []string{"json", "protobuf"} {
		t.Run("spans as "+encoding, func(t *testing.T) {
			var v visit
			drive(t, dir, browser, "shop", site.server.URL+"/shop.html?encoding="+encoding, &v)
			checkVisit(t, &v)
			checkCORS(t, site.server.URL, watch.reset())
			waitFlushed(t, server)
			checkSpans(t, server, &v, "shop-"+encoding)
			checkSession(t, server, &v, "shop-"+encoding)
			checkRecording(t, server, &v)
			if encoding == "json" { // the encoding does not affect the recording
				checkPlayback(t, dir, browser, site.server.URL+"/player.html?session="+publicid.EncodeText(publicid.SessionReplay, v.Session), &v)
			}
			t.Logf("Chromium %s: %d spans, %d timeline events, %d chunks", v.Browser, len(v.Spans), v.Timeline, len(v.Chunks))
		})
	}
}

// checkVisit checks what the page itself saw.
func checkVisit(t *testing.T, v *visit) {
	t.Helper()
	if len(v.Failures) > 0 || len(v.Spans) < 4 || len(v.TraceIDs) != 2 || len(v.Chunks) < 2 {
		t.Errorf("the page sent %d spans of %d traces and %d chunks; failures: %q", len(v.Spans), len(v.TraceIDs), len(v.Chunks), v.Failures)
	}
	for _, a := range v.Answers {
		if a.Status != 200 {
			t.Errorf("%s: %d %s", a.Path, a.Status, a.Text)
		}
		for _, name := range a.Readable {
			// These are the parts of any answer that a script may read.
			if !slices.Contains([]string{
				"cache-control", "content-language", "content-length", "content-type", "expires", "last-modified",
				"pragma",
			}, name) {
				t.Errorf("%s: the header %s is exposed", a.Path, name)
			}
		}
	}
	// A refusal is readable too, so that the author of the page learns the reason.
	if v.Refusal.Status != 401 || v.Refusal.Code == "" || v.Refusal.RequestID != nil {
		t.Errorf("a wrong key was answered with %+v", v.Refusal)
	}
	for _, problem := range v.Problems {
		switch {
		case strings.Contains(problem, "voucher"): // the page breaks by intention
		case strings.Contains(problem, "401"), strings.Contains(problem, "503"): // so do these requests
		case strings.Contains(problem, "/v1/traces net::ERR_ABORTED"): // the exporter leaves the body of the answer unread
		default:
			t.Errorf("in the browser: %s", problem)
		}
	}
}

// query reads rows of text columns from the warehouse.
func query(t *testing.T, p *testkit.Process, sql string) [][]string {
	t.Helper()
	out, err := testkit.Command(t, "admin", "sql", sql, "--data-dir", p.DataDir, "--format", "JSONCompactStringsEachRow").Output()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		rows = append(rows, row)
	}
	return rows
}

// checkSpans checks that each exported span is stored once, although the first export was refused. Each must carry the session,
// and the spans of the fetch instrumentation must be children of the click's span.
func checkSpans(t *testing.T, p *testkit.Process, v *visit, service string) {
	t.Helper()
	rows := query(t, p, fmt.Sprintf(`SELECT SpanId, ParentSpanId, SpanName, TraceId, ServiceName, ResourceAttributes['session.id'], ResourceAttributes['svc_ingest_key_type'], SpanAttributes['unicode.text']
		FROM spans WHERE SpanAttributes['session.id'] = '%s' ORDER BY Timestamp`, v.Session))
	var stored, clicks []string
	parents := map[string]string{}
	for _, row := range rows {
		stored = append(stored, row[0])
		if row[4] != service || row[5] != v.Session || row[6] != "public" {
			t.Errorf("a span came back as %q", row)
		}
		if row[2] == "add to cart" {
			clicks = append(clicks, row[3])
			if row[1] != "" || row[7] != "žluťoučký 🐎" {
				t.Errorf("the click's span came back as %q", row)
			}
			parents[row[0]] = row[3]
		}
	}
	children := 0
	for _, row := range rows {
		if parents[row[1]] == row[3] && row[1] != "" {
			children++
		}
	}
	if children != 2 {
		t.Errorf("%d spans of requests under the clicks, want 2: %q", children, rows)
	}
	if diff := cmp.Diff(sorted(v.Spans), sorted(stored)); diff != "" {
		t.Errorf("spans (-exported +stored):\n%s", diff)
	}
	if diff := cmp.Diff(sorted(v.TraceIDs), sorted(clicks)); diff != "" {
		t.Errorf("traces (-page +stored):\n%s", diff)
	}
}

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

// checkSession checks that the last version of the session is the one that the page sent when it closed, and that the timeline is
// complete and in order.
func checkSession(t *testing.T, p *testkit.Process, v *visit, service string) {
	t.Helper()
	got := query(t, p, fmt.Sprintf(`SELECT Status, Version, ServiceName, UserId, PageViews, ClickCount, ErrorCount, toJSONString(TraceIds), EndTime > StartTime, ResourceAttributes['svc_ingest_key_type']
		FROM session_replays FINAL WHERE SessionId = '%s'`, v.Session))
	traces, _ := json.Marshal(v.TraceIDs)
	want := [][]string{{
		"ended", "2", service, "u-1042", fmt.Sprint(v.Counts.PageViews), fmt.Sprint(v.Counts.Clicks),
		fmt.Sprint(v.Counts.Errors), string(traces), "1", "public",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("session (-sent +stored):\n%s", diff)
	}
	events := query(t, p, fmt.Sprintf(`SELECT Seq, Type, TargetSelector, Message, NetStatus, TraceId FROM session_events WHERE SessionId = '%s' ORDER BY Seq`, v.Session))
	if len(events) != v.Timeline {
		t.Errorf("%d timeline events are stored, %d were sent", len(events), v.Timeline)
	}
	var types []string
	for i, e := range events {
		if e[0] != fmt.Sprint(i) {
			t.Errorf("event %d has the number %s", i, e[0])
		}
		types = append(types, e[1])
		if e[1] == "network" && (e[4] != "200" || !slices.Contains(v.TraceIDs, e[5])) {
			t.Errorf("the request is stored as %q", e)
		}
	}
	slices.Sort(types)
	if diff := cmp.Diff([]string{"click", "console", "custom", "error", "input", "navigation", "network"}, slices.Compact(types)); diff != "" {
		t.Errorf("types of timeline events (-want +stored):\n%s", diff)
	}
}
