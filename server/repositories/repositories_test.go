package repositories

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/github"
	"github.com/svc-observability/svc/server/integrations/github/githubtest"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// bed has two organizations that connected the same account, each with an issue.
type bed struct {
	*store.Store
	t       *testing.T
	hub     *githubtest.Hub
	install *githubtest.Installation
	repo    *githubtest.Repository
	orgs    [2]principal.OrgID
	issues  [2]uuid.UUID
	fences  map[string]store.Fence
	now     time.Time
	watch   *Watcher
	engine  *integrations.Engine
	sums    int64
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// each runs a test on both databases.
func each(t *testing.T, test func(*testing.T, *bed)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, store.Config{Path: filepath.Join(t.TempDir(), "svc.db")}))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		test(t, open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)}))
	})
}

func open(t *testing.T, cfg store.Config) *bed {
	t.Helper()
	ctx := t.Context()
	b := &bed{
		Store: must[*store.Store](t)(store.Open(ctx, cfg)), t: t, hub: githubtest.New(t),
		fences: map[string]store.Fence{}, now: time.Now().UTC(),
	}
	t.Cleanup(func() { _ = b.Close() })
	node := store.WorkNode{ID: uuid.New(), Kinds: []string{store.WorkIssues, store.WorkIntegrations, store.WorkRepositories}}
	if err := b.JoinWork(ctx, node); err != nil {
		t.Fatal(err)
	}
	for _, f := range must[[]store.Fence](t)(b.BeatWork(ctx, node)) {
		b.fences[f.Kind+strconv.Itoa(f.Number)] = f
	}
	install := b.hub.Install("acme", "Organization", "octo")
	b.install = install
	install.Permissions["deployments"] = "read"
	b.repo = b.hub.AddRepository(t, install, "shop", map[string]string{"README.md": "# Shop\n"})
	app := must[*github.App](t)(github.New(github.Config{
		URL: b.hub.URL, AppID: githubtest.AppID, Slug: githubtest.Slug, ClientID: githubtest.ClientID, ClientSecret: githubtest.ClientSecret,
		PrivateKey: b.hub.Key, WebhookSecret: githubtest.WebhookSecret,
		Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	}))
	clock := func() time.Time { return b.now }
	b.engine = integrations.New(integrations.Config{
		Store: b.Store, Setups: []integrations.Setup{{ID: github.ID, Name: "GitHub", Class: integrations.ClassSource, Provider: app}},
		BaseURL: "http://localhost", Hash: func(s string) string { return s }, Logger: slog.New(slog.DiscardHandler), Now: clock,
	})
	b.watch = New(Config{Store: b.Store, Engine: b.engine, Logger: slog.New(slog.DiscardHandler), Now: clock})
	for i := range b.orgs {
		for n := 0; n == 0 || i > 0 && b.shard(i) == b.shard(0); n++ { // a look at a shard concerns one of them
			made, err := b.CreateOrganization(ctx, store.NewOrganization{
				Name: "Org", Admin: &store.NewUser{Email: fmt.Sprintf("%d.%d@example.com", i, n)},
			})
			if err != nil {
				t.Fatal(err)
			}
			b.orgs[i] = made.Organization.ID
		}
		must[store.IntegrationConnection](t)(b.ConnectIntegration(ctx, b.orgs[i], store.NewIntegration{
			Provider: github.ID, BaseURL: b.hub.URL, ExternalID: strconv.FormatInt(install.ID, 10), Name: "acme",
			Settings: []byte(`{"type":"organization","code_access":"members"}`), Seal: func(uuid.UUID) []byte { return nil },
			Same: func(json.RawMessage) bool { return false }, Keep: func(_, now json.RawMessage) (json.RawMessage, error) { return now, nil },
		}))
		b.sync(i)
		b.issues[i] = b.addIssue(i, "11")
	}
	return b
}

