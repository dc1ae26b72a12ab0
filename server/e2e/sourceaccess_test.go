package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/testkit"
)

// packs counts the copies of source code in the data folder of a server.
func (b *sourceBench) packs() int {
	b.t.Helper()
	n := 0
	err := filepath.WalkDir(filepath.Join(b.s.DataDir, "source"), func(_ string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(d.Name(), ".pack") {
			n++
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// TestSourceAccess: who may read, what a withdrawn access does, and that a disconnect leaves nothing.
func TestSourceAccess(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	connection, repo := b.connect()
	base := "/v2/integrations/source_repositories/" + repo
	member := join(t, b.s)
	asMember := restClient{t, b.s, signIn(t, b.s, member.email, member.password, b.s.OrgID)}
	b.rest.call("POST", base+"/search", `{"query":"Total"}`, 200)
	if b.packs() != 1 {
		t.Errorf("%d copies after a search", b.packs())
	}
	for access, status := range map[string][2]int{"members": {200, 200}, "admins": {403, 200}, "off": {403, 403}} {
		b.rest.call("PATCH", "/v2/integrations/source_connections/"+connection, fmt.Sprintf(`{"code_access":%q}`, access), 200)
		asMember.call("POST", base+"/file", `{"path":"README.md"}`, status[0])
		b.rest.call("POST", base+"/file", `{"path":"README.md"}`, status[1])
	}
	b.rest.call("PATCH", "/v2/integrations/source_connections/"+connection, `{"code_access":"members"}`, 200)
	if got := asMember.call("POST", "/v2/integrations/source_hosts/github/install", "{}",
		403); tagOf(got) != "@svc/http/v2/InsufficientPermissionsError" {
		t.Errorf("a member connects: %v", got)
	}

	// Another organization sees nothing of it, whatever it knows.
	other := b.s.NewOrganization(t, "Other")
	stranger := restClient{t, other, other.APIKey}
	for _, c := range []struct{ method, path, body string }{
		{"GET", base, ""},
		{"POST", base + "/search", `{"query":"Total"}`},
		{"POST", base + "/file", `{"path":"README.md"}`},
		{"POST", base + "/compare", `{"base":"main","head":"main"}`},
		{"POST", base + "/ci_runs", `{}`},
		{"DELETE", base, ""},
		{"PUT", base + "/tracked_branch", `{"tracked_branch":"main"}`},
		{"GET", base + "/commits/" + strings.Repeat("0", 40), ""},
		{"DELETE", "/v2/integrations/source_connections/" + connection, ""},
		{"POST", "/v2/integrations/source_connections/" + connection + "/sync", "{}"},
	} {
		stranger.call(c.method, c.path, c.body, 404)
	}
	if got := fmt.Sprint(stranger.call("GET", "/v2/integrations", "", 200)["data"]); strings.Contains(got, "acme") {
		t.Errorf("another organization sees %s", got)
	}

	// A rename keeps the id, and the old name still finds it.
	b.hub.Change(func() { b.repo.FullName = "acme/store" })
	if status := b.deliver("d1", "repository", githubtest.WebhookSecret, b.install.ID); status != http.StatusAccepted {
		t.Fatalf("a delivery: %d", status)
	}
	b.until("the repository is renamed", func() bool { return b.repositories()[0]["full_name"] == "acme/store" })
	found, _ := b.rest.call("GET", "/v2/integrations/source_repositories?full_name=Acme/Shop", "", 200)["data"].([]any)
	if len(found) != 1 || b.repositories()[0]["id"] != repo {
		t.Errorf("by the former name: %v", found)
	}
	b.rest.call("POST", base+"/file", `{"path":"README.md"}`, 200)

	// Forged and repeated deliveries.
	if status := b.deliver("d2", "installation", "a guess", b.install.ID); status != http.StatusUnauthorized {
		t.Errorf("a forged delivery: %d", status)
	}
	if status := b.deliver("d1", "repository", githubtest.WebhookSecret, b.install.ID); status != http.StatusAccepted {
		t.Errorf("a repeated delivery: %d", status)
	}

	// The owner takes the repository out of the installation.
	b.hub.Change(func() { b.install.Repositories = nil })
	b.deliver("d3", "installation_repositories", githubtest.WebhookSecret, b.install.ID)
	b.until("the repository is removed", func() bool { return b.repositories()[0]["status"] == "removed" })
	b.rest.call("POST", base+"/file", `{"path":"README.md"}`, 404)
	b.until("the copy is deleted", func() bool { return b.packs() == 0 })
	b.rest.call("DELETE", base, "", 200)
	if left := b.repositories(); len(left) != 0 {
		t.Errorf("after the deletion: %v", left)
	}

	// It comes back as a new one, and goes with the account.
	b.hub.Change(func() { b.install.Repositories = []int64{b.repo.ID} })
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	b.until("the repository is back", func() bool { return len(b.repositories()) == 1 })
	again := fmt.Sprint(b.repositories()[0]["id"])
	b.rest.call("POST", "/v2/integrations/source_repositories/"+again+"/search", `{"query":"Total"}`, 200)
	b.rest.call("DELETE", "/v2/integrations/source_connections/"+connection, "", 200)
	if left := b.repositories(); len(left) != 0 || b.packs() != 0 {
		t.Errorf("after the disconnect: %v, %d copies", left, b.packs())
	}
	log := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?limit=100", "", 200)["data"])
	for _, action := range []string{
		"integration.login_started", "integration.connected", "integration.updated", "integration.sync_requested",
		"integration.disconnected", "source_repository.removed", "source_repository.deleted",
	} {
		if !strings.Contains(log, action) {
			t.Errorf("the audit log has no %s", action)
		}
	}
}

// TestSourceFailures: what each failure of the source host becomes.
func TestSourceFailures(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	connection, repo := b.connect()
	file := func(want int, tag string) {
		t.Helper()
		if got := b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, want); want != 200 &&
			tagOf(got) != tag {
			t.Errorf("%v, want %s", got, tag)
		}
	}
	fail := func(status int) {
		b.hub.Fault(func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/repos/") {
				return status
			}
			return 0
		})
	}
	for _, c := range []struct {
		answer, status int
		tag            string
	}{
		{500, 502, "@svc/http/errors/IntegrationsUpstreamError"},
		{403, 403, "@svc/http/errors/IntegrationsForbiddenError"},
		{401, 401, "@svc/http/errors/IntegrationsRevokedError"},
		{429, 429, "@svc/http/errors/VcsRateLimitedError"},
	} {
		fail(c.answer)
		file(c.status, c.tag)
	}
	b.hub.Fault(nil)
	time.Sleep(1100 * time.Millisecond) // the pause that the hub asked for
	b.hub.Change(func() { delete(b.install.Permissions, "actions") })
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	b.until("the missing permission is shown", func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]), "missing_permissions:[actions: read]")
	})
	if got := b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/ci_runs", "{}", 403); !strings.Contains(fmt.Sprint(got),
		"actions: read") {
		t.Errorf("runs without the permission: %v", got)
	}

	// Suspended at the provider: the page and the list say it, and nothing is read.
	b.hub.Change(func() { b.install.Suspended = true })
	b.rest.call("POST", "/v2/integrations/source_connections/"+connection+"/sync", "{}", 200)
	state := func(want string) {
		t.Helper()
		b.until("the state is "+want, func() bool {
			return strings.Contains(fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]), "status:"+want)
		})
	}
	state("reconnect_needed")
	file(401, "@svc/http/errors/IntegrationsRevokedError")
	b.hub.Change(func() { b.install.Suspended = false })
	back := b.start(b.session(), "{}")
	b.admin.post(back, "/integrations/github/callback", "state", loginStateOf(t, back), "account", fmt.Sprint(b.install.ID), "decision",
		"connect")
	state("connected")
	file(200, "")
	if got := b.repositories(); len(got) != 1 || got[0]["id"] != repo {
		t.Errorf("after the reconnect: %v", got)
	}

	// Uninstalled: the repositories are removed, and their copies deleted.
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/search", `{"query":"Total"}`, 200)
	if b.packs() != 1 {
		t.Errorf("%d copies before the uninstallation", b.packs())
	}
	b.rest.call("PATCH", "/v2/integrations/source_connections/"+connection, `{"code_access":"admins"}`, 200)
	b.hub.Uninstall(b.install)
	b.deliver("gone", "installation", githubtest.WebhookSecret, b.install.ID)
	state("disconnected")
	file(404, "@svc/http/errors/VcsRepoUnavailableError")
	b.until("the copies are deleted", func() bool { return b.packs() == 0 })

	// Installed again, with a new id: the same account here, with its repositories and its readers.
	again := b.hub.Install("acme", "Organization", "octo")
	b.hub.Change(func() { again.Repositories = []int64{b.repo.ID} })
	back = b.start(b.session(), "{}")
	b.admin.post(back, "/integrations/github/callback", "state", loginStateOf(t, back), "account", fmt.Sprint(again.ID), "decision", "connect")
	state("connected")
	b.until("the repository is active", func() bool { return b.repositories()[0]["status"] == "active" })
	file(200, "")
	if got := b.repositories(); len(got) != 1 || got[0]["id"] != repo || got[0]["connection_id"] != connection {
		t.Errorf("after a new installation: %v", got)
	}
	host := fmt.Sprint(b.rest.call("GET", "/v2/integrations/source_hosts/github", "", 200)["connections"])
	if !strings.Contains(host, "code_access:admins") || strings.Count(host, "account_login") != 1 {
		t.Errorf("the account after a new installation: %s", host)
	}
}

