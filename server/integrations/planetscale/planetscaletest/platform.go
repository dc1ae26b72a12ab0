// Package planetscaletest is a stand-in for PlanetScale: the endpoints that package planetscale uses. It checks secrets, codes, the PKCE
// verifier, tokens and scopes, and serves metrics at signed addresses.
package planetscaletest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// The registration of the application, and a service token for metrics.
const (
	ClientID      = "pscale_app_svctest"
	ClientSecret  = "client-secret-of-the-application"
	MetricsID     = "metricsid"
	MetricsSecret = "secret-of-the-metrics-token"
)

type object = map[string]any

// Platform is the stand-in. URL is both the API and the server of logins.
type Platform struct {
	URL string

	mu            sync.Mutex
	organizations []string
	databases     []*Database
	requests      []object
	entries       []object
	codes         map[string]code
	tokens        map[string]*token
	scopes        string
	life          time.Duration
	// bearer says that the list of metrics endpoints takes the access of the application.
	bearer   bool
	fault    func(path string) int
	calls    map[string]int
	insights int
	next     int
}

type code struct{ challenge, redirectURI string }

type token struct {
	refresh string
	revoked bool
}

// Database is a database with its branches by name.
type Database struct {
	Name, Kind, Plan string
	Branches         []*Branch
}

// Branch is a branch with its metrics.
type Branch struct {
	ID, Name   string
	Production bool
	Metrics    string
}

// New starts a stand-in that ends with the test.
func New(t testing.TB, organizations ...string) *Platform {
	t.Helper()
	p := &Platform{
		organizations: organizations, codes: map[string]code{}, tokens: map[string]*token{}, calls: map[string]int{},
		scopes: "read_user read_organizations read_organization read_databases", life: 30 * 24 * time.Hour,
	}
	server := httptest.NewServer(p.mux())
	t.Cleanup(server.Close)
	p.URL = server.URL
	return p
}

// Change changes the state of the stand-in.
func (p *Platform) Change(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

// AddDatabase adds a database with branches, of which the first is the production branch.
func (p *Platform) AddDatabase(name, kind string, branches ...string) *Database {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := &Database{Name: name, Kind: kind, Plan: "scaler_pro"}
	for i, b := range branches {
		p.next++
		d.Branches = append(d.Branches, &Branch{
			ID: fmt.Sprintf("br%06d", p.next), Name: b, Production: i == 0,
			Metrics: fmt.Sprintf("planetscale_connections{planetscale_pod=\"p\"} %d\n", 10+i),
		})
	}
	p.databases = append(p.databases, d)
	return d
}

// AddDeployRequest adds a deploy request in a state.
func (p *Platform) AddDeployRequest(number int, branch, state string, at time.Time) {
	p.Change(func() {
		p.requests = append(p.requests, object{
			"id": fmt.Sprintf("dr%d", number), "number": number, "branch": branch, "into_branch": "main", "state": "open", "deployment_state": state,
			"html_url": "https://app.planetscale.com/acme/shop/deploy-requests/" + strconv.Itoa(number), "created_at": at, "updated_at": at,
			"actor": object{"display_name": "Ada"},
		})
	})
}

// AddEntry adds an entry of the audit log.
func (p *Platform) AddEntry(action, thing, target string, at time.Time) {
	p.Change(func() {
		p.next++
		p.entries = append([]object{{
			"id": fmt.Sprintf("al%d", p.next), "audit_action": action, "actor_display_name": "Ada", "auditable_display_name": thing,
			"target_display_name": target, "created_at": at,
		}}, p.entries...)
	})
}

// Bearer says whether the list of metrics endpoints takes the access of the application.
func (p *Platform) Bearer(takes bool) { p.Change(func() { p.bearer = takes }) }

// Life is the time after which new tokens end.
func (p *Platform) Life(d time.Duration) { p.Change(func() { p.life = d }) }

// Fault makes requests to paths of the API fail with the status that the function returns, unless it is 0.
func (p *Platform) Fault(of func(path string) int) { p.Change(func() { p.fault = of }) }

// RevokeAll withdraws all access.
func (p *Platform) RevokeAll() {
	p.Change(func() {
		for _, t := range p.tokens {
			t.revoked, t.refresh = true, ""
		}
	})
}

// Live counts the tokens that work.
func (p *Platform) Live() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tokens {
		if !t.revoked {
			n++
		}
	}
	return n
}

