package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/testkit"
)

// sourceBench is a server with a hub, its administrator in a browser, and an installation with a repository.
type sourceBench struct {
	t       *testing.T
	s       *testkit.Server
	hub     *githubtest.Hub
	admin   *visitor
	rest    restClient
	install *githubtest.Installation
	repo    *githubtest.Repository
}

const cart = "package checkout\n\n// Total sums the cart.\nfunc Total(items []int) int {\n\tsum := 0\n\tfor _, i := range items " +
	"{\n\t\tsum += i\n\t}\n\treturn sum\n}\n"

func newSourceBench(t *testing.T) *sourceBench {
	t.Helper()
	b := newSourceHub(t)
	b.serve(testkit.Start(t, appOf(b.hub)))
	return b
}

// newSourceHub makes the hub of a bench.
func newSourceHub(t *testing.T) *sourceBench {
	t.Helper()
	b := &sourceBench{t: t, hub: githubtest.New(t)}
	b.install = b.hub.Install("acme", "Organization", "octo")
	b.repo = b.hub.AddRepository(t, b.install, "shop", map[string]string{
		"checkout/cart.go": cart, "README.md": "# Shop\n", "logo.png": "\x89PNG\x00\x01",
		"big.txt": strings.Repeat("a line of a long file\n", 1000),
	})
	return b
}

// serve takes the server of a bench and signs its administrator in.
func (b *sourceBench) serve(s *testkit.Server) {
	b.t.Helper()
	b.s = s
	b.hub.SetCallback(s.BaseURL + "/integrations/github/callback")
	b.rest = restClient{b.t, s, s.APIKey}
	b.admin = newVisitor(b.t, s.BaseURL)
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
}

// session calls REST as the administrator in the browser.
func (b *sourceBench) session() restClient {
	return restClient{b.t, b.s, b.admin.token()}
}

// token is the session of the browser.
func (v *visitor) token() string {
	u, err := url.Parse(v.base)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, c := range v.http.Jar.Cookies(u) {
		if strings.HasSuffix(c.Name, "session") {
			return c.Value
		}
	}
	v.t.Fatal("the visitor has no session")
	return ""
}

// atHub opens an address of the hub and returns the path to which it sends the browser back.
func (b *sourceBench) atHub(address string) string {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = res.Body.Close()
	back, ok := strings.CutPrefix(res.Header.Get("Location"), b.s.BaseURL)
	if !ok || res.StatusCode != http.StatusFound {
		b.t.Fatalf("the hub answers %d and leads to %q", res.StatusCode, res.Header.Get("Location"))
	}
	return back
}

// start begins to connect an account and returns the path of the callback.
func (b *sourceBench) start(by restClient, body string) string {
	b.t.Helper()
	return b.atHub(fmt.Sprint(by.call("POST", "/v2/integrations/source_hosts/github/install", body, 200)["url"]))
}

// connect connects the installation and waits for its repositories. It returns the ids of the account and of the repository.
func (b *sourceBench) connect() (connection, repository string) {
	b.t.Helper()
	back := b.start(b.session(), "{}")
	got := b.admin.post(back, "/integrations/github/callback", "state", loginStateOf(b.t, back), "account", fmt.Sprint(b.install.ID),
		"decision", "connect")
	if got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"), "result=connected") {
		b.t.Fatalf("connect: %d %s\n%s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
	b.until("the repositories are listed", func() bool { return len(b.repositories()) == 1 })
	r := b.repositories()[0]
	return fmt.Sprint(r["connection_id"]), fmt.Sprint(r["id"])
}

func loginStateOf(t *testing.T, back string) string {
	t.Helper()
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("state")
}

func (b *sourceBench) repositories() []map[string]any {
	b.t.Helper()
	var out []map[string]any
	data, _ := b.rest.call("GET", "/v2/integrations/source_repositories", "", 200)["data"].([]any)
	for _, d := range data {
		row, _ := d.(map[string]any)
		out = append(out, row)
	}
	return out
}

func (b *sourceBench) until(what string, done func() bool) {
	b.t.Helper()
	eventually(b.t, what, done)
}

// deliver sends a signed delivery of the hub.
func (b *sourceBench) deliver(id, event, secret string, installation int64) int {
	b.t.Helper()
	return b.deliverBody(id, event, secret, map[string]any{"installation": map[string]any{"id": installation}, "padding": "x"})
}

func (b *sourceBench) deliverBody(id, event, secret string, payload map[string]any) int {
	b.t.Helper()
	body, err := json.Marshal(payload)
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, b.s.BaseURL+"/integrations/github/webhook",
		strings.NewReader(string(body)))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-GitHub-Delivery", id)
	req.Header.Set("X-GitHub-Event", event)
	req.Header.Set("X-Hub-Signature-256", githubtest.Sign(secret, body))
	status, _ := roundTrip(b.t, req)
	return status
}

