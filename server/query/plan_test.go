package query

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/query/sqlbuild/sqltest"
)

// planCase is a query in short: aggregation[:value]|source|where|group, group.
type planCase struct {
	name, text string
	breakdown  bool
	edit       func(*Spec)
}

func planCases() []planCase {
	return []planCase{
		{name: "count", text: "count|traces||"},
		{
			name: "rollup", text: "p95_duration|traces|service.name = caller-value AND env != caller-value|service.version",
			edit: func(q *Spec) { q.Rollups.Minutes.Complete = true },
		},
		{name: "rollup_service", text: "p95_duration|traces|service.name = caller-value|", edit: func(q *Spec) { q.Rollups = AllRollups() }},
		{name: "rollup_breakdown", text: "error_rate|traces||service.name", breakdown: true, edit: func(q *Spec) { q.Rollups = AllRollups() }},
		{name: "rollup_organization", text: "p95_duration|traces|env = caller-value|", edit: func(q *Spec) { q.Rollups = AllRollups() }},
		{
			name: "rollup_operations", text: "avg_duration|traces|service.name = caller-value AND http.status_code >= 500|span.name",
			breakdown: true, edit: func(q *Spec) { q.Rollups = AllRollups() },
		},
		{name: "rollup_logs", text: "error_rate|logs|service.name = caller-value|severity", edit: func(q *Spec) { q.Rollups = AllRollups() }},
		{name: "groups", text: "count|traces|service.name = caller-value|span.name, attr.db.system"},
		{name: "quantile_groups", text: "p95_duration|traces|has_error AND duration > 250ms|span.name"},
		{name: "attribute", text: "avg:attr.cart.size|traces|attr.caller-value.id = caller-value OR resource.service.name in (caller-value, b)|"},
		{name: "events", text: "count|traces|event.exception.type contains caller-value AND NOT event.name exists|event.exception.type"},
		{name: "apdex", text: "apdex|traces|root_only|"},
		{name: "breakdown", text: "count_distinct:attr.user.id|traces|http.status_code >= 500|http.route", breakdown: true, edit: func(q *Spec) {
			q.Having, q.Limit = []Having{{Op: OpGreater, Value: 3}}, 7
		}},
		{name: "logs", text: "count|logs|body contains \" caller-value declined\" AND severity = error|severity, log.user.id"},
		{
			name: "product_events", text: "persons|product_events|event.name in (caller-value, buy)|attr.caller-value", breakdown: true,
			edit: func(q *Spec) {
				q.Order = Order{ByGroup: true, Ascending: true}
			},
		},
	}
}

// spec reads the short form.
func (c planCase) spec() *Spec {
	parts := strings.Split(c.text, "|")
	name, value, _ := strings.Cut(parts[0], ":")
	q := &Spec{Source: Source(parts[1])}
	must := func(err error) {
		if err != nil {
			panic(err) // the test case is wrong
		}
	}
	var err error
	q.Aggregation, err = ParseAggregation("", q.Source, name, value, 0)
	must(err)
	q.Filter, err = ParseWhere(q.Source, parts[2])
	must(err)
	for text := range strings.SplitSeq(parts[3], ",") {
		if text = strings.TrimSpace(text); text != "" {
			f, err := ParseField(q.Source, text)
			must(err)
			q.GroupBy = append(q.GroupBy, f)
		}
	}
	if c.edit != nil {
		c.edit(q)
	}
	must(q.Validate(""))
	return q
}

func TestStatements(t *testing.T) {
	start := time.Date(2026, 1, 31, 12, 0, 30, 0, time.UTC)
	w := Window{Start: start, End: start.Add(2 * time.Hour)}
	statements := planStatements(w)
	maps.Copy(statements, metricCases(w))
	sqltest.Check(t, statements)
}

// planStatements are checked in three ways: snapshots, bound values, and the organization first.
func planStatements(w Window) map[string]sqlbuild.Statement {
	out := map[string]sqlbuild.Statement{}
	for _, c := range planCases() {
		q := c.spec()
		p, err := PlanTimeseries(q, w, 5*time.Minute)
		if c.breakdown {
			p, err = PlanBreakdown(q, w)
		}
		if err != nil {
			panic(err) // the test case is wrong
		}
		out["plan_"+c.name] = p.Statement
	}
	return out
}

