package e2e

import (
	"fmt"
	"maps"
	"strings"
	"testing"

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
	if a := b.account(b.rest); a["account_login"] != "ada" || a["base_url"] != b.lab.URL || a["account_type"] != "user" ||
		a["code_access"] != "members" {
		t.Errorf("the account: %v", a)
	}

	found := b.rest.call("POST", base+"/search", `{"query":"total cart"}`, 200)
	if got := fmt.Sprint(found["matches"]); !strings.Contains(got, "func Total(items []int) int {") ||
		!strings.Contains(got, b.lab.URL+"/acme/team/shop/-/blob/") {
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
	second := b.project.Commit(t, "Round the total\n\nIt was not.",
		map[string]string{"checkout/cart.go": strings.Replace(cart, "sum += i", "sum += round(i)", 1)})
	for ref, sha := range map[string]string{"fix/rounding": second, "v1.0.0": head, second[:8]: second, "main": head} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":"checkout/cart.go","ref":%q}`, ref), 200); got["commit_sha"] != sha {
			t.Errorf("%s is %v, want %s", ref, got["commit_sha"], sha)
		}
	}
	if c := b.rest.call("GET", base+"/commits/"+second, "", 200); c["message"] != "Round the total\n\nIt was not." ||
		c["provider"] != "gitlab" || c["author_login"] != nil {
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
			"list_integrations": "GitLab", "list_source_repositories": "acme/team/shop", "search_source_code": "func Total",
			"read_source_file": "func Total",
			"ci_runs":          "unit: script_failure", "compare_commits": "Round the total",
		}[name]
		if got := callTool(t.Context(), t, b.s, b.s.APIKey, name, arguments); got.err != nil || !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %v %.400s", name, got.err, got.body)
		}
	}

	// The calls of an error, and the commit that brought it.
	b.project.Git(t, "checkout", "-q", "main")
	culprit := b.project.Commit(t, "Sum prices", map[string]string{"src/cart.js": thrown["src/cart.js"] + "// more\n"})
	thrownAs := b.throw("shop", resourceText("vcs.ref.head.revision", culprit)+
		resourceText("vcs.repository.url.full", b.lab.URL+"/acme/team/shop.git"), stackIn("/app"))
	eventually(t, "the frames have sources", func() bool {
		got := b.rest.call("GET", "/v2/error_events/"+thrownAs+"?service_name=shop", "", 200)
		return sourceOf(got, 0)["path"] == "src/cart.js" && sourceOf(got, 0)["repository"] == "acme/team/shop" &&
			sourceOf(got, 0)["html_url"] == b.lab.URL+"/acme/team/shop/-/blob/"+culprit+"/src/cart.js#L3"
	})
}

// TestGitLabPage connects GitLab in a browser, shows the secret address for its webhooks, changes who reads, and disconnects.
func TestGitLabPage(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	page := b.s.BaseURL + "/o/default/settings/integrations"
	const panel = "section.panel:has(h2:text-is('GitLab'))"
	steps := append([]step{open(b.s.BaseURL + "/login")}, signInSteps(b.s.AdminEmail, b.s.AdminPassword)...)
	steps = append(steps, awaitPage(b.s.BaseURL+"/o/"), open(page), read("before", panel+" :text('No account connected')"),
		click(panel+" button:text-is('Connect an account')"),
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
