package planetscale

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/svc-observability/svc/server/integrations"
)

// get asks the API with an authorization, and reads the answer. The path's parts are escaped.
func (a *App) get(ctx context.Context, authorization string, query url.Values, to any, parts ...string) error {
	u := a.Base.JoinPath("v1")
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
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return a.client.Do(req, to)
}

func sortProblem(_ int, body []byte) *integrations.Problem {
	return integrations.TokenProblem(Name, "planetscale-client-id and planetscale-client-secret", body)
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
