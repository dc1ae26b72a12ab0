package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ServiceRead asks for one service in a window.
type ServiceRead struct {
	Name                  string
	Window                query.Window
	DeploymentEnvironment *string
	// Bucket is a whole number of minutes. Buckets begin at its multiples since 1970.
	Bucket time.Duration
	// Rollups says from when on weighted durations are available.
	Rollups query.Rollups
}

// layers are the rollups by minute to read. The rollup that is sorted by service is used if it covers the window.
func (r ServiceRead) layers() []query.Layer {
	if r.Rollups.Minutes.Holds(r.Window) && r.Rollups.Series.Holds(r.Window) {
		return []query.Layer{query.ServiceSeries()}
	}
	return []query.Layer{query.ServiceMinutes()}
}

// rollup reads the minutes of the service in the window, and its spans in the minutes that the window cuts.
func (r ServiceRead) rollup() query.RollupRead {
	return spansOf(
		r.layers(),
		"ServiceVersion, IsEntry",
		"SpanCount, EstimatedSpanCount, EstimatedErrorCount",
		durationsOf(r.Rollups, r.Window),
	)
}

// of are the conditions that select the spans and minutes of the service.
func (r ServiceRead) of(b *sqlbuild.Builder) sqlbuild.Conditions {
	c := sqlbuild.Conditions{"ServiceName = " + b.Bind("service_name", "String", r.Name)}
	c.Optional(b, "Environment", "deployment_environment", r.DeploymentEnvironment)
	return c
}

// spans are the conditions on the service's spans in the window. The caller must have bound the window's parameters.
func (ServiceRead) spans(of sqlbuild.Conditions) sqlbuild.Conditions {
	return sqlbuild.OfOrganization().With(
		of...).With(
		"Timestamp >= fromUnixTimestamp64Nano({start:Int64}, 'UTC')",
		"Timestamp <= fromUnixTimestamp64Nano({end:Int64}, 'UTC')",
	)
}

// hasEntry is an expression that tells whether the service has entry spans in the window. A service without entry spans is
// measured by all its spans. The expression has the same parameters as the table of rollup.
func (r ServiceRead) hasEntry(b *sqlbuild.Builder, of sqlbuild.Conditions) string {
	return fmt.Sprintf("(\n        SELECT sum(SpanCount) > 0\n        FROM %s)", query.Layered(b, r.Window, query.RollupRead{
		Layers: r.layers(), Columns: "IsEntry", Measures: "SpanCount", Edge: "toUInt64(1) AS SpanCount", Rows: "spans",
	}, of.With("IsEntry")))
}

func bucketOf(b *sqlbuild.Builder, seconds string, bucket time.Duration) string {
	n := b.Bind("bucket", "Int64", int64(bucket/time.Second))
	return fmt.Sprintf("toDateTime(intDiv(toUnixTimestamp(%s), %s) * %s, 'UTC')", seconds, n, n)
}

// ServicePointRow is a row of ServicePoints.
type ServicePointRow struct {
	Bucket             time.Time `ch:"Bucket"`
	SpanCount          uint64    `ch:"Spans"`
	EstimatedSpanCount float64   `ch:"EstimatedSpans"`
	EstimatedErrors    float64   `ch:"EstimatedErrors"`
	Latencies          []float32 `ch:"Latencies"`
}

// ServicePoints gives a ServicePointRow for each bucket that has spans.
func ServicePoints(r ServiceRead) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	d, of := durationsOf(r.Rollups, r.Window), r.of(b)
	table := query.Layered(b, r.Window, r.rollup(), of)
	return b.Statement(fmt.Sprintf(`SELECT
    %s AS Bucket,
    sum(SpanCount) AS Spans,
    sum(EstimatedSpanCount) AS EstimatedSpans,
    sum(EstimatedErrorCount) AS EstimatedErrors,
    %s(0.5, 0.95, 0.99)(%s) AS Latencies
FROM %s
WHERE IsEntry OR NOT %s
GROUP BY Bucket
ORDER BY Bucket`, bucketOf(b, "Minute", r.Bucket), d.merge, d.column, table, r.hasEntry(&sqlbuild.Builder{}, of)))
}