// sync reads the list of repositories of an organization's account.
func (b *bed) sync(org int) {
	b.t.Helper()
	ctx := b.t.Context()
	c := must[[]store.IntegrationConnection](b.t)(b.ListIntegrations(ctx, b.orgs[org]))[0]
	if err := b.MakeIntegrationDue(ctx, c.Org, c.ID); err != nil {
		b.t.Fatal(err)
	}
	b.now = time.Now().UTC() // the account is due since a moment
	must[time.Time](b.t)(b.engine.Shard(b.fences[store.WorkIntegrations+strconv.Itoa(c.Shard)]).Step(ctx))
}

// addIssue makes an issue of an error that was just seen.
func (b *bed) addIssue(org int, hash string) uuid.UUID {
	b.t.Helper()
	ctx, at := b.t.Context(), b.now.Add(-time.Hour)
	b.sums++
	if err := b.FlushErrorSums(ctx, "node", b.sums, []store.ErrorSum{{
		Org: b.orgs[org], Hash: hash, Service: "cart", Label: "Oops", Count: 5, Weight: 5, First: at, Last: at,
		Versions: map[string]time.Time{"1.0": at},
	}}); err != nil {
		b.t.Fatal(err)
	}
	worker := issues.NewWorker(issues.Config{
		Store: b.Store, Events: issues.Events{FirstSeen: "new", Regression: "back", Quiet: "quiet", Digest: "digest"},
		Teller: func(context.Context, principal.OrgID) (*issues.Teller, error) { return &issues.Teller{}, nil },
	})
	shard := store.ShardOf(store.WorkIssues, string(b.orgs[org]))
	must[time.Time](b.t)(worker.Shard(b.fences[store.WorkIssues+strconv.Itoa(shard)]).Step(ctx))
	for _, i := range must[[]store.ErrorIssue](b.t)(b.ListErrorIssues(ctx, b.orgs[org], store.IssueFilter{}, 10)) {
		if i.FingerprintHash == hash {
			return i.ID
		}
	}
	b.t.Fatalf("there is no issue of %s", hash)
	return uuid.Nil
}

// step moves the clock and looks at the repository of an organization.
func (b *bed) step(org int, after time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(after)
	must[time.Time](b.t)(b.watch.Shard(b.fences[store.WorkRepositories+strconv.Itoa(b.shard(org))]).Step(b.t.Context()))
}

func (b *bed) shard(org int) int { return store.ShardOf(store.WorkRepositories, string(b.orgs[org])) }

func (b *bed) links(org int) int {
	b.t.Helper()
	return len(must[[]store.ErrorIssuePullRequest](b.t)(b.ListErrorIssuePullRequests(b.t.Context(), b.orgs[org], b.issues[org], 100)))
}

// due is when the repository of an organization is looked at again.
func (b *bed) due(org int) time.Duration {
	b.t.Helper()
	list := must[[]store.SourceRepository](b.t)(b.ListSourceRepositories(b.t.Context(), b.orgs[org], store.RepositoryFilter{}, 0, 10))
	return list[0].LookDueAt.Sub(b.now).Round(time.Second)
}

// propose opens a pull request now whose title names issues.
func (b *bed) propose(text string, named ...uuid.UUID) {
	b.t.Helper()
	p := b.hub.Propose(b.repo, "main", title(text, named...))
	b.hub.Change(func() { p.Updated = b.now })
}

// title is a text that names issues.
func title(text string, named ...uuid.UUID) string {
	for _, id := range named {
		text += " " + publicid.Encode(publicid.ErrorIssue, id)
	}
	return text
}

// TestPoll: the server finds changes of a repository without any delivery. It asks rarely about a repository without changes.
func TestPoll(t *testing.T) {
	t.Parallel()
	each(t, testPoll)
}

