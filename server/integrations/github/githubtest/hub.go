// Package githubtest is a stand-in for GitHub Enterprise Server: the endpoints that package github uses, over real git repositories on
// disk. It checks the signature of the app, the tokens of installations, the PKCE verifier and the secrets as GitHub does.
package githubtest

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// The registration of the app.
const (
	AppID         = 4711
	Slug          = "svc-test"
	ClientID      = "Iv1.svctest"
	ClientSecret  = "client-secret-of-the-app"
	WebhookSecret = "webhook-secret-of-the-app"
)

// Hub is the stand-in.
type Hub struct {
	URL string
	// Key is the private key of the app in the PEM format.
	Key string

	public *rsa.PublicKey
	mu     sync.Mutex
	// person is who is signed in at the hub in the browser.
	person        string
	installations map[int64]*Installation
	// accounts holds the id of each account, which a new installation keeps.
	accounts     map[string]int64
	repositories map[int64]*Repository
	codes        map[string]code
	tokens       map[string]token
	fault        func(*http.Request) int
	requests     map[string]int
	nextID       int64
	deny         bool
	callback     string
}

type code struct{ person, challenge, redirectURI string }

type token struct {
	person       string
	installation int64
}

// Installation is an installation of the app.
type Installation struct {
	ID          int64
	Account     string
	Kind        string // Organization or User
	Selection   string
	Permissions map[string]string
	Suspended   bool
	// Owners administer the account, Readers see its repositories.
	Owners, Readers []string
	Repositories    []int64
}

// New starts a hub that ends with the test.
func New(t testing.TB) *Hub {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	h := &Hub{
		Key:    string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		public: &key.PublicKey, person: "octo", installations: map[int64]*Installation{}, accounts: map[string]int64{},
		repositories: map[int64]*Repository{},
		codes:        map[string]code{}, tokens: map[string]token{}, requests: map[string]int{}, nextID: 1000,
	}
	server := httptest.NewServer(h.mux())
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// Install adds an installation whose app is granted everything that it asks for.
func (h *Hub) Install(account, kind string, owners ...string) *Installation {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.accounts[account] == 0 {
		h.nextID++
		h.accounts[account] = h.nextID
	}
	h.nextID++
	i := &Installation{
		ID: h.nextID, Account: account, Kind: kind, Selection: "all", Owners: owners,
		Permissions: map[string]string{"metadata": "read", "contents": "read", "pull_requests": "read", "actions": "read"},
	}
	h.installations[i.ID] = i
	return i
}

// Change changes the state of the hub.
func (h *Hub) Change(change func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change()
}

// Uninstall removes an installation.
func (h *Hub) Uninstall(i *Installation) { h.Change(func() { delete(h.installations, i.ID) }) }

// SignIn makes a person the one whose browser visits the hub.
func (h *Hub) SignIn(person string) { h.Change(func() { h.person = person }) }

// Deny makes the person refuse the next authorizations.
func (h *Hub) Deny(deny bool) { h.Change(func() { h.deny = deny }) }

// Fault makes requests fail with the status that the function returns, unless it is 0.
func (h *Hub) Fault(of func(*http.Request) int) { h.Change(func() { h.fault = of }) }

// Requests counts the requests to a path of the API so far, for example `/repositories/`.
func (h *Hub) Requests(prefix string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for path, count := range h.requests {
		if strings.HasPrefix(path, prefix) {
			n += count
		}
	}
	return n
}

// Sign returns the signature of a delivery.
func Sign(secret string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func (h *Hub) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /login/oauth/authorize", h.authorize)
	mux.HandleFunc("POST /login/oauth/access_token", h.exchange)
	mux.HandleFunc("GET /github-apps/{slug}/installations/new", h.install)
	mux.HandleFunc("POST /api/v3/app/installations/{id}/access_tokens", h.asApp(h.accessToken))
	mux.HandleFunc("GET /api/v3/app/installations/{id}", h.asApp(func(w http.ResponseWriter, _ *http.Request, i *Installation) {
		answer(w, h.installationJSON(i))
	}))
	mux.HandleFunc("GET /api/v3/user", h.asPerson(func(w http.ResponseWriter, _ *http.Request, person string) {
		answer(w, map[string]any{"login": person})
	}))
	mux.HandleFunc("GET /api/v3/user/installations", h.asPerson(h.userInstallations))
	mux.HandleFunc("GET /api/v3/user/installations/{id}/repositories", h.asPerson(h.userRepositories))
	mux.HandleFunc("GET /api/v3/user/memberships/orgs/{org}", h.asPerson(h.membership))
	mux.HandleFunc("GET /api/v3/installation/repositories", h.asInstallation(h.listRepositories))
	h.code(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.TrimPrefix(r.URL.Path, "/api/v3")
		h.mu.Lock()
		h.requests[path]++
		fault := h.fault
		h.mu.Unlock()
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "4990")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))
		if fault != nil {
			if status := fault(r); status != 0 {
				refuse(w, status, "planned fault")
				return
			}
		}
		mux.ServeHTTP(w, r)
	})
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

