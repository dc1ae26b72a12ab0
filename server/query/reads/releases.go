package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ReleaseList asks for the versions of all services in a window.
type ReleaseList struct {
	Window query.Window
	// DeploymentEnvironment and Service are nil for all.
	DeploymentEnvironment, Service *string
	Limit                          int
	// Rollups says from when on weighted durations are available.
	Rollups query.Rollups
}

// ReleaseListRow is a row of Releases. Counts and latencies are of entry spans, or of all spans if the service has no entry spans.
type ReleaseListRow struct {
	Service         string    `ch:"ServiceName"`
	Environment     string    `ch:"Environment"`
	Version         string    `ch:"ServiceVersion"`
	First           time.Time `ch:"First"`
	Last            time.Time `ch:"Last"`
	EstimatedSpans  float64   `ch:"EstimatedSpans"`
	EstimatedErrors float64   `ch:"EstimatedErrors"`
	Latencies       []float32 `ch:"Latencies"`
	// All is the number of all releases of the window.
	All uint64 `ch:"AllReleases"`
}

// Releases gives ReleaseListRow rows; the release that began last comes first.
func Releases(l ReleaseList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.Conditions{"ServiceVersion != ''"}
	c.Optional(b, "Environment", "deployment_environment", l.DeploymentEnvironment)
	c.Optional(b, "ServiceName", "service_name", l.Service)
	d := durationsOf(l.Rollups, l.Window)
	const columns, measures = "ServiceName, Environment, ServiceVersion, IsEntry", "SpanCount, EstimatedSpanCount, EstimatedErrorCount"
	table := query.Layered(b, l.Window, spansOf([]query.Layer{query.ServiceMinutes()}, columns, measures, d), c)
	return b.Statement(fmt.Sprintf(`SELECT
    ServiceName,
    Environment,
    ServiceVersion,
    First,
    Last,
    if(Measured, EntrySpans, AnySpans) AS EstimatedSpans,
    if(Measured, EntryErrors, AnyErrors) AS EstimatedErrors,
    if(Measured, EntryLatencies, OtherLatencies) AS Latencies,
    count() OVER () AS AllReleases
FROM
(
    SELECT
        *,
        sum(EntrySpans) OVER (PARTITION BY ServiceName) > 0 AS Measured
    FROM
    (
        SELECT
            ServiceName,
            Environment,
            ServiceVersion,
            min(Minute) AS First,
            max(Minute) AS Last,
            sumIf(EstimatedSpanCount, IsEntry) AS EntrySpans,
            sum(EstimatedSpanCount) AS AnySpans,
            sumIf(EstimatedErrorCount, IsEntry) AS EntryErrors,
            sum(EstimatedErrorCount) AS AnyErrors,
            %[1]sIf(0.5, 0.95, 0.99)(%[2]s, IsEntry) AS EntryLatencies,
            %[1]sIf(0.5, 0.95, 0.99)(%[2]s, NOT IsEntry) AS OtherLatencies
        FROM %[3]s
        GROUP BY ServiceName, Environment, ServiceVersion
    )
)
ORDER BY First DESC, ServiceName, Environment, ServiceVersion
LIMIT %[4]s`, d.merge, d.column, table, b.Bind("limit", "UInt32", int64(l.Limit)))).Until(l.Window.End)
}

// ReleaseCommitRow is a row of ReleaseCommits.
type ReleaseCommitRow struct {
	Service     string `ch:"ServiceName"`
	Environment string `ch:"Environment"`
	Version     string `ch:"ServiceVersion"`
	Commit      string `ch:"CommitSha"`
}

// ReleaseCommits gives a ReleaseCommitRow for each release whose spans of its first minute name a commit.
func ReleaseCommits(releases []ReleaseListRow) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	var services, environments, versions []string
	var minutes []int64
	w := query.Window{}
	for _, r := range releases {
		services, environments, versions = append(services, r.Service), append(environments, r.Environment), append(versions, r.Version)
		minutes = append(minutes, r.First.Unix())
		if w.Start.IsZero() || r.First.Before(w.Start) {
			w.Start = r.First
		}
		if end := r.First.Add(time.Minute); end.After(w.End) {
			w.End = end
		}
	}
	commit := query.CommitSHA()
	c := sqlbuild.OfOrganization().With(
		"Timestamp >= "+b.Time("start", w.Start), "Timestamp < "+b.Time("end", w.End),
		"toInt64(toUnixTimestamp(toStartOfMinute(Timestamp))) IN "+b.Bind("minutes", "Array(Int64)", minutes),
		"ServiceName IN "+b.Bind("services", "Array(String)", services),
		fmt.Sprintf("has(arrayZip({services:Array(String)}, %s, %s, {minutes:Array(Int64)}),\n        "+
			"(toString(ServiceName), toString(Environment), toString(ServiceVersion), toInt64(toUnixTimestamp(toStartOfMinute(Timestamp)))))",
			b.Bind("environments", "Array(String)", environments), b.Bind("versions", "Array(String)", versions)),
		commit+" != ''")
	return b.Statement(fmt.Sprintf(`SELECT
    toString(ServiceName) AS ServiceName,
    toString(Environment) AS Environment,
    toString(ServiceVersion) AS ServiceVersion,
    min(%s) AS CommitSha
FROM spans
WHERE %s
GROUP BY ServiceName, Environment, ServiceVersion`, commit, c.Join(4)))
}
