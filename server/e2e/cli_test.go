package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/svc-observability/svc/server/testkit"
)

// TestCLI uses the commands as a person and a script do, against a real server with an hour of the demo: from the login to a restart of
// the server below `svc logs --follow`.
func TestCLI(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	c := newCommandLine(t)
	c.more = []string{"SVC_INGEST_KEY=" + p.PrivateKey}
	if code, _, stderr := c.run("demo", "--hours", "1", "--ingest-url", p.IngestURL); code != 0 {
		t.Fatalf("svc demo: %d %s", code, stderr)
	}
	v := newVisitor(t, p.BaseURL)
	v.signIn(p.AdminEmail, p.AdminPassword)
	w := c.login("--url", p.BaseURL)
	v.post("/cli?code="+w.code, "/cli", "code", w.code, "organization", p.OrgID, "decision", "approve")
	if code := w.wait(t); code != 0 {
		t.Fatalf("svc login: %d\n%s", code, w.log)
	}
	deadline := time.Now().Add(time.Minute)
	for names := 0; names < 12; time.Sleep(200 * time.Millisecond) {
		code, stdout, stderr := c.run("services", "--format", "jsonl")
		if names = strings.Count(stdout, "\n"); code != 0 || time.Now().After(deadline) {
			t.Fatalf("%d services, exit code %d: %s", names, code, stderr)
		}
	}
	t.Run("commands", func(t *testing.T) { cliCommands(t, c) })
	t.Run("terminal", func(t *testing.T) { cliTerminal(t, c) })
	t.Run("pipe", func(t *testing.T) { cliPipe(t, c) })
	t.Run("memory", func(t *testing.T) { cliMemory(t, c) })
	t.Run("completion", func(t *testing.T) { cliCompletion(t, c) })
	t.Run("exit codes", func(t *testing.T) { cliExitCodes(t, c) })
	t.Run("follow", func(t *testing.T) { cliFollow(t, c, p) })
}

// cliCommands: every command answers in every format, and what it prints can be read by a program.
func cliCommands(t *testing.T, c *commandLine) {
	trace := c.row("slow-traces", "-n", "1")["id"]
	fingerprint := c.row("errors", "-n", "1")["fingerprint_hash"]
	issue := c.row("issues", "-n", "1")["id"]
	for _, line := range [][]string{
		{"services"},
		{"diagnose", "checkout"},
		{"service-map"},
		{"top-ops", "checkout"},
		{"traces", "--errors"},
		{"trace", fmt.Sprint(trace)},
		{"traces", "get", fmt.Sprint(trace)},
		{"slow-traces"},
		{"logs", "--severity", "WARN"},
		{"log-patterns"},
		{"errors"},
		{"error", fmt.Sprint(fingerprint)},
		{"error", fmt.Sprint(issue)},
		{"issues"},
		{"issues", "get", fmt.Sprint(issue)},
		{"issues", "comment", fmt.Sprint(issue), "seen"},
		{"metrics"},
		{"timeseries", "--group-by", "service.name"},
		{"breakdown"},
		{"compare", "--since", "30m"},
		{"attributes", "keys"},
		{"attributes", "values", "http.route"},
		{"tables"},
		{"tables", "spans"},
		{"query", "SELECT ServiceName, count() AS n FROM spans WHERE $__timeFilter(Timestamp) GROUP BY ServiceName"},
		{"tools", "list", "--readonly"},
		{"tools", "list", "search_logs"},
		{"tools", "call", "search_logs", "--json", `{"limit": 2}`},
	} {
		name := strings.Join(line, " ")
		for _, format := range []string{"", "json", "jsonl", "table"} {
			list := line
			if format != "" {
				list = append(append([]string{}, line...), "--format", format)
			}
			code, stdout, stderr := c.run(list...)
			if code != 0 || stdout == "" && !strings.HasPrefix(name, "compare") {
				t.Errorf("svc %s: %d, %d bytes, %s", strings.Join(list, " "), code, len(stdout), stderr)
				continue
			}
			switch format {
			case "", "json":
				if !json.Valid([]byte(stdout)) {
					t.Errorf("svc %s is not JSON: %.200s", name, stdout)
				}
			case "jsonl":
				for text := range strings.Lines(stdout) {
					if !json.Valid([]byte(text)) {
						t.Errorf("svc %s: a line is not JSON: %.200s", name, text)
					}
				}
			case "table":
				if strings.Contains(stdout, "\x1b") || json.Valid([]byte(stdout)) {
					t.Errorf("svc %s --format table: %.200s", name, stdout)
				}
			}
		}
	}
	if _, _, stderr := c.run("query", "SELECT count() FROM spans WHERE $__timeFilter(Timestamp)"); !strings.Contains(stderr, "svc tables") {
		t.Errorf("the note on sampling: %s", stderr)
	}
	_, _, stderr := c.run("query", "SELECT SpanId FROM spans WHERE $__timeFilter(Timestamp)")
	if !strings.Contains(stderr, "the result was cut") || !strings.Contains(stderr, "--all") {
		t.Errorf("a result that was cut: %s", stderr)
	}
	window := []string{"--end", time.Now().UTC().Format(time.RFC3339)}
	_, stdout, _ := c.run(append([]string{"query", "SELECT count() AS n FROM spans WHERE $__timeFilter(Timestamp)", "--format", "jsonl"},
		window...)...)
	var counted struct {
		N int `json:"n,string"`
	}
	if err := json.Unmarshal([]byte(stdout), &counted); err != nil || counted.N < 20_000 {
		t.Fatalf("%v %s", err, stdout)
	}
	all := `SELECT Timestamp, SpanId FROM spans WHERE $__timeFilter(Timestamp) ORDER BY Timestamp, SpanId`
	_, stdout, stderr = c.run(append([]string{"query", "--all", all, "-n", "7000"}, window...)...)
	seen := map[string]bool{}
	for text := range strings.Lines(stdout) {
		seen[text] = true
	}
	if n := strings.Count(stdout, "\n"); n != counted.N || len(seen) != n {
		t.Errorf("--all gave %d rows, %d of them different; the table has %d: %s", n, len(seen), counted.N, stderr)
	}
}

