package gitlabtest

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type code struct{ person, challenge, redirectURI, scope string }

// grant is a pair of tokens.
type grant struct {
	person, scope, access, refresh string
	expires                        time.Time
	void                           bool
}

func (l *Lab) oauth(mux *http.ServeMux) {
	mux.HandleFunc("GET /oauth/authorize", l.authorize)
	mux.HandleFunc("POST /oauth/token", l.token)
	mux.HandleFunc("POST /oauth/revoke", l.revoke)
}

// authorize is the page on which a person consents. Here the person does so at once.
func (l *Lab) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	l.mu.Lock()
	defer l.mu.Unlock()
	back := func(v url.Values) {
		v.Set("state", q.Get("state"))
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+v.Encode(), http.StatusFound)
	}
	switch {
	case q.Get("client_id") != ClientID, q.Get("response_type") != "code", q.Get("redirect_uri") == "":
		http.Error(w, "Client authentication failed due to unknown client", http.StatusUnauthorized)
	case q.Get("scope") != "read_api read_repository":
		back(url.Values{"error": {"invalid_scope"}})
	case q.Get("code_challenge") != "" && q.Get("code_challenge_method") != "S256":
		back(url.Values{"error": {"invalid_code_challenge_method"}})
	case l.deny:
		back(url.Values{"error": {"access_denied"}})
	default:
		l.nextID++
		c := fmt.Sprintf("code-%d", l.nextID)
		l.codes[c] = code{l.person, q.Get("code_challenge"), q.Get("redirect_uri"), q.Get("scope")}
		back(url.Values{"code": {c}})
	}
}

func oauthError(w http.ResponseWriter, status int, name string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": name, "error_description": "as the specification says"})
}

func (l *Lab) token(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != ClientSecret {
		oauthError(w, http.StatusUnauthorized, "invalid_client")
		return
	}
	switch r.PostFormValue("grant_type") {
	case "authorization_code":
		c, ok := l.codes[r.PostFormValue("code")]
		delete(l.codes, r.PostFormValue("code"))
		sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
		if !ok || c.redirectURI != r.PostFormValue("redirect_uri") ||
			c.challenge != "" && c.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
			oauthError(w, http.StatusBadRequest, "invalid_grant")
			return
		}
		l.give(w, c.person, c.scope)
	case "refresh_token":
		g := l.refresh[r.PostFormValue("refresh_token")]
		if g == nil || g.void {
			oauthError(w, http.StatusBadRequest, "invalid_grant")
			return
		}
		g.void = true // both tokens of the pair
		l.give(w, g.person, g.scope)
	default:
		oauthError(w, http.StatusBadRequest, "unsupported_grant_type")
	}
}

// give makes a pair of tokens.
func (l *Lab) give(w http.ResponseWriter, person, scope string) {
	l.nextID++
	g := &grant{
		person: person, scope: scope, access: fmt.Sprintf("access-secret-%d", l.nextID), refresh: fmt.Sprintf("refresh-secret-%d", l.nextID),
		expires: time.Now().Add(l.Life),
	}
	l.access[g.access], l.refresh[g.refresh] = g, g
	answer(w, map[string]any{
		"access_token": g.access, "refresh_token": g.refresh, "token_type": "Bearer", "expires_in": int(l.Life.Seconds()), "scope": scope,
		"created_at": time.Now().Unix(),
	})
}

func (l *Lab) revoke(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.PostFormValue("client_id") != ClientID || r.PostFormValue("client_secret") != ClientSecret {
		oauthError(w, http.StatusForbidden, "unauthorized_client")
		return
	}
	if g := l.access[r.PostFormValue("token")]; g != nil {
		g.void = true
	}
	answer(w, map[string]any{})
}

// Revoke voids all tokens of a person, as the person does on the page of authorized applications.
func (l *Lab) Revoke(person string) {
	l.Change(func() {
		for _, g := range l.access {
			g.void = g.void || g.person == person
		}
	})
}

// Expire ends the access tokens that were given so far. Their refresh tokens stay good.
func (l *Lab) Expire() {
	l.Change(func() {
		for _, g := range l.access {
			g.expires = time.Now()
		}
	})
}

// Grant gives tokens to a person, as after a consent.
func (l *Lab) Grant(person string) (access string) {
	l.Change(func() {
		l.nextID++
		access = fmt.Sprintf("access-secret-%d", l.nextID)
		l.access[access] = &grant{person: person, scope: "read_api read_repository", access: access, expires: time.Now().Add(l.Life)}
	})
	return access
}

// Good counts the tokens of a person that the lab takes.
func (l *Lab) Good(person string) (n int) {
	l.Change(func() {
		for _, g := range l.access {
			if g.person == person && !g.void && time.Now().Before(g.expires) {
				n++
			}
		}
	})
	return n
}

// asPerson checks the access token.
func (l *Lab) asPerson(next func(http.ResponseWriter, *http.Request, string)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		defer l.mu.Unlock()
		text, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		g := l.access[text]
		switch {
		case !ok:
			refuse(w, http.StatusUnauthorized, "Unauthorized")
		case g == nil || g.void || !time.Now().Before(g.expires):
			oauthError(w, http.StatusUnauthorized, "invalid_token")
		case l.blocked[g.person]:
			refuse(w, http.StatusForbidden, "Forbidden - Your account has been blocked.")
		case !strings.Contains(g.scope, "read_api"):
			oauthError(w, http.StatusForbidden, "insufficient_scope")
		default:
			next(w, r, g.person)
		}
	}
}
