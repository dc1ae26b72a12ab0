package openapi_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/openapi"
)

func ask(t *testing.T, h http.Handler, method, path string, header ...string) (*http.Response, string) {
	t.Helper()
	req := httptest.NewRequest(method, path, nil)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	res := w.Result()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(body)
}

func TestHandler(t *testing.T) {
	doc := string(write(t))
	made := 0
	h := openapi.Handler(func() ([]byte, error) {
		made++
		return []byte(doc), nil
	})
	if made != 0 {
		t.Error("made before the first request")
	}
	res, body := ask(t, h, "GET", "/openapi.json")
	if res.StatusCode != 200 || body != doc || res.Header.Get("Content-Type") != "application/json" ||
		res.Header.Get("Access-Control-Allow-Origin") != "*" ||
		res.Header.Get("Cache-Control") != "public, no-cache" || res.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%d, %d bytes, %v", res.StatusCode, len(body), res.Header)
	}
	tag := res.Header.Get("Etag")
	if res, body := ask(t, h, "GET", "/openapi.json", "If-None-Match", tag); res.StatusCode != 304 || body != "" || tag == "" {
		t.Errorf("with %s: %d, %d bytes", tag, res.StatusCode, len(body))
	}
	if res, _ := ask(t, h, "GET", "/openapi.json", "If-None-Match", `"other"`); res.StatusCode != 200 {
		t.Errorf("with another tag: %d", res.StatusCode)
	}
	if res, body := ask(t, h, "HEAD", "/openapi.json"); res.StatusCode != 200 || body != "" || res.ContentLength != int64(len(doc)) {
		t.Errorf("HEAD: %d, %d bytes, length %d", res.StatusCode, len(body), res.ContentLength)
	}

	res, body = ask(t, h, "GET", "/openapi.json", "Accept-Encoding", "br, gzip;q=0.5")
	z, err := gzip.NewReader(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if unpacked, err := io.ReadAll(z); err != nil || string(unpacked) != doc || res.Header.Get("Content-Encoding") != "gzip" ||
		res.Header.Get("Etag") == tag {
		t.Errorf("gzip: %v, %v", err, res.Header)
	}
	if res, _ := ask(t, h, "GET", "/openapi.json", "Accept-Encoding", "gzip; q=0"); res.Header.Get("Content-Encoding") != "" {
		t.Error("compressed against the caller's wish")
	}

	if res, _ := ask(t, h, "OPTIONS", "/openapi.json", "Origin", "https://elsewhere.test", "Access-Control-Request-Method",
		"GET"); res.StatusCode != 204 || res.Header.Get("Access-Control-Allow-Methods") == "" {
		t.Errorf("preflight: %d %v", res.StatusCode, res.Header)
	}
	if res, body := ask(t, h, "DELETE", "/openapi.json"); res.StatusCode != 405 || res.Header.Get("Allow") != "GET, HEAD, OPTIONS" ||
		!strings.Contains(body, "MethodNotAllowedError") {
		t.Errorf("DELETE: %d %v %s", res.StatusCode, res.Header, body)
	}
	if made != 1 {
		t.Errorf("made %d times", made)
	}

	broken := openapi.Handler(func() ([]byte, error) { return nil, errors.New("a secret reason") })
	for range 2 {
		if res, body := ask(t, broken, "GET", "/openapi.json"); res.StatusCode != 500 || strings.Contains(body, "secret") ||
			!strings.Contains(body, "UnexpectedError") {
			t.Errorf("broken: %d %s", res.StatusCode, body)
		}
	}
}

func TestReferenceHandler(t *testing.T) {
	h := openapi.Reference()
	const script = "text/javascript; charset=utf-8"
	for path, want := range map[string]string{
		"/v2/docs": "text/html; charset=utf-8", "/v2/docs/start.mjs": script,
		"/v2/docs/scalar.js": script,
	} {
		res, body := ask(t, h, "GET", path)
		if res.StatusCode != 200 || res.Header.Get("Content-Type") != want || len(body) < 500 ||
			!strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; ") ||
			res.Header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, %d bytes, %v", path, res.StatusCode, len(body), res.Header)
		}
		packed, gz := ask(t, h, "GET", path, "Accept-Encoding", "gzip")
		z, err := gzip.NewReader(strings.NewReader(gz))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := io.ReadAll(z); err != nil || string(plain) != body || packed.Header.Get("Content-Encoding") != "gzip" ||
			packed.Header.Get("Etag") == res.Header.Get("Etag") {
			t.Errorf("%s as gzip: %d bytes, %v, %v", path, len(plain), err, packed.Header)
		}
		if path == "/v2/docs/scalar.js" {
			continue
		}
		// The policy allows only scripts from files.
		if strings.Contains(body, " style=") || strings.Contains(body, " onclick=") || strings.Contains(body, "<script>") ||
			strings.Contains(body, "innerHTML") {
			t.Errorf("%s holds a style or script that is not in a file", path)
		}
	}
	if res, _ := ask(t, h, "GET", "/v2/docs/"); res.StatusCode != 308 || res.Header.Get("Location") != "../docs" {
		t.Errorf("with a slash: %d to %q", res.StatusCode, res.Header.Get("Location"))
	}
	if res, body := ask(t, h, "GET", "/v2/docs/../secret"); res.StatusCode != 404 || !strings.Contains(body, "RouteNotFoundError") {
		t.Errorf("another file: %d %s", res.StatusCode, body)
	}
	if res, _ := ask(t, h, "POST", "/v2/docs"); res.StatusCode != 405 {
		t.Errorf("POST: %d", res.StatusCode)
	}
}
