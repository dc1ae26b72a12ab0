package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
	"github.com/svc-observability/svc/server/golden"
)

// now is the time of all tests.
func now() time.Time { return time.Date(2026, 11, 26, 19, 0, 0, 0, time.UTC) }

func command(t *testing.T, path string) console.Command {
	t.Helper()
	for _, c := range console.Commands() {
		if c.Path == path {
			return c
		}
	}
	t.Fatalf("there is no command %q", path)
	return console.Command{}
}

// run runs one command against a server.
func run(
	ctx context.Context, t *testing.T, s *consoletest.Server, path string, q console.Query, out console.Output,
) (stdout, stderr string, err error) {
	t.Helper()
	c := command(t, path)
	q.Now = now()
	var data, messages bytes.Buffer
	out.Data, out.Messages = &data, &messages
	if err := c.Check(&q); err != nil {
		return "", "", err
	}
	client := console.Connect(console.Target{URL: s.URL, Token: consoletest.Token, Agent: "test", Relogin: "Run 'svc login'."})
	err = c.Run(ctx, client, &q, &out)
	return data.String(), messages.String(), err
}

// uses are the arguments with which the golden files are made. A command may have several, which differ behind a #.
func uses() map[string]console.Query {
	return map[string]console.Query{
		"services":       {Options: console.Options{Environment: "production"}},
		"diagnose":       {Arguments: []string{"checkout"}},
		"service-map":    {Options: console.Options{Service: "cart"}},
		"top-ops":        {Arguments: []string{"checkout"}, Options: console.Options{Metric: "p95_duration"}},
		"traces":         {Options: console.Options{Service: "checkout", Errors: true, MinDuration: 5, HTTPMethod: "GET", Limit: 4}},
		"traces get":     {Arguments: []string{"4bf92f3577b34da6a3ce929d0e0e4736"}},
		"trace":          {Arguments: []string{"4bf92f3577b34da6a3ce929d0e0e4736"}},
		"slow-traces":    {Options: console.Options{Limit: 2, MinDuration: 1}},
		"logs":           {Options: console.Options{Severity: "WARN", Search: "timeout", Since: "1h", End: "2026-11-26"}},
		"log-patterns":   {},
		"errors":         {Options: console.Options{Search: "card"}},
		"error":          {Arguments: []string{"16761063888129206062"}},
		"issues":         {Options: console.Options{State: "triage", IssueKind: "error"}},
		"issues get":     {Arguments: []string{"iss_1"}},
		"issues claim":   {Arguments: []string{"iss_1"}, Options: console.Options{Lease: 600}},
		"issues move":    {Arguments: []string{"iss_1", "done"}, Options: console.Options{Note: "fixed"}},
		"issues comment": {Arguments: []string{"iss_1", "Seen again"}},
		"metrics":        {Options: console.Options{MetricType: "histogram"}},
		"timeseries": {Options: console.Options{
			Service: "search", Aggregation: "p95_duration", GroupBy: []string{"span.name"},
			Bucket: 60,
		}},
		"breakdown":         {Options: console.Options{Where: "has_error"}},
		"compare":           {Options: console.Options{Around: "2026-11-26 18:53", Since: "10m"}},
		"attributes keys":   {Options: console.Options{Source: "logs"}},
		"attributes values": {Arguments: []string{"http.route"}},
		"query":             {Arguments: []string{"SELECT 1"}, Options: console.Options{Limit: 3}},
		"tables":            {Arguments: []string{"trace_roots"}},
		"tables#all":        {},
		"integrations":      {},
		"repos":             {Options: console.Options{Search: "shop", Limit: 2}},
		"source search":     {Arguments: []string{"acme/shop", "total"}, Options: console.Options{Path: "services", Limit: 2}},
		"source read": {
			Arguments: []string{"repo_YpC9sqXJt9h7iNv7hq4SY7", "services/checkout/cart.go:10-14"},
			Options:   console.Options{Ref: "v1.4.2"},
		},
		"tools list":     {Options: console.Options{Toolsets: []string{"errors", "telemetry"}, ReadOnly: true}},
		"tools list#one": {Arguments: []string{"search_logs"}},
		"tools call":     {Arguments: []string{"search_logs"}, Options: console.Options{ToolArguments: `{"limit": 2, "foo": 1}`}},
	}
}

