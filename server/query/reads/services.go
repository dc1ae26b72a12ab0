package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ServiceList asks for a page of the services of a window.
type ServiceList struct {
	Window                                  query.Window
	DeploymentEnvironment, ServiceNamespace *string
	// Name selects one service. Nil selects all.
	Name          *string
	Offset, Limit int
	// Rollups says which weighted durations and hours are available.
	Rollups query.Rollups
}

// ServiceRow is a row of ListServices. Counts and latencies are of entry spans, or of all spans if the service has no entry
// spans.
type ServiceRow struct {
	ServiceName        string    `ch:"ServiceName"`
	Namespaces         []string  `ch:"Namespaces"`
	Environments       []string  `ch:"Environments"`
	SpanCount          uint64    `ch:"Spans"`
	EstimatedSpanCount float64   `ch:"EstimatedSpans"`
	ErrorCount         uint64    `ch:"Errors"`
	EstimatedErrors    float64   `ch:"EstimatedErrors"`
	Latencies          []float32 `ch:"Latencies"`
	BaselineSpanCount  uint64    `ch:"BaselineSpans"`
	BaselineLatencies  []float32 `ch:"BaselineLatencies"`
}

// ListServices gives ServiceRow rows, busiest first. The baseline consists of whole minutes.
func ListServices(l ServiceList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	start := l.Window.Start.Truncate(time.Minute)
	baseline := query.Window{Start: start.Add(-limits.ServiceBaseline), End: start}
	var c sqlbuild.Conditions
	c.Optional(b, "Environment", "deployment_environment", l.DeploymentEnvironment)
	c.Optional(b, "ServiceNamespace", "service_namespace", l.ServiceNamespace)
	c.Optional(b, "ServiceName", "service_name", l.Name)
	d := durationsOf(l.Rollups, baseline)
	const columns, measures = "ServiceName, ServiceNamespace, Environment, IsEntry",
		"SpanCount, EstimatedSpanCount, ErrorCount, EstimatedErrorCount"
	layers := []query.Layer{query.ServiceMinutes()}
	if l.Rollups.Minutes.Holds(l.Window) && l.Rollups.Coarse.Holds(l.Window) {
		if hours := l.Window.Whole(time.Hour); hours.Start.Before(hours.End) {
			layers = []query.Layer{query.ServiceHours(), query.ServiceMinutes()}
		}
	}
	selected := columns + ", " + measures + ", " + d.column
	inside := fmt.Sprintf(
		"\n    SELECT %s, true AS Inside\n    FROM %s",
		selected,
		query.Layered(b, l.Window, spansOf(layers, columns, measures, d), c),
	)
	table := strings.Join(
		append(
			[]string{inside},
			wholeMinutes(b, "baseline_", baseline, l.Rollups, selected, "false AS Inside", sqlbuild.OfOrganization().With(c...))...),
		"\n    UNION ALL",
	)
	// A service with entry spans is measured only by those. A service without them has only other spans. So each digest is merged
	// once.
	sql := fmt.Sprintf(`WITH
    sumIf(SpanCount, Inside AND IsEntry) AS EntrySpans,
    sumIf(SpanCount, NOT Inside AND IsEntry) AS BaselineEntrySpans
SELECT
    ServiceName,
    arraySort(groupUniqArrayIf(ServiceNamespace, Inside AND ServiceNamespace != '')) AS Namespaces,
    arraySort(groupUniqArrayIf(Environment, Inside AND Environment != '')) AS Environments,
    if(EntrySpans > 0, EntrySpans, sumIf(SpanCount, Inside)) AS Spans,
    if(EntrySpans > 0, sumIf(EstimatedSpanCount, Inside AND IsEntry), sumIf(EstimatedSpanCount, Inside)) AS EstimatedSpans,
    if(EntrySpans > 0, sumIf(ErrorCount, Inside AND IsEntry), sumIf(ErrorCount, Inside)) AS Errors,
    if(EntrySpans > 0, sumIf(EstimatedErrorCount, Inside AND IsEntry), sumIf(EstimatedErrorCount, Inside)) AS EstimatedErrors,
    if(EntrySpans > 0, %[1]s(%[2]s, Inside AND IsEntry), %[1]s(%[2]s, Inside AND NOT IsEntry)) AS Latencies,
    if(BaselineEntrySpans > 0, BaselineEntrySpans, sumIf(SpanCount, NOT Inside)) AS BaselineSpans,
    if(BaselineEntrySpans > 0, %[1]s(%[2]s, NOT Inside AND IsEntry), %[1]s(%[2]s, NOT Inside AND NOT IsEntry)) AS BaselineLatencies
FROM
(%[3]s
)
GROUP BY ServiceName
HAVING Spans > 0
ORDER BY EstimatedSpans DESC, ServiceName
LIMIT %[4]s OFFSET %[5]s`, d.merge+"If(0.5, 0.95, 0.99)", d.column, table, b.Bind("limit", "UInt32", int64(l.Limit)), b.Bind("offset", "UInt32", int64(l.Offset)))
	return b.Statement(sql)
}

