package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/source/gittest"
	"github.com/svc-observability/svc/server/testkit"
)

// shopHistory makes the repository of the demo's shop: the good services, a commit for each planted bug, and one more that changes no code.
// The bug of cart is the last one. It returns the commits before it, with it, and after it.
func shopHistory(t *testing.T, bug demo.Bug, at time.Time) (git *gittest.Repository, before, culprit, head string) {
	t.Helper()
	files := demo.Sources()
	for _, b := range demo.Bugs() {
		files[b.Path] = b.Mend(files[b.Path])
	}
	git = gittest.New(t, nil)
	git.CommitAs(t, "Ada", at.Add(-240*time.Hour), "The shop", files)
	for i, b := range demo.Bugs() {
		if b.Fault != bug.Fault {
			before = git.CommitAs(t, b.Author, at.Add(-time.Duration(200-i)*time.Hour), b.Message, map[string]string{b.Path: demo.Sources()[b.Path]})
		}
	}
	culprit = git.CommitAs(t, bug.Author, at.Add(-40*time.Minute), bug.Message, map[string]string{bug.Path: demo.Sources()[bug.Path]})
	head = git.CommitAs(t, "Ada", at.Add(-30*time.Minute), "Say how to begin", map[string]string{"BEGIN.md": "# Begin\n"})
	for name, text := range demo.Sources() {
		if got := git.Git(t, "show", "HEAD:"+name); got != strings.TrimSpace(text) {
			t.Fatalf("%s is not that of the shop", name)
		}
	}
	return git, before, culprit, head
}

// shopAgent calls tools of the MCP server, as an agent does.
type shopAgent struct {
	t *testing.T
	s *testkit.Server
}

// use calls a tool and reads its answer.
func use[T any](a shopAgent, tool string, arguments map[string]any) (out T) {
	a.t.Helper()
	got := callTool(a.t.Context(), a.t, a.s, a.s.APIKey, tool, arguments)
	if got.err != nil {
		a.t.Fatalf("%s: %v", tool, got.err)
	}
	if err := json.Unmarshal(got.body, &out); err != nil {
		a.t.Fatalf("%s: %v: %s", tool, err, got.body)
	}
	return out
}

// TestShopFix is an agent without a model, which mends a planted bug of the demo's shop: from the issue to its source, the run of CI and
// the suspect commit, to a pull request that names the issue, its merge, its deployment, and the verdict.
func TestShopFix(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, *gittest.Repository, demo.Bug) *shopHost{
		"github": shopAtGitHub,
		"gitlab": shopAtGitLab,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testShopFix(t, open)
		})
	}
}

