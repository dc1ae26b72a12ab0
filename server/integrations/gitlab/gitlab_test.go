package gitlab_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/gitlab"
	"github.com/svc-observability/svc/server/integrations/gitlab/gitlabtest"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
)

const redirect = "https://svc.example.com/integrations/gitlab/callback"

// bench is a lab with the application, and a clock.
type bench struct {
	lab *gitlabtest.Lab
	app *gitlab.App
	now time.Time
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{lab: gitlabtest.New(t), now: time.Now()}
	app, err := gitlab.New(gitlab.Config{
		URL: b.lab.URL, ClientID: gitlabtest.ClientID, ClientSecret: gitlabtest.ClientSecret, Now: func() time.Time { return b.now },
		Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	b.app = app
	return b
}

// consent opens the page of consent and returns what the browser brings back.
func (b *bench) consent(t *testing.T) url.Values {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.app.AuthorizeURL("a state", challenge, redirect), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	to, err := res.Location()
	if err != nil || !strings.HasPrefix(to.String(), redirect) || to.Query().Get("state") != "a state" {
		t.Fatalf("the lab leads to %v: %v", to, err)
	}
	return to.Query()
}

// The verifier and the challenge of RFC 7636, appendix B.
const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
)

// connect connects the account of the person who is signed in.
func (b *bench) connect(t *testing.T) integrations.Connection {
	t.Helper()
	code := b.consent(t).Get("code")
	list, err := b.app.Accounts(t.Context(), integrations.Callback{Code: code, Verifier: verifier, RedirectURI: redirect})
	if err != nil || len(list) != 1 {
		t.Fatalf("accounts: %v %v", list, err)
	}
	a := list[0]
	return integrations.Connection{Credentials: a.Credentials, IntegrationConnection: store.IntegrationConnection{
		Provider: gitlab.ID, BaseURL: b.lab.URL, ExternalID: a.ExternalID, Name: a.Name, Settings: a.Settings, Credentials: a.Credentials,
	}}
}

func wantKind(t *testing.T, what string, err error, kind integrations.Kind) *integrations.Problem {
	t.Helper()
	var p *integrations.Problem
	if !errors.As(err, &p) || p.Kind != kind {
		t.Errorf("%s: %v, want a problem of the kind %d", what, err, kind)
		return &integrations.Problem{}
	}
	return p
}

// TestLogin: a consent connects the person's account; a code is good once, with its verifier and its address.
func TestLogin(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connect(t)
	account, err := source.ReadAccount(c.Settings)
	if err != nil || c.Name != "ada" || account.ID != c.ExternalID || account.Type != "user" || account.CodeAccess != source.AccessMembers {
		t.Errorf("the account: %+v %+v %v", c, account, err)
	}
	if strings.Contains(string(c.Settings), "secret") || !strings.Contains(string(c.Credentials), "refresh-secret") {
		t.Errorf("settings %s", c.Settings)
	}
	used := b.consent(t).Get("code")
	for _, c := range []struct {
		name string
		integrations.Callback
	}{
		{"another verifier", integrations.Callback{Code: used, Verifier: "guess", RedirectURI: redirect}},
		{"a used code", integrations.Callback{Code: used, Verifier: verifier, RedirectURI: redirect}},
		{"another address", integrations.Callback{Code: b.consent(t).Get("code"), Verifier: verifier, RedirectURI: redirect + "/x"}},
	} {
		_, err := b.app.Accounts(t.Context(), c.Callback)
		if p := wantKind(t, c.name, err, integrations.Invalid); !strings.Contains(p.Text, "Start again") {
			t.Errorf("%s: %s", c.name, p.Text)
		}
	}
	b.lab.Deny(true)
	if got := b.consent(t); got.Get("error") != "access_denied" || got.Get("code") != "" {
		t.Errorf("a refusal: %v", got)
	}
	b.lab.Deny(false)
	b.lab.Block("ada", true)
	_, err = b.app.Accounts(t.Context(), integrations.Callback{Code: b.consent(t).Get("code"), Verifier: verifier, RedirectURI: redirect})
	wantKind(t, "a blocked person", err, integrations.Forbidden)

	other, err := gitlab.New(gitlab.Config{
		URL: b.lab.URL, ClientID: gitlabtest.ClientID, ClientSecret: "another", Now: time.Now,
		Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = other.Accounts(t.Context(), integrations.Callback{Code: "x"})
	if p := wantKind(t, "an unknown server", err, integrations.Unauthorized); !strings.Contains(p.Text, "gitlab-client-secret") {
		t.Errorf("an unknown server: %s", p.Text)
	}
}

// TestRefresh: tokens are renewed at half of their life, and the old pair is void from then on.
func TestRefresh(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.connect(t)
	if next, err := b.app.Refresh(t.Context(), c); next != nil || err != nil {
		t.Errorf("young tokens: %s %v", next, err)
	}
	b.now = b.now.Add(61 * time.Minute)
	next, err := b.app.Refresh(t.Context(), c)
	if err != nil || next == nil || string(next) == string(c.Credentials) {
		t.Fatalf("old tokens: %s %v", next, err)
	}
	_, err = b.app.Refresh(t.Context(), c)
	wantKind(t, "the old pair again", err, integrations.Suspended)
	_, err = b.app.Sync(t.Context(), c)
	wantKind(t, "the old access token", err, integrations.Unauthorized)
	fresh := c
	fresh.Credentials = next
	got, err := b.app.Sync(t.Context(), fresh)
	if err != nil {
		t.Fatal(err)
	}
	// The engine takes up to an eighth off, and the tokens are old by then, but not ended.
	if least := got.Every * 7 / 8; least < 59*time.Minute || got.Every > 90*time.Minute {
		t.Errorf("the next synchronization is after %s", got.Every)
	}
	if err := b.app.Revoke(t.Context(), fresh); err != nil || b.lab.Good("ada") != 0 {
		t.Errorf("revoked: %v, %d tokens are good", err, b.lab.Good("ada"))
	}
}

// TestRenew: requests of people get along with tokens that end or are renewed under way; they ask for newer ones once, and wait for each
// other.
func TestRenew(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.lab.AddProject(t, "acme/shop", map[string]string{"README.md": "# Shop\n"})
	c := b.connect(t)
	asked := 0
	renew := func(ctx context.Context, of integrations.Connection) (integrations.Connection, error) {
		asked++
		later := *b
		later.now = b.now.Add(2 * time.Hour)
		app, err := gitlab.New(gitlab.Config{
			URL: b.lab.URL, ClientID: gitlabtest.ClientID, ClientSecret: gitlabtest.ClientSecret, Now: func() time.Time { return later.now },
			Trust: func(origins ...*url.URL) *egress.Trusted { return egress.Trust(nil, nil, origins...) },
		})
		if err != nil {
			return of, err
		}
		of.Credentials, err = app.Refresh(ctx, of)
		return of, err
	}
	host, err := b.app.Host(c, renew)
	if err != nil {
		t.Fatal(err)
	}
	b.lab.Expire()
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			if _, err := host.Resolve(t.Context(), "acme/shop", "main"); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if asked != 1 {
		t.Errorf("eight requests with a refused token asked %d times for another", asked)
	}
	b.lab.Revoke("ada")
	_, err = host.Resolve(t.Context(), "acme/shop", "main")
	wantKind(t, "all tokens are void", err, integrations.Suspended)

	nothing, err := b.app.Host(c, func(_ context.Context, c integrations.Connection) (integrations.Connection, error) {
		return c, integrations.NewProblem(integrations.Upstream, nil, "the worker is busy")
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = nothing.Resolve(t.Context(), "acme/shop", "main")
	wantKind(t, "refused, and nothing newer", err, integrations.Unauthorized)
	b.now = b.now.Add(3 * time.Hour)
	before := b.lab.Requests("/api/v4/projects/")
	_, err = nothing.Resolve(t.Context(), "acme/shop", "main")
	wantKind(t, "ended, and nothing newer", err, integrations.Upstream)
	if after := b.lab.Requests("/api/v4/projects/"); after != before {
		t.Error("a token that has ended is sent")
	}
}

// TestSync: all projects are listed in which the person is a reporter or more, over all pages.
func TestSync(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop := b.lab.AddProject(t, "acme/team/shop", map[string]string{"README.md": "# Shop\n"})
	for i := range 230 {
		b.lab.AddGit(fmt.Sprintf("acme/p%d", i), shop.Repository)
	}
	guest := b.lab.AddGit("acme/guest", shop.Repository)
	public := b.lab.AddGit("acme/public", shop.Repository)
	stranger := b.lab.AddGit("umbrella/secret", shop.Repository)
	b.lab.Change(func() {
		guest.Members["ada"], public.Visibility, shop.Archived = gitlabtest.Guest, "public", true
		stranger.Members = map[string]int{"eve": gitlabtest.Developer}
	})
	c := b.connect(t)
	got, err := b.app.Sync(t.Context(), c)
	if err != nil || len(got.Repositories) != 232 || got.Name != "ada" {
		t.Fatalf("%d projects, %v", len(got.Repositories), err)
	}
	if r := got.Repositories[0]; r.FullName != "acme/team/shop" || !r.IsArchived || !r.IsPrivate || r.DefaultBranch != "main" ||
		r.HTMLURL != b.lab.URL+"/acme/team/shop" {
		t.Errorf("the first: %+v", r)
	}
	if r := got.Repositories[231]; r.FullName != "acme/public" || r.IsPrivate {
		t.Errorf("the last: %+v", r)
	}

	b.lab.Change(func() { b.lab.Left = 900 })
	_, err = b.app.Sync(t.Context(), c)
	if p := wantKind(t, "half of the quota is used", err, integrations.RateLimited); p.RetryAfter <= 0 || p.RetryAfter > time.Minute {
		t.Errorf("the pause is %s", p.RetryAfter)
	}
	b.lab.Change(func() { b.lab.Left = 1990 })
	for status, kind := range map[int]integrations.Kind{
		401: integrations.Unauthorized, 403: integrations.Suspended, 404: integrations.NotFound, 429: integrations.RateLimited,
		500: integrations.Upstream,
	} {
		b.lab.Fault(func(*http.Request) int { return status })
		_, err := b.app.Sync(t.Context(), c)
		if p := wantKind(t, fmt.Sprintf("status %d", status), err, kind); status == 429 && p.RetryAfter != 7*time.Second {
			t.Errorf("429 asks for a pause of %s", p.RetryAfter)
		}
	}
	b.lab.Fault(nil)
	b.lab.Cut(func(r *http.Request) bool { return r.URL.Path == "/api/v4/projects" })
	_, err = b.app.Sync(t.Context(), c)
	wantKind(t, "a cut list", err, integrations.Upstream)
	b.lab.Cut(nil)
	b.lab.Block("ada", true)
	_, err = b.app.Sync(t.Context(), c)
	wantKind(t, "a blocked person", err, integrations.Suspended)
	b.lab.Block("ada", false)
	other := c
	other.ExternalID = "1"
	_, err = b.app.Sync(t.Context(), other)
	wantKind(t, "tokens of another person", err, integrations.Suspended)
}

// TestAccess: a project of which the person is no longer a reporter is gone, although a public one can still be read.
func TestAccess(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.lab.AddProject(t, "acme/shop", map[string]string{"README.md": "# Shop\n"})
	b.lab.Change(func() { p.Visibility = "public" })
	host, err := b.app.Host(b.connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	id := fmt.Sprint(p.ID)
	if r, _, err := host.Repository(t.Context(), id, ""); err != nil || r.FullName != "acme/shop" || r.Private {
		t.Fatalf("a developer: %+v %v", r, err)
	}
	for _, level := range []int{gitlabtest.Guest, 0} {
		b.lab.Change(func() { p.Members["ada"] = level })
		_, _, err := host.Repository(t.Context(), id, "")
		wantKind(t, fmt.Sprintf("level %d", level), err, integrations.NotFound)
	}
}

// TestNames: a project that is read by its id is not mistaken for one that takes its name over.
func TestNames(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	shop := b.lab.AddProject(t, "acme/shop", map[string]string{"README.md": "# Shop\n"})
	other := b.lab.AddProject(t, "acme/other", map[string]string{"README.md": "# Other\n"})
	host, err := b.app.Host(b.connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	source.Bind(host, "acme/shop", fmt.Sprint(shop.ID))
	b.lab.Change(func() { shop.FullName, other.FullName = "acme/moved", "acme/shop" })
	f, err := host.File(t.Context(), "acme/shop", "main", "README.md", 100)
	if err != nil || string(f.Content) != "# Shop\n" {
		t.Errorf("after the names have changed: %q %v", f.Content, err)
	}

	if has, err := host.HasBranch(t.Context(), "acme/shop", ".."); has || err != nil {
		t.Errorf("a branch that is a folder: %v %v", has, err)
	}

	// Headers that describe a file are not needed.
	b.lab.Change(func() { b.lab.Plain = true })
	plain, err := host.File(t.Context(), "acme/shop", "main", "README.md", 100)
	if err != nil || string(plain.Content) != "# Shop\n" || plain.SHA != f.SHA || plain.Size != f.Size {
		t.Errorf("without headers: %+v %v, want %+v", plain, err, f)
	}
	if plain, err = host.File(t.Context(), "acme/shop", "main", "README.md", 3); err != nil || plain.Kind != source.KindBinary ||
		plain.Content != nil {
		t.Errorf("above the limit, without headers: %+v %v", plain, err)
	}
}

// TestCutBodies: an answer that ends early is a failure, not a shorter answer.
func TestCutBodies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	p := b.lab.AddProject(t, "acme/shop", map[string]string{"README.md": "# Shop\nA line.\n"})
	head := p.Git(t, "rev-parse", "HEAD")
	host, err := b.app.Host(b.connect(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	b.lab.Cut(func(*http.Request) bool { return true })
	_, err = host.File(t.Context(), "acme/shop", head, "README.md", 1000)
	wantKind(t, "a file", err, integrations.Upstream)
	_, err = host.Commit(t.Context(), "acme/shop", head)
	wantKind(t, "a commit", err, integrations.Upstream)
	_, _, err = host.Repository(t.Context(), fmt.Sprint(p.ID), "")
	wantKind(t, "a repository", err, integrations.Upstream)
}