func refuse(w http.ResponseWriter, status int, message string) {
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
		message = "You have exceeded a secondary rate limit"
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
}

// authorize is the page on which a person proves who they are. Here the person agrees at once.
func (h *Hub) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	h.mu.Lock()
	defer h.mu.Unlock()
	if q.Get("client_id") != ClientID {
		http.Error(w, "no such app", http.StatusNotFound)
		return
	}
	if h.deny {
		h.back(w, r, q.Get("redirect_uri"), url.Values{"error": {"access_denied"}, "state": {q.Get("state")}})
		return
	}
	c := h.newCode(q.Get("code_challenge"), q.Get("redirect_uri"))
	h.back(w, r, q.Get("redirect_uri"), url.Values{"code": {c}, "state": {q.Get("state")}})
}

func (h *Hub) newCode(challenge, redirectURI string) string {
	h.nextID++
	c := fmt.Sprintf("code-%d", h.nextID)
	h.codes[c] = code{h.person, challenge, redirectURI}
	return c
}

func (h *Hub) back(w http.ResponseWriter, r *http.Request, to string, q url.Values) {
	http.Redirect(w, r, to+"?"+q.Encode(), http.StatusFound)
}

// SetCallback registers the callback address of the app, as an operator does at GitHub. The hub sends browsers there after an
// installation.
func (h *Hub) SetCallback(to string) { h.Change(func() { h.callback = to }) }

// install is the page on which the app is installed. The person installs it on the account with the person's name.
func (h *Hub) install(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	person := h.person
	h.mu.Unlock()
	i := h.Install(person, "User", person)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.back(w, r, h.callback, url.Values{
		"code": {h.newCode("", "")}, "state": {r.URL.Query().Get("state")}, "installation_id": {strconv.FormatInt(i.ID, 10)},
		"setup_action": {"install"},
	})
}

func (h *Hub) exchange(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != ClientSecret {
		answer(w, map[string]string{"error": "incorrect_client_credentials"})
		return
	}
	c, ok := h.codes[r.PostFormValue("code")]
	delete(h.codes, r.PostFormValue("code"))
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || c.challenge != "" && c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) ||
		c.redirectURI != "" && c.redirectURI != r.PostFormValue("redirect_uri") {
		answer(w, map[string]string{"error": "bad_verification_code"})
		return
	}
	answer(w, map[string]string{"access_token": h.newToken("ghu_", token{person: c.person}), "token_type": "bearer"})
}

func (h *Hub) newToken(prefix string, of token) string {
	h.nextID++
	text := fmt.Sprintf("%ssecret%d", prefix, h.nextID)
	h.tokens[text] = of
	return text
}

// asApp checks the JWT of the app (RS256, at most ten minutes) and finds the installation of the path.
func (h *Hub) asApp(next func(http.ResponseWriter, *http.Request, *Installation)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var claims jwt.Claims
		signed, err := jwt.ParseSigned(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), []jose.SignatureAlgorithm{jose.RS256})
		if err == nil {
			err = signed.Claims(h.public, &claims)
		}
		if err != nil || claims.Validate(jwt.Expected{Issuer: strconv.Itoa(AppID), Time: time.Now()}) != nil ||
			claims.Expiry.Time().After(time.Now().Add(10*time.Minute+5*time.Second)) {
			refuse(w, http.StatusUnauthorized, "A JSON web token could not be decoded")
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		id, _ := strconv.ParseInt(r.PathValue("id"), 10, 64)
		i := h.installations[id]
		if i == nil {
			refuse(w, http.StatusNotFound, "Not Found")
			return
		}
		next(w, r, i)
	}
}

func (h *Hub) accessToken(w http.ResponseWriter, _ *http.Request, i *Installation) {
	if i.Suspended {
		refuse(w, http.StatusForbidden, "This installation has been suspended")
		return
	}
	w.WriteHeader(http.StatusCreated)
	answer(w, map[string]any{
		"token": h.newToken("ghs_", token{installation: i.ID}), "expires_at": time.Now().Add(time.Hour).Format(time.RFC3339),
		"permissions": i.Permissions,
	})
}

func bearerOf(r *http.Request) string {
	text := r.Header.Get("Authorization")
	return strings.TrimPrefix(strings.TrimPrefix(text, "Bearer "), "token ")
}

func (h *Hub) asPerson(next func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		t, ok := h.tokens[bearerOf(r)]
		if !ok || t.person == "" {
			refuse(w, http.StatusUnauthorized, "Bad credentials")
			return
		}
		next(w, r, t.person)
	}
}

func (h *Hub) asInstallation(next func(http.ResponseWriter, *http.Request, *Installation)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		defer h.mu.Unlock()
		t, ok := h.tokens[bearerOf(r)]
		i := h.installations[t.installation]
		switch {
		case !ok || i == nil:
			refuse(w, http.StatusUnauthorized, "Bad credentials")
		case i.Suspended:
			refuse(w, http.StatusForbidden, "This installation has been suspended")
		default:
			next(w, r, i)
		}
	}
}
