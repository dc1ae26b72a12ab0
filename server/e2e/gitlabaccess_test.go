package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
)

// TestGitLabAccess: tokens end and are renewed, access is withdrawn and given back, and nobody else sees the account.
func TestGitLabAccess(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	connection, repo := b.connect()
	file := func(want int, tag string) {
		t.Helper()
		got := b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, want)
		if want != 200 && tagOf(got) != tag {
			t.Errorf("%v, want %s", got, tag)
		}
	}
	file(200, "")

	// Another organization sees nothing of it, whatever it knows. A member does not learn the address for webhooks.
	other := b.s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	stranger.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 404)
	stranger.call("DELETE", "/v2/integrations/source_connections/"+connection, "", 404)
	if got := fmt.Sprint(stranger.call("GET", gitlabPath, "", 200)["connections"]); got != "[]" {
		t.Errorf("another organization sees %s", got)
	}
	member := join(t, b.s)
	if a := b.account(restClient{t, b.s, signIn(t, b.s, member.email, member.password, b.s.OrgID)}); a["webhook_url"] != nil ||
		a["webhook_secret"] != nil {
		t.Errorf("a member sees %v", a)
	}

	for _, c := range []struct {
		answer, status int
		tag            string
	}{
		{500, 502, "@svc/http/errors/IntegrationsUpstreamError"},
		{403, 403, "@svc/http/errors/IntegrationsForbiddenError"},
		{429, 429, "@svc/http/errors/VcsRateLimitedError"},
	} {
		b.lab.Fault(func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/repository/") {
				return c.answer
			}
			return 0
		})
		file(c.status, c.tag)
	}
	b.lab.Fault(nil)

	// A delivery to the secret address is a hint; one that is signed with another key does not count, and the address without its secret does
	// not exist.
	address, secret := fmt.Sprint(b.account(b.rest)["webhook_url"]), fmt.Sprint(b.account(b.rest)["webhook_secret"])
	body := []byte(`{"event_name":"project_rename"}`)
	deliver := func(address, id, secret string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(string(body)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = gitlabtest.Sign(secret, id, time.Now(), body)
		req.Header.Set("X-Gitlab-Event", "Project Hook")
		status, _ := roundTrip(t, req)
		return status
	}
	for name, c := range map[string]struct {
		address, secret string
		status          int
	}{
		"another key": {address, "whsec_AAAA", 401}, "another address": {address + "x", secret, 401},
		"no address": {b.s.BaseURL + "/integrations/gitlab/webhook", secret, 401},
	} {
		if status := deliver(c.address, name, c.secret); status != c.status {
			t.Errorf("%s: %d, want %d", name, status, c.status)
		}
	}
	b.lab.Change(func() { b.project.FullName, b.project.Archived = "acme/store", true })
	if status := deliver(address, "d1", secret); status != 202 {
		t.Fatalf("a delivery: %d", status)
	}
	b.until("the project is renamed", func() bool { return b.repositories()[0]["full_name"] == "acme/store" })
	if r := b.repositories()[0]; r["id"] != repo || r["is_archived"] != true {
		t.Errorf("renamed and archived: %v", r)
	}

	// The person is no longer a reporter: the project is gone at once, and its copy too.
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/search", `{"query":"Total"}`, 200)
	b.lab.Change(func() { b.project.Members["ada"] = gitlabtest.Guest })
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	b.until("the project is removed", func() bool { return b.repositories()[0]["status"] == "removed" })
	file(404, "@svc/http/errors/VcsRepoUnavailableError")
	b.until("the copy is deleted", func() bool { return b.packs() == 0 })
	b.lab.Change(func() { b.project.Members["ada"] = gitlabtest.Reporter })
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	b.until("the project is back", func() bool { return b.repositories()[0]["status"] == "active" })
	file(200, "")

	// The person withdraws the access at GitLab.
	b.rest.call("PATCH", "/v2/integrations/source_connections/"+connection, `{"code_access":"admins"}`, 200)
	b.lab.Revoke("ada")
	file(401, "@svc/http/errors/IntegrationsRevokedError")
	b.lab.Expire()
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	b.until("the refusal is shown", func() bool { return b.account(b.rest)["error"] != nil })
	b.login("connected")
	b.state("connected")
	file(200, "")
	if a := b.account(b.rest); a["id"] != connection || a["code_access"] != "admins" || a["webhook_url"] != address {
		t.Errorf("after the reconnect: %v", a)
	}

	// Disconnected here, the tokens are given back.
	b.rest.call("DELETE", "/v2/integrations/source_connections/"+connection, "", 200)
	if left := b.repositories(); len(left) != 0 || b.packs() != 0 || b.lab.Good("ada") != 0 {
		t.Errorf("after the disconnect: %v, %d copies, %d good tokens", left, b.packs(), b.lab.Good("ada"))
	}
	if status := deliver(address, "d2", secret); status != 410 {
		t.Errorf("a delivery to the address of no account: %d", status)
	}
}

// TestGitLabRenewal: tokens that live a few seconds are renewed while people read; a grant that ends needs a person.
func TestGitLabRenewal(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	b.lab.Change(func() { b.lab.Life = 10 * time.Second })
	_, repo := b.connect()
	for end := time.Now().Add(25 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 200)
	}
	if a := b.account(b.rest); a["status"] != "connected" || a["error"] != nil {
		t.Errorf("after some renewals: %v", a)
	}
	if n := b.lab.Requests("/oauth/token"); n < 3 {
		t.Errorf("%d requests for tokens", n)
	}
	// A reading that the refusal meets before the renewal is repeated after a minute, since a provider may refuse a good token for moments.
	b.lab.Revoke("ada")
	eventually(t, "the account waits for a person", func() bool { return b.account(b.rest)["status"] == "reconnect_needed" })
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 401)
	b.lab.Change(func() { b.lab.Life = time.Hour })
	b.login("connected")
	b.state("connected")
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 200)
}
