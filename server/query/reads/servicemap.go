package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// CallReach is how long before a call its caller may begin and still be found. A caller can be a long request, or a message that
// waits in a queue.
const CallReach = limits.CallReach

// ClockSkew is how much later than the call its caller may seem to begin, because their clocks differ.
const ClockSkew = limits.CallClockSkew

// MaxCallRows is the largest number of rows of a read of calls.
const MaxCallRows = limits.MapCalls

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
	return serviceCalls(w, environment, "")
}

// CallHourRow is a row of CallsByEnvironment.
type CallHourRow struct {
	Environment string `ch:"Environment"`
	CallRow
}

// CallsByEnvironment gives CallHourRow rows: the calls of ServiceCalls by the environment of the caller.
func CallsByEnvironment(w query.Window) sqlbuild.Statement {
	return serviceCalls(w, nil, "Environment, ")
}

func serviceCalls(w query.Window, environment *string, by string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	called := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End),
		"SpanKind IN ('Server', 'Consumer')", "ParentSpanId != ''")
	calling := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("reach_start", w.Start.Add(-CallReach)),
		"Timestamp <= "+b.Time("reach_end", w.End.Add(ClockSkew)),
		"SpanKind IN ('Client', 'Producer')",
	)
	calling.Optional(b, "Environment", "deployment_environment", environment)
	return b.Statement(fmt.Sprintf(`SELECT
    %[3]sSourceService,
    TargetService,
    count() AS Calls,
    sum(SampleRate) AS EstimatedCalls,
    countIf(HasError) AS Errors,
    sumIf(SampleRate, HasError) AS EstimatedErrors,
    sum(SampleRate * DurationNano) AS EstimatedNano,
    max(DurationNano) AS MaxNano
FROM
(
    SELECT %[3]scityHash64(TraceId, SpanId) AS Link, ServiceName AS SourceService
    FROM spans
    WHERE %[1]s
) AS calling
ANY RIGHT JOIN
(
    SELECT cityHash64(TraceId, ParentSpanId) AS Link, ServiceName AS TargetService, DurationNano, HasError, SampleRate
    FROM spans
    WHERE %[2]s
) AS called USING Link
WHERE SourceService != '' AND SourceService != TargetService
GROUP BY %[3]sSourceService, TargetService
ORDER BY EstimatedCalls DESC, %[3]sSourceService, TargetService
LIMIT %[4]d`, calling.Join(8), called.Join(8), by, MaxCallRows))
}

// CallHourCount is a row of CallHourCounts: an hour whose calls were counted. Spans is the number of spans that the count could see.
type CallHourCount struct {
	Hour      time.Time `ch:"Hour"`
	CountedAt time.Time `ch:"Counted"`
	Spans     uint64    `ch:"Spans"`
}

// CallHourCounts gives CallHourCount rows: the last count of each hour that begins in the window.
func CallHourCounts(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Hour >= "+b.Minute("start_hour", w.Start), "Hour <= "+b.Minute("end_hour", w.End),
		"SourceService = ''", // each count has one row without a service
	)
	return b.Statement(fmt.Sprintf(`SELECT Hour, max(CountedAt) AS Counted, argMax(SeenSpanCount, CountedAt) AS Spans
FROM call_hours
WHERE %s
GROUP BY Hour
ORDER BY Hour`, c.Join(4)))
}

// CountedCalls gives CallRow rows: the calls of hours in the order of time, as they were counted at the given times. No two counts of an
// organization have the same time.
func CountedCalls(counts []CallHourCount, environment *string) sqlbuild.Statement {
	hours, times := make([]int64, len(counts)), make([]int64, len(counts))
	for i, c := range counts {
		hours[i], times[i] = c.Hour.Unix(), c.CountedAt.UnixMicro()
	}
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization()
	if len(counts) > 0 {
		c.Add("Hour >= %s", b.Minute("start_hour", counts[0].Hour))
		c.Add("Hour <= %s", b.Minute("end_hour", counts[len(counts)-1].Hour))
	}
	c.Add("toUnixTimestamp(Hour) IN %s", b.Bind("hours", "Array(Int64)", hours))
	c.Add("toUnixTimestamp64Micro(CountedAt) IN %s", b.Bind("counted", "Array(Int64)", times))
	c.Add("SourceService != ''")
	c.Optional(b, "Environment", "deployment_environment", environment)
	return b.Statement(fmt.Sprintf(`SELECT
    SourceService,
    TargetService,
    sum(CallCount) AS Calls,
    sum(EstimatedCallCount) AS EstimatedCalls,
    sum(ErrorCount) AS Errors,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    sum(EstimatedDurationNano) AS EstimatedNano,
    max(MaxDurationNano) AS MaxNano
FROM call_hours
WHERE %s
GROUP BY SourceService, TargetService
ORDER BY EstimatedCalls DESC, SourceService, TargetService
LIMIT %d`, c.Join(4), MaxCallRows))
}

// SpansOfCallHour gives one SpanCountRow: the number of spans in which the calls of an hour are found.
func SpansOfCallHour(hour time.Time) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("reach_start", hour.Add(-CallReach)), "Timestamp < "+b.Time("reach_end", hour.Add(time.Hour+ClockSkew)),
	)
	return b.Statement("SELECT count() AS Spans FROM spans WHERE " + c.Join(4))
}

// SpanCountRow is the row of SpansOfCallHour.
type SpanCountRow struct {
	Spans uint64 `ch:"Spans"`
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
	return b.Statement(fmt.Sprintf(`SELECT
    toStartOfHour(Minute) AS Hour,
    sum(SpanCount) AS Spans,
    sumIf(SpanCount, Minute < Hour + toIntervalSecond(%s)) AS First
FROM service_minutes
WHERE %s
GROUP BY Hour
ORDER BY Hour`, b.Bind("skew", "UInt32", int64(ClockSkew/time.Second)), c.Join(4)))
}

// SpanHourRow is a row of SpanHours.
type SpanHourRow struct {
	Hour  time.Time `ch:"Hour"`
	Spans uint64    `ch:"Spans"`
	// First is the number of spans in the first minutes of the hour, as many as ClockSkew.
	First uint64 `ch:"First"`
}