// TestSourceLimits: an account that a reader connects gives what the reader may read, also after another repository has taken a name over,
// and after an owner's connection has been replaced by the reader's.
func TestSourceLimits(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	_, shop := b.connect()
	secret := b.hub.AddRepository(t, b.install, "secret", map[string]string{"key.txt": "the secret of others"})
	b.rest.call("POST", "/v2/integrations/source_repositories/"+shop+"/file", `{"path":"README.md"}`, 200)

	b.hub.Change(func() {
		b.install.Readers = append(b.install.Readers, "reader")
		b.repo.Readers = []string{"reader"}
	})
	b.hub.SignIn("reader")
	back := b.start(b.session(), "{}")
	b.admin.post(back, "/integrations/github/callback", "state", loginStateOf(t, back), "account", fmt.Sprint(b.install.ID), "decision",
		"connect")
	limited := func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", "/v2/integrations/source_hosts/github", "", 200)["connections"]), "limited:true")
	}
	b.until("the account is limited", limited)
	b.rest.call("POST", "/v2/integrations/source_repositories/"+shop+"/file", `{"path":"README.md"}`, 200)
	for _, r := range b.repositories() {
		if r["full_name"] == "acme/secret" && r["status"] == "active" {
			b.rest.call("POST", fmt.Sprintf("/v2/integrations/source_repositories/%v/file", r["id"]), `{"path":"key.txt"}`, 404)
		}
	}

	// The shop moves, and the secret takes its name. Access to the shop was proven moments ago.
	b.hub.Change(func() { b.repo.FullName, secret.FullName = "acme/moved", "acme/shop" })
	got := b.rest.call("POST", "/v2/integrations/source_repositories/"+shop+"/file", `{"path":"README.md"}`, 200)
	if got["repository"] != "acme/moved" {
		t.Errorf("after the move: %v", got)
	}
	b.rest.call("POST", "/v2/integrations/source_repositories/"+shop+"/file", `{"path":"key.txt"}`, 404)
}

// TestIntegrationSettings: a server without the app says which settings are missing.
func TestIntegrationSettings(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Integrations")
	c := restClient{t, s, s.APIKey}
	got := c.call("POST", "/v2/integrations/source_hosts/github/install", "{}", 503)
	if tagOf(got) != "@svc/http/errors/IntegrationsConfigurationError" || !strings.Contains(fmt.Sprint(got), "github-private-key") {
		t.Errorf("without the app: %v", got)
	}
	if list := fmt.Sprint(c.call("GET", "/v2/integrations", "", 200)["data"]); !strings.Contains(list, "status:not_configured") {
		t.Errorf("the list: %s", list)
	}
}
