package e2e

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/auth/oidc"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/testkit"
)

// step is an action of a person; see pages.mjs.
type step map[string]any

func open(address string) step        { return step{"open": address} }
func fill(field, text string) step    { return step{"fill": []string{field, text}} }
func click(what string) step          { return step{"click": what} }
func look(name string) step           { return step{"look": name} }
func read(name, what string) step     { return step{"read": []string{name, what}} }
func awaitPage(address string) step   { return step{"await": address} }
func script(name, source string) step { return step{"script": []string{name, source}} }

// walk is browse on our own pages. All requests must go to the allowed servers, and the content security policy may refuse
// nothing.
func walk(t *testing.T, allowed []string, steps ...step) shown {
	t.Helper()
	got := browse(t, allowed, steps...)
	if len(got.Problems) > 0 || len(got.Foreign) > 0 {
		t.Errorf("problems %q, requests elsewhere %q", got.Problems, got.Foreign)
	}
	return got
}

// signInSteps are the actions of a person with a password, on the open page.
func signInSteps(email, password string) []step {
	return []step{fill("input[name=email]", email), fill("input[name=password]", password), click("form[action='/login'] button")}
}

// TestPagesInBrowser signs in, joins and confirms as a person does. It shows each page in light and dark, wide and on a phone.
func TestPagesInBrowser(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Browser pages")
	admin := restClient{t, s, s.APIKey}
	email := fmt.Sprintf("grace.hopper.%d@research.example.com", time.Now().UnixNano())
	link := fmt.Sprint(admin.call("POST", "/v2/organization/invitations", `{"email":"`+email+`","role":"org:admin"}`, 200)["link"])
	c := newCommandLine(t)
	waiting := c.login("--url", s.BaseURL)

	steps := []step{open(s.BaseURL + "/"), look("login")}
	steps = append(steps, signInSteps(email, "not yet")...)
	steps = append(steps,
		read("refused", ".alert"), look("login-refused"),
		open(link), read("offer", ".card p"), look("invite"),
		fill("input[name=name]", "Grace"), fill("input[name=password]", "a long enough one"), click("main form.fields button"),
		awaitPage(s.BaseURL+"/"), open(s.BaseURL+"/programs"), read("hello", "h1"), look("home"),
		open(s.BaseURL+"/account"), fill("input[name=current_password]", "a long enough one"),
		fill("input[name=new_password]", "another long one"),
		click("main form.fields button"), read("changed", ".notice"), look("account"),
		open(link), read("used", ".alert"), look("invite-used"),
		open(s.BaseURL+"/cli"), look("cli-enter"), fill("input[name=code]", "bcdf ghjk"), click("main form button"), read("unknown", ".alert"),
		open(waiting.page), read("code", ".bigcode"), look("cli-confirm"), click("button[value=approve]"), read("confirmed", "h1"),
		look("cli-done"),
		open(s.BaseURL+"/programs"), click("header button"), awaitPage(s.BaseURL+"/login"), read("out", "h1"),
		// A page that needs a session leads back to itself.
		open(s.BaseURL+"/cli?code=BCDF-GHJK"), awaitPage(s.BaseURL+"/login?next="),
	)
	steps = append(steps, signInSteps(email, "another long one")...)
	steps = append(steps, awaitPage(s.BaseURL+"/cli?code=BCDF-GHJK"),
		// Scripts of a page, if there were any, could not read the session. No script runs.
		script("cookies", "document.cookie"))
	got := walk(t, []string{s.BaseURL}, steps...)
	for name, want := range map[string]string{
		"refused": "is wrong", "offer": "an administrator", "hello": "Hello, Grace", "changed": "Your password was changed",
		"used": "does not exist", "unknown": "is unknown", "code": waiting.code,
		"confirmed": "Confirmed", "out": "Sign in",
	} {
		if !strings.Contains(fmt.Sprint(got.Seen[name]), want) {
			t.Errorf("%s shows %q, want %q", name, got.Seen[name], want)
		}
	}
	if got.Seen["cookies"] != "" {
		t.Errorf("scripts can read %v", got.Seen["cookies"])
	}
	if code := waiting.wait(t); code != 0 || !strings.Contains(waiting.log.String(), "signed in as "+email) {
		t.Errorf("svc login: %d\n%s", code, waiting.log)
	}
}

