package planetscale

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/integrations"
)

const maxAnswer = 8 << 20

// get asks the API with an authorization, and reads the answer. The path's parts are escaped.
func (a *App) get(ctx context.Context, authorization string, query url.Values, to any, parts ...string) error {
	u := a.api.JoinPath("v1")
	for _, p := range parts {
		u = u.JoinPath(url.PathEscape(p))
	}
	u.RawQuery = query.Encode()
	return a.call(ctx, http.MethodGet, u, authorization, "", nil, to)
}

// post sends a form to the server of logins.
func (a *App) post(ctx context.Context, path string, form url.Values, to any) error {
	return a.call(ctx, http.MethodPost, a.auth.JoinPath("oauth", path), "", "application/x-www-form-urlencoded", []byte(form.Encode()), to)
}

func (a *App) call(ctx context.Context, method string, u *url.URL, authorization, contentType string, body []byte, to any) error {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "PlanetScale could not be asked.")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "svc")
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	res, err := a.client.Do(req)
	if err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "PlanetScale did not answer.")
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case res.StatusCode >= 300:
		return problem(res, text)
	case err != nil:
		return integrations.NewProblem(integrations.Upstream, err, "The answer of PlanetScale broke off.")
	case to == nil:
		return nil
	}
	if err := json.Unmarshal(text, to); err != nil {
		return integrations.NewProblem(integrations.Upstream, err, "The answer of PlanetScale cannot be read.")
	}
	return nil
}

// problem sorts an answer that is no success.
func problem(res *http.Response, text []byte) error {
	var said struct{ Code, Error string }
	_ = json.Unmarshal(text, &said) // an answer without a code is judged by its status
	cause := fmt.Errorf("status %d, code %q, error %q", res.StatusCode, said.Code, said.Error)
	switch said.Error {
	case "invalid_grant":
		return integrations.NewProblem(integrations.Suspended, cause, "PlanetScale no longer accepts our access. An administrator connects the account again.")
	case "invalid_client":
		return integrations.NewProblem(integrations.Unauthorized, cause,
			"PlanetScale does not know this server: the operator's settings planetscale-client-id and planetscale-client-secret are not those of the app.")
	}
	switch res.StatusCode {
	case http.StatusUnauthorized:
		return integrations.NewProblem(integrations.Unauthorized, cause, "PlanetScale refused our access.")
	case http.StatusForbidden:
		return integrations.NewProblem(integrations.Forbidden, cause, "PlanetScale did not permit the request: a permission is missing.")
	case http.StatusNotFound, http.StatusGone:
		return integrations.NewProblem(integrations.NotFound, cause, "PlanetScale does not know it, or gives no access to it.")
	case http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusConflict:
		return integrations.NewProblem(integrations.Invalid, cause, "PlanetScale does not take the request.")
	case http.StatusTooManyRequests:
		p := integrations.NewProblem(integrations.RateLimited, cause, "PlanetScale asks for a pause.")
		p.RetryAfter = time.Minute
		if seconds, err := strconv.Atoi(res.Header.Get("Retry-After")); err == nil {
			p.RetryAfter = max(time.Second, time.Duration(seconds)*time.Second)
		}
		return p
	}
	return integrations.NewProblem(integrations.Upstream, cause, "PlanetScale failed or did not answer in time.")
}

// pages reads all pages of a list, at most most entries.
func pages[T any](ctx context.Context, a *App, authorization string, most int, parts ...string) ([]T, error) {
	var out []T
	for page := 1; len(out) < most; page++ {
		var got struct {
			Data     []T  `json:"data"`
			NextPage *int `json:"next_page"`
		}
		query := url.Values{"page": {strconv.Itoa(page)}, "per_page": {"100"}}
		if err := a.get(ctx, authorization, query, &got, parts...); err != nil {
			return nil, err
		}
		out = append(out, got.Data...)
		if got.NextPage == nil || len(got.Data) == 0 {
			return out, nil
		}
	}
	return out[:min(most, len(out))], nil
}
