package reads

import (
	"fmt"
	"strconv"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ErrorFilters are conditions on an error. All of them must hold.
type ErrorFilters struct {
	ServiceName, DeploymentEnvironment, ServiceNamespace, ExceptionType, Search *string
	// Fingerprints keeps the errors of these groups. Nil keeps all errors.
	Fingerprints []uint64
	RootOnly     bool
	// Logs keeps the exceptions of log records, too.
	Logs bool
	// Where must hold for the span of an error, so it goes with errors of spans alone.
	Where query.Filter
}

// Fingerprints reads the hashes of error issues. Issues of other kinds have texts, which are left out. The list is never nil, so that an
// issue without a fingerprint selects nothing.
func Fingerprints(hashes []string) []uint64 {
	out := []uint64{}
	for _, hash := range hashes {
		if n, err := strconv.ParseUint(hash, 10, 64); err == nil {
			out = append(out, n)
		}
	}
	return out
}

func (f ErrorFilters) add(b *sqlbuild.Builder, c *sqlbuild.Conditions) {
	if f.Fingerprints != nil {
		c.Add("FingerprintHash IN %s", b.Bind("fingerprints", "Array(UInt64)", f.Fingerprints))
	}
	c.Optional(b, "ServiceName", "service_name", f.ServiceName)
	c.Optional(b, "Environment", "deployment_environment", f.DeploymentEnvironment)
	c.Optional(b, "ServiceNamespace", "service_namespace", f.ServiceNamespace)
	c.Optional(b, "ExceptionType", "exception_type", f.ExceptionType)
	if f.Search != nil {
		text := b.Bind("search", "String", *f.Search)
		c.Add("(%s OR %s)", sqlbuild.Contains("ErrorLabel", text, *f.Search), sqlbuild.Contains("ExceptionMessage", text, *f.Search))
	}
	if f.RootOnly {
		c.Add("IsRoot")
	}
}

func errorConditions(b *sqlbuild.Builder, w query.Window, f ErrorFilters) sqlbuild.Conditions {
	within := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	c := within.With()
	if !f.Logs {
		c.Add("Source = ''") // errors of spans
	}
	f.add(b, &c)
	return c.With(f.ofSpans(b, within)...)
}

// ofSpans prints Where, after add bound the other conditions. Errors have some of the columns of their spans. The others are read from
// the failed spans, which can lie on other shards: errors that an upgrade added do not lie beside their spans.
func (f ErrorFilters) ofSpans(b *sqlbuild.Builder, within sqlbuild.Conditions) sqlbuild.Conditions {
	where := query.FilterSQL(b, query.Traces, f.Where)
	if len(where) == 0 || query.InErrors(f.Where) {
		return where
	}
	c := within.With("StatusCode = 'Error'")
	for _, known := range []struct {
		value     *string
		condition string
	}{
		{f.ServiceName, "ServiceName = {service_name:String}"},
		{f.DeploymentEnvironment, "Environment = {deployment_environment:String}"},
		{f.ServiceNamespace, "ServiceNamespace = {service_namespace:String}"},
	} {
		if known.value != nil {
			c = c.With(known.condition)
		}
	}
	return sqlbuild.Conditions{
		"(TraceId, SpanId) GLOBAL IN (\n        SELECT TraceId, SpanId FROM spans\n        WHERE " + c.With(where...).Join(10) + ")",
	}
}

// ErrorGroupRow is a row of ErrorGroups.
type ErrorGroupRow struct {
	Fingerprint  uint64    `ch:"FingerprintHash"`
	Label        string    `ch:"Label"`
	Type         string    `ch:"Type"`
	Message      string    `ch:"Message"`
	Frame        string    `ch:"Frame"`
	Count        uint64    `ch:"Occurrences"`
	Estimated    float64   `ch:"Estimated"`
	Services     []string  `ch:"Services"`
	ServiceCount uint64    `ch:"ServiceCount"`
	Traces       uint64    `ch:"Traces"`
	Environments []string  `ch:"Environments"`
	First        time.Time `ch:"First"`
	Last         time.Time `ch:"Last"`
	NoException  uint64    `ch:"NoException"`
	// EstimatedNoException is NoException, corrected for sampling.
	EstimatedNoException float64 `ch:"EstimatedNoException"`
	// Occurrences by environment, the most frequent first. The three lists belong together.
	SplitNames     []string  `ch:"SplitNames"`
	SplitCounts    []uint64  `ch:"SplitCounts"`
	SplitEstimated []float64 `ch:"SplitEstimated"`
}

// environmentSplit gives the columns SplitNames, SplitCounts and SplitEstimated: the rows of a group by environment.
var environmentSplit = fmt.Sprintf(`(arraySlice(arrayReverseSort(e -> (e.3, e.1), arrayZip(
        (sumMap([toString(Environment)], [toUInt64(1)], [SampleRate]) AS sums).1, sums.2, sums.3)), 1, %d) AS split).1 AS SplitNames,
    split.2 AS SplitCounts,
    split.3 AS SplitEstimated`, limits.ErrorNames)

// ErrorGroups gives ErrorGroupRow rows in the named order, highest first. The orders are count, estimated_count, last_seen and
// first_seen.
func ErrorGroups(w query.Window, f ErrorFilters, order string, offset, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	column := map[string]string{"last_seen": "Last", "first_seen": "First", "estimated_count": "Estimated"}[order]
	if column == "" {
		column = "Occurrences"
	}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    FingerprintHash,
    argMax(ErrorLabel, Timestamp) AS Label,
    argMax(ExceptionType, Timestamp) AS Type,
    argMax(ExceptionMessage, Timestamp) AS Message,
    argMax(TopFrame, Timestamp) AS Frame,
    count() AS Occurrences,
    sum(SampleRate) AS Estimated,
    arraySort(groupUniqArray(%[5]d)(ServiceName)) AS Services,
    uniqExact(ServiceName) AS ServiceCount,
    uniqCombined64(TraceId) AS Traces,
    arraySort(groupUniqArrayIf(%[5]d)(Environment, Environment != '')) AS Environments,
    min(Timestamp) AS First,
    max(Timestamp) AS Last,
    countIf(NOT HasException) AS NoException,
    sumIf(SampleRate, NOT HasException) AS EstimatedNoException,
    %[1]s
FROM error_events
WHERE %[2]s
GROUP BY FingerprintHash
ORDER BY %[3]s DESC, FingerprintHash
LIMIT %[4]s OFFSET %[6]s`, environmentSplit, c.Join(4), column, b.Bind("limit", "UInt32", int64(limit)), limits.ErrorNames,
		b.Bind("offset", "UInt32", int64(offset))))
}

// ErrorTotalsRow is the row of ErrorTotals.
type ErrorTotalsRow struct {
	Occurrences uint64  `ch:"Occurrences"`
	Estimated   float64 `ch:"Estimated"`
	Groups      uint64  `ch:"Groups"`
	NoException uint64  `ch:"NoException"`
	Services    uint64  `ch:"Services"`
	Traces      uint64  `ch:"Traces"`
	// EstimatedNoException is NoException, corrected for sampling.
	EstimatedNoException float64 `ch:"EstimatedNoException"`
	// Occurrences by environment, the most frequent first. The three lists belong together.
	SplitNames     []string  `ch:"SplitNames"`
	SplitCounts    []uint64  `ch:"SplitCounts"`
	SplitEstimated []float64 `ch:"SplitEstimated"`
}

// ErrorTotals gives one ErrorTotalsRow with the figures of all groups together.
func ErrorTotals(w query.Window, f ErrorFilters) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    count() AS Occurrences,
    sum(SampleRate) AS Estimated,
    uniqExact(FingerprintHash) AS Groups,
    countIf(NOT HasException) AS NoException,
    uniqExact(ServiceName) AS Services,
    uniqCombined64(TraceId) AS Traces,
    sumIf(SampleRate, NOT HasException) AS EstimatedNoException,
    %s
FROM error_events
WHERE %s`, environmentSplit, c.Join(4)))
}

