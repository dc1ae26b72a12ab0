package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// hostileVisitor is the name of the visitor whose recording sendRecording sends.
const hostileVisitor = "Hostile Visitor"

// sendRecording sends a session whose recorded page tries to run scripts, to load from elsewhere and to leave the page, and a part that
// is no recording. It returns the address of another server, to which nothing may be sent.
func sendRecording(t *testing.T, p *testkit.Process) (elsewhere string) {
	t.Helper()
	var requests atomic.Int32
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { requests.Add(1) }))
	t.Cleanup(func() {
		other.Close()
		if n := requests.Load(); n > 0 {
			t.Errorf("a recorded page sent %d requests to another server", n)
		}
	})
	elsewhere = other.URL + "/"
	type object = map[string]any
	const session = "5f0c1d1e-0000-4000-8000-00000000bad1"
	id := 1
	element := func(tag string, attributes object, children ...object) object {
		id++
		if children == nil {
			children = []object{}
		}
		return object{"type": 2, "tagName": tag, "attributes": attributes, "childNodes": children, "id": id}
	}
	text := func(content string) object {
		id++
		return object{"type": 3, "textContent": content, "id": id}
	}
	head := element("head", object{},
		element("base", object{"href": elsewhere}),
		element("meta", object{"http-equiv": "refresh", "content": "0;url=" + elsewhere}),
		element("link", object{"rel": "stylesheet", "href": elsewhere + "a.css"}),
		element("style", object{}, text("@import '"+elsewhere+"b.css'; body { background: url("+elsewhere+"c.png) }")),
	)
	body := element("body", object{"onload": "top.hacked=1"},
		element("h1", object{"onclick": "top.hacked=2"}, text("A hostile page")),
		element("script", object{}, text("top.hacked=3")), element("script", object{"src": elsewhere + "d.js"}),
		element("img", object{"src": elsewhere + "e.png", "onerror": "top.hacked=4"}),
		element("iframe", object{"src": elsewhere, "srcdoc": "<script>top.hacked=5</script>"}),
		element("a", object{"href": "javascript:top.hacked=6"}, text("link")),
		element("svg", object{"onload": "top.hacked=7", "xmlns": "http://www.w3.org/2000/svg"}),
		element("object", object{"data": elsewhere + "f"}), element("video", object{"src": elsewhere + "g.mp4", "autoplay": "true"}),
		element("form", object{"action": elsewhere}, element("input", object{"autofocus": "true", "onfocus": "top.hacked=8", "value": "x"})),
	)
	now := time.Now().Add(-time.Minute)
	at := func(n int) int64 { return now.Add(time.Duration(n) * 500 * time.Millisecond).UnixMilli() }
	document := object{"type": 0, "id": 1, "childNodes": []object{element("html", object{}, head, body)}}
	events := []object{
		{"type": 4, "timestamp": at(0), "data": object{"href": "javascript:top.hacked=9", "width": 1280, "height": 720}},
		{"type": 2, "timestamp": at(1), "data": object{"node": document, "initialOffset": object{"top": 0, "left": 0}}},
		{"type": 3, "timestamp": at(2), "data": object{"source": 0, "texts": []any{}, "removes": []any{}, "adds": []object{{
			"parentId": body["id"], "nextId": nil, "node": object{
				"type": 2, "id": 999, "tagName": "script", "attributes": object{"src": elsewhere},
				"childNodes": []any{},
			},
		}}, "attributes": []object{{"id": body["id"], "attributes": object{"onclick": "top.hacked=10"}}}}},
		{"type": 5, "timestamp": at(3), "data": object{
			"tag":     "<script>top.hacked=11</script>",
			"payload": object{"__proto__": object{"hacked": 12}},
		}},
		{"type": 99, "timestamp": at(4), "data": nil},
		{"type": 3, "timestamp": at(5), "data": object{"source": 77}},
	}
	post := func(path, kind string, headers map[string]string, body []byte) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.IngestURL+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", kind)
		req.Header.Set("x-svc-ingest-key", p.PrivateKey)
		for name, value := range maps.All(headers) {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode/100 != 2 {
			t.Fatalf("%s: %d", path, res.StatusCode)
		}
	}
	stamp := func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }
	row, err := json.Marshal(object{
		"session_id": session, "start_time": stamp(now), "version": 1, "status": "active", "user_id": "hostile", "user_name": hostileVisitor,
		"visitor_id": "hostile", "service_name": "storefront-web", "page_views": 1, "last_activity_at": stamp(now.Add(3 * time.Second)),
		"duration_ms": 3000,
	})
	if err != nil {
		t.Fatal(err)
	}
	post("/v1/sessionReplays/meta", "application/x-ndjson", nil, append(row, '\n'))
	record, err := json.Marshal(object{"resourceLogs": []object{{"scopeLogs": []object{{"logRecords": []object{{
		"timeUnixNano": fmt.Sprint(now.Add(time.Second).UnixNano()), "severityText": "WARN", "severityNumber": 13,
		"body":       object{"stringValue": "a record of the session"},
		"attributes": []object{{"key": "session.id", "value": object{"stringValue": session}}},
	}}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	post("/v1/logs", "application/json", nil, record)
	for seq, part := range [][]object{events, {{"no": "event"}}} {
		blob, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		if _, err := z.Write(blob); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		post("/v1/sessionReplays/blob", "application/octet-stream", map[string]string{
			"x-svc-session-id": session, "x-svc-chunk-seq": fmt.Sprint(seq), "x-svc-is-checkpoint": fmt.Sprint(1 - seq), "x-svc-event-count": "6",
			"x-svc-duration-ms": "3000",
		}, packed.Bytes())
	}
	return other.URL
}