// TestGoldens holds the requests and the output of each command, in each format, in a wide place and in a narrow terminal.
func TestGoldens(t *testing.T) {
	s := consoletest.New(t, nil)
	all := uses()
	for _, c := range console.Commands() {
		if _, ok := all[c.Path]; !ok {
			t.Errorf("svc %s has no golden file: add it to uses", c.Path)
		}
	}
	for use, q := range all {
		path, _, _ := strings.Cut(use, "#")
		for name, out := range map[string]console.Output{
			"table":  {Format: console.FormatTable},
			"color":  {Format: console.FormatTable, Width: 120, Color: true},
			"narrow": {Format: console.FormatTable, Width: 48},
			"json":   {Format: console.FormatJSON},
			"jsonl":  {Format: console.FormatLines},
		} {
			t.Run(use+"/"+name, func(t *testing.T) {
				stdout, stderr, err := run(t.Context(), t, s, path, q, out)
				if err != nil {
					t.Fatal(err)
				}
				requests := strings.Join(s.Requests(), "\n")
				text := stdout
				switch name {
				case "json":
					text = indented(t, consoletest.Compact(t, stdout))
				case "jsonl":
					text = ""
					for line := range strings.Lines(stdout) {
						text += consoletest.Compact(t, line) + "\n"
					}
				}
				if stderr != "" {
					text += "--- stderr\n" + stderr
				}
				if name == "table" {
					text += "--- requests\n" + requests + "\n"
				}
				golden.Compare(t, strings.NewReplacer(" ", "-", "#", "-").Replace(use)+"."+name+".golden", text)
				checkSafe(t, stdout, name == "color")
				if name == "narrow" {
					checkWidth(t, stdout, path)
				}
			})
		}
	}
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		t.Fatal(err)
	}
	return out.String() + "\n"
}

// TestUnchanged: JSON is the answer of the method as REST writes it, with every field.
func TestUnchanged(t *testing.T) {
	s := consoletest.New(t, nil)
	for path, method := range map[string]protoreflect.FullName{
		"logs": "svc.v2.LogsService.SearchLogs", "query": "svc.v2.SqlService.RunSql", "trace": "svc.v2.TracesService.GetTrace",
	} {
		stdout, _, err := run(t.Context(), t, s, path, uses()[path], console.Output{Format: console.FormatJSON})
		if err != nil {
			t.Fatal(err)
		}
		var got, want any
		if err := errors.Join(json.Unmarshal([]byte(stdout), &got), json.Unmarshal([]byte(s.Wire(method)), &want)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("svc %s (-REST +printed):\n%s", path, diff)
		}
	}
}

var colorCode = regexp.MustCompile("\x1b\\[[0-9]{1,2}m")

// checkSafe fails if text has a character that steers a terminal, except for line ends and our own colours.
func checkSafe(t *testing.T, text string, colors bool) {
	t.Helper()
	if colors {
		text = colorCode.ReplaceAllString(text, "")
	}
	for _, r := range text {
		if r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0x2028 {
			t.Errorf("the terminal would get %U", r)
		}
	}
}

// checkWidth fails if a line of a table is wider than the terminal. Ids are never cut, so a line that holds little else may be.
func checkWidth(t *testing.T, text, path string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 48 && strings.Contains(line, " ") && !strings.Contains(path, "metric") &&
			!strings.HasPrefix(path, "tables") &&
			!strings.Contains(path, "trace") && !strings.Contains(path, "error") && !strings.Contains(path, "issue") && path != "compare" {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}

// TestPages checks --limit beyond one page, --offset and --cursor.
func TestPages(t *testing.T) {
	s := consoletest.New(t, pagedTraces)
	stdout, stderr, err := run(t.Context(), t, s, "traces", console.Query{Options: console.Options{Limit: 150, Offset: 20, Cursor: "0"}},
		console.Output{Format: console.FormatLines})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")
	if len(lines) != 150 || !strings.Contains(lines[0], fmt.Sprintf("%032d", 20)) || !strings.Contains(lines[149], fmt.Sprintf("%032d", 169)) {
		t.Errorf("%d lines, from %s to %s", len(lines), lines[0], lines[len(lines)-1])
	}
	if !strings.Contains(stderr, "--cursor 170") {
		t.Errorf("the next page is missing: %q", stderr)
	}
	if n := len(s.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestPage holds the list of commands in docs/cli.md.
func TestPage(t *testing.T) {
	var table strings.Builder
	table.WriteString("| command | what it does |\n|---|---|\n")
	for _, c := range console.Commands() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", strings.Join(append([]string{"svc " + c.Path}, c.Arguments...), " "), c.Short)
	}
	golden.Section(t, "../../docs/cli.md", "commands", table.String())
}
