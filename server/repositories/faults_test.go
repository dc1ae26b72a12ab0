package repositories

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// unlink takes the links of the issue of an organization off it, as a person does.
func (b *bed) unlink(org int) {
	b.t.Helper()
	ctx := b.t.Context()
	for _, l := range must[[]store.ErrorIssuePullRequest](b.t)(b.ListErrorIssuePullRequests(ctx, b.orgs[org], b.issues[org], 100)) {
		must[store.ErrorIssue](b.t)(b.UnlinkErrorIssuePullRequest(ctx, b.orgs[org], b.issues[org], l.ID,
			func(r *store.IssueRecord, l store.ErrorIssuePullRequest) error {
				issues.Unlink(r, l, issues.Act{At: b.now})
				return nil
			}))
	}
}

// rename gives the repository another name, at the host and here.
func (b *bed) rename(org int, name string) {
	b.t.Helper()
	b.hub.Change(func() { b.repo.FullName = name })
	r := must[[]store.SourceRepository](b.t)(b.ListSourceRepositories(b.t.Context(), b.orgs[org], store.RepositoryFilter{}, 0, 10))[0]
	r.FullName = name
	if err := b.RecordRepositoryAccess(b.t.Context(), b.orgs[org], r, true, b.now); err != nil {
		b.t.Fatal(err)
	}
}

// TestRenamed: a link that was taken off stays off, and one that is there stays alone, after the repository got another name.
func TestRenamed(t *testing.T) {
	t.Parallel()
	each(t, testRenamed)
}

func testRenamed(t *testing.T, b *bed) {
	b.propose("Fix", b.issues[0])
	b.step(0, 0)
	b.unlink(0)
	b.propose("Another fix", b.issues[0])
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 1 {
		t.Fatalf("%d links", b.links(0))
	}
	for _, name := range []string{"acme/store", "acme/market"} {
		b.rename(0, name)
		b.hub.Change(func() { b.repo.Pulls()[0].Updated, b.repo.Pulls()[1].Updated = b.now, b.now })
		b.step(0, limits.RepositoryBusy)
		if b.links(0) != 1 {
			t.Errorf("%d links after the name %s", b.links(0), name)
		}
	}
	if store.HasAddress([]string{"https://hub.example/a/b/pull/1"}, "http://hub.example/a/b/pull/11") ||
		!store.HasAddress([]string{"https://hub.example/a/b/pull/1"}, "http://hub.example/A/b/pull/1") {
		t.Error("the scheme counts, or the rest does not")
	}
}

// TestUnlinkedMerged: a link that was taken off an issue does not come back to the issue into which that one was merged.
func TestUnlinkedMerged(t *testing.T) {
	t.Parallel()
	each(t, testUnlinkedMerged)
}

func testUnlinkedMerged(t *testing.T, b *bed) {
	ctx := t.Context()
	b.propose("Fix", b.issues[0])
	b.step(0, 0)
	b.unlink(0)
	into := b.addIssue(0, "22")
	must[store.ErrorIssue](t)(b.MergeErrorIssues(ctx, b.orgs[0], into, b.issues[:1], func(*store.IssueRecord, []*store.IssueRecord) error { return nil }))
	b.hub.Change(func() { b.repo.Pulls()[0].Title, b.repo.Pulls()[0].Updated = title("Fix", into), b.now })
	b.issues[0] = into
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 0 {
		t.Errorf("%d links", b.links(0))
	}
}

// TestCommitsUnread: a pull request whose commits cannot be read is linked by its other texts, and nothing else waits for it.
func TestCommitsUnread(t *testing.T) {
	t.Parallel()
	each(t, testCommitsUnread)
}

func testCommitsUnread(t *testing.T, b *bed) {
	d := b.hub.Deploy(b.repo, b.repo.Git(t, "rev-parse", "HEAD"), "production", b.now.Add(-time.Hour))
	b.hub.DeploymentState(b.repo, d, "success", b.now.Add(-time.Hour))
	b.propose("Unread", b.issues[0])
	b.now = b.now.Add(time.Second)
	b.propose("Read", b.issues[0])
	b.hub.Fault(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/pulls/1/commits") {
			return http.StatusInternalServerError
		}
		return 0
	})
	b.step(0, 0)
	if b.links(0) != 2 || len(b.markers()) != 1 {
		t.Errorf("%d links, markers %v", b.links(0), b.markers())
	}

	// Without a list of pull requests, deployments are read all the same, and the look is repeated.
	b.hub.Fault(func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/pulls") {
			return http.StatusInternalServerError
		}
		return 0
	})
	next := b.hub.Deploy(b.repo, b.repo.Git(t, "rev-parse", "HEAD"), "production", b.now)
	b.hub.DeploymentState(b.repo, next, "success", b.now)
	b.step(0, limits.RepositoryBusy)
	if len(b.markers()) != 2 || b.due(0) != limits.RepositoryBusy {
		t.Errorf("markers %v, due after %s", b.markers(), b.due(0))
	}

	// A used quota concerns all of them.
	asked := b.hub.Requests("/repos/acme/shop/deployments")
	b.hub.Fault(func(*http.Request) int { return http.StatusTooManyRequests })
	b.step(0, limits.RepositoryBusy)
	if got := b.hub.Requests("/repos/acme/shop/deployments"); got != asked {
		t.Errorf("%d requests without quota", got-asked)
	}
}