// A rollup answers only queries on the fields that it holds. All other queries read rows.
func TestRollupIsChosen(t *testing.T) {
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	day := Window{Start: at, End: at.Add(24 * time.Hour)}
	for _, tc := range []struct {
		text   string
		window Window
		bucket time.Duration
		since  time.Time
		want   string
	}{
		{"count|traces||service.name", day, time.Hour, time.Time{}, "service_hours"},
		{"count|traces||service.name", day, 30 * time.Minute, time.Time{}, "service_minutes"},
		{"rate|traces|env = prod|", day, time.Minute, time.Time{}, "organization_minutes"},
		{"p95_duration|traces||", day, time.Minute, time.Time{}, "organization_minutes"},
		{"p95_duration|traces||", day, 90 * time.Second, time.Time{}, "spans"},
		{"p95_duration|traces|service.name = a|", day, time.Minute, time.Time{}, "service_series"},
		{"p95_duration|traces|service.name = a AND env = prod|service.version", day, time.Minute, time.Time{}, "service_series"},
		{"p95_duration|traces|service.name != a|", day, time.Minute, time.Time{}, "service_minutes"},
		{"p95_duration|traces|service.name = a OR env = prod|", day, time.Minute, time.Time{}, "service_minutes"},
		{"p95_duration|traces|service.name = a|", day, time.Hour, time.Time{}, "service_hours"},
		{"rate|traces|version = 1|", day, time.Minute, time.Time{}, "service_minutes"},
		{"p99_duration|traces|is_entry|", day, 0, time.Time{}, "service_hours"},
		{"avg_duration|traces|NOT (service = a OR namespace exists)|", day, 0, time.Time{}, "service_hours"},
		{
			"avg_duration|traces|service = a|service.version",
			Window{Start: at.Add(10 * time.Minute), End: at.Add(50 * time.Minute)},
			0,
			time.Time{},
			"service_series",
		},
		{"count|traces||service.name", Window{Start: at.Add(time.Second), End: at.Add(2 * time.Hour)}, time.Hour, time.Time{}, "service_hours"},
		{"count|traces||service.name", Window{Start: at.Add(time.Second), End: at.Add(time.Hour)}, time.Minute, time.Time{}, "spans"},
		{"count|traces||service.name", day, 30 * time.Second, time.Time{}, "spans"},
		{"count|traces||service.name", day, time.Hour, at.Add(time.Hour), "spans"},
		{"count|traces||span.name", day, time.Hour, time.Time{}, "operation_hours"},
		{"error_rate|traces|span.kind = server AND http.status_code >= 500|http.method", day, 0, time.Time{}, "operation_hours"},
		{"count|traces||span.name", day, 30 * time.Minute, time.Time{}, "spans"},
		{"count|traces||span.name, service.version", day, time.Hour, time.Time{}, "spans"},
		{"p95_duration|traces||span.name", day, time.Hour, time.Time{}, "spans"},
		{"count|traces|has_error|", day, time.Hour, time.Time{}, "spans"},
		{"max_duration|traces||", day, time.Hour, time.Time{}, "spans"},
		{"apdex|traces||", day, time.Hour, time.Time{}, "spans"},
		{"p95:attr.x|traces||", day, time.Hour, time.Time{}, "spans"},
		{"count|traces|resource.service.name = a|", day, time.Hour, time.Time{}, "spans"},
		{"count|logs||service.name", day, time.Hour, time.Time{}, "log_minutes"},
		{"error_rate|logs|severity = error OR severity_number >= 17|env", day, time.Minute, time.Time{}, "log_minutes"},
		{"count|logs||service.version", day, time.Hour, time.Time{}, "logs"},
		{"count|logs|body contains a|", day, time.Hour, time.Time{}, "logs"},
		{"count_distinct:service.name|logs||", day, time.Hour, time.Time{}, "logs"},
		{"count|logs||severity", day, time.Hour, at.Add(time.Hour), "logs"},
		{"count|product_events||service.name", day, time.Hour, time.Time{}, "product_events"},
	} {
		q := planCase{text: tc.text}.spec()
		since := Rollup{Complete: true, Since: tc.since}
		q.Rollups = Rollups{Minutes: since, Coarse: since, Series: since}
		p, err := PlanTimeseries(q, tc.window, tc.bucket)
		if err != nil {
			t.Fatal(err)
		}
		if p.Reads != tc.want {
			t.Errorf("%s in %s: reads %s, want %s", tc.text, tc.window.End.Sub(tc.window.Start), p.Reads, tc.want)
		}
		q.Rollups.Coarse, q.Rollups.Series = Rollup{}, Rollup{}
		if p, _ := PlanTimeseries(q, tc.window, tc.bucket); p.Reads != "service_minutes" && p.Reads != rowsOf(q.Source).table {
			t.Errorf("%s reads %s, which is not complete", tc.text, p.Reads)
		}
		q.Rollups.Minutes = Rollup{}
		if p, _ := PlanTimeseries(q, tc.window, tc.bucket); p.Reads != rowsOf(q.Source).table {
			t.Errorf("%s reads %s, which is not complete", tc.text, p.Reads)
		}
	}
}

