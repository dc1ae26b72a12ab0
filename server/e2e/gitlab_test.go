package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
	"github.com/svc-observability/svc/server/testkit"
)

// labBench is a server with a stand-in for GitLab, its administrator in a browser, and a project in a group of a group.
type labBench struct {
	*sourceBench

	lab     *gitlabtest.Lab
	project *gitlabtest.Project
}

func gitlabOf(l *gitlabtest.Lab) func(*config.Config) {
	return func(c *config.Config) {
		c.GitLab = config.GitLab{URL: l.URL, ClientID: gitlabtest.ClientID, ClientSecret: gitlabtest.ClientSecret}
	}
}

func newLabBench(t *testing.T) *labBench {
	t.Helper()
	b := &labBench{lab: gitlabtest.New(t)}
	files := map[string]string{"checkout/cart.go": cart, "README.md": "# Shop\n", "logo.png": "\x89PNG\x00\x01"}
	maps.Copy(files, thrown)
	b.project = b.lab.AddProject(t, "acme/team/shop", files)
	s := testkit.Start(t, gitlabOf(b.lab))
	b.sourceBench = &sourceBench{t: t, s: s, rest: restClient{t, s, s.APIKey}, admin: newVisitor(t, s.BaseURL)}
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
	return b
}

const gitlabPath = "/v2/integrations/source_hosts/gitlab"

