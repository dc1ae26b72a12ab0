package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/console/consoletest"
)

// asking is the environment of a command that asks a server.
func asking(t *testing.T, url string) []string {
	t.Helper()
	return []string{"SVC_API_URL=" + url, "SVC_API_TOKEN=" + consoletest.Token, "XDG_CONFIG_HOME=" + t.TempDir(), "TERM=xterm"}
}

// TestReadWithoutTerminal: in a pipe, stdout is JSON and nothing else.
func TestReadWithoutTerminal(t *testing.T) {
	s := consoletest.New(t, nil)
	environ := asking(t, s.URL)
	code, stdout, stderr := invoke(t, environ, "traces")
	if code != 0 || !json.Valid([]byte(stdout)) || !strings.Contains(stderr, "--cursor trc_next") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if code, stdout, _ = invoke(t, append(environ, "SVC_FORMAT=table"), "traces"); code != 0 || !strings.HasPrefix(stdout, "START (UTC)") ||
		strings.Contains(stdout, "\x1b") {
		t.Errorf("%d %s", code, stdout)
	}
	if code, stdout, _ = invoke(t, append(environ, "SVC_FORMAT=table"), "traces", "-n", "4", "--format", "jsonl"); code != 0 ||
		strings.Count(stdout, "\n") != 4 {
		t.Errorf("%d %s", code, stdout)
	}
}

// TestReadOnTerminal: a terminal gets a table of its width, colours unless the person wants none, and no character that steers it.
func TestReadOnTerminal(t *testing.T) {
	s := consoletest.New(t, nil)
	environ := asking(t, s.URL)
	for name, tc := range map[string]struct {
		columns int
		environ []string
		args    []string
		color   bool
	}{
		"wide":     {160, environ, []string{"logs"}, true},
		"narrow":   {44, environ, []string{"logs"}, true},
		"NO_COLOR": {80, append([]string{"NO_COLOR=1"}, environ...), []string{"logs"}, false},
		"dumb":     {80, append(append([]string{}, environ...), "TERM=dumb"), []string{"logs"}, false},
		"flag":     {80, environ, []string{"logs", "--no-color"}, false},
		"map":      {40, environ, []string{"service-map", "--no-color"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			code, screen := onTerminal(t, tc.columns, tc.environ, tc.args...)
			if code != 0 || strings.Contains(screen, "\x1b[") != tc.color {
				t.Errorf("%d %q", code, screen)
			}
			for _, attack := range []string{"\x1b]0;", "\x1b[2J", "\u009b", "\u202e", "\a"} {
				if strings.Contains(screen, attack) {
					t.Errorf("the terminal got %q", attack)
				}
			}
			for line := range strings.Lines(screen) {
				for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"} {
					line = strings.ReplaceAll(line, code, "")
				}
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > tc.columns {
					t.Errorf("%d columns on a terminal of %d: %q", n, tc.columns, line)
				}
			}
		})
	}
	// JSON on a terminal is escaped too.
	if code, screen := onTerminal(t, 80, environ, "logs", "--format", "json"); code != 0 || strings.ContainsAny(screen, "\x1b\a\u009b\u202e") {
		t.Errorf("%d %q", code, screen)
	}
}

