package query

import (
	"fmt"
	"time"
)

// Rollups says which rollups the planner may read instead of rows.
type Rollups struct {
	// Minutes is service_minutes with weighted durations. Coarse are the rollups for long windows: organization_minutes, service_hours,
	// operation_hours and log_minutes. Series is service_series, the minutes of one service.
	Minutes, Coarse, Series Rollup
}

// Rollup says since when a rollup has every row. A zero Since means always.
type Rollup struct {
	Complete bool
	Since    time.Time
}

// AllRollups are the rollups of a warehouse that had them from its start.
func AllRollups() Rollups {
	always := Rollup{Complete: true}
	return Rollups{Minutes: always, Coarse: always, Series: always}
}

func (r Rollup) Holds(w Window) bool { return r.Complete && !w.Start.Before(r.Since) }

// ShortestRolledUp is the shortest window that is read from minutes although it cuts its first or last minute. For a shorter
// window, reading rows is as fast.
const ShortestRolledUp = time.Hour

// RollupRead says which rollups answer a read, and how rows fill the time that the rollups do not cover.
type RollupRead struct {
	// Layers are the tables, the coarsest first. Rows fill the time outside of whole minutes or hours.
	Layers []Layer
	// Columns are the dimensions that the layers and the rows both have.
	Columns  string
	Measures string
	// Edge computes the measures from rows. Grouped says that the rows must be grouped by time and columns.
	Edge    string
	Grouped bool
	Rows    string
	value   string
}

const (
	minuteColumns       = "ServiceName, ServiceNamespace, Environment, ServiceVersion, IsEntry"
	organizationColumns = "Environment, IsEntry"
	operationColumns    = "ServiceName, ServiceNamespace, Environment, SpanName, SpanKind, HttpMethod, HttpStatusCode, IsEntry"
	logColumns          = "ServiceName, ServiceNamespace, Environment, SeverityText, SeverityNumber"

	spanMeasures      = "EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano, WeightedDurations"
	operationMeasures = "EstimatedSpanCount, EstimatedErrorCount, EstimatedDurationNano"

	spanEdge = `sum(SampleRate) AS EstimatedSpanCount,
            sumIf(SampleRate, HasError) AS EstimatedErrorCount,
            sum(SampleRate * DurationNano) AS EstimatedDurationNano,
            quantilesTDigestWeightedState(0.5, 0.95, 0.99)(DurationNano, toUInt64(round(SampleRate * 16))) AS WeightedDurations`
	operationEdge = `SampleRate AS EstimatedSpanCount,
            if(HasError, SampleRate, 0) AS EstimatedErrorCount,
            SampleRate * DurationNano AS EstimatedDurationNano`
)

// planRollup plans a query over rollups. It is false when no rollup can answer the query.
func (b planner) planRollup(q *Spec, w Window, bucket time.Duration) (Plan, bool) {
	r, ok := b.chooseRollup(q, w, bucket)
	if !ok {
		return Plan{}, false
	}
	keys, without := b.grouped(q)
	table := b.layered(w, r, b.filter(q.Source, q.Filter).With(without...))
	p := b.plan(q, w, table, "Minute", nil, keys, r.value, bucket)
	p.Reads = r.Layers[0].table
	return p, true
}

// chooseRollup picks the smallest rollup that has the fields of a query and whose minutes or hours fit into its buckets.
func (b planner) chooseRollup(q *Spec, w Window, bucket time.Duration) (RollupRead, bool) {
	minutes := w.Whole(time.Minute)
	whole := minutes.Start.Equal(w.Start) && !minutes.End.Before(w.End)
	if bucket%time.Minute != 0 || !whole && w.Length() < ShortestRolledUp {
		return RollupRead{}, false
	}
	coarse := q.Rollups.Coarse.Holds(w)
	hours := coarse && bucket%time.Hour == 0 && w.Whole(time.Hour).Start.Before(w.Whole(time.Hour).End)
	switch {
	case q.Source == Logs && coarse && q.uses(inLogMinutes):
		r := LogRollup()
		value, ok := logMinutesAggregate(q.Aggregation)
		r.value = value
		return r, ok
	case q.Source != Traces || !q.Rollups.Minutes.Holds(w):
		return RollupRead{}, false
	case q.uses(inServiceMinutes):
		r := RollupRead{
			Layers:   []Layer{ServiceMinutes()},
			Columns:  minuteColumns,
			Measures: spanMeasures,
			Edge:     spanEdge,
			Grouped:  true,
			Rows:     "spans",
		}
		if hours {
			r.Layers = []Layer{ServiceHours(), ServiceMinutes()}
		} else if coarse && q.uses(inOrganizationMinutes) {
			r.Layers, r.Columns = []Layer{organizationMinutes()}, organizationColumns
		} else if q.Filter.Service() != nil && q.Rollups.Series.Holds(w) {
			r.Layers = []Layer{ServiceSeries()}
		}
		value, ok := b.minutesAggregate(q.Aggregation, true)
		r.value = value
		return r, ok
	case hours && q.uses(inOperationHours):
		r := OperationRollup()
		value, ok := b.minutesAggregate(q.Aggregation, false)
		r.value = value
		return r, ok
	default:
		return RollupRead{}, false
	}
}

