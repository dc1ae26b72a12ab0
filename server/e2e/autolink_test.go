package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/integrations/github/githubtest"
)

// proposal is a pull request that a test opens. In its texts, ISSUE is the id of the issue.
type proposal struct {
	branch, title, body, commit string
	fork                        bool
}

// proposer is a source host with an issue of the connected organization.
type proposer struct {
	rest restClient
	// propose opens a pull request, edit changes its body, and both tell the server that something happened. They return its number.
	propose func(p proposal) int64
	edit    func(number int64, body string)
	// address is the address of a pull request.
	address func(number int64) string
}

// TestAutoLink: a pull request that names an issue is linked to it.
func TestAutoLink(t *testing.T) {
	t.Parallel()
	t.Run("github", func(t *testing.T) {
		t.Parallel()
		b := newSourceBench(t)
		b.connect()
		pulls, hints := map[int64]*githubtest.Pull{}, 0
		hint := func(number int64) {
			t.Helper()
			hints++
			status := b.deliverBody(fmt.Sprintf("h%d", hints), "pull_request", githubtest.WebhookSecret, map[string]any{
				"installation": map[string]any{"id": b.install.ID}, "repository": map[string]any{"full_name": "acme/shop"}, "number": number,
			})
			if status != 202 {
				t.Errorf("a delivery: %d", status)
			}
		}
		testAutoLink(t, proposer{
			rest: b.rest,
			propose: func(p proposal) int64 {
				b.repo.Branch(t, p.branch)
				b.repo.Commit(t, p.commit, nil)
				b.repo.Git(t, "checkout", "-q", "main")
				pull := b.hub.Propose(b.repo, p.branch, p.title)
				b.hub.Edit(pull, func() { pull.Body, pull.Fork = p.body, p.fork })
				pulls[pull.Number] = pull
				hint(pull.Number)
				return pull.Number
			},
			edit: func(number int64, body string) {
				b.hub.Edit(pulls[number], func() { pulls[number].Body = body })
				hint(number)
			},
			address: func(number int64) string { return fmt.Sprintf("%s/acme/shop/pull/%d", b.hub.URL, number) },
		})
	})
	t.Run("gitlab", func(t *testing.T) {
		t.Parallel()
		b := newLabBench(t)
		b.connect()
		hook := b.account(b.rest)
		hints := 0
		hint := func(number int64) {
			t.Helper()
			hints++
			if status := b.mergeHook(hook, "Merge Request Hook", fmt.Sprintf("k%d", hints), number); status != 202 {
				t.Errorf("a delivery: %d", status)
			}
		}
		edits := map[int64]func(body string){}
		testAutoLink(t, proposer{
			rest: b.rest,
			propose: func(p proposal) int64 {
				b.project.Branch(t, p.branch)
				b.project.Commit(t, p.commit, nil)
				b.project.Git(t, "checkout", "-q", "main")
				m := b.lab.Propose(b.project, p.branch, p.title)
				b.lab.Edit(m, func() { m.Body, m.Fork = p.body, p.fork })
				edits[m.Number] = func(body string) { b.lab.Edit(m, func() { m.Body = body }) }
				hint(m.Number)
				return m.Number
			},
			edit: func(number int64, body string) {
				edits[number](body)
				hint(number)
			},
			address: func(number int64) string {
				return fmt.Sprintf("%s/acme/team/shop/-/merge_requests/%d", b.lab.URL, number)
			},
		})
	})
}

func testAutoLink(t *testing.T, on proposer) {
	now := time.Now().UTC()
	issue := func(by restClient) string {
		t.Helper()
		release{"pay", "1.0", strings.Repeat("ab", 20), 300, 200, true}.send(t, by.s, now)
		list := issuesOf(t, by, "pay", func(l []map[string]any) bool { return len(l) == 1 && l[0]["occurrence_count"] != 0.0 })
		return fmt.Sprint(list[0]["id"])
	}
	beside := on.rest.s.NewOrganization(t, "Beside")
	other := restClient{t, beside, beside.APIKey}
	id, foreign := issue(on.rest), issue(other)
	links := func(by restClient, issue string) []map[string]any {
		t.Helper()
		data, _ := by.call("GET", "/v2/error_issues/"+issue+"/pull_requests", "", 200)["data"].([]any)
		var out []map[string]any
		for _, d := range data {
			row, _ := d.(map[string]any)
			out = append(out, row)
		}
		return out
	}
	linked := func(number int64) map[string]any {
		all := links(on.rest, id)
		if at := slices.IndexFunc(all, func(l map[string]any) bool { return l["url"] == on.address(number) }); at >= 0 {
			return all[at]
		}
		return nil
	}
	await := func(what string, number int64) map[string]any {
		t.Helper()
		eventually(t, what+" is linked", func() bool { return linked(number) != nil })
		return linked(number)
	}

	// The branch names the issue, and the text that of another organization, which has nothing to do with this repository.
	branch := on.propose(proposal{branch: "fix/" + id, title: "Round the total", body: "Also " + foreign, commit: "Round"})
	l := await("a branch with the name of the issue", branch)
	if l["link_source"] != "auto" || l["linked_by_actor_id"] != nil || l["state"] != "open" || l["title"] != "Round the total" ||
		l["check_problem"] != nil {
		t.Errorf("the link: %v", l)
	}
	events, _ := on.rest.call("GET", "/v2/error_issues/"+id+"/events", "", 200)["data"].([]any)
	if got := fmt.Sprint(events); !strings.Contains(got, "The branch names this issue.") || !strings.Contains(got, "link_source:auto") {
		t.Errorf("the history: %s", got)
	}

	// A fork is another repository, whose text anybody writes. A commit of a branch of this one counts.
	fork := on.propose(proposal{branch: "fork", title: "Fixes " + id, commit: "Fix", fork: true})
	commit := on.propose(proposal{branch: "tidy", title: "Tidy", commit: "Tidy\n\nFixes " + id + "."})
	await("a commit that names the issue", commit)
	if linked(fork) != nil {
		t.Error("the pull request of a fork is linked")
	}

	// Whoever takes a link off has the last word. The address of the issue is as good as its id.
	on.rest.call("DELETE", "/v2/error_issues/"+id+"/pull_requests/"+fmt.Sprint(linked(commit)["id"]), "", 200)
	on.edit(commit, "It is about "+id)
	url := on.propose(proposal{branch: "page", title: "See below", body: "Closes " + on.rest.s.BaseURL + "/errors/" + id + ".", commit: "Fix"})
	await("the address of the issue", url)
	if linked(commit) != nil {
		t.Error("a link that was taken off is back")
	}
	// A person may link it again.
	on.rest.call("POST", "/v2/error_issues/"+id+"/pull_requests", fmt.Sprintf(`{"url":%q}`, on.address(commit)), 200)
	on.edit(fork, "Still "+id)
	last := on.propose(proposal{branch: "last", title: "[" + id + "] The last one", commit: "Fix"})
	await("the title", last)
	if all := links(on.rest, id); len(all) != 4 {
		t.Errorf("%d links: %v", len(all), all)
	}
	if all := links(other, foreign); len(all) != 0 {
		t.Errorf("links of another organization: %v", all)
	}
}
