package oauth_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/oauth"
)

// publisher serves client metadata documents over TLS.
func publisher(t *testing.T, serve http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewTLSServer(serve)
	t.Cleanup(s.Close)
	return s
}

var thisMachine = netip.MustParsePrefix("127.0.0.1/32")

// TestDocument checks that a program that publishes its own metadata is known by its host, and that its document is fetched only
// once in a while.
func TestDocument(t *testing.T) {
	f := newFixture(t, thisMachine)
	var reads atomic.Int32
	s := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"client_id":"https://%s%s","client_name":"Published","redirect_uris":[%q],"token_endpoint_auth_method":"none"}`,
			r.Host, r.URL.Path, callback)
	})
	id := s.URL + "/client.json"
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			a, err := f.server.Authorization(t.Context(), request(id))
			if err != nil || a.Client.Name != "Published" || a.Client.ID != id || a.Client.Host != strings.TrimPrefix(s.URL, "https://") {
				t.Errorf("%+v %v", a, err)
			}
		})
	}
	wait.Wait()
	first := reads.Load()
	if first > 8 || first < 1 {
		t.Errorf("%d reads", first)
	}
	f.advance(9 * time.Minute)
	access, _ := f.tokens(t, id)
	f.works(t, access)
	if n := reads.Load(); n != first {
		t.Errorf("the kept document was read again, %d times", n-first)
	}
	f.advance(2 * time.Minute)
	f.code(t, id)
	if n := reads.Load(); n != first+1 {
		t.Errorf("an old document was read %d times", n-first)
	}
	if _, err := f.server.Authorization(t.Context(), request(id, "redirect_uri", "https://evil.test/cb")); err == nil {
		t.Error("an address that the document does not name is taken")
	}
}

// TestDocumentRefused lists answers that are not valid documents of the address that they claim.
func TestDocumentRefused(t *testing.T) {
	f := newFixture(t, thisMachine)
	var inside atomic.Int32
	secret := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inside.Add(1) }))
	t.Cleanup(secret.Close)
	document := func(r *http.Request, id, rest string) string {
		return fmt.Sprintf(`{"client_id":"https://%s%s","redirect_uris":[%q]%s}`, r.Host, id, callback, rest)
	}
	var packed bytes.Buffer // made before the request, because the answer has only 5 seconds
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(`{"x":"` + strings.Repeat("x", 16<<20) + `"}`))
	_ = z.Close()
	s := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		body, contentType := document(r, r.URL.Path, ""), "application/json"
		switch r.URL.Path {
		case "/large":
			body = document(r, r.URL.Path, `,"x":"`+strings.Repeat("x", 5<<10)+`"`)
		case "/inflated":
			w.Header().Set("Content-Encoding", "gzip")
			body = packed.String()
		case "/redirect":
			http.Redirect(w, r, "/client.json", http.StatusFound)
			return
		case "/inside":
			http.Redirect(w, r, secret.URL, http.StatusFound)
			return
		case "/missing":
			w.WriteHeader(http.StatusNotFound)
		case "/other":
			body = document(r, "/client.json", "")
		case "/html":
			contentType = "text/html"
		case "/text":
			body = "hello"
		case "/name":
			body = document(r, r.URL.Path, `,"client_name":"a\u202eb"`)
		case "/redirects":
			body = strings.Replace(body, callback, "http://evil.test/cb", 1)
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body))
	})
	if _, err := f.server.Authorization(t.Context(), request(s.URL+"/client.json")); err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "https://"))
	for id, want := range map[string]string{
		s.URL + "/large": "larger than 5 KiB", s.URL + "/inflated": "larger than 5 KiB", s.URL + "/redirect": "could not be read",
		s.URL + "/inside": "could not be read", s.URL + "/missing": "could not be read",
		s.URL + "/other": "must equal the address", s.URL + "/html": "not application/json", s.URL + "/text": "not a JSON object",
		s.URL + "/name":      "client_name",
		s.URL + "/redirects": "redirect_uris[0]", s.URL: "with a path", s.URL + "/": "with a path", s.URL + "/client.json#x": "fragment",
		s.URL + "/a/../client.json":                                 "dot segments",
		s.URL + "/" + strings.Repeat("x", 2048):                     "with a path",
		strings.Replace(s.URL, "https", "http", 1) + "/client.json": "must begin with https://",
		"https://user@127.0.0.1:" + port + "/client.json":           "user name",
		"https://127.0.0.2:" + port + "/client.json":                "not public",
		"https://10.0.0.1/client.json":                              "not public",
		"https://169.254.169.254/latest/meta-data":                  "not public",
		"https://[::1]:" + port + "/client.json":                    "not public",
		"https://[::ffff:10.0.0.1]/client.json":                     "not public",
		"https:///client.json":                                      "no host",
	} {
		_, err := f.server.Authorization(t.Context(), request(id))
		var refusal *oauth.Refusal
		if !errors.As(err, &refusal) || refusal.Redirect != nil || !strings.Contains(refusal.Message, want) {
			t.Errorf("%.80s: %v, want %q", id, err, want)
		}
	}
	if inside.Load() != 0 {
		t.Error("a redirect led inside")
	}
	// Without the exemption, this machine is a private address like any other. A name that leads to it gets the same answer as an
	// unknown name, so a caller cannot learn the names of a private network.
	strict := newFixture(t)
	for _, host := range []string{"localhost", "nowhere.invalid"} {
		address := "https://" + host + ":" + port + "/client.json"
		if _, err := strict.server.Authorization(t.Context(), request(address)); err == nil ||
			!strings.HasSuffix(err.Error(), "The document at client_id could not be read from "+host+":"+port+".") {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// TestDocumentSlow checks that a host that answers very slowly delays nobody for long, and does not delay callers who ask for
// another host.
func TestDocumentSlow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, thisMachine)
	s := publisher(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path != "/slow" {
			_, _ = fmt.Fprintf(w, `{"client_id":"https://%s%s","redirect_uris":[%q]}`, r.Host, r.URL.Path, callback)
			return
		}
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte(" "))
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(50 * time.Millisecond):
			}
		}
	})
	slow := make(chan error, 1)
	began := time.Now()
	go func() { _, err := f.server.Authorization(t.Context(), request(s.URL+"/slow")); slow <- err }()
	if _, err := f.server.Authorization(t.Context(), request(s.URL+"/quick")); err != nil || len(slow) != 0 {
		t.Errorf("another document: %v after %s; the slow one had ended: %t", err, time.Since(began), len(slow) != 0)
	}
	err := <-slow
	if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "could not be read") || took < 4*time.Second ||
		took > time.Minute {
		t.Errorf("%v after %s", err, took)
	}
}