// TestCommitsLater: an issue that only the message of a commit names is linked although the host failed at the first looks. A pull request
// that fails for too long holds up the list no more.
func TestCommitsLater(t *testing.T) {
	t.Parallel()
	each(t, testCommitsLater)
}

func testCommitsLater(t *testing.T, b *bed) {
	branch := "fix"
	b.repo.Git(t, "checkout", "-q", "-b", branch)
	b.repo.Commit(t, title("Mend", b.issues[0]), nil)
	p := b.hub.Propose(b.repo, branch, "Says nothing")
	b.hub.Change(func() { p.Updated = b.now })
	b.now = b.now.Add(time.Minute)
	b.propose("Read at once", b.issues[0])
	fails := func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/pulls/1/commits") {
			return http.StatusBadGateway
		}
		return 0
	}
	b.hub.Fault(fails)
	b.step(0, 0)
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 1 || b.due(0) != limits.RepositoryBusy {
		t.Errorf("%d links while the host fails, due after %s", b.links(0), b.due(0))
	}
	b.hub.Fault(nil)
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 2 {
		t.Errorf("%d links after the host answered", b.links(0))
	}

	b.hub.Change(func() { p.Updated = b.now }) // the count begins again
	b.hub.Fault(fails)
	asked := func() int { return b.hub.Requests("/repos/acme/shop/pulls/1/commits") }
	before := asked()
	for range limits.RepositoryUnread + 2 {
		b.step(0, limits.RepositoryBusy)
	}
	if got := asked() - before; got != limits.RepositoryUnread {
		t.Errorf("%d requests for commits that the host does not tell, want %d", got, limits.RepositoryUnread)
	}
	seen := must[[]store.SourceRepository](t)(b.ListSourceRepositories(t.Context(), b.orgs[0], store.RepositoryFilter{}, 0, 10))[0]
	if seen.PullsEtag == "" || !seen.PullsSeenAt.Equal(p.Updated.Truncate(time.Second)) {
		t.Errorf("the list is not read to its end: %q, %s", seen.PullsEtag, seen.PullsSeenAt)
	}
}

// TestCommitsHang: a host that does not answer about the commits of one pull request, perhaps because there are too many, stops nothing.
func TestCommitsHang(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bed) {
		b.propose("Hangs", b.issues[0])
		b.now = b.now.Add(time.Second)
		b.propose("Answers", b.issues[0])
		b.hub.Fault(func(r *http.Request) int {
			if strings.HasSuffix(r.URL.Path, "/pulls/1/commits") {
				<-r.Context().Done()
			}
			return 0
		})
		b.step(0, 0)
		if b.links(0) != 2 || b.due(0) != limits.RepositoryBusy {
			t.Errorf("%d links, due after %s", b.links(0), b.due(0))
		}
	})
}

// TestHangs: a host that does not answer is asked about one repository of an account, not about each.
func TestHangs(t *testing.T) {
	t.Parallel()
	each(t, testHangs)
}

func testHangs(t *testing.T, b *bed) {
	for _, name := range []string{"api", "web"} {
		b.hub.AddRepository(t, b.install, name, map[string]string{"README.md": "# One more\n"})
	}
	b.sync(0)
	var asked atomic.Int32
	b.hub.Fault(func(r *http.Request) int {
		if strings.Contains(r.URL.Path, "/repos/") {
			asked.Add(1)
			<-r.Context().Done()
		}
		return 0
	})
	b.step(0, 0)
	rows := must[[]store.SourceRepository](t)(b.ListSourceRepositories(t.Context(), b.orgs[0], store.RepositoryFilter{}, 0, 10))
	for _, r := range rows {
		if due := r.LookDueAt.Sub(b.now).Round(time.Second); due != limits.RepositoryBusy {
			t.Errorf("%s is due after %s", r.FullName, due)
		}
	}
	if len(rows) != 3 || asked.Load() != 1 {
		t.Errorf("%d repositories, %d requests", len(rows), asked.Load())
	}
	b.hub.Fault(nil)
	before := b.hub.Requests("/repos/")
	b.step(0, limits.RepositoryBusy)
	if got := b.hub.Requests("/repos/") - before; got < 3 {
		t.Errorf("%d requests after the host came back", got)
	}
}

// TestSlow: a repository that takes all of the time for one postpones only itself.
func TestSlow(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, b *bed) {
		b.hub.AddRepository(t, b.install, "web", map[string]string{"README.md": "# One more\n"})
		b.sync(0)
		b.hub.Fault(func(r *http.Request) int {
			if strings.Contains(r.URL.Path, "/repos/acme/shop/") {
				<-r.Context().Done()
			}
			return 0
		})
		b.watch.most = time.Second
		b.step(0, 0)
		if got := b.hub.Requests("/repos/acme/web/pulls"); got != 1 {
			t.Errorf("%d requests for the other repository", got)
		}
	})
}
