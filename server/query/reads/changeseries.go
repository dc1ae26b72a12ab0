package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ChangeSeries selects the series in which changes are searched: figures of every service in buckets of equal length.
type ChangeSeries struct {
	// Window begins with a whole bucket. The bucket that contains its end is left out.
	Window query.Window
	Bucket time.Duration
	// Environment and Service are nil for all.
	Environment, Service *string
	// Limit is the highest number of series; the busiest stay.
	Limit int
}

// ChangeSeriesRow is a series. Figures has a list for each bucket of At, the number of the bucket from the begin of the window. Buckets
// without data are missing.
type ChangeSeriesRow struct {
	Service     string `ch:"Service"`
	Environment string `ch:"Env"`
	// Kind, Subject and Label name the series within its service. Each statement says which names it gives.
	Kind    string      `ch:"Kind"`
	Subject string      `ch:"Subject"`
	Label   string      `ch:"Label"`
	At      []int64     `ch:"At"`
	Figures [][]float64 `ch:"Figures"`
	// Total is the number by which the busiest series were chosen, Series the number of all series.
	Total  float64 `ch:"Total"`
	Series uint64  `ch:"AllSeries"`
}

// series prints a statement. names are Kind, Subject and Label, figures a list of numbers, total a number of one bucket.
func (c ChangeSeries) series(
	b *sqlbuild.Builder, table, time string, names [3]string, figures, total string, where ...string,
) sqlbuild.Statement {
	start := b.Bind("start", "Int64", c.Window.Start.Unix())
	end := b.Bind("end", "Int64", c.Window.Start.Add(c.Window.Length().Truncate(c.Bucket)).Unix())
	of := sqlbuild.OfOrganization().With(
		fmt.Sprintf("%s >= toDateTime(%s, 'UTC')", time, start), fmt.Sprintf("%s < toDateTime(%s, 'UTC')", time, end)).With(where...)
	of.Optional(b, "Environment", "deployment_environment", c.Environment)
	of.Optional(b, "ServiceName", "service_name", c.Service)
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName AS Service,
    Environment AS Env,
    Kind,
    Subject,
    min(Name) AS Label,
    (arraySort(groupArray((Bucket, Numbers))) AS Points).1 AS At,
    Points.2 AS Figures,
    sum(Size) AS Total,
    count() OVER () AS AllSeries
FROM
(
    SELECT
        ServiceName,
        Environment,
        toString(%s) AS Kind,
        toString(%s) AS Subject,
        toString(%s) AS Name,
        intDiv(toInt64(toUnixTimestamp(%s)) - %s, %s) AS Bucket,
        %s AS Numbers,
        toFloat64(%s) AS Size
    FROM %s
    WHERE %s
    GROUP BY ServiceName, Environment, Kind, Subject, Bucket
)
GROUP BY ServiceName, Environment, Kind, Subject
ORDER BY Total DESC, Service, Env, Kind, Subject
LIMIT %s`, names[0], names[1], names[2], time, start, b.Bind("bucket", "Int64", int64(c.Bucket.Seconds())), figures, total, table, of.Join(8),
		b.Bind("limit", "UInt32", int64(c.Limit)))).Until(c.Window.End)
}

// ServiceChanges gives a ChangeSeriesRow for the entry spans of each service and environment. The figures are received spans, received
// failures, both corrected for sampling, and the 50th, 75th and 95th percentile of the durations in nanoseconds.
func ServiceChanges(c ChangeSeries) sqlbuild.Statement {
	return c.series(&sqlbuild.Builder{}, "service_minutes", "Minute", [3]string{"''", "''", "''"},
		`arrayConcat(
            [toFloat64(sum(SpanCount)), toFloat64(sum(ErrorCount)), sum(EstimatedSpanCount), sum(EstimatedErrorCount)],
            arrayMap(q -> toFloat64(q), quantilesTDigestWeightedMerge(0.5, 0.75, 0.95)(WeightedDurations)))`,
		"sum(EstimatedSpanCount)", "IsEntry")
}

// PeerChanges gives a ChangeSeriesRow for the calls of each service to a database, a queue or another host. Kind is database, queue or
// external, Subject the name, Label the system. The figures are received calls, received failures, both corrected for sampling, and the
// sum of the durations in nanoseconds, corrected.
func PeerChanges(c ChangeSeries) sqlbuild.Statement {
	return c.series(&sqlbuild.Builder{}, "service_peers", "Minute",
		[3]string{"PeerKind", "PeerName", "min(PeerSystem)"},
		`[toFloat64(sum(CallCount)), toFloat64(sum(ErrorCount)), sum(EstimatedCallCount), sum(EstimatedErrorCount), sum(EstimatedDurationNano)]`,
		"sum(EstimatedCallCount)", "Direction = 'outbound'")
}

// ErrorChanges gives a ChangeSeriesRow for each group of errors in a service. Subject is the fingerprint, Label the
// label of the group. The figures are occurrences, and occurrences corrected for sampling.
func ErrorChanges(c ChangeSeries) sqlbuild.Statement {
	return c.series(&sqlbuild.Builder{}, "error_events", "Timestamp",
		[3]string{"''", "FingerprintHash", "min(ErrorLabel)"}, "[toFloat64(count()), sum(SampleRate)]", "count()")
}

// LogChanges gives a ChangeSeriesRow for the log records of each service: Kind is error, warn or info, for records from severity number 17,
// from 13, and below. The figure is the number of records.
func LogChanges(c ChangeSeries) sqlbuild.Statement {
	const severity = "multiIf(SeverityNumber >= 17 OR upper(SeverityText) IN ('ERROR', 'FATAL', 'CRITICAL'), 'error', " +
		"SeverityNumber >= 13 OR upper(SeverityText) IN ('WARN', 'WARNING'), 'warn', 'info')"
	return c.series(&sqlbuild.Builder{}, "log_minutes", "Minute", [3]string{severity, "''", "''"}, "[toFloat64(sum(LogCount))]",
		"sum(LogCount)")
}

// instance prints the name of a queue, pool or device of a service, from the attributes that hold such names. Each is a series of its own.
// Other attributes do not count, because they may have any number of values.
const instance = `arrayStringConcat(arrayFilter(v -> v != '', arrayMap(k -> Attributes[k], [
            'messaging.destination.name', 'messaging.consumer.group.name', 'topic', 'queue', 'group', 'consumer_group', 'destination',
            'pool', 'pool.name', 'db.client.connection.pool.name', 'jvm.memory.pool.name', 'v8js.heap.space.name', 'mountpoint',
            'system.filesystem.mountpoint'])), ' ')`

// GaugeChanges gives a ChangeSeriesRow for each of the named gauges in each service. Kind is the metric, Subject the queue, pool or device
// if the attributes name one, Label the unit. The figures are the mean and the highest value.
func GaugeChanges(c ChangeSeries, names []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	named := "MetricName IN " + b.Bind("metrics", "Array(String)", names)
	return c.series(b, "metrics_gauge", "Timestamp", [3]string{"MetricName", instance, "min(MetricUnit)"}, "[avg(Value), max(Value)]",
		"count()", named)
}

// LevelChanges does as GaugeChanges does, for up-down counters.
func LevelChanges(c ChangeSeries, names []string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	named := "MetricName IN " + b.Bind("metrics", "Array(String)", names)
	return c.series(b, "metrics_sum", "Timestamp", [3]string{"MetricName", instance, "min(MetricUnit)"}, "[avg(Value), max(Value)]", "count()",
		named, "NOT IsMonotonic")
}

// ResourceMetricRow is a row of ResourceMetrics.
type ResourceMetricRow struct {
	Name   string `ch:"MetricName"`
	Type   string `ch:"Type"`
	Points uint64 `ch:"Points"`
}

// ResourceMetrics gives a ResourceMetricRow for each gauge and up-down counter whose name says that it measures a resource which can run
// out: memory, a queue, a pool. The fewest points come first.
func ResourceMetrics(w query.Window, words []string, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With(
		"Hour >= "+b.Minute("start", w.Start.Truncate(time.Hour)), "Hour <= "+b.Minute("end", w.End),
		"multiSearchAny(lower(MetricName), "+b.Bind("words", "Array(String)", words)+")")
	return b.Statement(fmt.Sprintf(`SELECT
    MetricName,
    any(MetricType) AS Type,
    sum(DataPointCount) AS Points
FROM metric_catalog
WHERE %s
GROUP BY MetricName
HAVING Type = 'gauge' OR Type = 'sum' AND max(IsMonotonic) = 0
ORDER BY Points, MetricName
LIMIT %s`, c.Join(4), b.Bind("limit", "UInt32", int64(limit))))
}
