package repositories

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// platform connects a hosting platform to the first organization.
func (b *bed) platform(provider string) store.IntegrationConnection {
	b.t.Helper()
	return must[store.IntegrationConnection](b.t)(b.ConnectIntegration(b.t.Context(), b.orgs[0], store.NewIntegration{
		Provider: provider, BaseURL: "https://platform.example", ExternalID: provider, Name: provider, Settings: []byte(`{}`),
		Seal: func(uuid.UUID) []byte { return nil }, Same: func(json.RawMessage) bool { return false },
		Keep: func(_, now json.RawMessage) (json.RawMessage, error) { return now, nil },
	}))
}

// tells stores what the platform tells of an account.
func (b *bed) tells(c store.IntegrationConnection, list store.HostingList) {
	b.t.Helper()
	list.KeepSince = b.now.Add(-limits.HostingRetention)
	if err := b.SyncHosting(b.t.Context(), b.fences[store.WorkIntegrations+strconv.Itoa(c.Shard)], c, list, b.now); err != nil {
		b.t.Fatal(err)
	}
}

// markers are the titles of the markers of the first organization, the newest first; a star says that there are two reports.
func (b *bed) markers() []string {
	b.t.Helper()
	out := []string{}
	for _, m := range must[[]store.Marker](b.t)(b.ListMarkers(b.t.Context(), b.orgs[0], store.MarkerFilter{}, 0, 100)) {
		title := m.Title
		if m.Description != nil && strings.Contains(*m.Description, "both report it") {
			title += "*"
		}
		out = append(out, title)
	}
	return out
}

func (b *bed) wantMarkers(what string, want ...string) {
	b.t.Helper()
	if got := b.markers(); strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.t.Errorf("%s: markers %q, want %q", what, got, want)
	}
}

// ready is a deployment of a project that serves.
func ready(id, project, service, sha string, at time.Time) store.HostingDeployment {
	return store.HostingDeployment{
		ExternalID: id, ProjectExternalID: project, ProjectName: project, Service: service, Target: "production", State: store.DeploymentReady,
		PlatformState: "READY", CommitSha: sha, StartedAt: at, ReadyAt: &at,
	}
}

// deploy reports a deployment at the repository's host that succeeded.
func (b *bed) deploy(sha, environment string, at time.Time) {
	b.t.Helper()
	b.hub.DeploymentState(b.repo, b.hub.Deploy(b.repo, sha, environment, at), "success", at)
}

// TestReplaced: a deployment that another one replaced before the first look has a marker, too.
func TestReplaced(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bed) {
		sha := b.repo.Git(t, "rev-parse", "HEAD")
		b.deploy(sha, "production", b.now.Add(-2*time.Hour))
		b.deploy(sha, "production", b.now.Add(-time.Hour))
		b.step(0, 0)
		b.wantMarkers("two deployments", "shop deployed to production", "shop deployed to production")
		c := b.platform("railway")
		gone := ready("d1", "other", "", "", b.now.Add(-time.Minute))
		gone.State, gone.ReadyAt = store.DeploymentRemoved, nil // nothing says that it ever served
		b.tells(c, store.HostingList{Deployments: []store.HostingDeployment{gone}})
		b.wantMarkers("one of which is known that it is gone", "shop deployed to production", "shop deployed to production")
	})
}

// TestJoined: a deployment that the repository's host and a hosting platform report has one marker, whichever comes first.
func TestJoined(t *testing.T) {
	t.Parallel()
	each(t, testJoined)
}