func testPoll(t *testing.T, b *bed) {
	b.propose("Both", b.issues[0], b.issues[1])
	b.step(0, 0)
	if b.links(0) != 1 || b.links(1) != 0 {
		t.Fatalf("%d and %d links after the look of the first organization", b.links(0), b.links(1))
	}
	b.step(1, 0)
	if b.links(0) != 1 || b.links(1) != 1 {
		t.Errorf("%d and %d links after the look of the second one", b.links(0), b.links(1))
	}
	if b.due(0) != limits.RepositoryBusy {
		t.Errorf("due after %s", b.due(0))
	}
	asked := b.hub.Requests("/repos/acme/shop/pulls")
	b.step(0, limits.RepositoryBusy-time.Second)
	if got := b.hub.Requests("/repos/acme/shop/pulls"); got != asked {
		t.Errorf("%d requests before it is due", got-asked)
	}
	b.step(0, time.Second)
	if got := b.hub.Requests("/repos/acme/shop/pulls"); got != asked+1 {
		t.Errorf("%d requests for an unchanged list", got-asked)
	}

	// A failure of the host delays the repository, which goes on where it was.
	b.propose("During a failure", b.issues[0])
	b.hub.Fault(func(r *http.Request) int { return http.StatusBadGateway })
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 1 || b.due(0) != limits.RepositoryBusy {
		t.Errorf("during a failure: %d links, due after %s", b.links(0), b.due(0))
	}
	b.hub.Fault(nil)
	b.step(0, limits.RepositoryBusy)
	if b.links(0) != 2 {
		t.Errorf("%d links after a failure", b.links(0))
	}

	// More than one look reads are read by the next ones.
	for i := range limits.RepositoryPulls + 5 {
		b.now = b.now.Add(time.Second)
		b.propose(fmt.Sprint("One of many ", i), b.issues[0])
	}
	b.step(0, limits.RepositoryBusy)
	if got := b.links(0); got != 2+limits.RepositoryPulls-1 || b.due(0) != 0 { // the last one of before is read again
		t.Errorf("%d links after the first of two looks, due after %s", got, b.due(0))
	}
	b.step(0, 0)
	if got := b.links(0); got != 2+limits.RepositoryPulls+5 || b.due(0) != limits.RepositoryBusy {
		t.Errorf("%d links after the second of two looks, due after %s", got, b.due(0))
	}

	// One look reads all pull requests that changed in the same second. Otherwise each look would read the same ones again. A revert is
	// not linked.
	before := b.links(0)
	b.now = b.now.Add(time.Minute)
	for i := range limits.RepositoryPulls + 5 {
		b.propose(fmt.Sprint("At the same time ", i), b.issues[0])
	}
	b.propose(`Revert "One of many"`, b.issues[0])
	b.step(0, limits.RepositoryBusy)
	b.step(0, 0)
	if got := b.links(0); got != before+limits.RepositoryPulls+5 || b.due(0) != limits.RepositoryBusy {
		t.Errorf("%d links, then %d, due after %s", before, got, b.due(0))
	}

	// A finished issue stays finished when a text mentions it.
	must[store.ErrorIssue](t)(b.ChangeLinkedErrorIssue(t.Context(), b.orgs[1], b.issues[1], func(i *store.IssueRecord, _ []store.ErrorIssuePullRequest) error {
		i.WorkflowState = store.IssueDone
		return nil
	}))
	before = b.links(1)
	b.propose("Release notes:", b.issues[1])
	b.step(1, 2*limits.RepositoryIdle)
	for b.due(1) == 0 {
		b.step(1, 0)
	}
	if got := b.links(1); got != before {
		t.Errorf("%d links of a finished issue, %d before", got, before)
	}

	// One without news is looked at less and less.
	b.step(0, 2*limits.Day)
	if b.due(0) != limits.RepositoryQuiet {
		t.Errorf("after two days: due after %s", b.due(0))
	}
	b.step(0, limits.RepositoryRecent)
	if b.due(0) != limits.RepositoryIdle {
		t.Errorf("after a week: due after %s", b.due(0))
	}
	// A delivery ends that, in both organizations, and once.
	in := store.NewWebhookDelivery{Provider: github.ID, BaseURL: b.hub.URL, DeliveryID: "d", Kind: "pull_request", Repository: "ACME/shop"}
	list := must[[]store.IntegrationConnection](t)(b.ListIntegrations(t.Context(), b.orgs[0]))
	in.Account = list[0].ExternalID
	must[int](t)(b.ReceiveWebhook(t.Context(), in))
	if b.due(0) > 0 || b.due(1) > 0 {
		t.Errorf("after a delivery: due after %s and %s", b.due(0), b.due(1))
	}
}