// TestPagesAgainstOthers checks that a page of another site can neither frame our pages nor send our forms, with the person's own
// browser and session.
func TestPagesAgainstOthers(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Browser attacks")
	// Another name of the same machine is another site.
	elsewhere := strings.Replace(s.BaseURL, "127.0.0.1", "localhost", 1)
	steps := append([]step{open(s.BaseURL + "/login")}, signInSteps(s.AdminEmail, s.AdminPassword)...)
	steps = append(steps, awaitPage(s.BaseURL+"/"),
		step{"evil": []string{"frame", `<iframe src="` + s.BaseURL + `/cli"></iframe>`}},
		step{"evil": []string{"form", `<form method="post" action="` + s.BaseURL + `/logout"><button id="go">x</button></form>`}},
		click("#go"), read("answer", ".alert"),
		open(s.BaseURL+"/programs"), read("still", "h1"),
	)
	got := browse(t, []string{s.BaseURL, elsewhere}, steps...)
	if got.Seen["frame"] != "refused" {
		t.Errorf("a page of another site framed ours: %v", got.Seen["frame"])
	}
	if !strings.Contains(fmt.Sprint(got.Seen["answer"]), "was not accepted") || !strings.Contains(fmt.Sprint(got.Seen["still"]), "Hello") {
		t.Errorf("a foreign form was answered with %q, and then there is %q", got.Seen["answer"], got.Seen["still"])
	}
}

// startProvider runs the OpenID Connect provider. The returned function gives it our callback address.
func startProvider(t *testing.T, args ...string) (issuer string, register func(redirect string)) {
	t.Helper()
	dir := npmInstall(t, "oidc-provider", "oidc-provider")
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"provider.mjs"}, args...)...)
	cmd.Dir = dir
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	lines := bufio.NewReader(stdout)
	line := func() string {
		text, err := lines.ReadString('\n')
		if err != nil {
			t.Fatalf("provider.mjs: %v\n%s", err, stderr.String())
		}
		return strings.TrimSpace(text)
	}
	issuer = line()
	return issuer, func(redirect string) {
		if _, err := io.WriteString(stdin, redirect+"\n"); err != nil {
			t.Fatal(err)
		}
		if got := line(); got != "ready" {
			t.Fatalf("provider.mjs says %q", got)
		}
	}
}