// Secrets lists everything that must stay secret.
func (p *Platform) Secrets() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := append(slices.Collect(maps.Keys(p.tokens)), ClientSecret, MetricsSecret)
	for _, t := range p.tokens {
		if t.refresh != "" {
			out = append(out, t.refresh)
		}
	}
	return out
}

// Calls counts the requests to a path.
func (p *Platform) Calls(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[path]
}

func (p *Platform) mux() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /oauth/authorize", p.authorize)
	mux.HandleFunc("POST /oauth/token", p.token)
	mux.HandleFunc("POST /oauth/revoke", p.revoke)
	mux.HandleFunc("GET /branch-metrics/{branch}", p.metrics)
	mux.HandleFunc("GET /v1/", p.api)
	return mux
}

func (p *Platform) authorize(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	q := r.URL.Query()
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil || q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	p.next++
	text := fmt.Sprintf("code-%d", p.next)
	p.codes[text] = code{q.Get("code_challenge"), q.Get("redirect_uri")}
	back.RawQuery = url.Values{"state": {q.Get("state")}, "code": {text}}.Encode()
	http.Redirect(w, r, back.String(), http.StatusFound)
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *Platform) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	f := r.PostForm
	if f.Get("client_id") != ClientID || f.Get("client_secret") != ClientSecret {
		answer(w, http.StatusUnauthorized, object{"error": "invalid_client"})
		return
	}
	good := false
	switch f.Get("grant_type") {
	case "authorization_code":
		c, ok := p.codes[f.Get("code")]
		sum := sha256.Sum256([]byte(f.Get("code_verifier")))
		good = ok && c.redirectURI == f.Get("redirect_uri") && base64.RawURLEncoding.EncodeToString(sum[:]) == c.challenge
		delete(p.codes, f.Get("code"))
	case "refresh_token":
		for _, t := range p.tokens {
			if t.refresh == f.Get("refresh_token") && t.refresh != "" && !t.revoked {
				good, t.revoked, t.refresh = true, true, ""
			}
		}
	}
	if !good {
		answer(w, http.StatusBadRequest, object{"error": "invalid_grant"})
		return
	}
	p.next++
	access, refresh := fmt.Sprintf("pscale_oauth_%d", p.next), fmt.Sprintf("pscale_refresh_%d", p.next)
	p.tokens[access] = &token{refresh: refresh}
	answer(w, http.StatusOK, object{
		"access_token": access, "refresh_token": refresh, "expires_in": int(p.life.Seconds()), "token_type": "Bearer", "scope": p.scopes,
	})
}

func (p *Platform) revoke(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = r.ParseForm()
	if t := p.tokens[r.PostForm.Get("token")]; t != nil && r.PostForm.Get("client_secret") == ClientSecret {
		t.revoked = true
	}
	w.WriteHeader(http.StatusOK)
}

// metrics serves the page of a branch at its signed address.
func (p *Platform) metrics(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range p.databases {
		for _, b := range d.Branches {
			if b.ID == r.PathValue("branch") && r.URL.Query().Get("sig") == "sig-"+b.ID {
				w.Header().Set("Content-Type", "text/plain; version=0.0.4")
				_, _ = w.Write([]byte(b.Metrics))
				return
			}
		}
	}
	w.WriteHeader(http.StatusForbidden)
}