// row is the first row of the answer of a command.
func (c *commandLine) row(args ...string) map[string]any {
	c.t.Helper()
	code, stdout, stderr := c.run(append(args, "--format", "jsonl")...)
	first, _, _ := strings.Cut(stdout, "\n")
	var out map[string]any
	if err := json.Unmarshal([]byte(first), &out); code != 0 || err != nil {
		c.t.Fatalf("svc %s: %d %v %s", strings.Join(args, " "), code, err, stderr)
	}
	return out
}

// cliTerminal: a terminal gets tables that fit it, in colours unless nobody wants them; a program without a terminal gets JSON.
func cliTerminal(t *testing.T, c *commandLine) {
	for _, columns := range []int{40, 80, 200} {
		for _, plain := range []bool{true, false} {
			program, person := testkit.Terminal(t, columns)
			cmd := c.command("logs", "--severity", "ERROR", "-n", "5")
			cmd.Env = append(cmd.Env, "TERM=xterm-256color", "NO_COLOR=")
			if plain {
				cmd.Env = append(cmd.Env, "NO_COLOR=1")
			}
			cmd.Stdin, cmd.Stdout = program, program
			seen := make(chan string, 1)
			go func() {
				text, _ := io.ReadAll(person) // ends with an error when the program has closed its side
				seen <- string(text)
			}()
			if err := cmd.Run(); err != nil {
				t.Fatal(err)
			}
			_ = program.Close()
			screen := <-seen
			if !strings.Contains(screen, "TIME (UTC)") || strings.Contains(screen, "\x1b[") == plain {
				t.Errorf("%d columns, plain %v: %q", columns, plain, screen)
			}
			for line := range strings.Lines(screen) {
				for _, code := range []string{"\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"} {
					line = strings.ReplaceAll(line, code, "")
				}
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\r\n")); n > columns {
					t.Errorf("%d columns on a terminal of %d: %q", n, columns, line)
				}
			}
		}
	}
	cmd := c.command("services")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if out, err := cmd.Output(); err != nil || !json.Valid(out) {
		t.Errorf("without a terminal: %v %s", err, out)
	}
}

// cliPipe: a reader that has enough ends a command with success, also one that writes much more than a pipe holds.
func cliPipe(t *testing.T, c *commandLine) {
	for _, list := range [][]string{
		{"traces", "-n", "2000", "--format", "jsonl"},
		{"query", "SELECT * FROM spans WHERE $__timeFilter(Timestamp) LIMIT 1000", "--format", "json"},
		{"query", "--all", "SELECT Timestamp, SpanId, TraceId FROM spans ORDER BY Timestamp, SpanId"},
	} {
		cmd := c.command(list...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		cmd.Env = slices.DeleteFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, "GOGC=") }) // as users run it
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReaderSize(out, 16).ReadString('\n'); err != nil || line == "" {
			t.Errorf("%v %q", err, line)
		}
		_ = out.Close()
		err = cmd.Wait()
		if err != nil || strings.Contains(stderr.String(), "pipe") {
			t.Errorf("svc %s: %v %s", strings.Join(list, " "), err, &stderr)
		}
	}
}

// cliMemory: a result of 200,000 rows, which is 34 MB, needs hardly more memory than one of 20,000.
func cliMemory(t *testing.T, c *commandLine) {
	peak := map[int]int{}
	for _, rows := range []int{20_000, 200_000} {
		cmd := c.command("query", "--all", fmt.Sprintf(
			"SELECT number, toString(sipHash64(number)) AS a, repeat(toString(number), 20) AS b FROM numbers(%d) ORDER BY number", rows))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines, read := bufio.NewScanner(out), 0
		for lines.Scan() {
			// The peak that the system tells after the end would be that of the test, from which the process was forked.
			if read++; read%5000 == 0 {
				peak[rows] = max(peak[rows], peakOf(cmd.Process.Pid))
			}
		}
		if err := cmd.Wait(); err != nil || read != rows || peak[rows] == 0 {
			t.Errorf("%d of %d rows, peak %d KiB: %v", read, rows, peak[rows], err)
		}
	}
	t.Logf("peak memory by rows, in KiB: %v", peak)
	if peak[200_000] > peak[20_000]*3/2 {
		t.Errorf("the memory grows with the rows: %v KiB", peak)
	}
}

