package chdb

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	q, err := url.ParseQuery("query=SELECT+1&database=d&default_format=Native&query_id=q1&client_protocol_version=54460&param_a=x&max_threads=3&user=u&compress=0")
	if err != nil {
		t.Fatal(err)
	}
	got, revision, err := parseURL(q)
	if err != nil {
		t.Fatal(err)
	}
	want := request{Statement: Statement{
		SQL: "SELECT 1", Database: "d", Format: "Native", Settings: map[string]string{"max_threads": "3"}, Params: map[string]string{"a": "x"},
	}, queryID: "q1"}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(request{})); diff != "" || revision != 54460 {
		t.Errorf("revision %d (-want +got):\n%s", revision, diff)
	}
	for _, bad := range []string{"compress=1", "decompress=1", "session_id=x", "client_protocol_version=x"} {
		q, err := url.ParseQuery(bad)
		if err != nil {
			t.Fatal(err)
		}
		var ex *Exception
		if _, _, err := parseURL(q); !errors.As(err, &ex) || ex.Code == 0 {
			t.Errorf("%s: got %v, want an exception", bad, err)
		}
	}
}

// A request that the handler refuses never reaches the engine.
func TestHandlerRefusals(t *testing.T) {
	h := newHandler(nil, nil)
	for _, tt := range []struct {
		name, method, target, body string
		header                     http.Header
		status                     int
		code                       string
	}{
		{"ping", "GET", "/ping", "", nil, 200, ""},
		{"path", "GET", "/play", "", nil, 404, ""},
		{"method", "DELETE", "/", "", nil, 405, ""},
		{"empty", "POST", "/", "  ", nil, 400, "62"},
		{"compressed", "POST", "/", "SELECT 1", http.Header{"Content-Encoding": {"gzip"}}, 501, "48"},
		{"external tables", "POST", "/", "SELECT 1", http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}, 501, "48"},
		{"session", "POST", "/?session_id=1", "SELECT 1", nil, 501, "48"},
		{"parameters of an insert", "POST", "/?param_a=1&query=INSERT+INTO+t+FORMAT+Native", "x", nil, 501, "48"},
	} {
		r := httptest.NewRequest(tt.method, tt.target, strings.NewReader(tt.body))
		for k, v := range tt.header {
			r.Header[k] = v
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.status || w.Header().Get("X-ClickHouse-Exception-Code") != tt.code {
			t.Errorf("%s: status %d, code %q; want %d, %q: %s", tt.name, w.Code, w.Header().Get("X-ClickHouse-Exception-Code"),
				tt.status, tt.code, w.Body)
		}
	}
}

func TestConfigIsEscaped(t *testing.T) {
	dir := t.TempDir() + "/a&b<c>"
	cfg := EngineConfig{DataDir: dir}.withDefaults()
	if _, err := cfg.writeConfig(); err == nil {
		t.Fatal("wrote into a folder that does not exist")
	}
	if got, want := quoteString("it's\\\n"), `'it\'s\\\n'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := quoteName("a`b"), "`a\\`b`"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
