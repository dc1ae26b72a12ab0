package rawsql

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

func TestExpand(t *testing.T) {
	start := time.Date(2026, 3, 1, 0, 0, 0, 5, time.UTC)
	w := query.Window{Start: start, End: start.Add(6 * time.Hour)}
	const from, to = "toDateTime64('2026-03-01 00:00:00.000000005', 9, 'UTC')", "toDateTime64('2026-03-01 06:00:00.000000005', 9, 'UTC')"
	for sql, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"SELECT $__interval_s, $__startTime, $__endTime": "SELECT 900, " + from + ", " + to,
		"x WHERE $__timeFilter(Timestamp) AND $__orgFilter": "x WHERE (Timestamp >= " + from + " AND Timestamp <= " + to +
			") AND (1 = 1)",
		"$__timeFilter( l . `Time stamp` )":                          "(l.`Time stamp` >= " + from + " AND l.`Time stamp` <= " + to + ")",
		"$__timeGroup(t) AS b":                                       "toStartOfInterval(t, toIntervalSecond(900)) AS b",
		"'$__startTime' \"$__endTime\" -- $__x\n/* $__interval_s */": "'$__startTime' \"$__endTime\" -- $__x\n/* $__interval_s */",
		"IN ($svc) = ${one}":                                         `IN ('a', 'it\'s \\') = '1'`,
		"= $none":                                                    "= ''",
	} {
		got, err := expand(Request{
			SQL: sql, Window: w, Interval: AutoInterval(w),
			Variables: map[string][]string{"svc": {"a", `it's \`}, "one": {"1"}, "none": {}},
		})
		if err != nil || got != want {
			t.Errorf("%s\n got %s, %v\nwant %s", sql, got, err, want)
		}
	}
	for sql, code := range map[string]confine.Code{
		"$__timeFilter": invalidMacro, "$__timeFilter()": invalidMacro, "$__timeFilter(a, b)": invalidMacro, "$__timeFilter(f(x))": invalidMacro,
		"$__timeFilter(a": invalidMacro, "$__timeGroup('x')": invalidMacro, "$__timeFilter(a OR 1=1)": invalidMacro, "$__what": unresolvedMacro,
		"$unknown": unresolvedMacro, "${x}": unresolvedMacro,
		"$": unresolvedMacro, "$$x$$": confine.DisallowedStatement, "'": confine.Syntax, "\xff": confine.Syntax,
		strings.Repeat("x", 40000): confine.ResourceLimit,
	} {
		_, err := expand(Request{SQL: sql, Window: w, Interval: time.Minute})
		var r *confine.Refusal
		if !errors.As(err, &r) || r.Code != code {
			t.Errorf("%.40s: %v, want %s", sql, err, code)
		}
	}
}

// TestLongVariables expands a statement that only the values of its variables make too long.
func TestLongVariables(t *testing.T) {
	many := slices.Repeat([]string{"shop"}, 5000)
	req := Request{
		SQL: "SELECT 1 WHERE a IN ($svc) AND b = $one", Interval: time.Minute,
		Variables: map[string][]string{"svc": many, "one": {"1"}},
	}
	_, err := expand(req)
	var r *confine.Refusal
	const want = "The statement has 40,032 bytes with the values of its variables; at most 32,768 are allowed. " +
		"Choose fewer values of $svc, which have 39,998 bytes."
	if !errors.As(err, &r) || r.Code != confine.ResourceLimit || r.Message != want {
		t.Errorf("got %v, want %s", err, want)
	}
	req.Variables["svc"] = many[:4000]
	if _, err := expand(req); err != nil {
		t.Errorf("values that fit: %v", err)
	}
}

func TestAutoInterval(t *testing.T) {
	for window, want := range map[time.Duration]time.Duration{
		time.Minute: 5 * time.Minute, 6 * time.Hour: 15 * time.Minute, 24 * time.Hour: time.Hour, 7 * 24 * time.Hour: 6 * time.Hour,
		3000 * 24 * time.Hour: 7 * 24 * time.Hour,
	} {
		if got := AutoInterval(query.Window{End: time.Time{}.Add(window)}); got != want {
			t.Errorf("%s: %s, want %s", window, got, want)
		}
	}
}