// ErrorLast gives one row with the time of the last error of a group. The time is in 1970 if the group has no error.
func ErrorLast(w query.Window, f ErrorFilters) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT max(Timestamp) AS Last
FROM error_events
WHERE %s`, c.Join(4)))
}

// ErrorLastRow is the row of ErrorLast.
type ErrorLastRow struct {
	Last time.Time `ch:"Last"`
}

// ErrorPoints gives an ErrorPointRow for each bucket with errors. Buckets begin at multiples of their length since 1970.
func ErrorPoints(w query.Window, f ErrorFilters, bucket time.Duration) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    %s AS Bucket,
    count() AS Occurrences,
    sum(SampleRate) AS Estimated
FROM error_events
WHERE %s
GROUP BY Bucket
ORDER BY Bucket`, bucketOf(b, "toDateTime(Timestamp, 'UTC')", bucket), c.Join(4)))
}

// ErrorPointRow is a row of ErrorPoints.
type ErrorPointRow struct {
	Bucket    time.Time `ch:"Bucket"`
	Count     uint64    `ch:"Occurrences"`
	Estimated float64   `ch:"Estimated"`
}

// ErrorSplit gives ErrorSplitRow rows: the numbers of errors by environment and by version of the service, highest first.
func ErrorSplit(w query.Window, f ErrorFilters) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    if(grouping(Environment) = 0, 'environment', 'version') AS Part,
    if(grouping(Environment) = 0, Environment, ServiceVersion) AS Name,
    count() AS Occurrences,
    sum(SampleRate) AS Estimated