func testJoined(t *testing.T, b *bed) {
	sha := b.repo.Git(t, "rev-parse", "HEAD")
	vercel, railway := b.platform("vercel"), b.platform("railway")
	at := b.now.Add(-10 * time.Hour)
	projects := []store.HostingProject{{
		ExternalID: "web", Name: "web", Repository: "acme/shop", Environments: []string{},
		Services: []string{},
	}}

	b.tells(vercel, store.HostingList{Projects: projects, Deployments: []store.HostingDeployment{ready("v1", "web", "", sha, at)}})
	b.deploy(sha, "Production", at.Add(time.Second))
	b.deploy(sha, "Preview – web", at.Add(time.Second))
	b.deploy(sha, "github-pages", at.Add(time.Second))
	b.step(0, 0)
	b.wantMarkers("the platform first", "web deployed to production*")

	at = at.Add(time.Hour) // the same commit again
	b.deploy(sha, "Production", at)
	b.step(0, limits.RepositoryBusy)
	b.wantMarkers("the host first", "shop deployed to Production", "web deployed to production*")
	b.tells(vercel, store.HostingList{Deployments: []store.HostingDeployment{ready("v2", "web", "", sha, at.Add(time.Second))}})
	b.wantMarkers("the platform later", "web deployed to production*", "web deployed to production*")
	// Another project of the repository is another program.
	b.tells(vercel, store.HostingList{Deployments: []store.HostingDeployment{ready("v3", "admin", "", sha, at.Add(2*time.Second))}})
	b.wantMarkers("another project", "admin deployed to production", "web deployed to production*", "web deployed to production*")

	at = at.Add(time.Hour) // the host names the project, or the environment as Railway does
	b.deploy(sha, "Production – web", at)
	b.step(0, limits.RepositoryBusy)
	b.tells(vercel, store.HostingList{Deployments: []store.HostingDeployment{ready("v4", "web", "", sha, at.Add(time.Second))}})
	if got := b.markers(); len(got) != 4 || got[0] != "web deployed to Production*" {
		t.Errorf("markers: %q", got)
	}
	at = at.Add(time.Hour)
	b.deploy(sha, "lively / production", at)
	b.step(0, limits.RepositoryBusy)
	b.tells(railway, store.HostingList{Deployments: []store.HostingDeployment{ready("r1", "lively", "api", sha, at)}})
	if got := b.markers(); len(got) != 5 || got[0] != "api deployed to production*" {
		t.Errorf("markers: %q", got)
	}

	at = at.Add(time.Hour) // other repositories, commits and environments
	b.deploy(sha, "staging", at)
	b.step(0, limits.RepositoryBusy)
	fork := []store.HostingProject{{ExternalID: "web", Name: "web", Repository: "octo/fork", Environments: []string{}, Services: []string{}}}
	other := ready("v6", "web", "", sha, at)
	other.Target = "staging"
	b.tells(vercel, store.HostingList{
		Projects: fork, Deployments: []store.HostingDeployment{ready("v5", "web", "", strings.Repeat("a", 40), at), other},
	})
	if got := b.markers(); len(got) != 8 {
		t.Errorf("markers: %q", got)
	}
}

// TestJoinedAgain: the second deployment of a commit within minutes has its own marker, also if the account is connected again.
func TestJoinedAgain(t *testing.T) {
	t.Parallel()
	each(t, testJoinedAgain)
}

