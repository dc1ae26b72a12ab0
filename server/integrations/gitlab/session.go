package gitlab

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/jsoncall"
)

// session asks the API with the tokens of an account. It is safe for concurrent use.
type session struct {
	app        *App
	connection integrations.Connection
	// renew is nil in the worker, which renews the tokens itself, and in a login.
	renew integrations.Renew

	mu     sync.Mutex
	tokens tokens
}

// usable reports whether a token has not ended, nor ends in the next moments.
func (t tokens) usable(now time.Time) bool {
	return now.Before(t.ExpiresAt.Add(-min(10*time.Second, t.ExpiresAt.Sub(t.From)/8)))
}

// token returns the access token; one that has ended is renewed first.
func (s *session) token(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.renew == nil || s.tokens.usable(s.app.cfg.Now()) {
		return s.tokens.Access, nil
	}
	return s.renewed(ctx)
}

// after returns another access token than one that GitLab refused.
func (s *session) after(ctx context.Context, refused string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tokens.Access != refused {
		return s.tokens.Access, nil // another request of this session has renewed it
	}
	return s.renewed(ctx)
}

func (s *session) renewed(ctx context.Context) (string, error) {
	c, err := s.renew(ctx, s.connection)
	if err != nil {
		return "", err
	}
	t, err := readTokens(c.Credentials)
	if err != nil {
		return "", err
	}
	s.connection, s.tokens = c, t
	return t.Access, nil
}

// ask sends a request with the access token by a function. A token that was renewed meanwhile is void, so a refused one is replaced once.
func (s *session) ask(ctx context.Context, query url.Values, etag string, parts []string, send func(*http.Request) error) error {
	token, err := s.token(ctx)
	if err != nil {
		return err
	}
	err = s.send(ctx, query, etag, parts, token, send)
	if s.renew == nil || !integrations.IsKind(err, integrations.Unauthorized) {
		return err
	}
	next, failed := s.after(ctx, token)
	switch {
	case integrations.IsKind(failed, integrations.Suspended), integrations.IsKind(failed, integrations.Gone):
		return failed
	case failed != nil:
		return err
	}
	return s.send(ctx, query, etag, parts, next, send)
}

func (s *session) send(
	ctx context.Context, query url.Values, etag string, parts []string, token string, send func(*http.Request) error,
) error {
	address := s.app.Base.String() + "/api/v4"
	for _, p := range parts {
		if p == "." || p == ".." { // which a server on the way may take for a folder
			return integrations.NewProblem(integrations.NotFound, nil, "GitLab knows no such thing.")
		}
		address += "/" + url.PathEscape(p)
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return integrations.NewProblem(integrations.Invalid, err, "GitLab does not take the request.")
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	return send(req)
}

// get asks for JSON. With the ETag of an earlier answer, an unchanged one has the status 304.
func (s *session) get(ctx context.Context, query url.Values, etag string, into any, parts ...string) (answer jsoncall.Answer, err error) {
	err = s.ask(ctx, query, etag, parts, func(r *http.Request) (err error) {
		answer, err = s.app.client.Ask(r, into)
		return err
	})
	return answer, err
}

// open asks for a content. The caller closes its body.
func (s *session) open(ctx context.Context, query url.Values, parts ...string) (res *http.Response, err error) {
	err = s.ask(ctx, query, "", parts, func(r *http.Request) (err error) {
		res, err = s.app.files.Open(r) //nolint:bodyclose // the caller of open closes it
		return err
	})
	return res, err
}

// sortProblem knows the errors of the server of logins, and a scope that is missing (RFC 6750 section 3.1).
func sortProblem(_ int, body []byte) *integrations.Problem {
	var said struct{ Error string }
	_ = json.Unmarshal(body, &said) // an answer of another form is judged by its status
	if said.Error == "insufficient_scope" {
		return integrations.NewProblem(integrations.Forbidden, nil,
			"GitLab did not permit the request: the application lacks one of the scopes %s.", strings.Join(scopes(), ", "))
	}
	return integrations.TokenProblem(Name, "gitlab-client-id and gitlab-client-secret", body)
}
