// Package jsoncall makes requests to providers whose answers are JSON, and sorts their failures.
package jsoncall

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
)

// maxAnswer bounds the body of an answer.
const maxAnswer = 8 << 20

// Caller makes requests to one provider.
type Caller struct {
	// Name is the name of the provider for people.
	Name   string
	Client *http.Client
	// Sort looks at the body of an answer that is no success and returns its problem; nil: the status says enough. It may be nil.
	Sort func(status int, body []byte) *integrations.Problem
}

// Do sends a request and reads its answer into a value; nil drops the answer. The error is a *integrations.Problem. Headers hold the
// credentials, so no error holds the request.
func (c *Caller) Do(r *http.Request, into any) error {
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "svc")
	res, err := c.Client.Do(r) //nolint:gosec // G704: the client is confined to the origins that the operator has set
	if err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "%s did not answer in time.", c.Name)
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return integrations.NewProblem(integrations.Upstream, err, "%s did not answer in time.", c.Name)
	case len(body) > maxAnswer:
		return integrations.NewProblem(integrations.Upstream, nil, "An answer of %s is too large.", c.Name)
	case res.StatusCode/100 != 2:
		return c.problem(res, body)
	case into == nil:
		return nil
	}
	if err := json.Unmarshal(body, into); err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "An answer of %s cannot be read.", c.Name)
	}
	return nil
}

func (c *Caller) problem(res *http.Response, body []byte) *integrations.Problem {
	if c.Sort != nil {
		if p := c.Sort(res.StatusCode, body); p != nil {
			return p
		}
	}
	switch res.StatusCode {
	case http.StatusTooManyRequests:
		p := integrations.NewProblem(integrations.RateLimited, nil, "%s asks for a pause.", c.Name)
		p.RetryAfter = pause(res.Header)
		return p
	case http.StatusUnauthorized:
		return integrations.NewProblem(integrations.Unauthorized, nil, "%s refuses the token.", c.Name)
	case http.StatusForbidden, http.StatusPaymentRequired:
		return integrations.NewProblem(integrations.Forbidden, nil,
			"The token, or the plan of the account, does not allow the request at %s.", c.Name)
	case http.StatusNotFound, http.StatusGone:
		return integrations.NewProblem(integrations.NotFound, nil, "%s knows no such thing, or the token may not see it.", c.Name)
	}
	if res.StatusCode/100 == 4 {
		return integrations.NewProblem(integrations.Invalid, nil, "%s does not take the request (status %d).", c.Name, res.StatusCode)
	}
	return integrations.NewProblem(integrations.Upstream, nil, "%s failed (status %d).", c.Name, res.StatusCode)
}

// pause is the time that an answer with the status 429 asks for.
func pause(h http.Header) time.Duration {
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second
	}
	return time.Minute
}