func testJoinedAgain(t *testing.T, b *bed) {
	sha := b.repo.Git(t, "rev-parse", "HEAD")
	c := b.platform("vercel")
	at := b.now.Add(-10 * time.Hour)
	again := at.Add(10 * time.Minute)
	list := []store.HostingDeployment{
		ready("v2", "web", "", sha, again.Add(5*time.Second)),
		ready("v1", "web", "", sha, at.Add(5*time.Second)),
	}
	b.deploy(sha, "production", at)
	b.step(0, 0)
	b.tells(c, store.HostingList{Deployments: list[1:]})
	b.deploy(sha, "production", again)
	b.step(0, limits.RepositoryBusy)
	b.wantMarkers("the host deploys again", "shop deployed to production", "web deployed to production*")
	b.tells(c, store.HostingList{Deployments: list})
	b.wantMarkers("the platform, too", "web deployed to production*", "web deployed to production*")

	// The same reports come from the account that was connected again.
	b.tells(c, store.HostingList{CompleteSince: at.Add(-time.Hour)})
	b.tells(c, store.HostingList{Deployments: list})
	b.wantMarkers("connected again", "web deployed to production*", "web deployed to production*")

	// The platform tells of the second one first, and of both at once.
	for i, known := range []int{1, 0} {
		at, again = at.Add(time.Hour), again.Add(time.Hour)
		list = []store.HostingDeployment{
			ready(fmt.Sprint("w2", i), "web", "", sha, again.Add(5*time.Second)), ready(fmt.Sprint("w1", i), "web", "", sha, at.Add(5*time.Second)),
		}
		b.deploy(sha, "production", at)
		b.step(0, limits.RepositoryBusy)
		if known == 1 {
			b.tells(c, store.HostingList{Deployments: list[1:]})
		}
		b.tells(c, store.HostingList{Deployments: list})
		b.deploy(sha, "production", again)
		b.step(0, limits.RepositoryBusy)
		want := slices.Repeat([]string{"web deployed to production*"}, 4+2*i)
		b.wantMarkers(fmt.Sprint("the platform first, of which are known ", known), want...)
	}
}

// TestParts: a long list is stored in parts, and what it lacks is deleted.
func TestParts(t *testing.T) {
	t.Parallel()
	each(t, testParts)
}

func testParts(t *testing.T, b *bed) {
	c := b.platform("vercel")
	at := b.now.Add(-10 * time.Hour)
	var list []store.HostingDeployment
	for i := range 450 {
		list = append(list, ready(fmt.Sprint("d", i), "web", "", "", at.Add(time.Duration(i)*time.Second)))
	}
	stored := func() int {
		t.Helper()
		_, n, err := b.CountHosting(t.Context(), b.orgs[0], c.ID)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	// A part that the store does not take leaves those before it.
	bad := slices.Clone(list)
	bad[300].ProjectName = ""
	fence := b.fences[store.WorkIntegrations+strconv.Itoa(c.Shard)]
	if err := b.SyncHosting(t.Context(), fence, c, store.HostingList{Deployments: bad}, b.now); err == nil || stored() != 200 {
		t.Errorf("%d are stored, then %v", stored(), err)
	}
	b.tells(c, store.HostingList{Deployments: list})
	if stored() != 450 {
		t.Errorf("%d are stored", stored())
	}
	b.tells(c, store.HostingList{Deployments: list[449:]})
	if stored() != 450 {
		t.Errorf("%d are stored after a list that is not complete", stored())
	}
	b.tells(c, store.HostingList{Deployments: list[100:440], CompleteSince: at.Add(50 * time.Second)})
	if stored() != 390 {
		t.Errorf("%d are stored after a complete list", stored())
	}
	b.tells(c, store.HostingList{CompleteSince: at})
	if stored() != 0 {
		t.Errorf("%d are stored after an empty list", stored())
	}
}

// TestJoinedAtOnce: two reports that are stored at the same time have one marker.
func TestJoinedAtOnce(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bed) {
		sha := b.repo.Git(t, "rev-parse", "HEAD")
		c := b.platform("vercel")
		fence := b.fences[store.WorkIntegrations+strconv.Itoa(c.Shard)]
		for i := range 10 {
			at := b.now.Add(-time.Duration(20-i) * time.Hour)
			b.deploy(sha, "production", at)
			list := store.HostingList{
				Deployments: []store.HostingDeployment{ready(fmt.Sprint("v", i), "web", "", sha, at)}, KeepSince: b.now.Add(-limits.HostingRetention),
			}
			done := make(chan error)
			go func() { done <- b.SyncHosting(t.Context(), fence, c, list, at) }()
			b.step(0, limits.RepositoryBusy)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if got := b.markers(); len(got) != i+1 || got[0] != "web deployed to production*" {
				t.Fatalf("round %d: markers %q", i, got)
			}
		}
	})
}