// peakOf is the peak of the memory of a process in KiB; 0 when it has ended.
func peakOf(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	if m := highWater.FindSubmatch(text); m != nil {
		peak, _ := strconv.Atoi(string(m[1])) // digits
		return peak
	}
	return 0
}

// cliCompletion: a person presses Tab in bash, which has no package for completion here.
func cliCompletion(t *testing.T, c *commandLine) {
	folder := t.TempDir()
	if err := os.Symlink(testkit.Binary(t), filepath.Join(folder, "svc")); err != nil {
		t.Fatal(err)
	}
	program, person := testkit.Terminal(t, 100)
	cmd := exec.Command("bash", "--norc", "--noprofile", "-i")
	cmd.Env = append(c.command().Env, "PATH="+folder+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+t.TempDir(), "TERM=dumb", "PS1=> ",
		"INPUTRC=/dev/null")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	screen := &lockedText{}
	go func() { _, _ = io.Copy(screen, person) }()
	enter := func(keys, want string) {
		t.Helper()
		before := len(screen.String())
		if _, err := person.WriteString(keys); err != nil {
			t.Fatal(err)
		}
		deadline := time.Now().Add(20 * time.Second)
		for !strings.Contains(screen.String()[before:], want) {
			if time.Now().After(deadline) {
				t.Fatalf("after %q, %q does not appear: %q", keys, want, screen.String()[before:])
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	enter("source <(svc completion bash) && echo loa''ded\n", "loaded\r\n")
	enter("\x15svc slow-tr\t", "slow-traces ")
	enter("\x15svc traces -s checko\t", "checkout ")
	enter("\x15svc diagnose sh\t", "shipping ")
	enter("\x15svc traces --environment=prod\t", "production")
	enter("\x15svc issues move iss_1 tria\t", "triage ")
}

// cliExitCodes: 0 for a search without a match, 1 for a refusal, 2 for an error in the command line.
func cliExitCodes(t *testing.T, c *commandLine) {
	for _, tc := range []struct {
		code   int
		env    string
		args   []string
		stderr string
	}{
		{1, "", []string{"traces", "-s", "no-such-service"}, `"_tag":"@svc/cli/NameUnknown"`},
		{0, "", []string{"issues", "-s", "no-such-service", "--format", "table"}, "no issue matches"},
		{1, "", []string{"traces", "-s", "no-such-service", "--format", "table"}, "is not known"},
		{1, "SVC_API_TOKEN=svc_ak_wrong", []string{"services", "--format", "table"}, "InvalidCredentialsError"},
		{1, "SVC_API_TOKEN=svc_ak_wrong", []string{"tools", "list"}, `"_tag":"@svc/http/v2/InvalidCredentialsError"`},
		{1, "", []string{"trace", strings.Repeat("0", 31) + "1", "--format", "table"}, "TraceNotFoundError"},
		{1, "", []string{"query", "SELECT nonsense FROM spans"}, `"request_id":"req_`},
		{1, "", []string{"tools", "call", "inspect_trace", "--json", `{"trace_id": "no hex"}`}, "McpInvalidInputError"},
		{1, "", []string{"tools", "call", "no_such_tool"}, "unknown tool"},
		{1, "SVC_API_TOKEN=x SVC_API_URL=http://127.0.0.1:1", []string{"services", "--format", "table"}, "no server answers"},
		{2, "", []string{"traces", "--since", "yesterday"}, "--since"},
		{2, "", []string{"traces", "--no-such-flag"}, "--no-such-flag"},
		{2, "", []string{"tools", "call", "search_logs", "--json", "[]"}, "--json"},
		{2, "", []string{"query", "--all", "SELECT 1"}, "ORDER BY"},
		{2, "", []string{"no-such-command"}, "no-such-command"},
	} {
		asked := *c
		asked.more = append(strings.Fields("SVC_API_URL="+c.server()+" "+tc.env), c.more...)
		if !strings.Contains(tc.env, "TOKEN") {
			asked.more = c.more
		}
		code, stdout, stderr := asked.run(tc.args...)
		if code != tc.code || !strings.Contains(stderr, tc.stderr) || code != 0 && stdout != "" {
			t.Errorf("svc %s: exit code %d, want %d, with %q in %q", strings.Join(tc.args, " "), code, tc.code, tc.stderr, stderr)
		}
	}
}

// server is the address of the login.
func (c *commandLine) server() string {
	c.t.Helper()
	text, err := os.ReadFile(c.file())
	var kept struct{ URL string }
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	return kept.URL
}