// login consents at the lab; the browser comes back to a page of the server with a result.
func (b *labBench) login(result string) {
	b.t.Helper()
	got := b.admin.get(b.atHub(fmt.Sprint(b.session().call("POST", gitlabPath+"/install", "{}", 200)["url"])))
	if got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"), "/settings/integrations?integration=gitlab&result="+result) {
		b.t.Fatalf("login: %d %s\n%s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
}

// connect connects the account and waits for its projects. It returns the ids of the account and of the project.
func (b *labBench) connect() (connection, repository string) {
	b.t.Helper()
	b.login("connected")
	b.until("the projects are listed", func() bool { return len(b.repositories()) == 1 })
	r := b.repositories()[0]
	return fmt.Sprint(r["connection_id"]), fmt.Sprint(r["id"])
}

// account is the connected account as a caller sees it.
func (b *labBench) account(by restClient) map[string]any {
	b.t.Helper()
	list, _ := by.call("GET", gitlabPath, "", 200)["connections"].([]any)
	if len(list) != 1 {
		b.t.Fatalf("accounts: %v", list)
	}
	row, _ := list[0].(map[string]any)
	return row
}

func (b *labBench) state(want string) {
	b.t.Helper()
	b.until("the state is "+want, func() bool { return b.account(b.rest)["status"] == want })
}

// TestGitLab connects an account by the consent of a person, and reads source code by REST, by tools, and for the calls of an error.
func TestGitLab(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	if got := b.rest.call("GET", gitlabPath, "", 200); got["available"] != true || got["name"] != "GitLab" || got["state"] != "not_connected" {
		t.Errorf("before: %v", got)
	}
	b.lab.Deny(true)
	b.login("cancelled")
	b.lab.Deny(false)
	guest := b.lab.AddGit("acme/guest", b.project.Repository)
	b.lab.Change(func() { guest.Members["ada"] = gitlabtest.Guest })
	_, repo := b.connect()
	base := "/v2/integrations/source_repositories/" + repo
	row := b.repositories()[0]
	if row["full_name"] != "acme/team/shop" || row["provider"] != "gitlab" || row["default_branch"] != "main" || row["is_private"] != true {
		t.Errorf("the project: %v", row)
	}
	if a := b.account(b.rest); a["account_login"] != "ada" || a["base_url"] != b.lab.URL || a["account_type"] != "user" || a["code_access"] != "members" {
		t.Errorf("the account: %v", a)
	}

	found := b.rest.call("POST", base+"/search", `{"query":"total cart"}`, 200)
	if got := fmt.Sprint(found["matches"]); !strings.Contains(got, "func Total(items []int) int {") || !strings.Contains(got, b.lab.URL+"/acme/team/shop/-/blob/") {
		t.Errorf("search: %v", found)
	}
	head := fmt.Sprint(found["commit_sha"])
	for path, kind := range map[string]string{"logo.png": "binary", "README.md": "text"} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":%q}`, path), 200); got["kind"] != kind {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := b.rest.call("POST", base+"/file", `{"path":"cart.go"}`, 404); !strings.Contains(fmt.Sprint(got), "checkout/cart.go") {
		t.Errorf("a wrong path does not lead to a near one: %v", got)
	}
	b.project.Tag(t, "v1.0.0")
	b.project.Branch(t, "fix/rounding")
	second := b.project.Commit(t, "Round the total\n\nIt was not.", map[string]string{"checkout/cart.go": strings.Replace(cart, "sum += i", "sum += round(i)", 1)})
	for ref, sha := range map[string]string{"fix/rounding": second, "v1.0.0": head, second[:8]: second, "main": head} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":"checkout/cart.go","ref":%q}`, ref), 200); got["commit_sha"] != sha {
			t.Errorf("%s is %v, want %s", ref, got["commit_sha"], sha)
		}
	}
	if c := b.rest.call("GET", base+"/commits/"+second, "", 200); c["message"] != "Round the total\n\nIt was not." || c["provider"] != "gitlab" || c["author_login"] != nil {
		t.Errorf("commit: %v", c)
	}
	diff := b.rest.call("POST", base+"/compare", `{"base":"v1.0.0","head":"fix/rounding"}`, 200)
	if diff["status"] != "ahead" || diff["ahead_by"] != 1.0 || !strings.Contains(fmt.Sprint(diff["files"]), "+\t\tsum += round(i)") {
		t.Errorf("comparison: %v", diff)
	}
	if got := b.rest.call("PUT", base+"/tracked_branch", `{"tracked_branch":"fix/rounding"}`, 200); got["tracked_branch"] != "fix/rounding" {
		t.Errorf("tracked branch: %v", got)
	}
	b.rest.call("PUT", base+"/tracked_branch", `{"tracked_branch":"main"}`, 200)
	b.lab.Change(func() {
		b.project.Pipelines = []gitlabtest.Pipeline{
			{ID: 2, Name: "test", Status: "failed", Ref: "fix/rounding", SHA: second, FailedJob: "unit", Reason: "script_failure"},
			{ID: 1, Status: "success", Ref: "main", SHA: head},
		}
	})

	for name, arguments := range map[string]map[string]any{
		"list_integrations":        {},
		"list_source_repositories": {"search": "SHOP"},
		"search_source_code":       {"repository": "acme/team/shop", "query": "Total"},
		"read_source_file":         {"repository": "ACME/Team/Shop", "path": "checkout/cart.go"},
		"ci_runs":                  {"repository": "acme/team/shop", "status": "failure"},
		"compare_commits":          {"repository": "acme/team/shop", "base": "v1.0.0", "head": second},
	} {
		want := map[string]string{
			"list_integrations": "GitLab", "list_source_repositories": "acme/team/shop", "search_source_code": "func Total", "read_source_file": "func Total",
			"ci_runs": "unit: script_failure", "compare_commits": "Round the total",
		}[name]
		if got := callTool(t.Context(), t, b.s, b.s.APIKey, name, arguments); got.err != nil || !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %v %.400s", name, got.err, got.body)
		}
	}

	// The calls of an error, and the commit that brought it.
	b.project.Git(t, "checkout", "-q", "main")
	culprit := b.project.Commit(t, "Sum prices", map[string]string{"src/cart.js": thrown["src/cart.js"] + "// more\n"})
	thrownAs := b.throw("shop", resourceText("vcs.ref.head.revision", culprit)+resourceText("vcs.repository.url.full", b.lab.URL+"/acme/team/shop.git"), stackIn("/app"))
	eventually(t, "the frames have sources", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+thrownAs+"?service_name=shop", "", 200)
		return sourceOf(got, 0)["path"] == "src/cart.js" && sourceOf(got, 0)["repository"] == "acme/team/shop" &&
			sourceOf(got, 0)["html_url"] == b.lab.URL+"/acme/team/shop/-/blob/"+culprit+"/src/cart.js#L3"
	})
}

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
	if a := b.account(restClient{t, b.s, signIn(t, b.s, member.email, member.password, b.s.OrgID)}); a["webhook_url"] != nil || a["webhook_secret"] != nil {
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

	// A delivery to the secret address is a hint; one that is signed with another key is none, and the address without its secret does not exist.
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
	if status := deliver(address, "d2", secret); status != 401 {
		t.Errorf("a delivery to the address of no account: %d", status)
	}
}

// TestGitLabRenewal: tokens that live a few seconds are renewed while people read; a grant that ends needs a person.
func TestGitLabRenewal(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	b.lab.Change(func() { b.lab.Life = 4 * time.Second })
	_, repo := b.connect()
	for end := time.Now().Add(9 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 200)
	}
	if a := b.account(b.rest); a["status"] != "connected" || a["error"] != nil {
		t.Errorf("after some renewals: %v", a)
	}
	if n := b.lab.Requests("/oauth/token"); n < 3 {
		t.Errorf("%d requests for tokens", n)
	}
	b.lab.Revoke("ada")
	b.state("reconnect_needed")
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 401)
	b.lab.Change(func() { b.lab.Life = time.Hour })
	b.login("connected")
	b.state("connected")
	b.rest.call("POST", "/v2/integrations/source_repositories/"+repo+"/file", `{"path":"README.md"}`, 200)
}

