package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestIntegrationLogins tries each way in which the connection of an account can go wrong, and the ways in which it goes right.
func TestIntegrationLogins(t *testing.T) {
	t.Parallel()
	b := newSourceBench(t)
	const callback = "/integrations/github/callback"
	refused := func(what string, got page, status int, words string) {
		t.Helper()
		if got.StatusCode != status || !strings.Contains(got.text, words) {
			t.Errorf("%s: %d, want %d with %q: %.300s", what, got.StatusCode, status, words, got.text)
		}
	}
	nothing := func(what string) {
		t.Helper()
		if got := fmt.Sprint(b.rest.call("GET", "/v2/integrations/source_hosts/github", "", 200)["connections"]); got != "[]" {
			t.Errorf("%s: connected: %s", what, got)
		}
	}

	// The paths to which the browser may return.
	for _, path := range []string{"//evil.example", "https://evil.example", `/\evil.example`, "/a b", "x", "/\t"} {
		body := fmt.Sprintf(`{"return_to":%q}`, path)
		if got := b.session().call("POST", "/v2/integrations/source_hosts/github/install", body,
			400); tagOf(got) != "@svc/http/errors/IntegrationsValidationError" {
			t.Errorf("%q: %v", path, got)
		}
	}

	// The person refuses at the hub.
	b.hub.Deny(true)
	back := b.start(b.session(), `{"return_to":"/o/default/settings/integrations?tab=1"}`)
	if got := b.admin.get(back); got.StatusCode != 303 || got.Header.Get("Location") != "/o/default/settings/integrations?integration=github&result=cancelled&tab=1" {
		t.Errorf("refused at the hub: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	b.hub.Deny(false)
	nothing("refused at the hub")

	// Another person, another session of the same person, and a stranger to the state.
	back = b.start(b.session(), "{}")
	again := newVisitor(t, b.s.BaseURL)
	again.signIn(b.s.AdminEmail, b.s.AdminPassword)
	refused("another session", again.get(back), 403, "started elsewhere")
	other := b.s.NewOrganization(t, "Elsewhere")
	stranger := newVisitor(t, b.s.BaseURL)
	stranger.signIn(other.AdminEmail, other.AdminPassword)
	refused("another person", stranger.get(back), 403, "started elsewhere")
	if got := newVisitor(t, b.s.BaseURL).get(back); got.StatusCode != 303 || !strings.HasPrefix(got.Header.Get("Location"), "/login?next=") {
		t.Errorf("signed out: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	u, err := url.Parse(back)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	for what, state := range map[string]string{
		"no state": "", "a guess": "abc." + b.s.OrgID, "another organization": strings.Split(q.Get("state"), ".")[0] + "." + other.OrgID,
	} {
		refused(what, b.admin.get(callback+"?"+url.Values{"code": {q.Get("code")}, "state": {state}}.Encode()), 404, "is over")
	}
	nothing("by strangers")

	// A wrong code, and the second use of an attempt.
	refused("a wrong code", b.admin.get(callback+"?"+url.Values{"code": {"guess"}, "state": {q.Get("state")}}.Encode()),
		502, "did not accept the code")
	refused("used", b.admin.get(back), 404, "is over")
	nothing("after a wrong code")

	// An installation whose number somebody wrote into the link. This attempt did not begin with one, so the person chooses as always.
	hidden := b.hub.Install("secret-corp", "Organization", "somebody")
	for what, number := range map[string]int64{"a guessed installation": hidden.ID, "an installation of the person": b.install.ID} {
		back = b.start(b.session(), "{}")
		refused(what, b.admin.get(back+"&installation_id="+fmt.Sprint(number)), 200, "Choose an account")
		nothing(what)
	}

	// The person chooses among accounts; an account that was not offered is refused, and the attempt can be cancelled.
	b.hub.Change(func() { b.install.Readers = append(b.install.Readers, "reader") })
	back = b.start(b.session(), "{}")
	state := loginStateOf(t, back)
	refused("an account that was not offered", b.admin.post(back, callback, "state", state, "account", fmt.Sprint(hidden.ID), "decision",
		"connect"), 400, "Choose an account")
	if got := b.admin.post(back, callback, "state", state, "decision", "cancel"); got.StatusCode != 303 ||
		!strings.Contains(got.Header.Get("Location"), "result=cancelled") {
		t.Errorf("cancel: %d %s", got.StatusCode, got.Header.Get("Location"))
	}
	refused("after the cancel", b.admin.get(back), 404, "is over")
	nothing("cancelled")

	// An API key starts; an administrator confirms in a browser, a member cannot.
	back = b.start(b.rest, "{}")
	member := join(t, b.s)
	colleague := newVisitor(t, b.s.BaseURL)
	colleague.signIn(member.email, member.password)
	refused("a member confirms", colleague.get(back), 403, "Only an administrator")
	refused("the confirmation", b.admin.get(back), 200, "An API key of")
	nothing("before the confirmation")
	code := mustQuery(t, back, "code")
	refused("confirmed", b.admin.post(back, callback, "state", loginStateOf(t, back), "code", code, "decision", "connect"),
		200, "Choose an account")
	// From now on the attempt belongs to this session: another one of the same administrator cannot choose.
	refused("another session after the confirmation", again.get(back), 403, "started elsewhere")
	refused("another session chooses", again.post(back, callback, "state", loginStateOf(t, back), "account", fmt.Sprint(b.install.ID),
		"decision", "connect"), 403, "started elsewhere")
	nothing("confirmed only")

	// A person who only reads the account connects what that person may read.
	public := b.hub.AddRepository(t, b.install, "public", map[string]string{"a.txt": "a"})
	b.hub.Change(func() { public.Readers = []string{"reader"} })
	b.hub.SignIn("reader")
	back = b.start(b.session(), "{}")
	if text := b.admin.get(back).text; !strings.Contains(text, "only the 1 repositories that you may read") {
		t.Errorf("a reader's choice: %.600s", text)
	}
	if got := b.admin.post(back, callback, "state", loginStateOf(t, back), "account", fmt.Sprint(b.install.ID), "decision",
		"connect"); got.StatusCode != 303 {
		t.Errorf("a reader connects: %d %.300s", got.StatusCode, got.text)
	}
	b.until("the repository is listed", func() bool { return len(b.repositories()) > 0 })
	if got := b.repositories(); len(got) != 1 || got[0]["full_name"] != "acme/public" {
		t.Errorf("a reader's repositories: %v", got)
	}

	// A person without any installation installs the app first.
	b.hub.SignIn("newcomer")
	back = b.start(b.session(), "{}")
	leave := b.admin.get(back)
	to := installLink(t, leave.text)
	if !strings.Contains(to, "/github-apps/svc-test/installations/new?state=") {
		t.Fatalf("without an installation: %d %.400s", leave.StatusCode, leave.text)
	}
	installed := b.atHub(to)
	guessed := strings.Replace(installed, "installation_id="+mustQuery(t, installed, "installation_id"),
		"installation_id="+fmt.Sprint(hidden.ID), 1)
	refused("a guessed installation after an installation", b.admin.get(guessed), 502, "may not see the installation")
	back = b.start(b.session(), "{}")
	b.admin.get(back)
	to = installLink(t, b.admin.post(back, callback, "state", loginStateOf(t, back), "decision", "install").text)
	if got := b.admin.get(b.atHub(to)); got.StatusCode != 303 || !strings.HasSuffix(got.Header.Get("Location"), "result=connected") {
		t.Errorf("after the installation: %d %s %.300s", got.StatusCode, got.Header.Get("Location"), got.text)
	}
	if got := fmt.Sprint(b.rest.call("GET", "/v2/integrations", "", 200)["data"]); !strings.Contains(got, "account:newcomer") {
		t.Errorf("the list: %s", got)
	}
}

func mustQuery(t *testing.T, path, name string) string {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get(name)
}

// installLink is the address to which a page leads.
func installLink(t *testing.T, text string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, `http-equiv="refresh" content="0;url=`)
	if !ok {
		_, rest, ok = strings.Cut(text, `url=`)
	}
	link, _, found := strings.Cut(rest, `"`)
	if !ok || !found {
		t.Fatalf("the page leads nowhere: %.400s", text)
	}
	return strings.ReplaceAll(link, "&amp;", "&")
}
