package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// CallReach is how long before a call its caller may begin and still be found. A caller can be a long request, or a message that
// waits in a queue.
const CallReach = time.Hour

// clockSkew is how much later than the call its caller may seem to begin, because their clocks differ.
const clockSkew = 5 * time.Minute

// CallStats are the figures of the calls between two ends.
type CallStats struct {
	Calls           uint64  `ch:"Calls"`
	EstimatedCalls  float64 `ch:"EstimatedCalls"`
	Errors          uint64  `ch:"Errors"`
	EstimatedErrors float64 `ch:"EstimatedErrors"`
	// EstimatedNano is the sum of all durations. Each duration is multiplied by the number of calls that its call stands for.
	EstimatedNano float64 `ch:"EstimatedNano"`
	MaxNano       uint64  `ch:"MaxNano"`
}

// Add adds the figures of other calls.
func (s *CallStats) Add(o CallStats) {
	s.Calls += o.Calls
	s.EstimatedCalls += o.EstimatedCalls
	s.Errors += o.Errors
	s.EstimatedErrors += o.EstimatedErrors
	s.EstimatedNano += o.EstimatedNano
	s.MaxNano = max(s.MaxNano, o.MaxNano)
}

// CallRow is a row of ServiceCalls.
type CallRow struct {
	Source string `ch:"SourceService"`
	Target string `ch:"TargetService"`
	CallStats
}

// ServiceCalls gives CallRow rows for the calls whose called span begins in the window. A called span is joined with its caller
// on a hash of trace id and span id. The hash is much smaller than both ids and practically as unique. The engine holds the
// called spans in memory, and the window bounds their number. It streams the callers, which begin up to CallReach before the
// window.
func ServiceCalls(w query.Window, environment *string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	called := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		"SpanKind IN ('Server', 'Consumer')", "ParentSpanId != ''")
	calling := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("reach_start", w.Start.Add(-CallReach)),
		"Timestamp <= "+b.Time("reach_end", w.End.Add(clockSkew)),
		"SpanKind IN ('Client', 'Producer')",
	)
	calling.Optional(b, "Environment", "deployment_environment", environment)
	return b.Statement(fmt.Sprintf(`SELECT
    SourceService,
    TargetService,
    count() AS Calls,
    sum(SampleRate) AS EstimatedCalls,
    countIf(HasError) AS Errors,
    sumIf(SampleRate, HasError) AS EstimatedErrors,
    sum(SampleRate * DurationNano) AS EstimatedNano,
    max(DurationNano) AS MaxNano
FROM
(
    SELECT cityHash64(TraceId, SpanId) AS Link, ServiceName AS SourceService
    FROM spans
    WHERE %s
) AS calling
ANY RIGHT JOIN
(
    SELECT cityHash64(TraceId, ParentSpanId) AS Link, ServiceName AS TargetService, DurationNano, HasError, SampleRate
    FROM spans
    WHERE %s
) AS called USING Link
WHERE SourceService != '' AND SourceService != TargetService
GROUP BY SourceService, TargetService
ORDER BY EstimatedCalls DESC, SourceService, TargetService
LIMIT 10000`, calling.Join(8), called.Join(8)))
}

// PeerRow is a row of PeerCalls.
type PeerRow struct {
	Service   string `ch:"ServiceName"`
	Direction string `ch:"Direction"`
	Kind      string `ch:"PeerKind"`
	System    string `ch:"PeerSystem"`
	Name      string `ch:"PeerName"`
	CallStats
}

// PeerCalls gives PeerRow rows, busiest first: calls to databases, queues and outside systems. A minute that the window cuts
// counts whole. A minute that begins at the end of the window does not count.
func PeerCalls(w query.Window, service, environment *string, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Minute >= "+b.Minute("start_minute", w.Start), "Minute <= "+b.Minute("end_minute", w.End.Add(-1)))
	c.Optional(b, "ServiceName", "service_name", service)
	c.Optional(b, "Environment", "deployment_environment", environment)
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName,
    Direction,
    PeerKind,
    PeerSystem,
    PeerName,
    sum(CallCount) AS Calls,
    sum(EstimatedCallCount) AS EstimatedCalls,
    sum(ErrorCount) AS Errors,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    sum(EstimatedDurationNano) AS EstimatedNano,
    max(MaxDurationNano) AS MaxNano
FROM service_peers
WHERE %s
GROUP BY ServiceName, Direction, PeerKind, PeerSystem, PeerName
ORDER BY EstimatedCalls DESC, ServiceName, Direction, PeerKind, PeerSystem, PeerName
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// SpanHours gives SpanHourRow rows: the hours of a window in which spans were stored, with the number of spans in the whole hour.
func SpanHours(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Minute >= "+b.Minute("start_minute", w.Start.Truncate(time.Hour)),
		"Minute < "+b.Minute("end_minute", w.End.Truncate(time.Hour).Add(time.Hour)),
	)
	return b.Statement(fmt.Sprintf(`SELECT toStartOfHour(Minute) AS Hour, sum(SpanCount) AS Spans
FROM service_minutes
WHERE %s
GROUP BY Hour
ORDER BY Hour`, c.Join(4)))
}

// SpanHourRow is a row of SpanHours.
type SpanHourRow struct {
	Hour  time.Time `ch:"Hour"`
	Spans uint64    `ch:"Spans"`
}
