package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/ingest/browsersdk"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/testkit"
)

const (
	sdkPageTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	sdkPageSpan  = "00f067aa0ba902b7"
	// sdkSnippet is the snippet of docs/browser-sdk.md.
	sdkSnippet = `<script>window.svc=window.svc||{q:[]};for(const m of["init","identify","track","captureException","setConsent","shutdown"])svc[m]??=(...a)=>svc.q?.push([m,...a]);</script>`
)

// sdkState is the state of a page in the end.
type sdkState struct {
	Session    string   `json:"session"`
	Errors     []string `json:"errors"`
	Rejections []string `json:"rejections"`
	Cart       string   `json:"cart"`
	Warnings   []string `json:"warnings"`
}

// sdkReport is the report of sdk.mjs.
type sdkReport struct {
	Visit, Second, Blocked, Revoked sdkState
	Strict                          struct {
		Session string   `json:"session"`
		Refused []string `json:"refused"`
	}
	Consent struct {
		Before, Held, After string
		Session, During     *string
	}
	Problems []string
}

// sdkSite is a web site on one origin, and the way to the ingest server on another. It keeps everything that goes over the wire.
type sdkSite struct {
	site, ingest *httptest.Server

	mu      sync.Mutex
	sent    map[string][]string // bodies by path, decompressed
	answers map[string][]int
	pages   []http.Header // headers of requests to the site's own API
}

func newSDKSite(t *testing.T, p *testkit.Process) *sdkSite {
	t.Helper()
	target, err := url.Parse(p.IngestURL)
	if err != nil {
		t.Fatal(err)
	}
	s := &sdkSite{sent: map[string][]string{}, answers: map[string][]int{}}
	forward := &httputil.ReverseProxy{
		Rewrite:        func(r *httputil.ProxyRequest) { r.SetURL(target) },
		ModifyResponse: func(res *http.Response) error { s.answered(res.Request, res.StatusCode); return nil },
	}
	s.ingest = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if r.Method == http.MethodPost {
			s.keep(r, body)
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(s.ingest.Close)
	s.site = httptest.NewServer(s.pagesOf(t, p))
	t.Cleanup(s.site.Close)
	return s
}

func (s *sdkSite) keep(r *http.Request, body []byte) {
	if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
		if plain, err := io.ReadAll(z); err == nil {
			body = plain
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.sent[key+" "+r.URL.Path] = append(s.sent[key+" "+r.URL.Path], string(body))
}

func (s *sdkSite) answered(r *http.Request, status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[r.Method] = append(s.answers[r.Method], status)
}

// pagesOf serves the pages of the site.
func (s *sdkSite) pagesOf(t *testing.T, p *testkit.Process) http.Handler {
	t.Helper()
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("browser", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	body := strings.Replace(read("sdk.html"), "PAGETRACE", "00-"+sdkPageTrace+"-"+sdkPageSpan+"-01", 1)
	script := read("sdk-page.js")
	mux := http.NewServeMux()
	tags := func(endpoint, key, more string) string {
		return fmt.Sprintf(`%s<script>svc.init({endpoint:%q,ingestKey:%q,serviceName:"sdk-shop",serviceVersion:"2.1",environment:"test"%s});
svc.identify({id:"u-1042",email:"ada@example.com",username:"Ada",groupId:"g-7",traits:{plan:"pro"}})</script>
<script async crossorigin src="%s/sdk/browser/v1/svc.iife.js"></script>`, sdkSnippet, endpoint, key, more, s.ingest.URL)
	}
	page := func(path, head, policy string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			if policy != "" {
				w.Header().Set("Content-Security-Policy", policy)
			}
			_, _ = io.WriteString(w, strings.Replace(body, "<h1>", head+`<script src="/partner.js"></script><h1>`, 1))
		})
	}
	for _, path := range []string{"/visit", "/visit/second"} {
		page(path, tags(s.ingest.URL, p.PublicKey, ""), "")
	}
	page("/consent", tags(s.ingest.URL, p.PublicKey, `,privacy:{requireConsent:true,persistVisitorId:true}`), "")
	page("/blocked", tags("http://127.0.0.1:1", p.PublicKey, ""), "")
	page("/revoked", tags(s.ingest.URL, sdkRevokedKey, ""), "")
	page("/strict", `<script type="module" src="/strict.js"></script>`,
		"default-src 'none'; script-src 'self' "+s.ingest.URL+"; connect-src 'self' "+s.ingest.URL+
			"; img-src data:; require-trusted-types-for 'script'; trusted-types 'none'")
	serve := func(path, text string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
			_, _ = io.WriteString(w, text)
		})
	}
	serve("/sdk-page.js", script)
	serve("/partner.js", "window.partner = 'http://127.0.0.1:1'")
	serve("/strict.js", fmt.Sprintf(`import { init, getSessionId } from %q; init({ ingestKey: %q, serviceName: "sdk-strict" }); document.body.dataset.session = getSessionId();`,
		s.ingest.URL+"/sdk/browser/v1/svc.js", p.PublicKey))
	mux.HandleFunc("POST /api/cart", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.pages = append(s.pages, r.Header.Clone())
		s.mu.Unlock()
		writeJSON(w, map[string]string{"item": "Kettle"})
	})
	return mux
}

// sdkRevokedKey has the form of a key.
var sdkRevokedKey = "svc_pk_" + strings.Repeat("x", 43)

// TestBrowserSDK opens pages of a site that load the browser SDK from the ingest server, uses them as a person would, and reads everything
// back. Nothing that is secret goes over the wire, and a page behaves as without the SDK when the server is away or refuses its key.
func TestBrowserSDK(t *testing.T) {
	t.Parallel()
	required := os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1"
	if files, err := browsersdk.Built(); err != nil || files == nil {
		if required {
			t.Fatalf("the browser SDK is not built (%v), and SVC_TEST_REQUIRE_CHROMIUM=1: make browser-sdk", err)
		}
		t.Skip("the browser SDK is not built: make browser-sdk")
	}
	browser := chromium(t, required)
	dir := npmInstall(t, "browser", "playwright-core")
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	s := newSDKSite(t, p)
	input, err := json.Marshal(map[string]string{
		"chromium": browser, "site": s.site.URL,
		"screenshots": screenshots(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "sdk.mjs")
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("sdk.mjs: %v\n%s", err, stderr.Bytes())
	}
	var r sdkReport
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	waitFlushed(t, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	checkSDKPages(t, &r)
	checkSDKWire(t, s, p)
	id := publicid.EncodeText(publicid.SessionReplay, r.Visit.Session)
	checkSDKSession(t, s, p, id)
	checkSDKTimeline(t, s, p, id, r.Visit.Session)
	checkSDKSpans(t, s, p, r.Visit.Session)
	checkSDKRecording(t, p, r.Visit.Session)
}
