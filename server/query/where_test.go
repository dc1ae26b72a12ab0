package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/limits"
)

// show prints a filter with all its parentheses.
func show(f Filter) string {
	join := func(list []Filter, joint string) string {
		var out []string
		for _, c := range list {
			out = append(out, show(c))
		}
		return "(" + strings.Join(out, joint) + ")"
	}
	switch {
	case f.Match != nil:
		out := f.Match.Field.String() + " " + string(f.Match.Op)
		for _, v := range f.Match.Values {
			out += fmt.Sprintf(" %q", v)
		}
		return out
	case f.All != nil:
		return join(f.All, " AND ")
	case f.Any != nil:
		return join(f.Any, " OR ")
	case f.Not != nil:
		return "NOT " + show(*f.Not)
	default:
		return "everything"
	}
}

func TestParseWhere(t *testing.T) {
	for _, tc := range []struct {
		source     Source
		text, want string
	}{
		{Traces, "", "everything"},
		{Traces, " \n\t", "everything"},
		{Traces, `service.name = "checkout"`, `service.name = "checkout"`},
		{Traces, `service != 'a b'`, `service.name != "a b"`},
		{Traces, `SERVICE = x and env = prod or span = y`, `((service.name = "x" AND deployment.environment = "prod") OR span.name = "y")`},
		{Traces, `service = x AND (env = prod OR NOT span = y)`, `(service.name = "x" AND (deployment.environment = "prod" OR NOT span.name = "y"))`},
		{Traces, `not not has_error`, `NOT NOT has_error = "true"`},
		{Traces, `has_error AND root_only = false`, `(has_error = "true" AND root_only = "false")`},
		{Traces, `duration>250ms and duration <= 1500`, `(duration > "250ms" AND duration <= "1500")`},
		{Traces, `attr.Cart.Size >= 3`, `attr.Cart.Size >= "3"`},
		{Traces, `span.Cart.Size != 3`, `attr.Cart.Size != "3"`},
		{Traces, `span.name = x`, `span.name = "x"`},
		{Traces, `span.db.system = x`, `attr.db.system = "x"`},
		{Traces, `event.exception.type contains Time`, `event.exception.type contains "Time"`},
		{Traces, `event.name = exception`, `event.name = "exception"`},
		{
			Traces, `resource.k8s.pod.name exists and x !exists and y not exists`,
			`(resource.k8s.pod.name exists AND attr.x !exists AND attr.y !exists)`,
		},
		{Traces, `http.method in (GET, "POST")`, `http.method in "GET" "POST"`},
		{Traces, `http.request.method !in (GET)`, `http.method !in "GET"`},
		{Traces, `x not in (GET) and y !contains z`, `(attr.x !in "GET" AND attr.y !contains "z")`},
		{Traces, `service = "a,b" and env != "x, y"`, `(service.name in "a" "b" AND deployment.environment !in "x" "y")`},
		{Traces, `attr."my key" = "say \"hi\" \\ 'x'"`, `attr."my key" = "say \"hi\" \\ 'x'"`},
		{Traces, `http.status_code == 500 and status <> ok`, `(http.status_code = "500" AND status.code != "ok")`},
		{Traces, `x = "and"`, `attr.x = "and"`},
		{Traces, `url = https://a.example/b?c#d`, `attr.url = "https://a.example/b?c#d"`},
		{Traces, `x = é`, `attr.x = "é"`},
		{
			Logs, `severity = error and body contains "card declined" and log.user.id = 7`,
			`(severity = "error" AND body contains "card declined" AND attr.user.id = "7")`,
		},
		{Metrics, `host.name = a and metric.x = 1 and service = s`, `(attr.host.name = "a" AND attr.x = "1" AND service.name = "s")`},
		{
			ProductEvents, `event = signup and event.plan = pro and page_path contains /buy`,
			`(event.name = "signup" AND attr.plan = "pro" AND page.path contains "/buy")`,
		},
	} {
		f, err := ParseWhere(tc.source, tc.text)
		if err != nil {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if got := show(f); got != tc.want {
			t.Errorf("%s\n got %s\nwant %s", tc.text, got, tc.want)
		}
		if err := f.Validate("filter", tc.source); err != nil {
			t.Errorf("%s: %v", tc.text, err)
		}
	}
}

func TestParseWhereRefuses(t *testing.T) {
	for _, tc := range []struct {
		source Source
		text   string
		at     int
		want   string
	}{
		{Traces, `service`, 8, "needs an operator"},
		{Traces, `service =`, 10, "a value"},
		{Traces, `service = and`, 11, "needs an operator and a value"},
		{Traces, `service like x`, 9, "is not an operator; after `service.name` comes one of ="},
		{Traces, `service = x y = z`, 13, "join conditions with AND or OR"},
		{Traces, `(service = x`, 13, "a parenthesis is still open"},
		{Traces, `service = x)`, 12, "not expected here"},
		{Traces, `service = "x`, 11, "not closed"},
		{Traces, `service = "x\`, 11, "not closed"},
		{Traces, `service in x`, 12, "a list in parentheses"},
		{Traces, `service in ()`, 13, "a value is expected in the list"},
		{Traces, `service in (a b)`, 15, "a comma or a closing parenthesis"},
		{Traces, `and`, 1, "a condition is expected"},
		{Traces, `service = x and`, 16, "a condition is expected"},
		{Traces, `é = x and duration > fast`, 11, "a number of milliseconds or a duration"},
		{Traces, `service > 3`, 1, "cannot be compared by >"},
		{Traces, `has_error = maybe`, 1, "true or false"},
		{Traces, `has_error > 1`, 1, "cannot be compared"},
		{Traces, `attr.x > many`, 1, "takes a number"},
		{Traces, `log.x = 1`, 1, "traces have no scope `log.`"},
		{Logs, `span.x = 1`, 1, "their scopes are `attr.`, `log.`, `resource.`"},
		{Traces, "a = `x`", 5, "is not understood"},
		{Traces, "a = \x00", 1, "not valid UTF-8"},
		{Traces, strings.Repeat("(", 40) + "a=b", 18, "nested"},
		{Traces, strings.Repeat("not ", 40) + "a=b", 65, "nested"},
		{Traces, strings.Repeat("a=b or ", 60) + "a=b", 351, "more than 50 conditions"},
		{Traces, "resource. = x", 1, "names no attribute"},
	} {
		_, err := ParseWhere(tc.source, tc.text)
		var e *WhereError
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tc.text, err)
			continue
		}
		if e.Position != tc.at || !strings.Contains(e.Message, tc.want) {
			t.Errorf("%.40s: at %d %q, want at %d … %s", tc.text, e.Position, e.Message, tc.at, tc.want)
		}
	}
}

// FuzzParseWhere: no text makes the parser panic. A filter that it accepts is valid, and its printed form reads back as the same
// filter.
func FuzzParseWhere(f *testing.F) {
	for _, s := range []string{
		``, `a = b`, `service = "x" AND (a > 1 or not b exists)`, `x in (a, 'b')`, `attr."a b" !contains "\""`, `((`,
		`a!`, `event.x <> 1`, "é=\"\\",
	} {
		f.Add(s, 0)
	}
	sources := []Source{Traces, Logs, Metrics, ProductEvents}
	f.Fuzz(func(t *testing.T, text string, n int) {
		source := sources[(n%4+4)%4]
		filter, err := ParseWhere(source, text)
		if err != nil {
			var e *WhereError
			if !errors.As(err, &e) || e.Position < 1 || e.Position > len([]rune(text))+1 {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if err := filter.Validate("filter", source); err != nil {
			t.Fatalf("%q was read but is not valid: %v", text, err)
		}
		again, err := ParseWhere(source, filter.String())
		if err != nil {
			t.Fatalf("%q printed as %q: %v", text, filter.String(), err)
		}
		if diff := cmp.Diff(filter.String(), again.String()); diff != "" {
			t.Fatalf("%q printed as %q: %s", text, filter.String(), diff)
		}
		b := newPlanner()
		b.filter(source, filter)
	})
}

// TestFormulaLength checks that the length of a formula is counted in characters.
func TestFormulaLength(t *testing.T) {
	for _, letter := range []string{"s", "ä", "𝄞"} {
		for n, long := range map[int]bool{limits.FormulaText: false, limits.FormulaText + 1: true} {
			_, err := ParseFormula(strings.Repeat(letter, n))
			if got := err != nil && strings.Contains(err.Error(), "more than"); got != long {
				t.Errorf("%d times %q: %.80v", n, letter, err)
			}
		}
	}
}
