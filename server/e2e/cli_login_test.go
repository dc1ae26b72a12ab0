package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/testkit"
)

// commandLine is a person's terminal with its own configuration folder.
type commandLine struct {
	t    *testing.T
	home string
	// more are further variables.
	more []string
}

func newCommandLine(t *testing.T) *commandLine { return &commandLine{t: t, home: t.TempDir()} }

func (c *commandLine) command(args ...string) *exec.Cmd {
	cmd := testkit.Command(c.t, args...)
	cmd.Env = append(append(cmd.Env, "XDG_CONFIG_HOME="+c.home), c.more...)
	return cmd
}

// run runs a command to its end.
func (c *commandLine) run(args ...string) (code int, stdout, stderr string) {
	c.t.Helper()
	cmd := c.command(args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		exit, ok := err.(*exec.ExitError) //nolint:errorlint // Run wraps nothing
		if !ok {
			c.t.Fatal(err)
		}
		code = exit.ExitCode()
	}
	return code, out.String(), errs.String()
}

func (c *commandLine) file() string { return filepath.Join(c.home, "svc", "login.json") }

// waitingLogin is a svc login whose code waits for a decision.
type waitingLogin struct {
	cmd        *exec.Cmd
	page, code string
	log        *bytes.Buffer
	done       chan struct{}
}

var (
	loginPage = regexp.MustCompile(`(http\S+/cli\?code=\S+)`)
	loginCode = regexp.MustCompile(`(?m)^\s+([A-Z]{4}-[A-Z]{4})$`)
)

// login starts svc login and waits for its code.
func (c *commandLine) login(args ...string) *waitingLogin {
	c.t.Helper()
	w := &waitingLogin{cmd: c.command(append([]string{"login", "--no-browser"}, args...)...), log: &bytes.Buffer{}, done: make(chan struct{})}
	pipe, err := w.cmd.StderrPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = w.cmd.Process.Kill() })
	lines := bufio.NewReader(pipe)
	for w.page == "" || w.code == "" {
		line, err := lines.ReadString('\n')
		w.log.WriteString(line)
		if err != nil {
			c.t.Fatalf("svc login ended: %s", w.log)
		}
		if m := loginPage.FindStringSubmatch(line); m != nil {
			w.page = m[1]
		}
		if m := loginCode.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			w.code = m[1]
		}
	}
	go func() {
		defer close(w.done)
		_, _ = io.Copy(w.log, lines)
		_ = w.cmd.Wait()
	}()
	return w
}

// wait returns the exit code.
func (w *waitingLogin) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-w.done:
		return w.cmd.ProcessState.ExitCode()
	case <-time.After(30 * time.Second):
		t.Fatalf("svc login does not end:\n%s", w.log)
		return -1
	}
}