func OperationRollup() RollupRead {
	return RollupRead{
		Layers:   []Layer{operationHours()},
		Columns:  operationColumns,
		Measures: operationMeasures,
		Edge:     operationEdge,
		Rows:     "spans",
	}
}

func LogRollup() RollupRead {
	return RollupRead{Layers: []Layer{logMinutes()}, Columns: logColumns, Measures: "LogCount", Edge: "toUInt64(1) AS LogCount", Rows: "logs"}
}

// InOperationHours reports whether operation_hours has every field of a filter.
func InOperationHours(f Filter) bool { return f.only(inOperationHours) }

// InLogMinutes reports whether log_minutes has every field of a filter.
func InLogMinutes(f Filter) bool { return f.only(inLogMinutes) }

// InErrors reports whether error_events has every field of a filter on spans, in columns of the same names.
func InErrors(f Filter) bool {
	return f.only(func(f Field) bool {
		switch f.Key {
		case "span.name", "duration", "trace.id", "span.id":
			return f.Scope == Builtin
		default:
			return RollupColumn(Traces, f) != ""
		}
	})
}

// InValueRollup reports whether the rows from which values are listed cheaply have every field of a filter.
func InValueRollup(s Source, f Filter) bool {
	return f.only(func(f Field) bool { return RollupColumn(s, f) != "" })
}

// InEvents reports whether product events have every field of a filter themselves, without their sessions.
func InEvents(f Filter) bool { return f.only(func(f Field) bool { return !identity(f) }) }

// only reports whether held is true for all fields of the filter.
func (f Filter) only(held func(Field) bool) bool {
	for m := range f.Matches {
		if !held(m.Field) {
			return false
		}
	}
	return true
}

// uses reports whether held is true for all fields that a query filters and groups by.
func (q *Spec) uses(held func(Field) bool) bool {
	all := q.Filter.only(held)
	for _, f := range q.GroupBy {
		all = all && held(f)
	}
	return all
}

func inServiceMinutes(f Field) bool {
	return RollupColumn(Traces, f) != "" || f == Field{Key: "is_entry"}
}

func inOrganizationMinutes(f Field) bool {
	return f == Field{Key: "deployment.environment"} || f == Field{Key: "is_entry"}
}

func inOperationHours(f Field) bool {
	if f.Scope != Builtin {
		return false
	}
	switch f.Key {
	case "service.name",
		"service.namespace",
		"deployment.environment",
		"span.name",
		"span.kind",
		"http.method",
		"http.status_code",
		"is_entry":
		return true
	default:
		return false
	}
}

func inLogMinutes(f Field) bool {
	if f.Scope != Builtin {
		return false
	}
	switch f.Key {
	case "service.name", "service.namespace", "deployment.environment", "severity", "severity_number":
		return true
	default:
		return false
	}
}

// minutesAggregate prints an aggregation over rollups of spans.
func (b planner) minutesAggregate(a Aggregation, digests bool) (string, bool) {
	ofDuration := a.Value != nil && *a.Value == Field{Key: "duration"}
	switch {
	case a.Func == Count || a.Func == Rate:
		return "toFloat64(sum(EstimatedSpanCount))", true
	case a.Func == ErrorCount:
		return "toFloat64(sum(EstimatedErrorCount))", true
	case a.Func == ErrorRate:
		return "sum(EstimatedErrorCount) / sum(EstimatedSpanCount)", true
	case a.Func == Avg && ofDuration:
		return "sum(EstimatedDurationNano) / sum(EstimatedSpanCount) / 1e6", true
	case a.Func == Quantile && ofDuration && digests:
		level := b.Bind("level", "Float64", a.Level)
		return fmt.Sprintf("toFloat64(quantilesTDigestWeightedMerge(%s)(WeightedDurations)[1]) / 1e6", level), true
	default:
		return "", false
	}
}

// logMinutesAggregate prints an aggregation over log_minutes.
func logMinutesAggregate(a Aggregation) (string, bool) {
	failed := "sumIf(LogCount, " + rowsOf(Logs).failed + ")"
	switch a.Func {
	case Count, Rate:
		return "toFloat64(sum(LogCount))", true
	case ErrorCount:
		return "toFloat64(" + failed + ")", true
	case ErrorRate:
		return failed + " / sum(LogCount)", true
	default:
		return "", false
	}
}

// RollupColumn is the column of service_minutes that has the values of a field of spans. It is empty if the table does not have
// the field.
func RollupColumn(s Source, f Field) string {
	if s != Traces || f.Scope != Builtin {
		return ""
	}
	switch f.Key {
	case "service.name":
		return "ServiceName"
	case "service.namespace":
		return "ServiceNamespace"
	case "service.version":
		return "ServiceVersion"
	case "deployment.environment":
		return "Environment"
	default:
		return ""
	}
}