// These are the orders of ServiceOperations, each with its column.
func operationOrder(order string) string {
	switch order {
	case "error_rate":
		return "EstimatedErrors / EstimatedSpans"
	case "avg_duration":
		return "AverageNano"
	case "p50_duration":
		return "Latencies[1]"
	case "p95_duration":
		return "Latencies[2]"
	case "p99_duration":
		return "Latencies[3]"
	case "total_duration":
		return "AverageNano * EstimatedSpans"
	default:
		return "EstimatedSpans"
	}
}

// OperationRow is a row of ServiceOperations.
type OperationRow struct {
	Name               string    `ch:"SpanName"`
	SpanCount          uint64    `ch:"Spans"`
	EstimatedSpanCount float64   `ch:"EstimatedSpans"`
	ErrorCount         uint64    `ch:"Errors"`
	EstimatedErrors    float64   `ch:"EstimatedErrors"`
	AverageNano        float64   `ch:"AverageNano"`
	Latencies          []float32 `ch:"Latencies"`
	Satisfied          float64   `ch:"Satisfied"`
	Tolerated          float64   `ch:"Tolerated"`
	LastSeen           time.Time `ch:"LastSeen"`
}

// weight is the number of spans that a span stands for. A digest takes whole numbers, so weight counts sixteenths.
const weight = "toUInt64(greatest(1, round(SampleRate * 16)))"

// ServiceOperations gives OperationRow rows: the spans of a service by name, in the named order (see operationOrder), highest
// first. satisfying is the Apdex threshold.
func ServiceOperations(r ServiceRead, order string, satisfying time.Duration, offset, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	of := r.of(b)
	entry, c := r.hasEntry(b, of), r.spans(of)
	threshold := b.Bind("threshold", "UInt64", satisfying.Nanoseconds())
	return b.Statement(fmt.Sprintf(`SELECT
    SpanName,
    count() AS Spans,
    sum(SampleRate) AS EstimatedSpans,
    countIf(HasError) AS Errors,
    sumIf(SampleRate, HasError) AS EstimatedErrors,
    sum(SampleRate * DurationNano) / EstimatedSpans AS AverageNano,
    quantilesTDigestWeighted(0.5, 0.95, 0.99)(DurationNano, %[1]s) AS Latencies,
    sumIf(SampleRate, NOT HasError AND DurationNano < %[2]s) AS Satisfied,
    sumIf(SampleRate, NOT HasError AND DurationNano >= %[2]s AND DurationNano < 4 * %[2]s) AS Tolerated,
    max(Timestamp) AS LastSeen
FROM spans
WHERE %[3]s
    AND (IsEntry OR NOT %[4]s)
GROUP BY SpanName
ORDER BY %[5]s DESC, SpanName
LIMIT %[6]s OFFSET %[7]s`, weight, threshold, c.Join(4), entry, operationOrder(order), b.Bind("limit", "UInt32", int64(limit)),
		b.Bind("offset", "UInt32", int64(offset))))
}

// ApdexRow is a row of ServiceApdex.
type ApdexRow struct {
	Bucket    time.Time `ch:"Bucket"`
	Total     float64   `ch:"Total"`
	Satisfied float64   `ch:"Satisfied"`
	Tolerated float64   `ch:"Tolerated"`
}

