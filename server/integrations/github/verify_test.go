package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/github/githubtest"
)

// TestVerify: which deliveries are good, and which of them make an account due.
func TestVerify(t *testing.T) {
	const body = `{"installation":{"id":42},"repository":{"full_name":"acme/shop"},"number":7}`
	a := &App{cfg: Config{WebhookSecret: githubtest.WebhookSecret}}
	for name, c := range map[string]struct {
		app         *App
		event, sign string
		sync        bool
		pull        int64
		forged      bool
	}{
		"an installation":      {a, "installation", githubtest.Sign(githubtest.WebhookSecret, []byte(body)), true, 0, false},
		"a renamed repository": {a, "repository", githubtest.Sign(githubtest.WebhookSecret, []byte(body)), true, 0, false},
		"a push":               {a, "push", githubtest.Sign(githubtest.WebhookSecret, []byte(body)), false, 0, false},
		"a pull request":       {a, "pull_request", githubtest.Sign(githubtest.WebhookSecret, []byte(body)), false, 7, false},
		"another secret":       {a, "installation", githubtest.Sign("guess", []byte(body)), false, 0, true},
		"another body":         {a, "installation", githubtest.Sign(githubtest.WebhookSecret, []byte("{}")), false, 0, true},
		"no signature":         {a, "installation", "", false, 0, true},
		"no scheme": {
			a, "installation", strings.TrimPrefix(githubtest.Sign(githubtest.WebhookSecret, []byte(body)), "sha256="), false,
			0, true,
		},
		"a server without one": {&App{}, "installation", githubtest.Sign("", []byte(body)), false, 0, true},
	} {
		h := http.Header{}
		h.Set("X-GitHub-Event", c.event)
		h.Set("X-GitHub-Delivery", "d1")
		h.Set("X-Hub-Signature-256", c.sign)
		d, err := c.app.Verify(h, []byte(body))
		if errors.Is(err, integrations.ErrForged) != c.forged || !c.forged && (err != nil || d.ID != "d1" || d.Kind != c.event ||
			d.Account != "42" || d.Sync != c.sync || d.PullRequest != c.pull) {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}
