package ingest_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/browsersdk"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

const sdkScript = "export const init = () => {};"

// sdkGateway is a gateway with the SDK 1.2.3 of one file.
func sdkGateway(t *testing.T) http.Handler {
	t.Helper()
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write([]byte(sdkScript))
	_ = z.Close()
	files, err := browsersdk.New(fstest.MapFS{
		"manifest.json": {Data: []byte(`{"version":"1.2.3","integrity":{"svc.js":"sha384-x"}}`)},
		"svc.js.gz":     {Data: zipped.Bytes()},
		"svc.js.br":     {Data: []byte("brotli")},
	})
	if err != nil {
		t.Fatal(err)
	}
	g, err := ingest.New(ingest.Config{Keys: keys{}, Queue: &memoryQueue{}, Sets: &blocks.Pool{}, SDK: files})
	if err != nil {
		t.Fatal(err)
	}
	return g.HTTPHandler()
}

func ask(h http.Handler, method, path string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestSDKFiles checks that pages of any origin load the SDK without a key, keep an exact version for good and the moving one for an hour,
// and get it as they can read it.
func TestSDKFiles(t *testing.T) {
	h := sdkGateway(t)
	for _, c := range []struct{ path, accept, encoding, cache, body string }{
		{"/sdk/browser/1.2.3/svc.js", "gzip, br", "br", "public, max-age=31536000, immutable", "brotli"},
		{"/sdk/browser/v1/svc.js", "gzip, br;q=0", "gzip", "public, max-age=3600", ""},
		{"/sdk/browser/v1/svc.js", "", "", "public, max-age=3600", sdkScript},
	} {
		w := ask(h, http.MethodGet, c.path, "Accept-Encoding", c.accept)
		head := w.Header()
		if w.Code != http.StatusOK || head.Get("Content-Encoding") != c.encoding || head.Get("Cache-Control") != c.cache || c.body != "" &&
			w.Body.String() != c.body {
			t.Errorf("%s for %q: %d %v %q", c.path, c.accept, w.Code, head, w.Body)
		}
		for name, want := range map[string]string{
			"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "Content-Type": "text/javascript; charset=utf-8",
			"X-Content-Type-Options": "nosniff", "Vary": "Accept-Encoding", "Timing-Allow-Origin": "*",
		} {
			if head.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", c.path, name, head.Get(name), want)
			}
		}
		again := ask(h, http.MethodGet, c.path, "Accept-Encoding", c.accept, "If-None-Match", `"other", W/`+head.Get("ETag"))
		if again.Code != http.StatusNotModified || again.Body.Len() > 0 || again.Header().Get("ETag") != head.Get("ETag") {
			t.Errorf("%s again: %d %v", c.path, again.Code, again.Header())
		}
		if w := ask(h, http.MethodHead, c.path); w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("Content-Length") == "0" {
			t.Errorf("HEAD %s: %d %v", c.path, w.Code, w.Header())
		}
	}
}

// TestSDKRefusals checks that the answer at a wrong address names the right one, that nothing of it is cached, and that a
// program without the SDK says so.
func TestSDKRefusals(t *testing.T) {
	h := sdkGateway(t)
	for path, want := range map[string]string{
		"/sdk/browser/1.2.4/svc.js":          "has version 1.2.3",
		"/sdk/browser/v2/svc.js":             "has version 1.2.3",
		"/sdk/browser/v1/":                   "has no such file",
		"/sdk/browser/v1/manifest.json":      "has no such file",
		"/sdk/browser/v1/../../../etc/hosts": "has no such file",
		"/sdk/browser/":                      "has version 1.2.3",
	} {
		w := ask(h, http.MethodGet, path)
		if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), want) || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %q", path, w.Code, w.Header(), w.Body)
		}
	}
	if w := ask(h, http.MethodPost, "/sdk/browser/v1/svc.js"); w.Code != http.StatusMethodNotAllowed ||
		w.Header().Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("POST: %d %v", w.Code, w.Header())
	}
	without := newFixture(t, ingest.Limits{}, nil)
	res := without.do(http.MethodGet, "/sdk/browser/v1/svc.js", nil)
	if body := text(t, res.Body); res.StatusCode != http.StatusNotFound || !strings.Contains(body, "built without the browser SDK") {
		t.Errorf("without the SDK: %d %s", res.StatusCode, body)
	}
}