// TestUnread: an account whose source code nobody may read is not asked, and links nothing.
func TestUnread(t *testing.T) {
	t.Parallel()
	each(t, testUnread)
}

func testUnread(t *testing.T, b *bed) {
	list := must[[]store.IntegrationConnection](t)(b.ListIntegrations(t.Context(), b.orgs[0]))
	must[store.IntegrationConnection](t)(b.EditIntegration(t.Context(), b.orgs[0], list[0].ID, func(c *store.IntegrationConnection) error {
		c.Settings = []byte(`{"type":"organization","code_access":"off"}`)
		return nil
	}))
	b.propose("Named", b.issues[0])
	b.step(0, 0)
	if b.links(0) != 0 || b.hub.Requests("/repos/acme/shop") != 0 || b.due(0) != limits.RepositoryQuiet {
		t.Errorf("%d links, %d requests, due after %s", b.links(0), b.hub.Requests("/repos/acme/shop"), b.due(0))
	}
}

// TestDeployments: a deployment is asked for until it is ready, makes one marker, and tells the commit that runs.
func TestDeployments(t *testing.T) {
	t.Parallel()
	each(t, testDeployments)
}

func testDeployments(t *testing.T, b *bed) {
	ctx := t.Context()
	sha := b.repo.Git(t, "rev-parse", "HEAD")
	first := b.hub.Deploy(b.repo, sha, "production", b.now.Add(-time.Hour))
	b.hub.Change(func() { first.Payload = `{"service":"cart"}` })
	transient := b.hub.Deploy(b.repo, sha, "pr-7", b.now.Add(-time.Hour))
	b.hub.Change(func() { transient.Transient = true })
	b.hub.DeploymentState(b.repo, transient, "success", b.now.Add(-time.Hour))
	b.step(0, 0)
	if got := b.markers(); len(got) != 0 {
		t.Errorf("markers of pending and transient deployments: %v", got)
	}
	b.hub.DeploymentState(b.repo, first, "success", b.now)
	b.step(0, limits.RepositoryBusy)
	if got := b.markers(); len(got) != 1 || got[0] != "cart deployed to production" {
		t.Errorf("markers: %v", got)
	}
	states := b.hub.Requests("/repos/acme/shop/deployments/")
	b.step(0, limits.RepositoryBusy)
	if got := b.hub.Requests("/repos/acme/shop/deployments/"); got != states {
		t.Errorf("%d requests for deployments that were ready", got-states)
	}
	next := b.repo.Commit(t, "Go on", nil)
	second := b.hub.Deploy(b.repo, next, "production", b.now)
	b.hub.Change(func() { second.Payload = map[string]any{"service": "cart"} })
	b.hub.DeploymentState(b.repo, second, "success", b.now)
	b.step(0, limits.RepositoryBusy)
	if got := b.markers(); len(got) != 2 {
		t.Errorf("markers: %v", got)
	}
	ran := must[[]store.Deployed](t)(b.DeploymentsOf(ctx, b.orgs[0], "cart", "production", b.now))
	if len(ran) != 1 || ran[0].Repository != "acme/shop" || len(ran[0].Commits) != 2 || ran[0].Commits[0] != next || ran[0].Commits[1] != sha {
		t.Errorf("deployed: %+v", ran)
	}
	if got := must[[]store.Deployed](t)(b.DeploymentsOf(ctx, b.orgs[1], "cart", "production", b.now)); len(got) != 0 {
		t.Errorf("of another organization: %+v", got)
	}
}
