// Package oidc signs people in with an OpenID Connect provider: the authorization code flow with PKCE, state and nonce. It asks the
// provider nothing before somebody signs in, so a provider that is away does not keep the server from starting.
package oidc

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	goidc "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/svc-observability/svc/server/auth"
)

// requestTimeout bounds each question to the provider.
const requestTimeout = 10 * time.Second

// retryAfter is how long a failed discovery is not tried again.
const retryAfter = 3 * time.Second

// Config of a Provider.
type Config struct {
	Issuer   string
	ClientID string
	// ClientSecret is empty for a client without one.
	ClientSecret string
	// Scopes hold openid.
	Scopes []string
	// RedirectURL is our callback, as it is registered at the provider.
	RedirectURL string
}

// Provider is safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client

	mu     sync.Mutex
	found  *discovered
	failed error
	// retryAt is when a failed discovery is tried again.
	retryAt time.Time
}

// discovered is what the provider says of itself.
type discovered struct {
	provider *goidc.Provider
	verifier *goidc.IDTokenVerifier
	oauth    oauth2.Config
}

// New returns a Provider. It does no I/O.
func New(cfg Config) *Provider {
	return &Provider{cfg: cfg, client: &http.Client{Timeout: requestTimeout}}
}

// Issuer is the address of the provider.
func (p *Provider) Issuer() string { return p.cfg.Issuer }

// Flow is one attempt to sign in, to be kept, where only we and this browser can read it, until the callback.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// discover asks the provider once; a failure is remembered briefly, so that not everybody waits for a provider that is away.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failed != nil && time.Now().Before(p.retryAt) {
		return nil, p.failed
	}
	// Others wait for the answer too, so it is not given up with the request that happens to ask.
	provider, err := goidc.NewProvider(p.context(context.WithoutCancel(ctx)), p.cfg.Issuer)
	if err != nil {
		p.failed, p.retryAt = fmt.Errorf("oidc: discovery: %w", err), time.Now().Add(retryAfter)
		return nil, p.failed
	}
	endpoint := provider.Endpoint()
	if p.cfg.ClientSecret == "" {
		endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	p.found = &discovered{
		provider: provider,
		verifier: provider.Verifier(&goidc.Config{ClientID: p.cfg.ClientID}),
		oauth: oauth2.Config{
			ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: endpoint, RedirectURL: p.cfg.RedirectURL, Scopes: p.cfg.Scopes,
		},
	}
	return p.found, nil
}

func (p *Provider) context(ctx context.Context) context.Context {
	return goidc.ClientContext(ctx, p.client)
}

// Start returns where to send the browser, and the flow to keep.
func (p *Provider) Start(ctx context.Context) (string, Flow, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return "", Flow{}, err
	}
	f := Flow{State: random(), Nonce: random(), Verifier: oauth2.GenerateVerifier()}
	return d.oauth.AuthCodeURL(f.State, goidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), f, nil
}

func random() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails: the program ends instead
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// claims are those of the ID token and of the userinfo endpoint that we use.
type claims struct {
	Subject  string   `json:"sub"`
	Email    string   `json:"email"`
	Verified verified `json:"email_verified"`
	Name     string   `json:"name"`
}

// verified reads true and "true": some providers send text.
type verified bool

// UnmarshalJSON reads the claim.
func (v *verified) UnmarshalJSON(b []byte) error {
	*v = string(b) == `true` || string(b) == `"true"`
	return nil
}

// Finish exchanges the code of a callback whose state was that of the flow, and returns who signed in.
func (p *Provider) Finish(ctx context.Context, f Flow, code string) (auth.Identity, error) {
	d, err := p.discover(ctx)
	if err != nil {
		return auth.Identity{}, err
	}
	ctx = p.context(ctx)
	token, err := d.oauth.Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return auth.Identity{}, fmt.Errorf("oidc: exchange the code: %w", withoutBody(err))
	}
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return auth.Identity{}, errors.New("oidc: the provider sent no ID token")
	}
	id, err := d.verifier.Verify(ctx, raw)
	if err != nil {
		return auth.Identity{}, fmt.Errorf("oidc: verify the ID token: %w", err)
	}
	if id.Nonce != f.Nonce {
		return auth.Identity{}, errors.New("oidc: the ID token is of another sign-in")
	}
	var c claims
	if err := id.Claims(&c); err != nil {
		return auth.Identity{}, fmt.Errorf("oidc: read the ID token: %w", err)
	}
	if c.Email == "" {
		if err := p.ask(ctx, d, token, &c); err != nil {
			return auth.Identity{}, err
		}
	}
	return auth.Identity{Issuer: id.Issuer, Subject: id.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Name: c.Name}, nil
}

// ask takes the claims that the ID token lacks from the userinfo endpoint, which must speak of the same subject.
func (p *Provider) ask(ctx context.Context, d *discovered, token *oauth2.Token, c *claims) error {
	if d.provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("oidc: ask for the user: %w", err)
	}
	if info.Subject != c.Subject {
		return errors.New("oidc: the provider's answers speak of different people")
	}
	var more json.RawMessage
	if err := info.Claims(&more); err != nil {
		return fmt.Errorf("oidc: read the user: %w", err)
	}
	if err := json.Unmarshal(more, c); err != nil {
		return fmt.Errorf("oidc: read the user: %w", err)
	}
	return nil
}

// withoutBody keeps what the token endpoint sent, which may hold tokens, out of logs.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		status := 0
		if refused.Response != nil {
			status = refused.Response.StatusCode
		}
		return fmt.Errorf("the provider answers %d %s %s", status, refused.ErrorCode, refused.ErrorDescription)
	}
	return err
}