// TestGitLabFix: a merge request of the connected GitLab is followed to its merge.
func TestGitLabFix(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	b.connect()
	now := time.Now().UTC()
	release{"pay", "1.0", b.project.Git(t, "rev-parse", "HEAD"), 300, 200, true}.send(t, b.s, now)
	list := issuesOf(t, b.rest, "pay", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	path := "/v2/error_issues/" + fmt.Sprint(list[0]["id"])
	b.project.Branch(t, "fix/total")
	b.project.Commit(t, "Fix the total", map[string]string{"README.md": "# The shop\n"})
	merge := b.lab.Propose(b.project, "fix/total", "Sum what was bought")
	url := fmt.Sprintf("%s/acme/team/shop/-/merge_requests/%d", b.lab.URL, merge.Number)
	got := callTool(t.Context(), t, b.s, b.s.APIKey, "link_pull_request", map[string]any{"issue_id": list[0]["id"], "pull_request_url": url + "/diffs"})
	if got.err != nil || !strings.Contains(string(got.body), `"state":"open"`) || strings.Contains(string(got.body), "checkProblem") {
		t.Errorf("link_pull_request: %v %s", got.err, got.body)
	}
	link := func() map[string]any {
		t.Helper()
		data, _ := b.rest.call("GET", path+"/pull_requests", "", 200)["data"].([]any)
		if len(data) != 1 {
			t.Fatalf("links: %v", data)
		}
		row, _ := data[0].(map[string]any)
		return row
	}
	if l := link(); l["title"] != "Sum what was bought" || l["author_login"] != "ada" || l["provider"] != "gitlab" || l["url"] != url || l["check_problem"] != nil {
		t.Errorf("linked: %v", l)
	}
	merged := b.lab.Accept(t, b.project, merge, now.Add(-210*time.Minute))
	later := b.project.Commit(t, "Another change", nil)
	release{"pay", "1.1", later, 200, 0, false}.send(t, b.s, now)
	releases := fmt.Sprintf("/v2/services/pay/releases?start_time=%s&end_time=%s",
		now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339))
	eventually(t, "the release is stored", func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", releases, "", 200)), "version:1.1")
	})
	body, err := json.Marshal(map[string]any{
		"project": map[string]any{"path_with_namespace": "acme/team/shop"}, "object_attributes": map[string]any{"iid": merge.Number, "state": "closed"},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprint(b.account(b.rest)["webhook_url"]), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Gitlab-Event", "Merge Request Hook")
	req.Header.Set("X-Gitlab-Token", fmt.Sprint(b.account(b.rest)["webhook_secret"]))
	if status, _ := roundTrip(t, req); status != 202 {
		t.Errorf("a delivery: %d", status)
	}
	eventually(t, "the merge is known", func() bool { return link()["state"] == "merged" })
	if l := link(); l["merge_commit_sha"] != merged {
		t.Errorf("merged: %v, want %s", l, merged)
	}
	eventually(t, "the verdict", func() bool { return b.rest.call("GET", path, "", 200)["workflow_state"] == "done" })
}

// TestGitLabPage connects GitLab in a browser, shows the secret address for its webhooks, changes who reads, and disconnects.
func TestGitLabPage(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	page := b.s.BaseURL + "/o/default/settings/integrations"
	const panel = "section.panel:has(h2:text-is('GitLab'))"
	steps := append([]step{open(b.s.BaseURL + "/login")}, signInSteps(b.s.AdminEmail, b.s.AdminPassword)...)
	steps = append(steps, awaitPage(b.s.BaseURL+"/o/"), open(page), read("before", panel), click(panel+" button:text-is('Connect an account')"),
		awaitPage(page+"?integration=gitlab&result=connected"), read("connected", ".notice"), read("row", panel+" tbody tr td:has-text('ada')"),
		read("state", panel+" td:has-text('read ')"), click(panel+" button:has-text('Show the secret address')"), read("hook", panel+" .secret"),
		look("gitlab"), click(panel+" button[aria-label='More about ada']"), click("text=Disconnect"), look("gitlab-disconnect"),
		click("dialog button:text-is('Disconnect')"), read("after", panel+" :text('No account connected')"))
	got := walk(t, []string{b.s.BaseURL, b.lab.URL}, steps...)
	for name, want := range map[string]string{
		"before": "No account connected", "connected": "The account is connected", "row": "user, all repositories", "state": "connected",
		"hook": b.s.BaseURL + "/integrations/gitlab/webhook/", "after": "No account connected",
	} {
		if !strings.Contains(fmt.Sprint(got.Seen[name]), want) {
			t.Errorf("%s: %q, want %q", name, got.Seen[name], want)
		}
	}
	if !strings.Contains(fmt.Sprint(got.Seen["hook"]), "whsec_") || b.lab.Good("ada") != 0 {
		t.Errorf("the secret is not shown, or %d tokens are still good", b.lab.Good("ada"))
	}
}
