package gitlab_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
)

// TestHook: which deliveries to the secret address are good, and what they ask to read again.
func TestHook(t *testing.T) {
	t.Parallel()
	const (
		secret = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
		body   = `{"project":{"path_with_namespace":"acme/team/shop"},"object_attributes":{"iid":7}}`
	)
	b := newBench(t)
	plain := func(name, value string) http.Header {
		h := http.Header{"X-Gitlab-Event-Uuid": {"d1"}}
		h.Set(name, value)
		return h
	}
	with := func(h http.Header, name, value string) http.Header {
		h.Set(name, value)
		return h
	}
	for name, c := range map[string]struct {
		header http.Header
		event  string
		sync   bool
		pull   int64
		forged bool
	}{
		"signed":               {gitlabtest.Sign(secret, "d1", b.now, []byte(body)), "Merge Request Hook", false, 7, false},
		"signed a while ago":   {gitlabtest.Sign(secret, "d1", b.now.Add(-4*time.Minute), []byte(body)), "Push Hook", false, 0, false},
		"signed too long ago":  {gitlabtest.Sign(secret, "d1", b.now.Add(-6*time.Minute), []byte(body)), "Push Hook", false, 0, true},
		"signed in the future": {gitlabtest.Sign(secret, "d1", b.now.Add(6*time.Minute), []byte(body)), "Push Hook", false, 0, true},
		"another key":          {gitlabtest.Sign("whsec_AAAA", "d1", b.now, []byte(body)), "Push Hook", false, 0, true},
		"another body":         {gitlabtest.Sign(secret, "d1", b.now, []byte("{}")), "Push Hook", false, 0, true},
		"another id":           {with(gitlabtest.Sign(secret, "d0", b.now, []byte(body)), "Webhook-Id", "d1"), "Push Hook", false, 0, true},
		"a signature, and a token": {
			with(gitlabtest.Sign("whsec_AAAA", "d1", b.now, []byte(body)), "X-Gitlab-Token", secret), "Push Hook",
			false, 0, true,
		},
		"the token":                 {plain("X-Gitlab-Token", secret), "Project Hook", true, 0, false},
		"another token":             {plain("X-Gitlab-Token", "guess"), "Project Hook", false, 0, true},
		"the address alone":         {plain("User-Agent", "GitLab"), "Member Hook", true, 0, false},
		"a pipeline":                {plain("X-Gitlab-Token", secret), "Pipeline Hook", false, 0, false},
		"two signatures, one of us": {two(gitlabtest.Sign(secret, "d1", b.now, []byte(body))), "Push Hook", false, 0, false},
	} {
		c.header.Set("X-Gitlab-Event", c.event)
		d, err := b.app.Hook(secret, c.header, []byte(body))
		if errors.Is(err, integrations.ErrForged) != c.forged || !c.forged &&
			(err != nil || d.ID != "d1" || d.Kind != c.event || d.Sync != c.sync || d.PullRequest != c.pull || d.Account != "") {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if c.pull != 0 && d.Repository != "acme/team/shop" {
			t.Errorf("%s: repository %q", name, d.Repository)
		}
	}
	if _, err := b.app.Verify(plain("X-Gitlab-Token", secret), []byte(body)); !errors.Is(err, integrations.ErrForged) {
		t.Errorf("an address without a token: %v", err)
	}
}

func two(h http.Header) http.Header {
	h.Set("Webhook-Signature", "v1,AAAA "+h.Get("Webhook-Signature"))
	return h
}
