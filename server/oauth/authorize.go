package oauth

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Authorization is a request for access that a person can decide on.
type Authorization struct {
	Client      Client
	RedirectURI string
	// Scopes are the requested scopes: FullAccess alone, or families.
	Scopes []string

	state, challenge, scope string
}

// Refusal is a request that is refused without asking a person.
type Refusal struct {
	// Message is the reason, for the person at the browser.
	Message string
	// Redirect is the address that reports the refusal to the program. It is nil if the address is not proven to belong to the
	// program.
	Redirect *url.URL
}

func (r *Refusal) Error() string { return r.Message }

var s256 = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// Authorization reads the parameters of the authorization endpoint (RFC 6749 section 4.1.1). The error is a *Refusal, or one of the store.
func (s *Server) Authorization(ctx context.Context, q url.Values) (*Authorization, error) {
	if err := once(q); err != nil {
		return nil, &Refusal{Message: "The program's request is not valid: " + description(err)}
	}
	id, to := q.Get("client_id"), q.Get("redirect_uri")
	if id == "" || to == "" {
		return nil, &Refusal{Message: "The program's request is not valid: client_id and redirect_uri are required."}
	}
	c, err := s.client(ctx, id)
	var bad *Error
	switch {
	case errors.Is(err, errUnknownClient):
		return nil, &Refusal{
			Message: "This server does not know the program. Remove the connection in the program and add it again, so that the program registers again.",
		}
	case errors.As(err, &bad):
		return nil, &Refusal{Message: "The program's request is not valid: " + bad.Description}
	case err != nil:
		return nil, err
	}
	known := false
	for _, r := range c.RedirectURIs {
		known = known || sameRedirect(r, to)
	}
	if !known || checkRedirect(to) != "" {
		return nil, &Refusal{Message: "The program named a return address that it has not registered. Nothing was sent there."}
	}
	a := &Authorization{Client: c, RedirectURI: to, state: q.Get("state"), challenge: q.Get("code_challenge")}
	refuse := func(code, why string) error {
		return &Refusal{Message: why, Redirect: s.back(a, url.Values{"error": {code}, "error_description": {why}})}
	}
	switch {
	case q.Get("response_type") != "code":
		return nil, refuse("unsupported_response_type", "response_type must be code.")
	case q.Has("request") || q.Has("request_uri"):
		return nil, refuse("invalid_request", "Request objects are not supported.")
	case q.Get("response_mode") != "" && q.Get("response_mode") != "query":
		return nil, refuse("invalid_request", "response_mode must be query.")
	case a.challenge == "" || q.Get("code_challenge_method") != "S256":
		return nil, refuse("invalid_request", "PKCE is required: code_challenge with code_challenge_method=S256.")
	case !s256.MatchString(a.challenge):
		return nil, refuse("invalid_request", "code_challenge must be the SHA-256 of the verifier as base64url, 43 characters.")
	}
	if err := s.checkResource(q); err != nil {
		return nil, refuse("invalid_target", description(err))
	}
	if a.scope, err = s.scope(q.Get("scope")); err != nil {
		return nil, refuse("invalid_scope", description(err))
	}
	a.Scopes = strings.Fields(a.scope)
	return a, nil
}

func description(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Description
	}
	return err.Error()
}

// back returns the program's address with an answer. The answer names this server, so that the program cannot take it for the
// answer of another one (RFC 9207).
func (s *Server) back(a *Authorization, answer url.Values) *url.URL {
	u, _ := url.Parse(a.RedirectURI) // Authorization has parsed it before
	q := u.Query()
	for name, values := range answer {
		q[name] = values
	}
	if a.state != "" {
		q.Set("state", a.state)
	}
	q.Set("iss", s.cfg.Issuer)
	u.RawQuery = q.Encode()
	return u
}

// Approve makes the code that the person's browser takes to the program. ErrNotFound of the store means that the user is not a
// member of the organization.
func (s *Server) Approve(ctx context.Context, a *Authorization, org principal.OrgID, user principal.UserID) (*url.URL, error) {
	code, now := auth.NewOAuthSecret(), s.cfg.Now()
	_, err := s.cfg.Store.CreateOAuthGrant(ctx, org, store.NewOAuthGrant{
		User: user, ClientID: a.Client.ID, ClientName: a.Client.Name, Scope: a.scope, Resource: s.resource, RedirectURI: a.RedirectURI,
		CodeHash: s.cfg.Hasher.Hash(code), CodeChallenge: a.challenge, CodeExpiresAt: now.Add(codeLifetime), ExpiresAt: now.Add(GrantLifetime),
	})
	if err != nil {
		return nil, err
	}
	return s.back(a, url.Values{"code": {code}}), nil
}

// Deny returns the address that tells the program that the person refused.
func (s *Server) Deny(a *Authorization) *url.URL {
	return s.back(a, url.Values{"error": {"access_denied"}, "error_description": {"The request was refused."}})
}