func TestBuckets(t *testing.T) {
	at := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		length, want time.Duration
	}{
		{time.Minute, time.Minute},
		{30 * time.Minute, time.Minute},
		{time.Hour, 2 * time.Minute},
		{6 * time.Hour, 15 * time.Minute},
		{24 * time.Hour, time.Hour},
		{7 * 24 * time.Hour, 4 * time.Hour},
		{31 * 24 * time.Hour, 24 * time.Hour},
	} {
		if got := AutoBucket(Window{Start: at, End: at.Add(tc.length)}, limits.DefaultBuckets); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.length, got, tc.want)
		}
	}
	list, err := Buckets(Window{Start: at.Add(30 * time.Second), End: at.Add(3 * time.Minute)}, time.Minute)
	if err != nil || len(list) != 3 || !list[0].Equal(at) {
		t.Errorf("%v %v", list, err)
	}
	// Buckets of a length that does not divide a day also begin at 1970.
	list, err = Buckets(Window{Start: at, End: at.Add(time.Minute)}, 7*time.Second)
	if err != nil || list[0].Unix()%7 != 0 || list[0].After(at) || !list[1].After(at) {
		t.Errorf("%v %v", list, err)
	}
	if _, err := Buckets(Window{Start: at, End: at.Add(1500 * time.Second)}, time.Second); err != nil {
		t.Error(err)
	}
	if _, err := Buckets(Window{Start: at, End: at.Add(1501 * time.Second)}, time.Second); err == nil {
		t.Error("1501 buckets were made")
	}
}

