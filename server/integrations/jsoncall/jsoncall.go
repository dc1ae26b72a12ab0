// Package jsoncall makes requests to providers whose answers are JSON, and sorts their failures.
package jsoncall

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
)

// Caller makes requests to one provider.
type Caller struct {
	// Name is the name of the provider for people.
	Name   string
	Client *http.Client
	// Agent is the User-Agent; `svc` if it is empty.
	Agent string
	// Sort looks at the body of an answer that is not a success and returns its problem; nil: the status says enough. It may be nil.
	Sort func(status int, body []byte) *integrations.Problem
	// Most bounds the body of an answer; 8 MiB if it is 0.
	Most int64
}

// Do sends a request and reads its answer into a value; nil drops the answer. The error is a *integrations.Problem. Headers hold the
// credentials, so no error holds the request.
func (c *Caller) Do(r *http.Request, into any) error {
	_, err := c.Ask(r, into)
	return err
}

// Answer is an answer without its body.
type Answer struct {
	Status int
	Header http.Header
}

// Ask is Do that returns the answer. The status 304 is a success, which leaves the value as it is.
func (c *Caller) Ask(r *http.Request, into any) (Answer, error) {
	r.Header.Set("Accept", "application/json")
	res, err := c.Open(r)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	answer := Answer{res.StatusCode, res.Header}
	if into == nil || res.StatusCode == http.StatusNotModified {
		return answer, nil
	}
	body, err := c.read(res)
	if err != nil {
		return Answer{}, err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return Answer{}, integrations.NewProblem(integrations.Upstream, err, "An answer of %s cannot be read.", c.Name)
	}
	return answer, nil
}

// Open is Do that leaves the body of a success to the caller, who closes it.
func (c *Caller) Open(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", cmp.Or(c.Agent, "svc"))
	res, err := c.Client.Do(r) //nolint:gosec // G704: the client is confined to the origins that the operator has set
	if err != nil {
		return nil, integrations.NewProblem(integrations.Upstream, err, "%s did not answer in time.", c.Name)
	}
	if res.StatusCode/100 == 2 || res.StatusCode == http.StatusNotModified {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }()
	body, err := c.read(res)
	if err != nil {
		return nil, err
	}
	return nil, c.problem(res, body)
}

func (c *Caller) read(res *http.Response) ([]byte, error) {
	most := c.Most
	if most == 0 {
		most = limits.ProviderAnswer
	}
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	switch {
	case err != nil:
		return nil, integrations.NewProblem(integrations.Upstream, err, "%s did not answer in time.", c.Name)
	case int64(len(body)) > most:
		return nil, integrations.NewProblem(integrations.Upstream, nil, "An answer of %s is too large.", c.Name)
	}
	return body, nil
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
	case http.StatusNotFound, http.StatusGone, http.StatusUnavailableForLegalReasons:
		return integrations.NewProblem(integrations.NotFound, nil, "%s knows no such thing, or the token may not see it.", c.Name)
	}
	if res.StatusCode/100 == 4 {
		return integrations.NewProblem(integrations.Invalid, nil, "%s does not take the request (status %d).", c.Name, res.StatusCode)
	}
	return integrations.NewProblem(integrations.Upstream, nil, "%s failed (status %d).", c.Name, res.StatusCode)
}

// pause is the time that an answer with the status 429 asks for: by Retry-After, or by the end of the window in RateLimit-Reset.
func pause(h http.Header) time.Duration {
	if seconds, err := strconv.Atoi(h.Get("Retry-After")); err == nil && seconds > 0 {
		return time.Duration(min(seconds, 3600)) * time.Second
	}
	if end, err := strconv.ParseInt(h.Get("RateLimit-Reset"), 10, 64); err == nil {
		if wait := time.Until(time.Unix(end, 0)); wait > 0 {
			return min(wait, time.Hour)
		}
	}
	return time.Minute
}
