package console_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// TestToolErrors: a tool that fails, a tool that is not there and a refused key are failures with a tag; wrong arguments are errors of
// usage.
func TestToolErrors(t *testing.T) {
	s := consoletest.New(t, nil)
	call := func(name, arguments string) error {
		_, _, err := run(t.Context(), t, s, "tools call", console.Query{
			Arguments: []string{name}, Options: console.Options{ToolArguments: arguments},
		}, console.Output{Format: console.FormatJSON})
		return err
	}
	_, _, missing := run(t.Context(), t, s, "tools list", console.Query{Arguments: []string{"nope"}},
		console.Output{Format: console.FormatTable})
	for name, tc := range map[string]struct {
		err  error
		text []string
		json string
	}{
		"a tool that fails": {
			call("inspect_trace", `{"trace_id": "no hex"}`),
			[]string{"trace_id must be 32", "McpInvalidInputError", "req_TEST", "\nExample: 4bf9", "'svc tools list inspect_trace'"},
			`"param":"trace_id"`,
		},
		"no such tool":        {call("nope", ""), []string{"unknown tool", "ToolNotCalled", "'svc tools list'"}, `"request_id":"req_TEST"`},
		"no such tool listed": {missing, []string{`no tool "nope"`, "'svc tools list'"}, `"_tag":"@svc/cli/ToolNotCalled"`},
	} {
		var failure *console.Failure
		if !errors.As(tc.err, &failure) {
			t.Errorf("%s: %v", name, tc.err)
			continue
		}
		for _, want := range tc.text {
			if !strings.Contains(failure.Error(), want) {
				t.Errorf("%s: %q lacks %q", name, failure, want)
			}
		}
		if !strings.Contains(string(failure.JSON()), tc.json) {
			t.Errorf("%s: %s", name, failure.JSON())
		}
	}
	for _, arguments := range []string{"[]", "null", "1", "{", `{"a":1} x`} {
		var bad *console.UsageError
		if err := call("search_logs", arguments); !errors.As(err, &bad) || !strings.Contains(err.Error(), "--json") {
			t.Errorf("--json %s: %v", arguments, err)
		}
	}
	refused := console.Connect(console.Target{URL: s.URL, Token: "old", Agent: "test", Relogin: "Run 'svc login'."})
	c := command(t, "tools list")
	err := c.Run(t.Context(), refused, &console.Query{}, &console.Output{})
	var failure *console.Failure
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "InvalidCredentialsError") ||
		!strings.Contains(err.Error(), "Run 'svc login'.") {
		t.Errorf("a refused key: %v", err)
	}
	s.Close()
	err = c.Run(t.Context(), refused, &console.Query{}, &console.Output{})
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "no server answers at "+s.URL) ||
		!strings.Contains(err.Error(), "ServerUnreachable") {
		t.Errorf("no server: %v", err)
	}
}