// TestReadCredentials checks the server and the credential of a read, and the message without a credential.
func TestReadCredentials(t *testing.T) {
	s := consoletest.New(t, nil)
	home, dir := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	bare := []string{"XDG_CONFIG_HOME=" + home}
	file := filepath.Join(dir, "keys.json")
	if err := os.WriteFile(file, []byte(`{"base_url":"`+s.URL+`","api_key":"`+consoletest.Token+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		environ []string
		args    string
		code    int
		stderr  string
	}{
		{bare, "services", 1, "run 'svc login', or set SVC_API_URL and SVC_API_TOKEN"},
		{bare, "services --bootstrap-file " + file, 0, ""},
		{bare, "services --bootstrap-file nothing", 2, "--bootstrap-file"},
		{bare, "services --local", 2, "--bootstrap-file"},
		{bare, "services --local --remote", 2, "exclude"},
		{append(bare, "SVC_BOOTSTRAP_FILE="+file), "services", 0, ""},
		{append(bare, "SVC_BOOTSTRAP_FILE="+file), "services --remote", 1, "svc login"},
		{append(bare, "SVC_API_URL="+s.URL, "SVC_API_KEY="+consoletest.Token), "services", 0, ""},
		{append(bare, "SVC_API_URL="+s.URL, "SVC_API_TOKEN=old"), "services", 1, "InvalidCredentialsError"},
		{append(bare, "SVC_API_URL="+s.URL, "SVC_API_TOKEN=a b"), "services", 2, "SVC_API_TOKEN"},
		{append(bare, "SVC_API_URL=ftp://x", "SVC_API_TOKEN=a"), "services", 2, "--api-url"},
		{
			append(bare, "SVC_API_URL=http://127.0.0.1:1", "SVC_API_TOKEN=a"), "services --format table", 1,
			"no server answers at http://127.0.0.1:1",
		},
		{append(bare, "SVC_API_URL=http://127.0.0.1:1", "SVC_API_TOKEN=a"), "services", 1, `{"error":{"_tag":"@svc/cli/ServerUnreachable"`},
		{append(bare, "SVC_FORMAT=xml"), "services", 2, `SVC_FORMAT "xml"`},
		{bare, "use mars", 2, "mars"},
		{bare, "use local", 0, ""},
		{append(bare, "SVC_API_URL="+s.URL, "SVC_API_TOKEN=a"), "services", 2, "data/keys.json"},
		{append(bare, "SVC_API_URL="+s.URL, "SVC_API_TOKEN="+consoletest.Token), "services --remote", 0, ""},
		{bare, "use auto", 0, ""},
		{bare, "services --limit 0x", 2, "limit"},
		{bare, "traces everything", 2, `unknown command "everything" for "svc traces"`},
		{bare, "traces get", 2, "TRACE_ID is missing"},
		{bare, "services now", 2, `unexpected argument "now"`},
		{bare, "attributes", 2, "a command is missing"},
		{bare, "auth", 2, "a command is missing"},
		{bare, "auth status", 1, "svc login"},
	} {
		code, _, stderr := invoke(t, tc.environ, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("svc %s: exit code %d, want %d, with %q in %q", tc.args, code, tc.code, tc.stderr, stderr)
		}
	}
}

// TestWhoami: the credential that commands use is shown, wherever it comes from, and never in full.
func TestWhoami(t *testing.T) {
	s := consoletest.New(t, nil)
	t.Chdir(t.TempDir())
	environ := asking(t, s.URL)
	code, stdout, stderr := invoke(t, environ, "whoami")
	for _, want := range []string{
		"admin@localhost", "Default (org_", "), root", "of SVC_API_TOKEN", "traces:read, logs:read", "2027-01-01 00:00:00 UTC", s.URL,
	} {
		if code != 0 || !strings.Contains(stdout, want) {
			t.Errorf("%d %s %s: %q is missing", code, stdout, stderr, want)
		}
	}
	var who struct {
		Source, Credential string
		Scopes             []string
	}
	code, stdout, _ = invoke(t, environ, "auth", "status", "--output", "json")
	if err := json.Unmarshal([]byte(stdout), &who); code != 0 || err != nil || who.Source != "SVC_API_TOKEN" || who.Credential != "api_key" ||
		len(who.Scopes) != 2 {
		t.Errorf("%d %v %s", code, err, stdout)
	}
	environ = append(environ, "SVC_API_TOKEN=svc_ak_old_and_long")
	if code, _, stderr = invoke(t, environ, "whoami"); code != 1 || !strings.Contains(stderr, "InvalidCredentialsError") ||
		!strings.Contains(stderr, "Set SVC_API_TOKEN to a valid key.") || strings.Contains(stderr, "svc_ak_old_and_long") {
		t.Errorf("%d %s", code, stderr)
	}
}

// A login is for one server: its key goes nowhere else.
func TestReadLogin(t *testing.T) {
	s := consoletest.New(t, nil)
	home := t.TempDir()
	t.Chdir(home)
	path := filepath.Join(home, "svc", "login.json")
	if err := prepareFolder(path); err != nil {
		t.Fatal(err)
	}
	if err := (credential{URL: s.URL, Token: consoletest.Token}).write(path); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := invoke(t, []string{"XDG_CONFIG_HOME=" + home}, "services"); code != 0 {
		t.Errorf("%d %s", code, stderr)
	}
	code, _, stderr := invoke(t, []string{"XDG_CONFIG_HOME=" + home, "SVC_API_URL=http://127.0.0.1:1"}, "services")
	if code != 1 || !strings.Contains(stderr, "the login is for "+s.URL) || strings.Contains(stderr, consoletest.Token) {
		t.Errorf("%d %s", code, stderr)
	}
}
