// Package oidc signs people in with an OpenID Connect provider: the authorization code flow with PKCE, state and nonce. It
// contacts the provider only when somebody signs in, so the server starts even while the provider is down.
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

// requestTimeout bounds each request to the provider.
const requestTimeout = 10 * time.Second

// RetryAfter is the pause after a failed discovery.
const RetryAfter = 3 * time.Second

// Config configures a Provider.
type Config struct {
	Issuer   string
	ClientID string
	// ClientSecret is empty for a client without one.
	ClientSecret string
	// Scopes include openid.
	Scopes []string
	// RedirectURL is our callback address, as registered with the provider.
	RedirectURL string
}

// Provider is safe for concurrent use.
type Provider struct {
	cfg    Config
	client *http.Client

	mu     sync.Mutex
	found  *discovered
	failed error
	// retryAt is the time from which a failed discovery is tried again.
	retryAt time.Time
}

// discovered is the metadata that the provider publishes.
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

// Flow is one attempt to sign in. The caller keeps it until the callback, where only this server and this browser can read it.
type Flow struct {
	State    string `json:"state"`
	Nonce    string `json:"nonce"`
	Verifier string `json:"verifier"`
}

// discover asks the provider once. A failure is remembered briefly, so that not every sign-in waits for a provider that is down.
func (p *Provider) discover(ctx context.Context) (*discovered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.found != nil {
		return p.found, nil
	}
	if p.failed != nil && time.Now().Before(p.retryAt) {
		return nil, p.failed
	}
	// Other sign-ins wait for the same answer, so the end of this request must not cancel it.
	provider, err := goidc.NewProvider(p.context(context.WithoutCancel(ctx)), p.cfg.Issuer)
	if err != nil {
		p.failed, p.retryAt = fmt.Errorf("oidc: discovery: %w", err), time.Now().Add(RetryAfter)
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

// Start returns the address to send the browser to, and the flow to keep.
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

// claims are the claims that we use, from the ID token and the userinfo endpoint.
type claims struct {
	Subject  string   `json:"sub"`
	Email    string   `json:"email"`
	Verified verified `json:"email_verified"`
	Name     string   `json:"name"`
	Picture  string   `json:"picture"`
}

// verified accepts true and "true": some providers send text.
type verified bool

// UnmarshalJSON reads the claim.
func (v *verified) UnmarshalJSON(b []byte) error {
	*v = string(b) == `true` || string(b) == `"true"`
	return nil
}

// Finish exchanges the code of a callback and returns the identity of the person who signed in. The caller has checked that the
// state of the callback is the flow's.
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
		return auth.Identity{}, errors.New("oidc: the ID token belongs to another sign-in")
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
	return auth.Identity{
		Issuer: id.Issuer, Subject: id.Subject, Email: c.Email, EmailVerified: bool(c.Verified), Name: c.Name,
		Picture: c.Picture,
	}, nil
}

// ask fetches the claims that the ID token lacks from the userinfo endpoint. The answer must name the same subject.
func (p *Provider) ask(ctx context.Context, d *discovered, token *oauth2.Token, c *claims) error {
	if d.provider.UserInfoEndpoint() == "" {
		return nil
	}
	info, err := d.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("oidc: request the user information: %w", err)
	}
	if info.Subject != c.Subject {
		return errors.New("oidc: the ID token and the user information are about different people")
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

// withoutBody drops the response of the token endpoint from an error, because it may hold tokens and errors are logged.
func withoutBody(err error) error {
	var refused *oauth2.RetrieveError
	if errors.As(err, &refused) {
		status := 0
		if refused.Response != nil {
			status = refused.Response.StatusCode
		}
		return fmt.Errorf("the provider answered %d %s %s", status, refused.ErrorCode, refused.ErrorDescription)
	}
	return err
}