// api answers the API. Lists have two entries a page, so that every reader has to read on.
func (p *Platform) api(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/v1/")
	p.calls[path]++
	if p.fault != nil {
		if status := p.fault(path); status != 0 {
			answer(w, status, object{"code": "fault", "message": "a fault"})
			return
		}
	}
	access, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t := p.tokens[access]
	known := bearer && t != nil && !t.revoked
	parts := strings.Split(path, "/")
	if len(parts) == 3 && parts[2] == "metrics" {
		if r.Header.Get("Authorization") == "token "+MetricsID+":"+MetricsSecret || known && p.bearer {
			answer(w, http.StatusOK, p.groups())
			return
		}
		answer(w, http.StatusForbidden, object{"code": "forbidden"})
		return
	}
	switch {
	case !known:
		answer(w, http.StatusUnauthorized, object{"code": "unauthorized"})
	case path == "organizations":
		var list []object
		for _, o := range p.organizations {
			list = append(list, object{"id": "org" + o, "name": o})
		}
		page(w, r, list)
	case len(parts) < 3 || !slices.Contains(p.organizations, parts[1]):
		answer(w, http.StatusNotFound, object{"code": "not_found"})
	case parts[2] == "audit-log":
		answer(w, http.StatusOK, object{"data": p.entries})
	default:
		p.database(w, r, parts)
	}
}

func page(w http.ResponseWriter, r *http.Request, list []object) {
	number, _ := strconv.Atoi(r.URL.Query().Get("page"))
	from := min(2*(max(number, 1)-1), len(list))
	to := min(from+2, len(list))
	out := object{"data": append([]object{}, list[from:to]...), "next_page": nil}
	if to < len(list) {
		out["next_page"] = number + 1
	}
	answer(w, http.StatusOK, out)
}

func (p *Platform) database(w http.ResponseWriter, r *http.Request, parts []string) {
	if len(parts) == 3 {
		var list []object
		for _, d := range p.databases {
			list = append(list, object{
				"id": "db-" + d.Name, "name": d.Name, "kind": d.Kind, "state": "ready", "plan": d.Plan, "region": object{"slug": "us-east"},
			})
		}
		page(w, r, list)
		return
	}
	i := slices.IndexFunc(p.databases, func(d *Database) bool { return d.Name == parts[3] })
	if i < 0 || len(parts) < 5 {
		answer(w, http.StatusNotFound, object{"code": "not_found"})
		return
	}
	switch d := p.databases[i]; {
	case len(parts) == 5 && parts[4] == "branches":
		var list []object
		for _, b := range d.Branches {
			list = append(list, object{"id": b.ID, "name": b.Name, "production": b.Production, "ready": true})
		}
		page(w, r, list)
	case len(parts) == 5 && parts[4] == "deploy-requests":
		page(w, r, p.requests)
	case len(parts) == 7 && parts[6] == "insights":
		p.insights++
		answer(w, http.StatusOK, object{"data": []object{
			{
				"fingerprint": "a1", "normalized_sql": "select ?", "statement_type": "SELECT", "query_count": 4, "sum_total_duration_millis": 10,
				"time_per_query": 2.5, "p50_latency": 2, "p99_latency": 4,
			},
			{
				"fingerprint": "b2", "normalized_sql": "update `order` set a = ?", "query_count": 9, "error_count": 1, "sum_total_duration_millis": 90,
				"time_per_query": 10,
				"p50_latency":    9, "p99_latency": 20, "rows_read_per_query": 3.5, "rows_returned_per_query": 0.5,
				"last_run_at": r.URL.Query().Get("to"),
			},
		}})
	default:
		answer(w, http.StatusNotFound, object{"code": "not_found"})
	}
}

// groups is the answer of the service discovery.
func (p *Platform) groups() []object {
	at, err := url.Parse(p.URL)
	if err != nil {
		return nil
	}
	var out []object
	for _, d := range p.databases {
		for _, b := range d.Branches {
			out = append(out, object{"targets": []string{at.Host}, "labels": object{
				"__scheme__": "http", "__metrics_path__": "/branch-metrics/" + b.ID, "__param_sig": "sig-" + b.ID,
				"planetscale_database": d.Name, "planetscale_database_branch_id": b.ID,
			}})
		}
	}
	return out
}