func TestFormulas(t *testing.T) {
	values := map[string]float64{"a": 6, "b": 4, "zero": 0}
	for text, want := range map[string]float64{
		"A": 6, "a+b*2": 14, "(A + B) * 2": 20, "-A": -6, "--A": 6, "A - -B": 10, "A/B/2": 0.75, "A - B - 1": 1, " 1.5 * A ": 9, ".5*b": 2,
	} {
		e, err := ParseFormula(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got, zero := e.Eval(func(name string) float64 { return values[name] }); got != want || zero {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
	e, err := ParseFormula("A / zero")
	if err != nil {
		t.Fatal(err)
	}
	if got, zero := e.Eval(func(name string) float64 { return values[name] }); !zero || got == got {
		t.Errorf("a division by zero is %v", got)
	}
	for _, text := range []string{
		"", "A +", "(A", "A)", "A B", "A $ B", "1.2.3", strings.Repeat("(", 100) + "A",
		strings.Repeat("-", 100) + "A", strings.Repeat("A+", 600) + "A",
	} {
		if _, err := ParseFormula(text); err == nil {
			t.Errorf("%.20q was read", text)
		}
	}
}

// FuzzParseFormula: no text makes the parser panic, and every expression that it accepts can be computed.
func FuzzParseFormula(f *testing.F) {
	for _, s := range []string{"A / B * 100", "-(a+1)", "((", "1e5", "A--B"} {
		f.Add(s)
	}
	f.Fuzz(func(_ *testing.T, text string) {
		if e, err := ParseFormula(text); err == nil {
			e.Eval(func(string) float64 { return 1 })
			e.Operands()
		}
	})
}

func TestValidate(t *testing.T) {
	field := func(key string) Field { return Field{Key: key} }
	count := Aggregation{Func: Count}
	for name, tc := range map[string]struct {
		q    Spec
		want string
	}{
		"source":           {Spec{Source: "spans", Aggregation: count}, "q.source"},
		"aggregation":      {Spec{Source: Traces, Aggregation: Aggregation{Func: "median"}}, "q.aggregation"},
		"no value":         {Spec{Source: Traces, Aggregation: Aggregation{Func: Sum}}, "q.value_field"},
		"text value":       {Spec{Source: Traces, Aggregation: Aggregation{Func: Sum, Value: &Field{Key: "span.name"}}}, "q.value_field"},
		"errors of events": {Spec{Source: ProductEvents, Aggregation: Aggregation{Func: ErrorRate}}, "q.aggregation"},
		"metric":           {Spec{Source: Traces, Aggregation: count, Metric: Metric{Name: "x"}}, "q.metric"},
		"no metric":        {Spec{Source: Metrics, Aggregation: count}, "q.metric.name"},
		"filter": {Spec{
			Source: Logs, Aggregation: count,
			Filter: Filter{All: []Filter{{Match: &Match{Field: field("duration"), Op: OpExists}}}},
		}, "q.filter.all[0]"},
		"operator": {Spec{
			Source: Logs, Aggregation: count,
			Filter: Filter{Match: &Match{Field: field("body"), Op: "like", Values: []string{"x"}}},
		}, "q.filter"},
		"two values": {Spec{
			Source: Logs, Aggregation: count,
			Filter: Filter{Match: &Match{Field: field("body"), Op: OpEqual, Values: []string{"x", "y"}}},
		}, "q.filter"},
		"both":             {Spec{Source: Logs, Aggregation: count, Filter: Filter{All: []Filter{{}}, Any: []Filter{{}}}}, "q.filter"},
		"empty child":      {Spec{Source: Logs, Aggregation: count, Filter: Filter{Any: []Filter{{}}}}, "q.filter.any[0]"},
		"group":            {Spec{Source: Traces, Aggregation: count, GroupBy: []Field{field("span.name"), field("duration")}}, "q.group_by[1]"},
		"too many groups":  {Spec{Source: Traces, Aggregation: count, GroupBy: make([]Field, 6)}, "q.group_by"},
		"having":           {Spec{Source: Traces, Aggregation: count, Having: []Having{{Op: OpContains}}}, "q.having[0]"},
		"limit":            {Spec{Source: Traces, Aggregation: count, Limit: 101}, "q.limit"},
		"series limit":     {Spec{Source: Traces, Aggregation: count, SeriesLimit: -1}, "q.series_limit"},
		"an unknown field": {Spec{Source: Traces, Aggregation: count, GroupBy: []Field{field("nothing")}}, "q.group_by[0]"},
		"an unknown scope": {Spec{Source: Traces, Aggregation: count, GroupBy: []Field{{Scope: "link", Key: "x"}}}, "q.group_by[0]"},
		"events of a log":  {Spec{Source: Logs, Aggregation: count, GroupBy: []Field{{Scope: EventAttribute, Key: "x"}}}, "q.group_by[0]"},
		"a value of events": {
			Spec{Source: Traces, Aggregation: Aggregation{Func: Sum, Value: &Field{Scope: EventAttribute, Key: "x"}}},
			"q.value_field",
		},
	} {
		err := tc.q.Validate("q")
		bad, ok := err.(*Invalid) //nolint:errorlint // Validate returns it as it is
		if !ok || bad.Field != tc.want {
			t.Errorf("%s: %v, want a fault of %s", name, err, tc.want)
		}
	}
}

// TestAutoBucketFits: Buckets never refuses a length that AutoBucket chose.
func TestAutoBucketFits(t *testing.T) {
	end := time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC)
	for length := time.Minute; length <= limits.TimeseriesWindow; length += 37 * time.Minute {
		for _, about := range []int{1, limits.DefaultBuckets, 400, 1000, limits.Buckets} {
			w := Window{Start: end.Add(-length), End: end}
			if _, err := Buckets(w, AutoBucket(w, about)); err != nil {
				t.Fatalf("%s in about %d: %v", length, about, err)
			}
		}
	}
}
