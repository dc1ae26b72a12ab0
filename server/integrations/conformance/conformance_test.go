// Package conformance holds the source hosts to one behaviour: each is asked the same questions about the same git repository, and has to
// give the same answers.
package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/github"
	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/integrations/gitlab"
	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/source/gittest"
	"github.com/svc-observability/svc/server/store"
)

// bench is a host with the repository acme/shop.
type bench struct {
	host source.Host
	web  string
	// id is the repository's id at the host.
	id string
	// set changes the repository at the host.
	set func(change change)
	// runs sets the runs of CI: a failed one of a commit, and one that succeeded before it.
	runs func(failed, good string)
	// propose opens pull request 1 of a branch; merge merges it by a commit.
	propose func(branch string)
	merge   func(sha string, at time.Time)
	// edit changes the text of pull request 1, and whether its branch is in a fork.
	edit func(body string, fork bool)
	// deploy reports a deployment of a commit to production: building, ready or failed.
	deploy func(sha, state string, at time.Time)
	// fault makes all requests for code fail with a status; 0 ends it.
	fault func(status int)
}

// change is a change of a repository.
type change struct {
	name              string
	archived, removed bool
}

func trust(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) }

func newGitHub(t *testing.T, git *gittest.Repository) *bench {
	t.Helper()
	hub := githubtest.New(t)
	i := hub.Install("acme", "Organization", "octo")
	repo := hub.AddGit(i, "shop", git)
	app, err := github.New(github.Config{
		URL: hub.URL, AppID: githubtest.AppID, Slug: githubtest.Slug, ClientID: githubtest.ClientID, ClientSecret: githubtest.ClientSecret,
		PrivateKey: hub.Key, WebhookSecret: githubtest.WebhookSecret, Trust: trust,
	})
	if err != nil {
		t.Fatal(err)
	}
	host, err := app.Host(integrations.Connection{IntegrationConnection: store.IntegrationConnection{
		ExternalID: strconv.FormatInt(i.ID, 10), Provider: github.ID, BaseURL: hub.URL,
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var pull *githubtest.Pull
	return &bench{
		host: host, web: hub.URL, id: strconv.FormatInt(repo.ID, 10),
		set: func(c change) {
			hub.Change(func() {
				repo.FullName, repo.Archived = c.name, c.archived
				if c.removed {
					i.Repositories = nil
				}
			})
		},
		runs: func(failed, good string) {
			hub.Change(func() {
				repo.Runs = []githubtest.Run{
					{
						ID: 2, Name: "test", Status: "completed", Conclusion: "failure", Branch: "feature/x", SHA: failed, FailedJob: "unit",
						FailedStep: "go test",
					},
					{ID: 1, Name: "test", Status: "completed", Conclusion: "success", Branch: "main", SHA: good},
				}
			})
		},
		propose: func(branch string) { pull = hub.Propose(repo, branch, "Round prices") },
		merge: func(sha string, at time.Time) {
			hub.Change(func() { pull.State, pull.MergeCommit, pull.MergedAt = "closed", sha, at })
		},
		edit: func(body string, fork bool) { hub.Edit(pull, func() { pull.Body, pull.Fork = body, fork }) },
		deploy: func(sha, state string, at time.Time) {
			hub.Change(func() { i.Permissions["deployments"] = "read" })
			d := hub.Deploy(repo, sha, "production", at)
			hub.DeploymentState(repo, d, "in_progress", at)
			if word := map[string]string{"ready": "success", "failed": "failure"}[state]; word != "" {
				hub.DeploymentState(repo, d, word, at.Add(time.Minute))
			}
		},
		fault: func(status int) {
			hub.Fault(func(r *http.Request) int {
				if strings.Contains(r.URL.Path, "/repos/") {
					return status
				}
				return 0
			})
		},
	}
}

func newGitLab(t *testing.T, git *gittest.Repository) *bench {
	t.Helper()
	lab := gitlabtest.New(t)
	project := lab.AddGit("acme/shop", git)
	app, err := gitlab.New(gitlab.Config{
		URL: lab.URL, ClientID: gitlabtest.ClientID, ClientSecret: gitlabtest.ClientSecret, Trust: trust, Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := json.Marshal(map[string]any{"access": lab.Grant("ada"), "from": time.Now(), "expires_at": time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	host, err := app.Host(integrations.Connection{Credentials: tokens},
		func(_ context.Context, c integrations.Connection) (integrations.Connection, error) {
			return c, integrations.NewProblem(integrations.Upstream, nil, "nothing renews here")
		})
	if err != nil {
		t.Fatal(err)
	}
	var merge *gitlabtest.Merge
	return &bench{
		host: host, web: lab.URL, id: strconv.FormatInt(project.ID, 10),
		set: func(c change) {
			lab.Change(func() { project.FullName, project.Archived, project.Deleted = c.name, c.archived, c.removed })
		},
		runs: func(failed, good string) {
			lab.Change(func() {
				project.Pipelines = []gitlabtest.Pipeline{
					{ID: 2, Name: "test", Status: "failed", Ref: "feature/x", SHA: failed, FailedJob: "unit", Reason: "script_failure"},
					{ID: 1, Name: "test", Status: "success", Ref: "main", SHA: good},
				}
			})
		},
		propose: func(branch string) { merge = lab.Propose(project, branch, "Round prices") },
		merge:   func(sha string, at time.Time) { lab.Merged(merge, sha, at) },
		edit:    func(body string, fork bool) { lab.Edit(merge, func() { merge.Body, merge.Fork = body, fork }) },
		deploy: func(sha, state string, at time.Time) {
			word := map[string]string{"building": "running", "ready": "success", "failed": "failed"}[state]
			d := lab.Deploy(project, sha, "production", word, at)
			lab.Change(func() { d.Updated, d.FinishedTime = at.Add(2*time.Minute), at.Add(time.Minute) })
		},
		fault: func(status int) {
			lab.Fault(func(*http.Request) int { return status })
		},
	}
}

// hosts are the providers of the class source.
var hosts = map[string]func(*testing.T, *gittest.Repository) *bench{"github": newGitHub, "gitlab": newGitLab}

// each runs a test over each host, with a repository of its own.
func each(t *testing.T, test func(t *testing.T, b *bench, git *gittest.Repository)) {
	t.Helper()
	for name, open := range hosts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			git := gittest.New(t, map[string]string{"README.md": "# Shop\n", "checkout/cart.go": cart, "logo.png": "\x89PNG\x00\x01"})
			test(t, open(t, git), git)
		})
	}
}

const cart = "package checkout\n\n// Total sums.\nfunc Total(items []int) int {\n\tsum := 0\n\tfor _, i := range items {\n\t\tsum += " +
	"i\n\t}\n\treturn sum\n}\n"

const repo = "acme/shop"

// must takes the value of a question that has to succeed.
func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// wantKind checks the kind of a problem.
func wantKind(t *testing.T, what string, err error, kind integrations.Kind) *integrations.Problem {
	t.Helper()
	var p *integrations.Problem
	if !errors.As(err, &p) || p.Kind != kind {
		t.Errorf("%s: %v, want a problem of the kind %d", what, err, kind)
		return &integrations.Problem{}
	}
	return p
}

func readAll(t *testing.T, r io.ReadCloser) []byte {
	t.Helper()
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
