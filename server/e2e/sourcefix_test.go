package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/github/githubtest"
)

// TestSourceFix follows a fix from the pull request to the verdict without a report by anybody: the source host says that it is open, then
// merged, and that the release which was deployed after it contains the commit of the merge.
func TestSourceFix(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	b.connect()
	now := time.Now().UTC()
	release{"pay", "1.0", b.head(), 300, 200, true}.send(t, b.s, now)
	list := issuesOf(t, b.rest, "pay", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
	path := "/v2/error_issues/" + fmt.Sprint(list[0]["id"])

	b.repo.Branch(t, "fix/total")
	b.repo.Commit(t, "Fix the total", map[string]string{"checkout/cart.go": strings.Replace(cart, "sum += i", "sum += i * 1", 1)})
	pull := b.hub.Propose(b.repo, "fix/total", "Sum what was bought")
	url := fmt.Sprintf("%s/acme/shop/pull/%d", b.hub.URL, pull.Number)

	// The host has the word: it tells the title and the state, and refutes a state that is not true.
	if got := b.rest.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q,"state":"merged"}`, url),
		400); !strings.Contains(fmt.Sprint(got), "open") {
		t.Errorf("a merge that the host does not know: %v", got)
	}
	got := callTool(t.Context(), t, b.s, b.s.APIKey, "link_pull_request", map[string]any{"issue_id": list[0]["id"], "pull_request_url": url})
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
	if l := link(); l["title"] != "Sum what was bought" || l["author_login"] != "ada" || l["state"] != "open" || l["checked_at"] == nil ||
		l["check_problem"] != nil {
		t.Errorf("linked: %v", l)
	}
	// One that the host does not know, and one in a repository that no account has, say so.
	for _, other := range []string{b.hub.URL + "/acme/shop/pull/99", "https://github.com/acme/shop/pull/1"} {
		l := b.rest.call("POST", path+"/pull_requests", fmt.Sprintf(`{"url":%q}`, other), 200)
		if l["state"] != "open" || l["check_problem"] == nil || l["title"] != nil {
			t.Errorf("%s: %v", other, l)
		}
		b.rest.call("DELETE", path+"/pull_requests/"+fmt.Sprint(l["id"]), "", 200)
	}

	// Merged at the host, and deployed with a later commit, which contains the merge.
	merged := b.hub.Merge(t, b.repo, pull, now.Add(-210*time.Minute))
	later := b.repo.Commit(t, "Another change", map[string]string{"README.md": "# The shop\n"})
	release{"pay", "1.1", later, 200, 0, false}.send(t, b.s, now)
	releases := fmt.Sprintf("/v2/services/pay/releases?start_time=%s&end_time=%s",
		now.Add(-5*time.Hour).Format(time.RFC3339), now.Add(time.Minute).Format(time.RFC3339))
	eventually(t, "the release is stored", func() bool {
		return strings.Contains(fmt.Sprint(b.rest.call("GET", releases, "", 200)), "version:1.1")
	})

	// A forged delivery does nothing; a good one makes the server ask the host.
	payload := map[string]any{
		"installation": map[string]any{"id": b.install.ID}, "repository": map[string]any{"full_name": "ACME/shop"}, "number": pull.Number,
		// The server does not trust the state of the pull request in the delivery.
		"pull_request": map[string]any{"merged": true, "merge_commit_sha": strings.Repeat("0", 40)},
	}
	if status := b.deliverBody("p0", "pull_request", "a guess", payload); status != 401 {
		t.Errorf("a forged delivery: %d", status)
	}
	if status := b.deliverBody("p1", "pull_request", githubtest.WebhookSecret, payload); status != 202 {
		t.Errorf("a delivery: %d", status)
	}
	eventually(t, "the merge is known", func() bool { return link()["state"] == "merged" })
	if l := link(); l["merge_commit_sha"] != merged {
		t.Errorf("merged: %v, want %s", l, merged)
	}

	eventually(t, "the verdict", func() bool { return b.rest.call("GET", path, "", 200)["workflow_state"] == "done" })
	issue := b.rest.call("GET", path, "", 200)
	v, _ := issue["verifications"].([]any)[0].(map[string]any)
	if v["status"] != "verified" || v["deployed_by"] != "commit" || v["commit_sha"] != merged || v["pull_request_url"] != url {
		t.Errorf("the verdict: %v", v)
	}
}

// head is the newest commit of the repository.
func (b *sourceBench) head() string {
	b.t.Helper()
	return b.repo.Commit(b.t, "Begin to sell", map[string]string{"SELL.md": "x\n"})
}
