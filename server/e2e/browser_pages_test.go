package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// pages serves the shop and the player. It is an origin of its own, different from the ingest address.
type pages struct {
	server *httptest.Server
}

func servePages(t *testing.T, folder string, watch *ingestWatch, api *testkit.Server) *pages {
	t.Helper()
	p, publicKey, key := &pages{}, api.PublicKey, api.APIKey
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(folder)))
	mux.HandleFunc("GET /config.json", func(w http.ResponseWriter, r *http.Request) {
		encoding := r.URL.Query().Get("encoding")
		writeJSON(w, map[string]string{"endpoint": watch.server.URL, "key": publicKey, "service": "shop-" + encoding, "encoding": encoding})
	})
	var mu sync.Mutex
	articles := 0
	mux.HandleFunc("POST /api/cart", func(w http.ResponseWriter, _ *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		articles++
		writeJSON(w, map[string]string{"item": fmt.Sprintf("Kettle %d", articles)})
	})
	mux.HandleFunc("GET /farewell", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-watch.ended:
		case <-time.After(time.Minute):
			http.Error(w, "the session was not ended", http.StatusGatewayTimeout)
		}
	})
	target, err := url.Parse(api.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	// The player's page reads recordings as a signed-in page would: from the API, through its own origin.
	mux.Handle("GET /v2/session_replays/", &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.Out.Header.Set("Authorization", "Bearer "+key)
	}})
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	return p
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the browser may be gone
}

// ingestWatch forwards requests of the browser to the server unchanged, and records requests and answers. It refuses the first
// export of spans.
type ingestWatch struct {
	server *httptest.Server

	ended chan struct{} // gets a value for each session that was ended

	mu      sync.Mutex
	seen    []exchange
	refused int
	metas   int
}

// exchange is a request of the browser and its answer.
type exchange struct {
	method, path, origin string
	request, answer      http.Header
	status               int
}

func watchIngest(t *testing.T, s *testkit.Server) *ingestWatch {
	t.Helper()
	target, err := url.Parse(s.IngestURL)
	if err != nil {
		t.Fatal(err)
	}
	w := &ingestWatch{ended: make(chan struct{}, 1)}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(res *http.Response) error {
			w.note(res.Request, res.StatusCode, res.Header)
			return nil
		},
	}
	w.server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v1/traces" && w.first() {
			rw.Header().Set("Access-Control-Allow-Origin", "*")
			rw.Header().Set("Retry-After", "1")
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		forward.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.server.Close)
	return w
}

func (w *ingestWatch) note(r *http.Request, status int, answer http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method == http.MethodPost && r.URL.Path == "/v1/sessionReplays/meta" {
		if w.metas++; w.metas%2 == 0 { // a session has a row when it starts and one when it ends
			w.ended <- struct{}{}
		}
	}
	w.seen = append(w.seen, exchange{r.Method, r.URL.Path, r.Header.Get("Origin"), r.Header.Clone(), answer.Clone(), status})
}

func (w *ingestWatch) first() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused++
	return w.refused == 1
}

// reset clears the record and returns it.
func (w *ingestWatch) reset() []exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen, w.refused = nil, 0
	return seen
}

// checkCORS checks the browser's requests against the rules of cross-origin requests: it asked before it posted to a path,
// without the key, and the answer allowed the post.
func checkCORS(t *testing.T, origin string, seen []exchange) {
	t.Helper()
	asked, posts := map[string]bool{}, 0
	for _, x := range seen {
		if x.origin != origin {
			t.Errorf("%s %s: origin %q, want %q", x.method, x.path, x.origin, origin)
		}
		if got := x.answer.Get("Access-Control-Allow-Origin"); got != "*" {
			t.Errorf("%s %s: Access-Control-Allow-Origin is %q", x.method, x.path, got)
		}
		if got := x.answer.Get("Access-Control-Expose-Headers"); got != "" {
			t.Errorf("%s %s: headers are exposed: %q", x.method, x.path, got)
		}
		switch x.method {
		case http.MethodOptions:
			asked[x.path] = true
			wanted := strings.Split(x.request.Get("Access-Control-Request-Headers"), ",")
			if !slices.Contains(wanted, "authorization") && !slices.Contains(wanted, "x-svc-ingest-key") {
				t.Errorf("preflight of %s asks for %q: the key is not among them", x.path, wanted)
			}
			if x.request.Get("Access-Control-Request-Method") != http.MethodPost || x.status != http.StatusNoContent {
				t.Errorf("preflight of %s: for %q, answered %d", x.path, x.request.Get("Access-Control-Request-Method"), x.status)
			}
			for _, name := range []string{"Authorization", "X-Svc-Ingest-Key"} {
				if x.request.Get(name) != "" {
					t.Errorf("preflight of %s carries %s: the browser never sends it", x.path, name)
				}
			}
		case http.MethodPost:
			posts++
			if !asked[x.path] {
				t.Errorf("POST %s went without a preflight", x.path)
			}
		default:
			t.Errorf("%s %s", x.method, x.path)
		}
	}
	for _, path := range []string{"/v1/traces", "/v1/sessionReplays/meta", "/v1/sessionReplays/blob", "/v1/sessionEvents"} {
		if !asked[path] {
			t.Errorf("no preflight of %s", path)
		}
	}
	t.Logf("%d preflights, %d posts", len(seen)-posts, posts)
}

// chromium finds the browser. On a machine without it the test is skipped, unless SVC_TEST_REQUIRE_CHROMIUM=1.
func chromium(t *testing.T, required bool) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if required {
		t.Fatal("Chromium is not installed, and SVC_TEST_REQUIRE_CHROMIUM=1")
	}
	t.Skip("Chromium is not installed: the browser test is skipped (on Debian: apt-get install chromium)")
	return ""
}

// screenshots is the folder for pictures of pages, or empty: pictures are taken if `go test -artifacts` keeps them.
func screenshots(t *testing.T) string {
	t.Helper()
	if f := flag.Lookup("test.artifacts"); f == nil || f.Value.String() != "true" {
		return ""
	}
	return t.ArtifactDir()
}

// drive runs a task in the browser and reads its report.
func drive(t *testing.T, dir, browser, task, address string, report any) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "drive.mjs", browser, task, address, screenshots(t))
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("drive.mjs %s: %v\n%s", task, err, stderr.String())
	}
	if err := json.Unmarshal(out, report); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
