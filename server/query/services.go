package query

import (
	"fmt"
	"time"
)

// Baseline is the time before a window that a service is compared with.
const Baseline = 7 * 24 * time.Hour

// ServiceList asks for a page of the services of a window.
type ServiceList struct {
	Window                                  Window
	DeploymentEnvironment, ServiceNamespace *string
	// Name is of one service, or nil for all.
	Name          *string
	Offset, Limit int
}

// ServiceRow is a row of ListServices. Counts and latencies are of entry spans, or of all spans for a service without any.
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

// ListServices gives ServiceRow rows, busiest first. Minutes that the window cuts are counted whole.
func ListServices(l ServiceList) Statement {
	b := &builder{}
	start := l.Window.Start.Truncate(time.Minute)
	first := "toDateTime(" + b.bind("start", "Int64", start.Unix()) + ", 'UTC')"
	c := where().with("Minute >= toDateTime("+b.bind("baseline_start", "Int64", start.Add(-Baseline).Unix())+", 'UTC')",
		"Minute <= toDateTime("+b.bind("end", "Int64", l.Window.End.Unix())+", 'UTC')")
	c.optional(b, "Environment", "deployment_environment", l.DeploymentEnvironment)
	c.optional(b, "ServiceNamespace", "service_namespace", l.ServiceNamespace)
	c.optional(b, "ServiceName", "service_name", l.Name)
	const quantiles = "quantilesTDigestMergeIf(0.5, 0.95, 0.99)"
	sql := fmt.Sprintf(`WITH
    Minute >= %[1]s AS Inside,
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
    if(EntrySpans > 0, %[3]s(DurationQuantiles, Inside AND IsEntry), %[3]s(DurationQuantiles, Inside)) AS Latencies,
    if(BaselineEntrySpans > 0, BaselineEntrySpans, sumIf(SpanCount, NOT Inside)) AS BaselineSpans,
    if(BaselineEntrySpans > 0, %[3]s(DurationQuantiles, NOT Inside AND IsEntry), %[3]s(DurationQuantiles, NOT Inside)) AS BaselineLatencies
FROM service_minutes
WHERE %[2]s
GROUP BY ServiceName
HAVING Spans > 0
ORDER BY EstimatedSpans DESC, ServiceName
LIMIT %[4]s OFFSET %[5]s`, first, c.join(4), quantiles, b.bind("limit", "UInt32", int64(l.Limit)), b.bind("offset", "UInt32", int64(l.Offset)))
	return Statement{SQL: sql, Args: b.args}
}
