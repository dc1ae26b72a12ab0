package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

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
	got := callTool(t.Context(), t, b.s, b.s.APIKey, "link_pull_request",
		map[string]any{"issue_id": list[0]["id"], "pull_request_url": url + "/diffs"})
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
	if l := link(); l["title"] != "Sum what was bought" || l["author_login"] != "ada" || l["provider"] != "gitlab" || l["url"] != url ||
		l["check_problem"] != nil {
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
		"project":           map[string]any{"path_with_namespace": "acme/team/shop"},
		"object_attributes": map[string]any{"iid": merge.Number, "state": "closed"},
	})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprint(b.account(b.rest)["webhook_url"]),
		strings.NewReader(string(body)))
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

// TestGitLabSuspects finds the commit that brought an error between two releases.
func TestGitLabSuspects(t *testing.T) {
	t.Parallel()
	b := newLabBench(t)
	good := b.project.Commit(t, "Tidy the server", map[string]string{"src/server.js": "// Ours.\n" + thrown["src/server.js"]})
	culprit := b.project.Commit(t, "Price each item\n\nA long text.", map[string]string{
		"src/cart.js":   strings.Replace(thrown["src/cart.js"], "i.price.amount", "i.price.amount * 1", 1),
		"src/server.js": thrown["src/server.js"],
	})
	head := b.project.Commit(t, "Say less", map[string]string{"README.md": "# S\n"})
	b.connect()
	now := time.Now().UTC()
	release{"shop", "1.0", good, 70, 5, false}.send(t, b.s, now)
	b.throw("shop", resourceText("service.version", "1.1")+resourceText("vcs.ref.head.revision", head)+
		resourceText("deployment.environment.name", "production"), stackIn("/app"))
	list := issuesOf(t, b.rest, "shop", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	var found []any
	eventually(t, "the suspects are found", func() bool {
		found, _ = b.rest.call("GET", "/v2/error_issues/"+fmt.Sprint(list[0]["id"]), "", 200)["suspect_commits"].([]any)
		return len(found) > 0
	})
	first, _ := found[0].(map[string]any)
	if len(found) != 1 || first["sha"] != culprit || first["message"] != "Price each item" || first["path"] != "src/cart.js" ||
		first["is_near"] != true ||
		first["html_url"] != b.lab.URL+"/acme/team/shop/-/commit/"+culprit {
		t.Errorf("the suspects: %v", found)
	}
}