// TestOIDCInBrowser signs in with a certified third-party provider, in a browser. An invited person joins. A person with a known
// verified address is the same user. Any other person gets nothing. A provider that is down does not prevent sign-in with a
// password.
func TestOIDCInBrowser(t *testing.T) {
	t.Parallel()
	chromium(t, os.Getenv("SVC_TEST_REQUIRE_CHROMIUM") == "1")
	for _, claims := range []string{"userinfo", "id-token"} {
		t.Run(claims, func(t *testing.T) {
			issuer, register := startProvider(t, claims)
			s := testkit.Start(t, func(c *config.Config) {
				c.OIDC = config.OIDC{
					Issuer: issuer, ClientID: "svc", ClientSecret: "the secret of the client", Scopes: []string{"openid", "email", "profile"},
					Label:            "Acme SSO",
					JoinOrganization: "default", JoinDomains: []string{"joins.example"},
				}
			})
			admin := restClient{t, s, s.APIKey}
			invite := func(body string) string {
				return fmt.Sprint(admin.call("POST", "/v2/organization/invitations", body, 200)["link"])
			}
			allowed := []string{s.BaseURL, issuer}
			atProvider := func(address string) []step {
				return []step{awaitPage(issuer), fill("input[name=login]", address), click("form button")}
			}
			with := "form[action='/login/oidc'] button"
			start := func(address string) []step {
				return append([]step{open(s.BaseURL + "/login?next=/cli"), click(with)}, atProvider(address)...)
			}
			if claims == "userinfo" {
				got := walk(t, allowed, open(s.BaseURL+"/login"), click(with), read("away", ".alert"), look("oidc-away"))
				if !strings.Contains(fmt.Sprint(got.Seen["away"]), "cannot be reached") {
					t.Errorf("a provider that does not answer: %v", got.Seen)
				}
				time.Sleep(oidc.RetryAfter)
			}
			register(s.BaseURL + "/login/oidc/callback")

			// This person is unknown.
			got := walk(t, allowed, append(start("stranger@example.com"), awaitPage(s.BaseURL), read("stranger", ".alert"),
				look("oidc-stranger"))...)
			if !strings.Contains(fmt.Sprint(got.Seen["stranger"]), "No account has the address stranger@example.com") {
				t.Errorf("a stranger: %v", got.Seen)
			}
			// An invited person joins with the provider, then signs in with it, and is the same user.
			steps := append([]step{open(invite(`{"email":"ada@example.com"}`)), look("oidc-invite"), click("button[name=with]")},
				atProvider("ada@example.com")...)
			got = walk(t, allowed, append(steps, awaitPage(s.BaseURL+"/"), open(s.BaseURL+"/programs"), read("hello", "h1"))...)
			if got.Seen["hello"] != "Hello, ada at the provider" {
				t.Errorf("invited: %v at %s", got.Seen, got.URL)
			}
			got = walk(t, allowed, append(start("ada@example.com"), awaitPage(s.BaseURL+"/cli"), read("there", "h1"), read("me", ".me"))...)
			if got.Seen["me"] != "ada@example.com" {
				t.Errorf("again: %v at %s", got.Seen, got.URL)
			}
			// A person with another address cannot accept an invitation, even with the link.
			steps = append([]step{open(invite(`{"email":"grace@example.com"}`)), click("button[name=with]")}, atProvider("eve@example.com")...)
			got = walk(t, allowed, append(steps, awaitPage(s.BaseURL), read("other", ".alert"))...)
			if !strings.Contains(fmt.Sprint(got.Seen["other"]), "another email address") {
				t.Errorf("an invitation of somebody else: %v", got.Seen)
			}
			// A provider that has not verified an email address cannot sign a person in with it.
			joined := restClient{t, s, s.APIKey}
			st := openStore(t, s)
			if _, err := st.UserByEmail(t.Context(), "unverified@joins.example"); err == nil {
				t.Fatal("there is such a user already")
			}
			got = walk(t, allowed, append(start("unverified@joins.example"), awaitPage(s.BaseURL), read("unverified", ".alert"))...)
			if !strings.Contains(fmt.Sprint(got.Seen["unverified"]), "has not verified") {
				t.Errorf("an unverified address: %v", got.Seen)
			}
			// The rule of the operator.
			got = walk(t, allowed, append(start("new@joins.example"), awaitPage(s.BaseURL+"/cli"), open(s.BaseURL+"/programs"),
				read("role", ".pill"))...)
			if got.Seen["role"] != "member" {
				t.Errorf("joined by rule: %v at %s", got.Seen, got.URL)
			}
			// The person cancels at the provider.
			got = walk(t, allowed, open(s.BaseURL+"/login"), click(with), awaitPage(issuer), click("button[name=abort]"), awaitPage(s.BaseURL),
				read("cancelled", ".alert"))
			if !strings.Contains(fmt.Sprint(got.Seen["cancelled"]), "cancelled") {
				t.Errorf("cancelled: %v", got.Seen)
			}
			// The members now also include the first administrator and the person who joined by the rule.
			for action, want := range map[string]int{"invitation.accepted": 1, "user_identity.linked": 2, "member.added": 2, "session.created": 3} {
				list := joined.call("GET", "/v2/audit_log?action="+action, "", 200)
				if entries, _ := list["data"].([]any); len(entries) != want {
					t.Errorf("%s: %d entries, want %d", action, len(entries), want)
				}
			}
			// A callback that this browser did not request, and one that is repeated.
			v := newVisitor(t, s.BaseURL)
			for _, query := range []string{"", "?code=a&state=b", "?error=access_denied&state="} {
				if p := v.get("/login/oidc/callback" + query); p.StatusCode != 400 || p.cookie("session") != nil {
					t.Errorf("callback%s: %d", query, p.StatusCode)
				}
			}
			started := v.post("/login", "/login/oidc")
			if started.StatusCode != 200 || !strings.Contains(started.text, "code_challenge_method=S256") ||
				!strings.Contains(started.text, "nonce=") {
				t.Errorf("the way to the provider: %d %s", started.StatusCode, started.text)
			}
			if p := v.get("/login/oidc/callback?code=a&state=wrong"); p.StatusCode != 400 {
				t.Errorf("a wrong state: %d", p.StatusCode)
			}
		})
	}
}
