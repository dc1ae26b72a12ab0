package jsoncall

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
)

// TestAnswers: each answer of a provider becomes a value, or a problem of one kind.
func TestAnswers(t *testing.T) {
	t.Parallel()
	soon := fmt.Sprint(time.Now().Add(40 * time.Second).Unix())
	for name, c := range map[string]struct {
		status int
		header [2]string
		body   string
		kind   integrations.Kind
		good   bool
		// least and most bound the pause that is asked for.
		least, most time.Duration
	}{
		"a value":      {200, [2]string{"X-A", "b"}, `{"v":1}`, 0, true, 0, 0},
		"unchanged":    {304, [2]string{}, "", 0, true, 0, 0},
		"no JSON":      {200, [2]string{}, "<html>", integrations.Upstream, false, 0, 0},
		"cut":          {200, [2]string{"Content-Length", "100"}, `{"v":1`, integrations.Upstream, false, 0, 0},
		"too large":    {200, [2]string{}, `{"v":1,"x":"` + strings.Repeat("x", 200) + `"}`, integrations.Upstream, false, 0, 0},
		"a pause":      {429, [2]string{"Retry-After", "7"}, "", integrations.RateLimited, false, 7 * time.Second, 7 * time.Second},
		"a long pause": {429, [2]string{"Retry-After", "99999"}, "", integrations.RateLimited, false, time.Hour, time.Hour},
		"the end of a window": {
			429,
			[2]string{"RateLimit-Reset", soon},
			"", integrations.RateLimited, false, 30 * time.Second,
			40 * time.Second,
		},
		"a window that has ended":  {429, [2]string{"RateLimit-Reset", "1"}, "", integrations.RateLimited, false, time.Minute, time.Minute},
		"no pause":                 {429, [2]string{}, "", integrations.RateLimited, false, time.Minute, time.Minute},
		"refused":                  {401, [2]string{}, "", integrations.Unauthorized, false, 0, 0},
		"forbidden":                {403, [2]string{}, "", integrations.Forbidden, false, 0, 0},
		"unknown":                  {404, [2]string{}, "", integrations.NotFound, false, 0, 0},
		"taken down":               {451, [2]string{}, "", integrations.NotFound, false, 0, 0},
		"a bad request":            {400, [2]string{}, "", integrations.Invalid, false, 0, 0},
		"a failure":                {503, [2]string{}, "", integrations.Upstream, false, 0, 0},
		"the provider's own words": {400, [2]string{}, "mine", integrations.Gone, false, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if c.header[0] != "" {
					w.Header().Set(c.header[0], c.header[1])
				}
				w.WriteHeader(c.status)
				_, _ = w.Write([]byte(c.body))
			}))
			defer server.Close()
			caller := Caller{Name: "It", Client: server.Client(), Most: 100, Sort: func(_ int, body []byte) *integrations.Problem {
				if string(body) == "mine" {
					return integrations.NewProblem(integrations.Gone, nil, "gone")
				}
				return nil
			}}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			if err != nil {
				t.Fatal(err)
			}
			var into struct{ V int }
			answer, err := caller.Ask(req, &into)
			if c.good {
				if err != nil || answer.Status != c.status || answer.Header.Get("X-A") != c.header[1] || (into.V == 1) != (c.status == 200) {
					t.Errorf("%+v %+v %v", answer, into, err)
				}
				return
			}
			var p *integrations.Problem
			if !errors.As(err, &p) || p.Kind != c.kind || p.RetryAfter < c.least || p.RetryAfter > c.most {
				t.Errorf("%v after %v, want the kind %d", err, p, c.kind)
			}
		})
	}
}
