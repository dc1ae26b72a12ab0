package oidc

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/svc-observability/svc/server/auth"
)

// provider is an OpenID Connect provider that lies where a test asks for it.
type provider struct {
	*httptest.Server
	key *rsa.PrivateKey
	// claims change the claims of the ID token, info those of the userinfo endpoint.
	claims, info map[string]any
	signWith     *rsa.PrivateKey
	tokenStatus  int
	challenge    string
	form         url.Values
}

func newProvider(t *testing.T) *provider {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	p := &provider{key: key, signWith: key, tokenStatus: http.StatusOK, claims: map[string]any{}}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	answer := func(w http.ResponseWriter, v any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(v)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/jwks",
			"userinfo_endpoint": p.URL + "/me", "id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/jwks", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: key.Public(), KeyID: "k", Algorithm: "RS256", Use: "sig"}}})
	})
	mux.HandleFunc("/me", func(w http.ResponseWriter, _ *http.Request) { answer(w, p.info) })
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		p.form = r.PostForm
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if p.tokenStatus != http.StatusOK || base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			answer(w, map[string]string{"error": "invalid_grant", "error_description": "no", "id_token": "SECRET"})
			return
		}
		answer(w, map[string]any{"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": p.idToken(t)})
	})
	return p
}

func (p *provider) idToken(t *testing.T) string {
	claims := map[string]any{
		"iss": p.URL, "sub": "s1", "aud": "client", "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(),
		"email": "ada@example.com", "email_verified": true, "name": "Ada",
	}
	maps.Copy(claims, p.claims)
	for name, v := range claims {
		if v == nil {
			delete(claims, name)
		}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: p.signWith, KeyID: "k"}}, nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Error(err)
		return ""
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Error(err)
		return ""
	}
	out, err := signed.CompactSerialize()
	if err != nil {
		t.Error(err)
	}
	return out
}

// TestFlow checks that a statement of the provider counts only if its signature, its audience and our nonce prove it.
func TestFlow(t *testing.T) {
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ada := auth.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true, Name: "Ada"}
	unverified := ada
	unverified.EmailVerified = false
	for name, tc := range map[string]struct {
		change func(*provider)
		want   auth.Identity // zero: the sign-in is refused
		text   string        // in the error
	}{
		"good":                       {func(*provider) {}, ada, ""},
		"verified as text":           {func(p *provider) { p.claims["email_verified"] = "true" }, ada, ""},
		"not verified":               {func(p *provider) { p.claims["email_verified"] = false }, unverified, ""},
		"verified is not said":       {func(p *provider) { p.claims["email_verified"] = nil }, unverified, ""},
		"verified is something else": {func(p *provider) { p.claims["email_verified"] = 1 }, unverified, ""},
		"userinfo": {func(p *provider) {
			p.claims["email"], p.claims["email_verified"], p.claims["name"] = nil, nil, nil
			p.info = map[string]any{"sub": "s1", "email": "ada@example.com", "email_verified": true, "name": "Ada"}
		}, ada, ""},
		"a picture": {
			func(p *provider) { p.claims["picture"] = "https://id.example/ada.png" },
			auth.Identity{Subject: "s1", Email: "ada@example.com", EmailVerified: true, Name: "Ada", Picture: "https://id.example/ada.png"},
			"",
		},
		"userinfo of another": {func(p *provider) {
			p.claims["email"] = nil
			p.info = map[string]any{"sub": "s2", "email": "eve@example.com", "email_verified": true}
		}, auth.Identity{}, "different people"},
		"another nonce":    {func(p *provider) { p.claims["nonce"] = "other" }, auth.Identity{}, "another sign-in"},
		"no nonce":         {func(p *provider) { p.claims["nonce"] = nil }, auth.Identity{}, "another sign-in"},
		"another audience": {func(p *provider) { p.claims["aud"] = "other" }, auth.Identity{}, "verify"},
		"another issuer":   {func(p *provider) { p.claims["iss"] = "https://evil.example" }, auth.Identity{}, "verify"},
		"expired":          {func(p *provider) { p.claims["exp"] = time.Now().Add(-time.Hour).Unix() }, auth.Identity{}, "verify"},
		"another key":      {func(p *provider) { p.signWith = stranger }, auth.Identity{}, "verify"},
		"code refused":     {func(p *provider) { p.tokenStatus = 400 }, auth.Identity{}, "400 invalid_grant"},
		"another verifier": {func(p *provider) { p.challenge = "x" }, auth.Identity{}, "400 invalid_grant"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t)
			rp := New(Config{
				Issuer: p.URL, ClientID: "client", ClientSecret: "s", Scopes: []string{"openid", "email"}, RedirectURL: "https://svc.test/cb",
			})
			to, flow, err := rp.Start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			u, err := url.Parse(to)
			if err != nil {
				t.Fatal(err)
			}
			q := u.Query()
			if q.Get("state") != flow.State || q.Get("nonce") != flow.Nonce || q.Get("code_challenge_method") != "S256" ||
				q.Get("redirect_uri") != "https://svc.test/cb" ||
				q.Get("scope") != "openid email" || q.Get("response_type") != "code" || len(flow.State) < 43 || strings.Contains(to, flow.Verifier) {
				t.Errorf("the browser is sent to %s", to)
			}
			p.challenge, p.claims["nonce"] = q.Get("code_challenge"), flow.Nonce
			tc.change(p)
			got, err := rp.Finish(t.Context(), flow, "code")
			if tc.want != (auth.Identity{}) {
				tc.want.Issuer = p.URL
				if err != nil || got != tc.want {
					t.Errorf("got %+v, %v; want %+v", got, err, tc.want)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.text) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("got %+v, %v; want an error with %q", got, err, tc.text)
			}
		})
	}
}

// TestDiscoveryComesBack checks that a provider that was down is asked again, but not by every sign-in at once.
func TestDiscoveryComesBack(t *testing.T) {
	asked := 0
	up := false
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		if !up {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": server.URL, "authorization_endpoint": server.URL + "/a", "token_endpoint": server.URL + "/t", "jwks_uri": server.URL + "/j",
		})
	}))
	defer server.Close()
	rp := New(Config{Issuer: server.URL, ClientID: "c", Scopes: []string{"openid"}})
	for range 5 {
		if _, _, err := rp.Start(t.Context()); err == nil {
			t.Error("it started without a provider")
		}
	}
	if asked != 1 {
		t.Errorf("the provider was asked %d times", asked)
	}
	up = true
	rp.retryAt = time.Now()
	for range 3 {
		if _, _, err := rp.Start(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if asked != 2 {
		t.Errorf("the provider was asked %d times", asked)
	}
}
