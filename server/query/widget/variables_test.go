package widget

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/query"
)

func someVariables() []*svcv2.DashboardVariable {
	return []*svcv2.DashboardVariable{
		{Name: "s", Type: "query", IncludeAll: new(true)},
		{Name: "region", Type: "custom", Options: []*svcv2.VariableOption{{Value: "eu"}, {Value: "us"}}},
		{Name: "free", Type: "textbox", DefaultValue: new("d")},
	}
}

// TestInjection: whatever a value contains, the filter has the conditions that its author wrote, on the same fields. The value is
// the value of one of these conditions.
func TestInjection(t *testing.T) {
	attacks := []string{
		`x" OR service.name != "`, `x' OR has_error = true OR a = 'b`, `x) OR (service.name exists`, `\`, `\\`, `x\`, `" OR "" = "`, `a, b`,
		`a AND b = c`, `NOT x`, `$free`, `${free}`,
		"line\nbreak", "'", `"`, "`", `x\" OR service.name != \"y`, "in (a, b)", "exists", "", "🦊", "--", "/*", "{org:String}", "%s", "\uE001",
	}
	for _, clause := range []struct{ text, want string }{
		{`attr.k = $s`, "%"},
		{`attr.k = ${s}`, "%"},
		{`attr.k = "$s"`, "%"},
		{`attr.k = '${s}'`, "%"},
		{`attr.k = "pre-$s-post"`, "pre-%-post"},
		{`attr.k = pre-${s}-post`, "pre-%-post"},
		{`attr.j = "\"" AND attr.k = '$s'`, "%"},
		{`(attr.k = $s) AND NOT attr.j = 1`, "%"},
		{`attr.k in (one, $s)`, "%"},
		{`attr.k contains "it's $s"`, "it's %"},
	} {
		plain, err := query.ParseWhere(query.Traces, strings.ReplaceAll(strings.ReplaceAll(clause.text, "${s}", "safe"), "$s", "safe"))
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range attacks {
			v := values{byName: map[string]string{"s": value, "free": "never"}}
			got, err := query.ParseWhereExcept(query.Traces, v.where(clause.text), allMark)
			if err != nil {
				t.Errorf("%s with %q: %v", clause.text, value, err)
				continue
			}
			var want, found []string
			plain.Matches(func(m *query.Match) bool {
				for _, x := range m.Values {
					want = append(want, m.Field.String()+" "+string(m.Op)+" "+strings.ReplaceAll(x, "safe", value))
				}
				return true
			})
			got.Matches(func(m *query.Match) bool {
				for _, x := range m.Values {
					found = append(found, m.Field.String()+" "+string(m.Op)+" "+x)
				}
				return true
			})
			if !slices.Equal(want, found) {
				t.Errorf("%s with %q: %q, want %q", clause.text, value, found, want)
			}
		}
	}
}

// TestAll: the value for all removes the condition, even if the condition would refuse that value.
func TestAll(t *testing.T) {
	v := values{byName: map[string]string{"s": All}}
	for text, want := range map[string]string{
		`attr.a = $s`:                                "",
		`attr.a = 1 AND attr.b = "$s"`:               `attr.a = "1"`,
		`attr.a = 1 AND (attr.b = $s OR attr.c = 2)`: `attr.a = "1"`,
		`NOT attr.b = $s AND attr.a = 1`:             `attr.a = "1"`,
		`duration > $s AND attr.a = 1`:               `attr.a = "1"`,
		`has_error = $s`:                             "",
		`attr.a in (x, $s)`:                          "",
		`service.name = "a,$s"`:                      "",
		`attr.a = 1 AND attr.b = 2 AND attr.c = $s`:  `attr.a = "1" AND attr.b = "2"`,
		`attr.a = $other`:                            `attr.a = "$other"`,
	} {
		f, err := query.ParseWhereExcept(query.Traces, v.where(text), allMark)
		if err != nil || f.String() != want {
			t.Errorf("%s: %q %v, want %q", text, f.String(), err, want)
		}
		if err := f.Validate("f", query.Traces); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestChoose(t *testing.T) {
	got, err := Choose(someVariables(), nil)
	if err != nil || got["s"] != All || got["region"] != "eu" || got["free"] != "d" {
		t.Errorf("defaults: %v %v", got, err)
	}
	for name, value := range map[string]string{"region": "mars", "free": strings.Repeat("x", 2000), "unknown": "x"} {
		_, err := Choose(someVariables(), map[string]string{name: value})
		var bad *BadVariable
		if !errors.As(err, &bad) || bad.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Choose(someVariables(), map[string]string{"region": All}); err == nil {
		t.Error("all of a variable that does not allow it")
	}
}

func TestFormulaVariables(t *testing.T) {
	v := values{byName: map[string]string{"n": "-2.5", "bad": "1) + (A", "inf": "inf"}}
	if got, err := v.formula("A * $n + ${n} - $m"); err != nil || got != "A * (-2.5) + (-2.5) - $m" {
		t.Errorf("%q %v", got, err)
	}
	for _, text := range []string{"A * $bad", "A * $inf"} {
		if _, err := v.formula(text); err == nil {
			t.Errorf("%s is accepted", text)
		}
	}
}

func TestWindow(t *testing.T) {
	now := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	rel := func(v string) *svcv2.TimeRange { return &svcv2.TimeRange{Type: "relative", Value: &v} }
	abs := &svcv2.TimeRange{Type: "absolute", StartTime: timestamppb.New(now.Add(-time.Hour)), EndTime: timestamppb.New(now.Add(-time.Minute))}
	for _, c := range []struct {
		override, own, board *svcv2.TimeRange
		source               string
		length               time.Duration
	}{
		{rel("15m"), rel("1h"), rel("7d"), fromRequest, 15 * time.Minute},
		{nil, rel("1h"), rel("7d"), fromWidget, time.Hour},
		{nil, nil, rel("1w"), fromDashboard, 168 * time.Hour},
		{nil, nil, rel("1mo"), fromDashboard, 720 * time.Hour},
		{nil, nil, nil, fromDashboard, 12 * time.Hour},
		{abs, nil, nil, fromRequest, 59 * time.Minute},
	} {
		w, source, err := Window(c.override, c.own, c.board, now)
		if err != nil || source != c.source || w.End.Sub(w.Start) != c.length {
			t.Errorf("%v: %v %s %v", c, w, source, err)
		}
	}
	for _, v := range []string{"", "12", "-1h", "1y", "0h", "1h2", "99999999999h"} {
		if _, _, err := Window(rel(v), nil, nil, now); !tagged(err, apierr.TimeRangeInvalid) {
			t.Errorf("%q: %v", v, err)
		}
	}
	if _, _, err := Window(rel("32d"), nil, nil, now); !tagged(err, apierr.TelemetryRangeTooLarge) {
		t.Errorf("32 days: %v", err)
	}
}

// rows makes a frame of groups.
func rows(pairs ...any) frame {
	f := frame{columns: []column{{nameColumn, text}, {valueColumn, number}}}
	for i := 0; i < len(pairs); i += 2 {
		f.add(pairs[i], pairs[i+1])
	}
	return f
}

// TestTransforms checks each step by itself. Steps run in their fixed order, whatever the order in which they are given.
func TestTransforms(t *testing.T) {
	j := &job{out: &svcv2.WidgetData{}}
	in := func() frame { return rows("ok", 90.0, "error", 10.0, "none", nil, "slow", 30.0) }
	show := func(f frame) string {
		var out []string
		for _, r := range f.rows {
			var cells []string
			for _, v := range r {
				cells = append(cells, label(v))
			}
			out = append(out, strings.Join(cells, "="))
		}
		return strings.Join(out, " ")
	}
	two := 2.0
	for _, c := range []struct {
		t    *svcv2.DataTransform
		want string
	}{
		{nil, "ok=90 error=10 none=(none) slow=30"},
		{&svcv2.DataTransform{SortBy: &svcv2.SortBy{Field: "value", Direction: "desc"}}, "ok=90 slow=30 error=10 none=(none)"},
		{&svcv2.DataTransform{SortBy: &svcv2.SortBy{Field: "value", Direction: "asc"}, Limit: &two}, "error=10 slow=30"},
		{&svcv2.DataTransform{SortBy: &svcv2.SortBy{Field: "name", Direction: "asc"}, Limit: &two}, "error=10 none=(none)"},
		{&svcv2.DataTransform{FieldMap: map[string]string{"copy": "value"}, Limit: &two}, "ok=90=90 error=10=10"},
		{
			&svcv2.DataTransform{FieldMap: map[string]string{"copy": "value"}, SortBy: &svcv2.SortBy{Field: "copy", Direction: "asc"}, Limit: &two},
			"error=10=10 slow=30=30",
		},
		{&svcv2.DataTransform{FlattenSeries: &svcv2.FlattenSeries{ValueField: "v"}}, "ok=90 error=10 slow=30"},
		{&svcv2.DataTransform{ComputeRatio: &svcv2.ComputeRatio{NumeratorName: "error", DenominatorNames: []string{"ok", "error"}}}, "ratio=0.1"},
		{&svcv2.DataTransform{ComputeRatio: &svcv2.ComputeRatio{NumeratorName: "error", DenominatorNames: []string{"nobody"}}}, "ratio=0"},
		// The limit comes before the ratio: of ok and error, error is cut off.
		{
			&svcv2.DataTransform{Limit: new(1.0), ComputeRatio: &svcv2.ComputeRatio{NumeratorName: "ok", DenominatorNames: []string{"ok", "error"}}},
			"ratio=1",
		},
	} {
		if f, _ := in().transformed(j, c.t); show(f) != c.want {
			t.Errorf("%v: %s, want %s", c.t, show(f), c.want)
		}
	}
	for aggregate, want := range map[string]float64{"first": 90, "sum": 130, "avg": 130.0 / 3, "count": 4, "max": 90, "min": 10} {
		_, got := in().transformed(j, &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "missing", Aggregate: &aggregate}})
		if got == nil || math.Abs(*got-want) > 1e-9 {
			t.Errorf("%s: %v, want %g", aggregate, got, want)
		}
	}
	if _, got := rows().transformed(j, &svcv2.DataTransform{ReduceToValue: &svcv2.ReduceToValue{Field: "value"}}); got == nil || *got != 0 {
		t.Errorf("of no rows: %v", got)
	}
}

func TestHistogram(t *testing.T) {
	for _, c := range []struct {
		look *svcv2.HistogramDisplay
		in   []float64
		want []float64
	}{
		{&svcv2.HistogramDisplay{BucketCount: new(2.0)}, []float64{0, 1, 5, 9, 10}, []float64{2, 3}},
		{&svcv2.HistogramDisplay{BucketWidth: new(5.0)}, []float64{1, 4, 5, 9, 10}, []float64{2, 2, 1}},
		{nil, []float64{3, 3, 3}, []float64{3}},
		{nil, nil, nil},
	} {
		j := &job{req: &Request{Widget: &svcv2.Widget{Display: &svcv2.WidgetDisplay{Histogram: c.look}}}, out: &svcv2.WidgetData{}}
		j.histogram(c.in)
		var got []float64
		for _, b := range j.out.GetHistogram().GetBuckets() {
			got = append(got, b.GetCount())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v %v: %v", c.look, c.in, got)
		}
	}
}

func TestHaving(t *testing.T) {
	got, err := having("count > 10 and <= 1e3")
	if err != nil || !slices.Equal(got, []query.Having{{Op: ">", Value: 10}, {Op: "<=", Value: 1000}}) {
		t.Errorf("%v %v", got, err)
	}
	for _, text := range []string{"10", "> x", "> 1 OR > 2", "> 1; DROP TABLE spans"} {
		if _, err := having(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}
