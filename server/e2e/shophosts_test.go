package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/demo"
	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
	"github.com/svc-observability/svc/server/source/gittest"
	"github.com/svc-observability/svc/server/testkit"
)

// shopHost is a source host with the repository of the shop, connected to a server.
type shopHost struct {
	s    *testkit.Server
	rest restClient
	git  *gittest.Repository
	// name is the full name of the repository, and url its address.
	name, url string
	// failed reports a failed run of CI of a commit.
	failed func(sha string)
	// propose opens the pull request of a branch, and merge merges it at a time and returns the commit.
	propose func(branch, title, body string)
	merge   func(at time.Time) string
	// deploy reports a deployment that is ready at a time. Its marker is one of the service deployed.
	deploy   func(sha string, at time.Time)
	deployed string
	// hint tells the server that something happened.
	hint func()
}

func shopAtGitHub(t *testing.T, git *gittest.Repository, bug demo.Bug) *shopHost {
	t.Helper()
	b := &sourceBench{t: t, hub: githubtest.New(t)}
	b.install = b.hub.Install("acme", "Organization", "octo")
	b.install.Permissions["deployments"] = "read"
	b.repo = b.hub.AddGit(b.install, "shop", git)
	b.serve(testkit.Start(t, appOf(b.hub)))
	b.connect()
	var pull *githubtest.Pull
	hints := 0
	return &shopHost{
		s: b.s, rest: b.rest, git: git, name: "acme/shop", url: b.hub.URL + "/acme/shop", deployed: bug.Service,
		failed: func(sha string) {
			b.hub.Change(func() {
				b.repo.Runs = []githubtest.Run{{
					ID: 1, Name: "test", Status: "completed", Conclusion: "failure", Branch: "main", SHA: sha, FailedJob: "cart",
					FailedStep: "node --test",
				}}
			})
		},
		propose: func(branch, title, body string) {
			pull = b.hub.Propose(b.repo, branch, title)
			b.hub.Edit(pull, func() { pull.Body = body })
		},
		merge: func(at time.Time) string { return b.hub.Merge(t, b.repo, pull, at) },
		deploy: func(sha string, at time.Time) {
			d := b.hub.Deploy(b.repo, sha, "production", at.Add(-2*time.Minute))
			b.hub.Change(func() { d.Payload = map[string]any{"service": bug.Service} })
			b.hub.DeploymentState(b.repo, d, "success", at)
		},
		hint: func() {
			t.Helper()
			for _, event := range []string{"deployment_status", "pull_request"} {
				hints++
				status := b.deliverBody(fmt.Sprintf("s%d", hints), event, githubtest.WebhookSecret, map[string]any{
					"installation": map[string]any{"id": b.install.ID}, "repository": map[string]any{"full_name": "acme/shop"}, "number": pull.Number,
				})
				if status != 202 {
					t.Errorf("a delivery: %d", status)
				}
			}
		},
	}
}

func shopAtGitLab(t *testing.T, git *gittest.Repository, _ demo.Bug) *shopHost {
	t.Helper()
	b := &labBench{lab: gitlabtest.New(t)}
	b.project = b.lab.AddGit("acme/team/shop", git)
	s := testkit.Start(t, gitlabOf(b.lab))
	b.sourceBench = &sourceBench{t: t, s: s, rest: restClient{t, s, s.APIKey}, admin: newVisitor(t, s.BaseURL)}
	b.admin.signIn(s.AdminEmail, s.AdminPassword)
	b.connect()
	hook := b.account(b.rest)
	var merge *gitlabtest.Merge
	hints := 0
	return &shopHost{
		s: b.s, rest: b.rest, git: git, name: "acme/team/shop", url: b.lab.URL + "/acme/team/shop", deployed: "shop",
		failed: func(sha string) {
			b.lab.Change(func() {
				b.project.Pipelines = []gitlabtest.Pipeline{{
					ID: 1, Name: "test", Status: "failed", Ref: "main", SHA: sha, FailedJob: "cart", Reason: "script_failure",
				}}
			})
		},
		propose: func(branch, title, body string) {
			merge = b.lab.Propose(b.project, branch, title)
			b.lab.Edit(merge, func() { merge.Body = body })
		},
		merge: func(at time.Time) string { return b.lab.Accept(t, b.project, merge, at) },
		deploy: func(sha string, at time.Time) {
			d := b.lab.Deploy(b.project, sha, "production", "success", at.Add(-2*time.Minute))
			b.lab.Change(func() { d.Updated = at })
		},
		hint: func() {
			t.Helper()
			for _, event := range []string{"Deployment Hook", "Merge Request Hook"} {
				hints++
				if status := b.mergeHook(hook, event, fmt.Sprintf("s%d", hints), merge.Number); status != 202 {
					t.Errorf("a delivery: %d", status)
				}
			}
		},
	}
}

// mergeHook sends a delivery about a merge request to the secret address of an account.
func (b *labBench) mergeHook(account map[string]any, event, id string, number int64) int {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{
		"project": map[string]any{"path_with_namespace": "acme/team/shop"}, "object_attributes": map[string]any{"iid": number},
	})
	if err != nil {
		b.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodPost, fmt.Sprint(account["webhook_url"]), strings.NewReader(string(body)))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("X-Gitlab-Event", event)
	req.Header.Set("X-Gitlab-Token", fmt.Sprint(account["webhook_secret"]))
	req.Header.Set("Idempotency-Key", id)
	status, _ := roundTrip(b.t, req)
	return status
}