func testShopFix(t *testing.T, open func(*testing.T, *gittest.Repository, demo.Bug) *shopHost) {
	var bug demo.Bug
	for _, b := range demo.Bugs() {
		if b.Fault == demo.FaultErrors {
			bug = b
		}
	}
	now := time.Now().UTC()
	begins, mergedAt, deployedAt := now.Add(-255*time.Minute), now.Add(-228*time.Minute), now.Add(-225*time.Minute)
	git, before, culprit, head := shopHistory(t, bug, begins)
	b := open(t, git, bug)
	b.failed(culprit)
	agent := shopAgent{t, b.s}

	// The fault begins with the release that has the bug.
	cfg := demo.Config{Seed: 5, Rate: 1, Repository: b.url, Releases: []demo.Release{
		{Service: bug.Service, Version: "5.2.0", Commit: before, From: now.Add(-30 * 24 * time.Hour)},
		{Service: bug.Service, Version: "5.2.1", Commit: head, From: begins},
	}}
	planted := (demo.Config{}).Faults(begins, begins.Add(24*time.Hour))
	for _, f := range planted {
		if f.Name == bug.Fault {
			cfg.FaultShift = (24*time.Hour - f.Start.Sub(begins)) % (24 * time.Hour)
		}
	}
	shop := func(from, to time.Time) {
		t.Helper()
		res, err := demo.Run(t.Context(), demo.Options{
			Config: cfg, Target: demo.Target{URL: b.s.IngestURL, Key: b.s.PrivateKey}, From: from, To: to,
		})
		if err != nil || res.Stopped {
			t.Fatalf("the demo: %v %+v", err, res)
		}
	}
	shop(begins.Add(-5*time.Minute), begins.Add(15*time.Minute))

	type issueRow struct{ ID, WorkflowState, TopFrame string }
	issuesOf(t, b.rest, bug.Service, func(l []map[string]any) bool { return len(l) > 0 && l[0]["occurrence_count"] != 0.0 })
	list := use[struct{ Issues []issueRow }](agent, "list_error_issues", map[string]any{"service": bug.Service, "exception_type": "TypeError"})
	if len(list.Issues) != 1 {
		t.Fatalf("issues: %+v", list)
	}
	issue := list.Issues[0]
	type call struct {
		Repository, Path, CommitSha, Confidence string
		Line                                    int
	}
	type suspect struct{ SHA, Author, Message, Reason string }
	type detail struct {
		Sources        []call
		SourceProblem  string
		SuspectCommits []suspect
		SuspectProblem string
	}
	var seen detail
	defer func() {
		if t.Failed() {
			t.Logf("the error: %+v", seen)
		}
	}()
	eventually(t, "the source and the suspect are found", func() bool {
		seen = use[detail](agent, "error_detail", map[string]any{"issue_id": issue.ID})
		return len(seen.Sources) > 0 && len(seen.SuspectCommits) > 0
	})
	top := seen.Sources[0]
	if top.Repository != b.name || top.Path != bug.Path || top.CommitSha != head || top.Confidence != "exact" {
		t.Errorf("the source of the error: %+v", top)
	}
	if s := seen.SuspectCommits[0]; len(seen.SuspectCommits) != 1 || s.SHA != culprit || s.Author != bug.Author ||
		!strings.HasPrefix(bug.Message, s.Message) {
		t.Errorf("suspects: %+v", seen.SuspectCommits)
	}

	// The agent takes the issue, and reads.
	use[map[string]any](agent, "claim_error_issue", map[string]any{"issue_id": issue.ID})
	found := use[struct {
		Matches []struct{ Path string }
	}](agent, "search_source_code", map[string]any{"repository": b.name, "query": `"price.minorUnits"`, "ref": head})
	if len(found.Matches) != 1 || found.Matches[0].Path != bug.Path {
		t.Fatalf("the search: %+v", found)
	}
	file := use[struct {
		Lines     []string
		CommitSha string
	}](agent, "read_source_file", map[string]any{"repository": b.name, "path": found.Matches[0].Path, "ref": head})
	text := strings.Join(file.Lines, "\n") + "\n"
	if !strings.Contains(file.Lines[top.Line-1], "price.minorUnits") || !strings.Contains(text, bug.Bad) {
		t.Fatalf("line %d of the file:\n%s", top.Line, text)
	}
	runs := use[struct {
		Runs []struct {
			Conclusion string
			FailedJobs []string
		}
	}](agent, "ci_runs", map[string]any{"repository": b.name, "commit_sha": culprit})
	if len(runs.Runs) != 1 || runs.Runs[0].Conclusion != "failure" || len(runs.Runs[0].FailedJobs) != 1 {
		t.Errorf("the runs of the suspect: %+v", runs)
	}

	// It mends the bug on a branch. The pull request names the issue, which links it.
	b.git.Branch(t, "mend/cart")
	b.git.CommitAs(t, "agent", mergedAt.Add(-5*time.Minute), bug.Fix, map[string]string{bug.Path: bug.Mend(text)})
	b.git.Git(t, "checkout", "-q", "main")
	use[map[string]any](agent, "propose_fix", map[string]any{"issue_id": issue.ID, "patch_summary": bug.Fix})
	b.propose("mend/cart", bug.Fix, "Fixes "+issue.ID)
	b.hint()
	links := func() string {
		t.Helper()
		return fmt.Sprint(b.rest.call("GET", "/v2/error_issues/"+issue.ID+"/pull_requests", "", 200)["data"])
	}
	eventually(t, "the pull request is linked by itself", func() bool { return strings.Contains(links(), "link_source:auto") })
	if got := use[struct{ Issues []issueRow }](agent, "list_error_issues",
		map[string]any{"service": bug.Service}); !strings.Contains(fmt.Sprint(got), "in_review") {
		t.Errorf("with the pull request: %+v", got)
	}

	// A person merges it; the pipeline deploys it, with its version and commit in the telemetry, and tells the host.
	merged := b.merge(mergedAt)
	cfg.Releases = append(cfg.Releases, demo.Release{
		Service: bug.Service, Version: "5.2.2", Commit: merged, From: deployedAt,
		Mends: bug.Fault,
	})
	cfg.Rate = 0.15
	shop(deployedAt, now)
	releases := fmt.Sprintf("/v2/services/%s/releases?start_time=%s&end_time=%s", bug.Service,
		now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339))
	eventually(t, "the release is stored", func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", releases, "", 200)), "version:5.2.2")
	})
	b.deploy(merged, deployedAt)
	b.hint()
	eventually(t, "the deployment is a marker", func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", "/v2/markers?kind=deploy&service_name="+b.deployed, "", 200)["data"]), merged)
	})
	eventually(t, "the fix is verified", func() bool {
		return b.rest.call("GET", "/v2/error_issues/"+issue.ID, "", 200)["workflow_state"] == "done"
	})
	done := use[struct{ Issues []issueRow }](agent, "list_error_issues", map[string]any{"service": bug.Service, "workflow_state": "done"})
	if len(done.Issues) != 1 || done.Issues[0].ID != issue.ID {
		t.Errorf("issues that are done: %+v", done)
	}
	verifications, _ := b.rest.call("GET", "/v2/error_issues/"+issue.ID, "", 200)["verifications"].([]any)
	v, _ := verifications[0].(map[string]any)
	if v["status"] != "verified" || v["deployed_by"] != "commit" || v["commit_sha"] != merged {
		t.Errorf("the verdict: %v", v)
	}
}