// durations names the digests to read. They are weighted if weighted digests cover the whole window. state makes a digest from
// spans.
type durations struct{ column, merge, state string }

func durationsOf(r query.Rollups, w query.Window) durations {
	if r.Minutes.Holds(w) {
		return durations{
			column: "WeightedDurations", merge: "quantilesTDigestWeightedMerge",
			state: "quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16)))",
		}
	}
	return durations{
		column: "DurationQuantiles",
		merge:  "quantilesTDigestMerge",
		state:  "quantilesTDigestState(0.5, 0.95, 0.99)(DurationNano)",
	}
}

// spansOf reads spans in the form of the rollups by minute, with the digests of their durations.
func spansOf(layers []query.Layer, columns, measures string, d durations) query.RollupRead {
	var edge []string
	for m := range strings.SplitSeq(measures, ", ") {
		edge = append(edge, map[string]string{
			"SpanCount": "count()", "EstimatedSpanCount": "sum(SampleRate)", "ErrorCount": "countIf(HasError)",
			"EstimatedErrorCount": "sumIf(SampleRate, HasError)",
		}[m]+" AS "+m)
	}
	edge = append(edge, d.state+" AS "+d.column)
	return query.RollupRead{
		Layers:   layers,
		Columns:  columns,
		Measures: measures + ", " + d.column,
		Edge:     strings.Join(edge, ",\n            "),
		Grouped:  true,
		Rows:     "spans",
	}
}

// wholeMinutes prints the reads of a window that consists of whole minutes. Its whole hours are read from service_hours where
// that table covers them, the rest from service_minutes. prefix begins the names of the parameters.
func wholeMinutes(
	b *sqlbuild.Builder,
	prefix string,
	w query.Window,
	r query.Rollups,
	columns, also string,
	filter sqlbuild.Conditions,
) []string {
	at := func(name string, t time.Time) string {
		return "toDateTime(" + b.Bind(prefix+name, "Int64", t.Unix()) + ", 'UTC')"
	}
	part := func(table string, c sqlbuild.Conditions) string {
		return fmt.Sprintf(`
    SELECT %s, %s
    FROM %s
    WHERE %s`, columns, also, table, append(append(sqlbuild.Conditions{}, filter...), c...).Join(8))
	}
	minutes := sqlbuild.Conditions{"Minute >= " + at("start", w.Start), "Minute < " + at("end", w.End)}
	hours := w.Whole(time.Hour)
	if !r.Minutes.Holds(w) || !r.Coarse.Holds(w) || !hours.Start.Before(hours.End) {
		return []string{part("service_minutes", minutes)}
	}
	first, last := at("first_hour", hours.Start), at("last_hour", hours.End)
	return []string{
		part("service_hours", sqlbuild.Conditions{"Hour >= " + first, "Hour < " + last}),
		part("service_minutes", minutes.With("(Minute < "+first+" OR Minute >= "+last+")")),
	}
}