// TestSourceCode connects an account as a person does, and reads source code by REST and by the tools of an agent.
func TestSourceCode(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	list := b.rest.call("GET", "/v2/integrations", "", 200)
	if got := fmt.Sprint(list["data"]); !strings.Contains(got, "status:available") {
		t.Errorf("before: %s", got)
	}
	_, repo := b.connect()
	base := "/v2/integrations/source_repositories/" + repo
	row := b.repositories()[0]
	if row["full_name"] != "acme/shop" || row["default_branch"] != "main" || row["tracked_branch"] != "main" || row["is_private"] != true {
		t.Errorf("the repository: %v", row)
	}

	found := b.rest.call("POST", base+"/search", `{"query":"total cart"}`, 200)
	matches, _ := found["matches"].([]any)
	if len(matches) != 1 || !strings.Contains(fmt.Sprint(matches[0]), "func Total(items []int) int {") || found["incomplete"] != false {
		t.Fatalf("search: %v", found)
	}
	head := fmt.Sprint(found["commit_sha"])
	if got := b.rest.call("POST", base+"/search", `{"query":"/func T.*int/","path":"checkout"}`, 200); got["total_files"] != float64(1) {
		t.Errorf("a regular expression: %v", got)
	}
	for query, param := range map[string]string{"repo:acme/shop total": "query", "/(/": "query"} {
		if got := b.rest.call("POST", base+"/search", fmt.Sprintf(`{"query":%q}`, query),
			400); tagOf(got) != "@svc/http/errors/VcsQueryInvalidError" {
			t.Errorf("%s (%s): %v", query, param, got)
		}
	}

	line := newCommandLine(t)
	line.more = []string{"SVC_API_URL=" + b.s.BaseURL, "SVC_API_TOKEN=" + b.s.APIKey}
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"integrations"}, "acme"},
		{[]string{"repos", "-q", "SHOP"}, repo},
		{[]string{"source", "search", "acme/shop", "total cart"}, "func Total(items []int) int {"},
		{[]string{"source", "read", "ACME/shop", "checkout/cart.go:4-5"}, "4  func Total(items []int) int {\n5    sum := 0\n"},
	} {
		if code, stdout, stderr := line.run(append(c.words, "--format", "table")...); code != 0 || !strings.Contains(stdout, c.want) {
			t.Errorf("svc %v: %d\n%s%s", c.words, code, stdout, stderr)
		}
	}
	if code, _, stderr := line.run("source", "read", "acme/shop", "no/such.go"); code != 1 ||
		!strings.Contains(stderr, "VcsFileNotFoundError") {
		t.Errorf("a file that does not exist: %d %s", code, stderr)
	}

	file := b.rest.call("POST", base+"/file", `{"path":"checkout/cart.go","start_line":4,"end_line":5}`, 200)
	if got := fmt.Sprint(file["lines"]); got != "[func Total(items []int) int { \tsum := 0]" || file["total_lines"] != float64(10) ||
		file["truncated"] != true {
		t.Errorf("lines: %v", file)
	}
	for path, kind := range map[string]string{"logo.png": "binary", "README.md": "text"} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":%q}`, path), 200); got["kind"] != kind {
			t.Errorf("%s: %v", path, got)
		}
	}
	if got := b.rest.call("POST", base+"/file", `{"path":"big.txt"}`, 200); got["end_line"] != float64(400) || got["truncated"] != true {
		t.Errorf("a long file ends at %v", got["end_line"])
	}
	if got := b.rest.call("POST", base+"/file", `{"path":"cart.go"}`, 404); !strings.Contains(fmt.Sprint(got), "checkout/cart.go") {
		t.Errorf("a wrong path does not lead to a near one: %v", got)
	}
	for _, path := range []string{"../etc/passwd", "/etc/passwd", "a/../../b", "."} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":%q}`, path),
			400); tagOf(got) != "@svc/http/errors/VcsQueryInvalidError" {
			t.Errorf("%s: %v", path, got)
		}
	}

	// A branch whose name has a slash, a tag, and a part of a commit's id.
	b.repo.Tag(t, "v1.0.0")
	b.repo.Branch(t, "fix/rounding")
	second := b.repo.Commit(t, "Round the total\n\nIt was not.",
		map[string]string{"checkout/cart.go": strings.Replace(cart, "sum += i", "sum += round(i)", 1)})
	for ref, sha := range map[string]string{"fix/rounding": second, "v1.0.0": head, second[:8]: second, "main": head} {
		if got := b.rest.call("POST", base+"/file", fmt.Sprintf(`{"path":"checkout/cart.go","ref":%q}`, ref), 200); got["commit_sha"] != sha {
			t.Errorf("%s is %v, want %s", ref, got["commit_sha"], sha)
		}
	}
	if got := b.rest.call("POST", base+"/file", `{"path":"checkout/cart.go","ref":"nobody"}`,
		404); tagOf(got) != "@svc/http/errors/VcsRefNotFoundError" {
		t.Errorf("an unknown branch: %v", got)
	}
	if got := b.rest.call("POST", base+"/search", `{"query":"round","ref":"fix/rounding"}`, 200); got["total_files"] != float64(1) ||
		got["commit_sha"] != second {
		t.Errorf("search at a branch: %v", got)
	}

	c := b.rest.call("GET", base+"/commits/"+second, "", 200)
	if c["message"] != "Round the total\n\nIt was not." || c["author_name"] != "Ada" || c["author_login"] != "ada" {
		t.Errorf("commit: %v", c)
	}
	if got := b.rest.call("GET", base+"/commits/abc", "", 422); tagOf(got) != "@svc/http/errors/VcsCommitShaInvalidError" {
		t.Errorf("a short id: %v", got)
	}
	diff := b.rest.call("POST", base+"/compare", `{"base":"v1.0.0","head":"fix/rounding"}`, 200)
	if diff["status"] != "ahead" || diff["ahead_by"] != float64(1) || !strings.Contains(fmt.Sprint(diff["files"]), "+\t\tsum += round(i)") {
		t.Errorf("comparison: %v", diff)
	}

	// Names by which GitHub finds forks and ranges are no names here.
	for _, ref := range []string{"evil:main", "main...v1.0.0", "main~1", "nobody"} {
		for _, param := range []string{"base", "head"} {
			body := map[string]string{"base": "v1.0.0", "head": "v1.0.0", param: ref}
			text, err := json.Marshal(body)
			if err != nil {
				t.Fatal(err)
			}
			got := b.rest.call("POST", base+"/compare", string(text), 404)
			if tagOf(got) != "@svc/http/errors/VcsRefNotFoundError" || !strings.Contains(fmt.Sprint(got), param) {
				t.Errorf("compare with %s %q: %v", param, ref, got)
			}
		}
	}
	for i := range 130 {
		b.repo.Commit(t, fmt.Sprintf("Change %d", i), map[string]string{fmt.Sprintf("many/%d.txt", i): "x\n"})
	}
	long := b.rest.call("POST", base+"/compare", `{"base":"v1.0.0","head":"fix/rounding","max_commits":120}`, 200)
	if got, _ := long["commits"].([]any); len(got) != 120 || long["ahead_by"] != float64(131) || long["truncated"] != true {
		t.Errorf("a comparison of 131 commits: %d, %v ahead, truncated %v", len(got), long["ahead_by"], long["truncated"])
	}
	whole := b.rest.call("POST", base+"/compare", `{"base":"v1.0.0","head":"fix/rounding","max_commits":250}`, 200)
	if got, _ := whole["commits"].([]any); len(got) != 131 || whole["truncated"] != false {
		t.Errorf("all commits: %d, truncated %v", len(got), whole["truncated"])
	}

	b.hub.Change(func() {
		b.repo.Runs = []githubtest.Run{
			{
				ID: 2, Name: "test", Status: "completed", Conclusion: "failure", Branch: "fix/rounding", SHA: second, FailedJob: "unit",
				FailedStep: "go test",
			},
			{ID: 1, Name: "test", Status: "completed", Conclusion: "success", Branch: "main", SHA: head},
		}
	})
	runs := b.rest.call("POST", base+"/ci_runs", fmt.Sprintf(`{"commit_sha":%q}`, second), 200)
	if got := fmt.Sprint(runs["runs"]); !strings.Contains(got, "failed_step:go test") || strings.Contains(got, "success") {
		t.Errorf("runs: %s", got)
	}

	// The same by the tools of an agent.
	for name, arguments := range map[string]map[string]any{
		"list_integrations":        {},
		"list_source_repositories": {"search": "SHOP"},
		"search_source_code":       {"repository": "acme/shop", "query": "Total"},
		"read_source_file":         {"repository": "ACME/Shop", "path": "checkout/cart.go"},
		"ci_runs":                  {"repository": "acme/shop", "status": "failure"},
		"compare_commits":          {"repository": "acme/shop", "base": "v1.0.0", "head": second},
	} {
		want := map[string]string{
			"list_integrations": "acme", "list_source_repositories": "acme/shop", "search_source_code": "func Total",
			"read_source_file": "func Total",
			"ci_runs":          "unit: go test", "compare_commits": "Round the total",
		}[name]
		if got := callTool(t.Context(), t, b.s, b.s.APIKey, name, arguments); got.err != nil || !strings.Contains(string(got.body), want) {
			t.Errorf("%s: %v %.400s", name, got.err, got.body)
		}
	}
	if got := callTool(t.Context(), t, b.s, b.s.APIKey, "read_source_file",
		map[string]any{"repository": "acme/nothing", "path": "x"}); got.err == nil ||
		!strings.Contains(got.err.Message, "list_source_repositories") {
		t.Errorf("an unknown repository: %v", got)
	}

	log := fmt.Sprint(b.rest.call("GET", "/v2/audit_log?action=source_code.read&limit=100", "", 200)["data"])
	for _, operation := range []string{"search", "read_file", "get_commit", "compare", "ci_runs"} {
		if !strings.Contains(log, "operation:"+operation) {
			t.Errorf("the audit log has no %s", operation)
		}
	}
}
