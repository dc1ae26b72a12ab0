package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

const script = "console.log(1)"

func built(t *testing.T) *App {
	t.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(script))
	_ = z.Close()
	a, err := New(fstest.MapFS{
		"index.html":            {Data: []byte(`<!doctype html><meta content="%SVC_INGEST_URL%"><title>svc</title>`)},
		"player.html":           {Data: []byte("the player")},
		"assets/main-1.js.gz":   {Data: packed.Bytes()},
		"assets/main-1.js.br":   {Data: []byte("in brotli")},
		"assets/only-gz.css.gz": {Data: packed.Bytes()},
	}, Settings{Version: "1", IngestURL: `http://a"b`})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFiles(t *testing.T) {
	a := built(t)
	for name, tc := range map[string]struct {
		method, path, accept string
		status               int
		encoding, body, kind string
	}{
		"brotli":           {"GET", "assets/main-1.js", "gzip, deflate, br", 200, "br", "in brotli", "text/javascript; charset=utf-8"},
		"brotli refused":   {"GET", "assets/main-1.js", "br;q=0", 200, "", script, "text/javascript; charset=utf-8"},
		"weighted":         {"GET", "assets/main-1.js", "br;q=0.5", 200, "br", "in brotli", "text/javascript; charset=utf-8"},
		"gzip":             {"GET", "assets/only-gz.css", "gzip, br", 200, "gzip", "\x1f\x8b", "text/css; charset=utf-8"},
		"unpacked":         {"GET", "assets/main-1.js", "", 200, "", script, "text/javascript; charset=utf-8"},
		"head":             {"HEAD", "assets/main-1.js", "", 200, "", "", "text/javascript; charset=utf-8"},
		"unknown":          {"GET", "assets/main-2.js", "br", 404, "", "no such file", "text/plain; charset=utf-8"},
		"the first page":   {"GET", "index.html", "", 404, "", "", "text/plain; charset=utf-8"},
		"a compressed one": {"GET", "assets/main-1.js.gz", "", 404, "", "", "text/plain; charset=utf-8"},
		"a folder":         {"GET", "assets", "", 404, "", "", "text/plain; charset=utf-8"},
		"out of it":        {"GET", "../app.go", "", 404, "", "", "text/plain; charset=utf-8"},
		"another method":   {"POST", "assets/main-1.js", "", 405, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(tc.method, FilesPath, nil)
			r.URL.Path = FilesPath + tc.path
			r.Header.Set("Accept-Encoding", tc.accept)
			w := httptest.NewRecorder()
			a.Files(w, r)
			h := w.Header()
			if w.Code != tc.status || h.Get("Content-Encoding") != tc.encoding || !strings.HasPrefix(w.Body.String(), tc.body) &&
				!strings.Contains(w.Body.String(), tc.body) || h.Get("Content-Type") != tc.kind {
				t.Errorf("%d %v %q", w.Code, h, w.Body)
			}
			if cached := strings.Contains(h.Get("Cache-Control"), "immutable"); cached != (tc.status == 200) ||
				h.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("headers %v", h)
			}
		})
	}
}

func TestPage(t *testing.T) {
	a := built(t)
	w := httptest.NewRecorder()
	a.Page(w, httptest.NewRequest(http.MethodGet, "/o/acme/logs", nil))
	h := w.Header()
	if w.Code != 200 || w.Body.String() != `<!doctype html><meta content="http://a&#34;b"><title>svc</title>` ||
		h.Get("Cache-Control") != "no-cache" {
		t.Errorf("%d %v %q", w.Code, h, w.Body)
	}
	for _, rule := range []string{
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
	} {
		if !strings.Contains(h.Get("Content-Security-Policy"), rule) {
			t.Errorf("the policy has no %s", rule)
		}
	}
	again := httptest.NewRequest(http.MethodGet, "/", nil)
	again.Header.Set("If-None-Match", h.Get("ETag"))
	w = httptest.NewRecorder()
	if a.Page(w, again); w.Code != http.StatusNotModified || w.Body.Len() != 0 {
		t.Errorf("an unchanged page is answered with %d", w.Code)
	}
	if _, err := New(fstest.MapFS{"README": {}}, Settings{}); !errors.Is(err, ErrNotBuilt) {
		t.Errorf("a folder without the application: %v", err)
	}
}

func TestSharedPage(t *testing.T) {
	a := built(t)
	get := func(status int, head Head) (http.Header, string) {
		w := httptest.NewRecorder()
		w.Header().Set("X-Frame-Options", "DENY")
		a.SharedPage(w, httptest.NewRequest(http.MethodGet, "/share/token", nil), status, head)
		if w.Code != status {
			t.Errorf("status %d, want %d", w.Code, status)
		}
		return w.Header(), w.Body.String()
	}
	h, body := get(200, Head{Title: `<b>"A"</b>`, Description: "Orders & payments", Picture: "https://svc.example/share/og/1"})
	for _, want := range []string{
		`<title>&lt;b&gt;&#34;A&#34;&lt;/b&gt; · svc</title>`, `property="og:title" content="&lt;b&gt;&#34;A&#34;&lt;/b&gt;"`,
		`property="og:description" content="Orders &amp; payments"`, `property="og:image" content="https://svc.example/share/og/1"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the head has no %s: %s", want, body)
		}
	}
	if !strings.Contains(h.Get("Content-Security-Policy"), shownBy) || h.Get("X-Frame-Options") != "DENY" ||
		h.Get("Referrer-Policy") != "no-referrer" ||
		h.Get("Cache-Control") != "no-store" || h.Get("X-Robots-Tag") != "noindex" {
		t.Errorf("headers of a page that may not be framed: %v", h)
	}
	h, body = get(200, Head{Title: "A", Embeddable: true})
	if p := h.Get("Content-Security-Policy"); !strings.Contains(p, "frame-ancestors *") || strings.Contains(p, shownBy) ||
		h.Get("X-Frame-Options") != "" ||
		!strings.Contains(p, "script-src 'self'") {
		t.Errorf("headers of a page that may be framed: %v", h)
	}
	if strings.Contains(body, "og:image") || strings.Contains(body, "twitter") {
		t.Errorf("a picture that does not exist: %s", body)
	}
	get(404, Head{Title: "Shared dashboard"})
}

// TestPlayer checks that recordings play in a page that only this server shows in a frame, and that no script of a recording may run.
func TestPlayer(t *testing.T) {
	a := built(t)
	w := httptest.NewRecorder()
	a.Files(w, httptest.NewRequest(http.MethodGet, FilesPath+"player.html", nil))
	rules := w.Header().Get("Content-Security-Policy")
	if w.Code != http.StatusOK || w.Body.String() != "the player" || w.Header().Get("X-Frame-Options") != "SAMEORIGIN" ||
		w.Header().Get("Cache-Control") != "no-cache" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("%d %v %q", w.Code, w.Header(), w.Body)
	}
	for _, rule := range []string{
		"default-src 'none'", "script-src 'self';", "frame-ancestors 'self'", "form-action 'none'",
		"base-uri 'none'",
	} {
		if !strings.Contains(rules, rule) {
			t.Errorf("the policy lacks %q: %s", rule, rules)
		}
	}
	if strings.Contains(rules, "connect-src") || strings.Contains(rules, "http") {
		t.Errorf("a recording reaches the network: %s", rules)
	}
	changed, err := New(fstest.MapFS{"index.html": a.files.(fstest.MapFS)["index.html"], "player.html": {Data: []byte("another")}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if changed.Version() == a.Version() {
		t.Error("another player is the same version of the application")
	}
}