FROM error_events
WHERE %s
GROUP BY GROUPING SETS ((Environment), (ServiceVersion))
ORDER BY Part, Occurrences DESC, Name
LIMIT %d BY Part`, c.Join(4), limits.ErrorParts))
}

// ErrorSplitRow is a row of ErrorSplit.
type ErrorSplitRow struct {
	Part      string  `ch:"Part"`
	Name      string  `ch:"Name"`
	Count     uint64  `ch:"Occurrences"`
	Estimated float64 `ch:"Estimated"`
}

// ErrorVersions gives ErrorVersionRow rows: the numbers of errors by environment and version of the service together, highest first.
func ErrorVersions(w query.Window, f ErrorFilters, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS ServiceVersion,
    count() AS Occurrences
FROM error_events
WHERE %s
GROUP BY Environment, ServiceVersion
ORDER BY Occurrences DESC, Environment, ServiceVersion
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// ErrorVersionRow is a row of ErrorVersions.
type ErrorVersionRow struct {
	Environment string `ch:"Environment"`
	Version     string `ch:"ServiceVersion"`
	Count       uint64 `ch:"Occurrences"`
}

// ErrorSamples gives ErrorSampleRow rows: the latest errors, at most one from each trace. If a span and a log
// record have the same exception, the row is that of the span, which has a name and a duration.
func ErrorSamples(w query.Window, f ErrorFilters, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, f)
	return b.Statement(fmt.Sprintf(`SELECT
    TraceId,
    Sample.1 AS SpanId,
    Sample.2 AS SpanName,
    Sample.3 AS ServiceName,
    Sample.4 AS Timestamp,
    Sample.5 AS OccurredAt,
    Sample.6 AS ExceptionMessage,
    Sample.7 AS DurationNano
FROM (
    SELECT
        TraceId,
        argMin((SpanId, toString(SpanName), toString(ServiceName), Timestamp, OccurredAt, ExceptionMessage, DurationNano),
            (Source != '', -toUnixTimestamp64Nano(Timestamp), SpanId)) AS Sample,
        max(Timestamp) AS Latest
    FROM error_events
    WHERE %s
    GROUP BY TraceId
    ORDER BY Latest DESC, TraceId
    LIMIT %s
)
ORDER BY Latest DESC, TraceId`, c.Join(8), b.Bind("limit", "UInt32", int64(limit))))
}

// ErrorSampleRow is a row of ErrorSamples.
type ErrorSampleRow struct {
	TraceID      string    `ch:"TraceId"`
	SpanID       string    `ch:"SpanId"`
	SpanName     string    `ch:"SpanName"`
	ServiceName  string    `ch:"ServiceName"`
	Timestamp    time.Time `ch:"Timestamp"`
	OccurredAt   time.Time `ch:"OccurredAt"`
	Message      string    `ch:"ExceptionMessage"`
	DurationNano uint64    `ch:"DurationNano"`
}

// ErrorsInTraces gives ErrorInTracesRow rows: the errors in these traces, except the errors of one group. The errors that occur
// in most traces come first.
func ErrorsInTraces(w query.Window, traceIDs []string, except uint64, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := errorConditions(b, w, ErrorFilters{})
	c.Add("TraceId IN %s", b.Bind("trace_ids", "Array(String)", traceIDs))
	c.Add("FingerprintHash != %s", b.Bind("fingerprint", "UInt64", except))
	return b.Statement(fmt.Sprintf(`SELECT
    FingerprintHash,
    argMax(ErrorLabel, Timestamp) AS Label,
    argMax(ServiceName, Timestamp) AS Service,
    uniqExact(TraceId) AS Traces
FROM error_events
WHERE %s
GROUP BY FingerprintHash
ORDER BY Traces DESC, FingerprintHash
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}

// ErrorInTracesRow is a row of ErrorsInTraces.
type ErrorInTracesRow struct {
	Fingerprint uint64 `ch:"FingerprintHash"`
	Label       string `ch:"Label"`
	Service     string `ch:"Service"`
	Traces      uint64 `ch:"Traces"`
}