// TestCliLogin checks that a person confirms in a browser and the command line gets a key. It also checks who the key acts as,
// and how the login ends.
func TestCliLogin(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Command line")
	c := newCommandLine(t)
	if code, _, stderr := c.run("whoami"); code != 1 || !strings.Contains(stderr, "svc login") {
		t.Errorf("whoami before: %d %s", code, stderr)
	}
	if code, _, stderr := c.run("logout"); code != 1 || !strings.Contains(stderr, "svc login") {
		t.Errorf("logout before: %d %s", code, stderr)
	}
	v := newVisitor(t, s.BaseURL)
	v.signIn(s.AdminEmail, s.AdminPassword)

	w := c.login("--url", s.BaseURL+"/", "--name", "test box\x1b[2J")
	shown := v.get(strings.TrimPrefix(w.page, s.BaseURL))
	for _, want := range []string{w.code, "test box[2J", "127.0.0.1", "Command line", s.OrgID} {
		if shown.StatusCode != 200 || !strings.Contains(shown.text, want) {
			t.Errorf("the page lacks %q: %d", want, shown.StatusCode)
		}
	}
	if got := v.post("/cli?code="+w.code, "/cli", "code", strings.ToLower(strings.ReplaceAll(w.code, "-", " ")), "organization", s.OrgID,
		"decision", "approve"); got.StatusCode != 200 || !strings.Contains(got.text, "Confirmed") {
		t.Fatalf("confirmed: %d %s", got.StatusCode, got.text)
	}
	if code := w.wait(t); code != 0 || !strings.Contains(w.log.String(), "signed in as "+s.AdminEmail+" to Command line") {
		t.Fatalf("svc login: %d\n%s", code, w.log)
	}
	info, err := os.Stat(c.file())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", info, err)
	}
	if strings.Contains(w.log.String(), "svc_ak_") && regexp.MustCompile(`svc_ak_[\w-]{20}`).MatchString(w.log.String()) {
		t.Errorf("the key is printed: %s", w.log)
	}
	token := c.token()
	status, me := as(t, s, token, "", "GET", "/v2/session", "")
	if status != 200 || me["credential"] != "api_key" || at(me, "organization", "id") != s.OrgID || me["scopes"] != nil ||
		at(me, "user", "email") != s.AdminEmail {
		t.Errorf("the key: %d %v", status, me)
	}
	key := restClient{t, s, s.APIKey}.call("GET", "/v2/api_keys/"+fmt.Sprint(me["key_id"]), "", 200)
	expires, err := time.Parse(time.RFC3339, fmt.Sprint(key["expires_at"]))
	if left := time.Until(expires); err != nil || left < 90*24*time.Hour-time.Minute || left > 90*24*time.Hour {
		t.Errorf("it expires %v: %v", key["expires_at"], err)
	}
	if key["description"] != "Made by svc login" || key["kind"] != "standard" || !strings.Contains(fmt.Sprint(key["name"]), "test box") ||
		key["created_by_email"] != s.AdminEmail {
		t.Errorf("the key is listed as %v", key)
	}
	code, stdout, stderr := c.run("whoami", "--output", "json")
	var who struct {
		User         struct{ Email string }
		Organization struct{ ID, Name string }
		KeyPrefix    string `json:"key_prefix"`
		ExpiresAt    string `json:"expires_at"`
		URL          string
	}
	if err := json.Unmarshal([]byte(stdout), &who); code != 0 || err != nil || who.User.Email != s.AdminEmail ||
		who.Organization.ID != s.OrgID ||
		who.KeyPrefix != key["key_prefix"] || who.ExpiresAt == "" || who.URL != s.BaseURL || strings.Contains(stdout, token) {
		t.Errorf("whoami: %d %v %s %s", code, err, stdout, stderr)
	}
	if code, stdout, _ := c.run("whoami"); code != 0 || !strings.Contains(stdout, "Organization  Command line") {
		t.Errorf("whoami: %d %s", code, stdout)
	}
	if code, _, stderr := c.run("whoami", "--output", "xml"); code != 2 || !strings.Contains(stderr, "--output") {
		t.Errorf("whoami in XML: %d %s", code, stderr)
	}

	// A second login, without naming the server again, replaces the first one, whose key ends.
	w = c.login()
	if !strings.HasPrefix(w.page, s.BaseURL) {
		t.Errorf("the second login goes to %s", w.page)
	}
	v.post("/cli?code="+w.code, "/cli", "code", w.code, "organization", s.OrgID, "decision", "approve")
	if code := w.wait(t); code != 0 {
		t.Fatalf("the second login: %d\n%s", code, w.log)
	}
	if status, _ := as(t, s, token, "", "GET", "/v2/session", ""); status != 401 || c.token() == token {
		t.Errorf("the key before: %d", status)
	}
	token = c.token()

	// A refused login gives no key, and the existing login stays valid.
	w = c.login()
	if got := v.post("/cli?code="+w.code, "/cli", "code", w.code, "organization", s.OrgID, "decision", "deny"); got.StatusCode != 200 ||
		!strings.Contains(got.text, "Refused") {
		t.Errorf("refused: %d %s", got.StatusCode, got.text)
	}
	if code := w.wait(t); code != 1 || !strings.Contains(w.log.String(), "refused in the browser") || c.token() != token {
		t.Errorf("a refused login: %d\n%s", code, w.log)
	}
	if got := v.post("/cli?code="+w.code, "/cli", "code", w.code, "organization", s.OrgID, "decision", "approve"); got.StatusCode != 404 {
		t.Errorf("confirming what was refused: %d", got.StatusCode)
	}

	if code, _, stderr := c.run("logout"); code != 0 {
		t.Errorf("logout: %d %s", code, stderr)
	}
	if _, err := os.Stat(c.file()); !os.IsNotExist(err) {
		t.Errorf("the file after the logout: %v", err)
	}
	if status, _ := as(t, s, token, "", "GET", "/v2/session", ""); status != 401 {
		t.Errorf("the key after the logout: %d", status)
	}
	for action, want := range map[string]int{"cli_login.approved": 2, "cli_login.denied": 1, "api_key.revoked": 2} {
		list := restClient{t, s, s.APIKey}.call("GET", "/v2/audit_log?action="+action, "", 200)
		if entries, _ := list["data"].([]any); len(entries) != want {
			t.Errorf("%s: %d entries, want %d", action, len(entries), want)
		}
	}
	list := restClient{t, s, s.APIKey}.call("GET", "/v2/audit_log?action=api_key.created&resource_id="+fmt.Sprint(me["key_id"]), "", 200)
	entries, _ := list["data"].([]any)
	if len(entries) != 1 || at(entries[0], "actor_type") != "user" || at(entries[0], "actor_name") == nil ||
		at(entries[0], "metadata", "cli_login") != true {
		t.Errorf("the key's entry: %v", entries)
	}
	if code, _, stderr := c.run("login", "--url", "ftp://x"); code != 2 || !strings.Contains(stderr, "--url") {
		t.Errorf("login to ftp: %d %s", code, stderr)
	}
	if err := os.WriteFile(c.file(), []byte(`{}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := c.run("whoami"); code != 1 || !strings.Contains(stderr, "chmod 600") {
		t.Errorf("a file that others can read: %d %s", code, stderr)
	}
}

func (c *commandLine) token() string {
	c.t.Helper()
	text, err := os.ReadFile(c.file())
	if err != nil {
		c.t.Fatal(err)
	}
	var kept struct{ Token string }
	if err := json.Unmarshal(text, &kept); err != nil || !strings.HasPrefix(kept.Token, "svc_ak_") {
		c.t.Fatalf("%v: %s", err, text)
	}
	return kept.Token
}

// TestCliLoginProtocol checks the answers of the endpoints to callers who ask too early, too often, twice, or for another
// person's login.
func TestCliLoginProtocol(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Command line protocol")
	other := testkit.Shared(t).NewOrganization(t, "Command line other")
	start := func() (device, code string) {
		t.Helper()
		status, got := as(t, s, "", "", "POST", "/v2/cli/device", `{"client_name":"box"}`)
		if status != 200 || got["expires_in"] != 600.0 || got["interval"] != 5.0 || got["verification_uri"] != s.BaseURL+"/cli" ||
			got["verification_uri_complete"] != s.BaseURL+"/cli?code="+fmt.Sprint(got["user_code"]) {
			t.Fatalf("start: %d %v", status, got)
		}
		return fmt.Sprint(got["device_code"]), fmt.Sprint(got["user_code"])
	}
	ask := func(device string, want int, tag string) map[string]any {
		t.Helper()
		status, got := as(t, s, "", "", "POST", "/v2/cli/token", `{"device_code":"`+device+`"}`)
		if status != want || tag != "" && tagOf(got) != "@svc/http/errors/"+tag {
			t.Errorf("token: %d %v, want %d %s", status, got, want, tag)
		}
		return got
	}
	connect := func(token, method, body string) (int, map[string]any) {
		t.Helper()
		return as(t, s, token, "", "POST", "/svc.v2.CliService/"+method, body)
	}
	admin := signIn(t, s, s.AdminEmail, s.AdminPassword, "")

	ask("svc_dc_unknown", 400, "CliLoginExpiredError")
	device, code := start()
	ask(device, 400, "CliLoginPendingError")
	ask(device, 400, "CliLoginSlowDownError")
	ask(strings.ReplaceAll(code, "-", ""), 400, "CliLoginExpiredError") // the other code is not accepted here

	// A key cannot confirm a login. Neither can a member, because the key would have the rights of an administrator.
	if status, got := connect(s.APIKey, "ApproveCliLogin", `{"userCode":"`+code+`"}`); status != 403 ||
		!strings.Contains(fmt.Sprint(got), "ApiKeyNotAccepted") {
		t.Errorf("a key confirms: %d %v", status, got)
	}
	st := openStore(t, s)
	otherAdmin, err := st.UserByEmail(t.Context(), other.AdminEmail)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.CreateMembership(t.Context(), principal.OrgID(s.OrgID), otherAdmin.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	member := newVisitor(t, s.BaseURL)
	member.signIn(other.AdminEmail, other.AdminPassword)
	if page := member.get("/cli?code=" + code); !strings.Contains(page.text, "only administrators") ||
		!strings.Contains(page.text, "Command line other") {
		t.Errorf("the page of a member: %s", page.text)
	}
	if got := member.post("/cli?code="+code, "/cli", "code", code, "organization", s.OrgID, "decision", "approve"); got.StatusCode != 403 {
		t.Errorf("a member confirms: %d", got.StatusCode)
	}
	if got := member.post("/cli?code="+code, "/cli", "code", code, "organization", "org_none", "decision", "approve"); got.StatusCode != 403 {
		t.Errorf("confirmed for nobody's organization: %d", got.StatusCode)
	}
	for _, wrong := range []string{`{"userCode":"BBBB-BBBB"}`, `{"userCode":"x"}`, `{"userCode":"AAAA-AAAA"}`} {
		if status, got := connect(admin, "GetCliLogin", wrong); status != 400 || !strings.Contains(fmt.Sprint(got), "CliLoginExpired") {
			t.Errorf("%s: %d %v", wrong, status, got)
		}
	}

	// If the person who confirmed is removed before the key is made, there is no key.
	promote := func(role principal.Role) {
		t.Helper()
		if _, err := st.SetRole(t.Context(), principal.OrgID(s.OrgID), otherAdmin.ID, role); err != nil {
			t.Fatal(err)
		}
	}
	promote(principal.RoleAdmin)
	eventually(t, "the promotion to count", func() bool {
		return strings.Contains(member.post("/cli?code="+code, "/cli", "code", code, "organization", s.OrgID, "decision", "approve").text,
			"Confirmed")
	})
	promote(principal.RoleMember)
	time.Sleep(limits.CLILoginPoll) // an earlier question is refused for its haste
	ask(device, 400, "CliLoginDeniedError")

	// The key is made once, for the first caller.
	device, code = start()
	if status, got := connect(admin, "ApproveCliLogin", `{"userCode":"`+code+`"}`); status != 200 || got["status"] != "approved" {
		t.Fatalf("confirmed: %d %v", status, got)
	}
	if status, _ := connect(admin, "DenyCliLogin", `{"userCode":"`+code+`"}`); status != 400 {
		t.Errorf("refused after it was confirmed: %d", status)
	}
	type result struct {
		status int
		body   map[string]any
	}
	results := make(chan result, 4)
	for range 4 {
		go func() {
			status, got := as(t, s, "", "", "POST", "/v2/cli/token", `{"device_code":"`+device+`"}`)
			results <- result{status, got}
		}()
	}
	var made map[string]any
	for range 4 {
		if r := <-results; r.status == 200 {
			if made != nil {
				t.Error("two keys were made")
			}
			made = r.body
		}
	}
	if made == nil || at(made, "organization", "id") != s.OrgID || at(made, "user", "email") != s.AdminEmail {
		t.Fatalf("redeemed: %v", made)
	}
	ask(device, 400, "CliLoginExpiredError")
	key := fmt.Sprint(made["token"])
	if status, got := as(t, s, s.APIKey, "", "DELETE", "/v2/cli/session", ""); status != 400 ||
		tagOf(got) != "@svc/http/v2/InvalidRequestError" {
		t.Errorf("another key logs out: %d %v", status, got)
	}
	if status, got := as(t, s, admin, "", "DELETE", "/v2/cli/session", ""); status != 400 {
		t.Errorf("a session logs out: %d %v", status, got)
	}
	if status, got := as(t, s, key, "", "DELETE", "/v2/cli/session", ""); status != 200 || got["deleted"] != true ||
		got["key_id"] != made["key_id"] {
		t.Errorf("logged out: %d %v", status, got)
	}
	if status, _ := as(t, s, key, "", "DELETE", "/v2/cli/session", ""); status != http.StatusUnauthorized {
		t.Errorf("logged out twice: %d", status)
	}
	for _, body := range []string{
		`{}`, `{"client_name":""}`, `{"client_name":"  "}`, `{"client_name":"` + strings.Repeat("x", 101) + `"}`,
		`{"client_name":"a","scopes":["*"]}`,
	} {
		if status, got := as(t, s, "", "", "POST", "/v2/cli/device", body); status != 400 || at(got, "error", "message") == "" {
			t.Errorf("start with %s: %d %v", body, status, got)
		}
	}
	if _, err := st.DeviceLoginByUserCode(t.Context(), code); err == nil {
		t.Error("the code itself is in the database")
	} else if err != nil && !strings.Contains(err.Error(), store.ErrNotFound.Error()) {
		t.Error(err)
	}
}

// TestCliCodesCannotBeGuessed checks that the number of wrong codes is bounded.
func TestCliCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	s := testkit.Start(t, nil)
	v := newVisitor(t, s.BaseURL)
	v.signIn(s.AdminEmail, s.AdminPassword)
	for range 12 {
		got := v.get("/cli?code=BBBB-BBBB")
		if got.StatusCode == 429 {
			if got.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
			return
		}
		if got.StatusCode != 404 {
			t.Fatalf("%d", got.StatusCode)
		}
	}
	t.Error("12 wrong codes were taken")
}
