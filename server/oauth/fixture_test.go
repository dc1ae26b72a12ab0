package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/oauth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

const (
	issuer   = "https://svc.test"
	callback = "http://localhost:3000/callback"
	verifier = "a-verifier-that-is-at-least-forty-three-characters-long"
)

// TestMain lets this binary trust the certificate of httptest like public ones.
func TestMain(m *testing.M) {
	s := httptest.NewTLSServer(http.NotFoundHandler())
	dir, err := os.MkdirTemp("", "oauth-test-")
	if err != nil {
		panic(err)
	}
	file := filepath.Join(dir, "ca.pem")
	err = os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600)
	if err = errors.Join(err, os.Setenv("SSL_CERT_FILE", file)); err != nil {
		panic(err)
	}
	s.Close()
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// fixture is an authorization server over a real database, with the authentication that accepts its tokens. Both use one clock.
type fixture struct {
	*store.Store
	server *oauth.Server
	auth   *auth.Authenticator
	mux    *http.ServeMux
	clock  atomic.Int64
	limit  atomic.Int64
	org    principal.OrgID
	user   principal.UserID
}

func (f *fixture) now() time.Time          { return time.UnixMicro(f.clock.Load()) }
func (f *fixture) advance(d time.Duration) { f.clock.Add(d.Microseconds()) }

// Allow is a limiter that counts down.
func (f *fixture) Allow(key string, _ time.Time) (bool, time.Duration) {
	return f.limit.Add(-1) >= 0 && strings.HasPrefix(key, "oauth "), 1500 * time.Millisecond
}

func newFixture(t *testing.T, exempt ...netip.Prefix) *fixture {
	t.Helper()
	f := &fixture{mux: http.NewServeMux()}
	f.clock.Store(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	f.limit.Store(1 << 40)
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: f.now})
	if err != nil {
		t.Fatal(err)
	}
	hasher, err := auth.NewHasher([]byte(strings.Repeat("p", auth.PepperSize)))
	if err != nil {
		t.Fatal(err)
	}
	f.Store = st
	f.auth = auth.New(auth.Config{Store: st, Hasher: hasher, Now: f.now})
	t.Cleanup(func() {
		f.auth.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	f.server = oauth.New(oauth.Config{
		Store: st, Hasher: hasher, Issuer: issuer, Scopes: []string{"*", "logs:read", "traces:read"}, Guard: egress.New(exempt...),
		Limiter: f, Now: f.now,
	})
	f.server.Mount(f.mux)
	out, err := st.CreateOrganization(t.Context(), store.NewOrganization{Name: "one", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	f.org, f.user = out.Organization.ID, out.Admin.ID
	return f
}

// answer is a response to a program. Every response of ours with a body is JSON.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func (a answer) text(name string) string { s, _ := a.body[name].(string); return s }

func (f *fixture) do(t *testing.T, method, path, contentType, body string) answer {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	w := httptest.NewRecorder()
	f.mux.ServeHTTP(w, r)
	out := answer{status: w.Code, header: w.Header()}
	if w.Body.Len() > 0 {
		if err := json.Unmarshal(w.Body.Bytes(), &out.body); err != nil {
			t.Fatalf("%s %s: %d %q", method, path, w.Code, w.Body)
		}
	}
	return out
}

func (f *fixture) post(t *testing.T, path string, pairs ...string) answer {
	t.Helper()
	return f.do(t, http.MethodPost, path, "application/x-www-form-urlencoded", form(pairs...).Encode())
}

// form makes parameters from names and values. An empty value removes the parameter.
func form(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			v.Del(pairs[i])
			continue
		}
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func (f *fixture) register(t *testing.T, redirects ...string) string {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"client_name": "Editor", "redirect_uris": redirects})
	a := f.do(t, http.MethodPost, "/register", "application/json", string(body))
	if a.status != 201 {
		t.Fatalf("register: %d %v", a.status, a.body)
	}
	return a.text("client_id")
}

func challenge(of string) string {
	sum := sha256.Sum256([]byte(of))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// request returns a valid authorization request, with changes.
func request(client string, changes ...string) url.Values {
	return form(append([]string{
		"client_id", client, "redirect_uri", callback, "response_type", "code", "state", "xyz", "code_challenge", challenge(verifier),
		"code_challenge_method", "S256",
		"resource", issuer + "/mcp",
	}, changes...)...)
}

// code returns an authorization code that the user approved.
func (f *fixture) code(t *testing.T, client string, changes ...string) string {
	t.Helper()
	a, err := f.server.Authorization(t.Context(), request(client, changes...))
	if err != nil {
		t.Fatal(err)
	}
	to, err := f.server.Approve(t.Context(), a, f.org, f.user)
	if err != nil {
		t.Fatal(err)
	}
	if q := to.Query(); q.Get("iss") != issuer || q.Get("state") != "xyz" || !strings.HasPrefix(to.String(), callback+"?") {
		t.Fatalf("sent to %s", to)
	}
	return to.Query().Get("code")
}

func (f *fixture) redeem(t *testing.T, client, code string, changes ...string) answer {
	t.Helper()
	return f.post(t, "/oauth/token", append([]string{
		"grant_type", "authorization_code", "client_id", client, "code", code, "code_verifier", verifier, "redirect_uri", callback, "resource",
		issuer + "/mcp",
	}, changes...)...)
}

func (f *fixture) refresh(t *testing.T, client, token string, changes ...string) answer {
	t.Helper()
	return f.post(t, "/oauth/token", append([]string{
		"grant_type", "refresh_token", "client_id", client, "refresh_token", token,
	}, changes...)...)
}

// tokens returns the tokens of a new grant.
func (f *fixture) tokens(t *testing.T, client string) (access, refresh string) {
	t.Helper()
	a := f.redeem(t, client, f.code(t, client))
	if a.status != 200 {
		t.Fatalf("token: %d %v", a.status, a.body)
	}
	return a.text("access_token"), a.text("refresh_token")
}

// who authenticates with a token, as the MCP server does.
func (f *fixture) who(token string) (*principal.Principal, error) {
	r := f.auth.Authenticate(context.Background(), http.Header{"Authorization": {"Bearer " + token}})
	return r.Principal, r.Err
}

func (f *fixture) works(t *testing.T, token string) {
	t.Helper()
	if p, err := f.who(token); err != nil || p.Kind != principal.KindOAuth || p.Org != f.org || p.User != f.user {
		t.Errorf("the token does not work: %+v %v", p, err)
	}
}

func (f *fixture) void(t *testing.T, token string) {
	t.Helper()
	if p, err := f.who(token); err == nil || p != nil {
		t.Errorf("the token works: %+v", p)
	}
}

func (a answer) refused(t *testing.T, what string, status int, code string) {
	t.Helper()
	if a.status != status || a.text("error") != code || a.text("error_description") == "" {
		t.Errorf("%s: %d %v, want %d %s", what, a.status, a.body, status, code)
	}
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		t.Errorf("%s: Cache-Control %q", what, got)
	}
	if a.body["access_token"] != nil {
		t.Errorf("%s: tokens beside an error", what)
	}
}