// ServiceApdex gives an ApdexRow for each bucket that has spans.
func ServiceApdex(r ServiceRead, satisfying time.Duration) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	of := r.of(b)
	entry, c := r.hasEntry(b, of), r.spans(of)
	threshold := b.Bind("threshold", "UInt64", satisfying.Nanoseconds())
	return b.Statement(fmt.Sprintf(`SELECT
    %[1]s AS Bucket,
    sum(SampleRate) AS Total,
    sumIf(SampleRate, NOT HasError AND DurationNano < %[2]s) AS Satisfied,
    sumIf(SampleRate, NOT HasError AND DurationNano >= %[2]s AND DurationNano < 4 * %[2]s) AS Tolerated
FROM spans
WHERE %[3]s
    AND (IsEntry OR NOT %[4]s)
GROUP BY Bucket
ORDER BY Bucket`, bucketOf(b, "toDateTime(Timestamp, 'UTC')", r.Bucket), threshold, c.Join(4), entry))
}

// ReleaseRow is a row of ServiceReleases.
type ReleaseRow struct {
	Version            string    `ch:"Version"`
	First              time.Time `ch:"First"`
	Last               time.Time `ch:"Last"`
	SpanCount          uint64    `ch:"Spans"`
	EstimatedSpanCount float64   `ch:"EstimatedSpans"`
	EstimatedErrors    float64   `ch:"EstimatedErrors"`
	Latencies          []float32 `ch:"Latencies"`
	// Buckets holds the starts of the points in seconds since 1970, and Counts their estimated numbers of spans.
	Buckets []int64   `ch:"Buckets"`
	Counts  []float64 `ch:"Counts"`
}

// ServiceReleases gives a ReleaseRow for each version of a service. The version that appeared last comes first.
func ServiceReleases(r ServiceRead, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	d, of := durationsOf(r.Rollups, r.Window), r.of(b)
	table := query.Layered(b, r.Window, r.rollup(), of)
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceVersion AS Version,
    min(Earliest) AS First,
    max(Latest) AS Last,
    sum(BucketSpans) AS Spans,
    sum(BucketEstimated) AS EstimatedSpans,
    sum(BucketErrors) AS EstimatedErrors,
    %s(0.5, 0.95, 0.99)(BucketQuantiles) AS Latencies,
    arraySort(groupArray((toInt64(toUnixTimestamp(Bucket)), BucketEstimated))).1 AS Buckets,
    arraySort(groupArray((toInt64(toUnixTimestamp(Bucket)), BucketEstimated))).2 AS Counts
FROM
(
    SELECT
        ServiceVersion,
        %s AS Bucket,
        min(Minute) AS Earliest,
        max(Minute) AS Latest,
        sum(SpanCount) AS BucketSpans,
        sum(EstimatedSpanCount) AS BucketEstimated,
        sum(EstimatedErrorCount) AS BucketErrors,
        %sState(0.5, 0.95, 0.99)(%s) AS BucketQuantiles
    FROM %s
    WHERE IsEntry OR NOT %s
    GROUP BY ServiceVersion, Bucket
)
GROUP BY ServiceVersion
ORDER BY First DESC, Version
LIMIT %s`, d.merge, bucketOf(b, "Minute", r.Bucket), d.merge, d.column, table, r.hasEntry(&sqlbuild.Builder{}, of), b.Bind("limit", "UInt32", int64(limit))))
}

// EnvironmentRow is a row of ListEnvironments.
type EnvironmentRow struct {
	Name     string `ch:"Environment"`
	Spans    uint64 `ch:"Spans"`
	Services uint64 `ch:"Services"`
}

// ListEnvironments gives EnvironmentRow rows by name.
func ListEnvironments(w query.Window) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	table := query.Layered(b, w, query.RollupRead{
		Layers: []query.Layer{
			query.ServiceMinutes(),
		},
		Columns:  "ServiceName, Environment",
		Measures: "SpanCount",
		Edge:     "toUInt64(1) AS SpanCount",
		Rows:     "spans",
	}, sqlbuild.Conditions{"Environment != ''"})
	return b.Statement(fmt.Sprintf(`SELECT Environment, sum(SpanCount) AS Spans, uniqExact(ServiceName) AS Services
FROM %s
GROUP BY Environment
ORDER BY Environment
LIMIT %d`, table, limits.Environments))
}
