package reads

import (
	"fmt"
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// AlertCheckPointRow is a row of AlertCheckPoints: the sums of a group over a bucket.
type AlertCheckPointRow struct {
	Bucket      time.Time `ch:"Bucket"`
	GroupKey    string    `ch:"PointGroup"`
	Checks      uint64    `ch:"Checks"`
	Breached    uint64    `ch:"Breached"`
	Healthy     uint64    `ch:"Healthy"`
	Skipped     uint64    `ch:"Skipped"`
	Errors      uint64    `ch:"Errors"`
	Transitions uint64    `ch:"Transitions"`
	Lowest      *float64  `ch:"Lowest"`
	Highest     *float64  `ch:"Highest"`
	Threshold   float64   `ch:"Threshold"`
}

// AlertCheckGroupRow is a row of AlertCheckGroups.
type AlertCheckGroupRow struct {
	GroupKey string `ch:"GroupKey"`
}

// AlertCheckSpan selects the checks of one rule to sum up.
type AlertCheckSpan struct {
	// Rule is the public id.
	Rule string
	// Since and Until are both part of it.
	Since, Until time.Time
	// Bucket is the length of a bucket: a part of an hour, or whole hours. For whole hours, the sums by hour are read, and the checks of the
	// hours that Since and Until cut.
	Bucket time.Duration
	// Group is empty for all.
	Group string
}

// AlertCheckGroups gives the AlertCheckGroupRow rows of the busiest groups: those with most breaches, then most transitions and checks.
func AlertCheckGroups(s AlertCheckSpan, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	return b.Statement(`SELECT GroupKey
FROM
(
    ` + sqlbuild.Indent(s.sums(b), 4) + `
)
GROUP BY GroupKey
ORDER BY sum(BreachedCount) DESC, sum(TransitionCount) DESC, sum(CheckCount) DESC, GroupKey
LIMIT ` + b.Bind("limit", "UInt32", int64(limit)))
}

// AlertCheckPoints gives AlertCheckPointRow rows, by time and group. The groups that are not listed are one, named other.
func AlertCheckPoints(s AlertCheckSpan, groups []string, other string) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	seconds := b.Bind("bucket", "UInt32", int64(s.Bucket/time.Second))
	return b.Statement(`SELECT
    toDateTime(intDiv(toUnixTimestamp(Time), ` + seconds + `) * ` + seconds + `, 'UTC') AS Bucket,
    if(has(` + b.Bind("groups", "Array(String)", groups) + `, GroupKey), GroupKey, ` + b.Bind("other", "String", other) + `) AS PointGroup,
    sum(CheckCount) AS Checks,
    sum(BreachedCount) AS Breached,
    sum(HealthyCount) AS Healthy,
    sum(SkippedCount) AS Skipped,
    sum(ErrorCount) AS Errors,
    sum(TransitionCount) AS Transitions,
    min(LowestValue) AS Lowest,
    max(HighestValue) AS Highest,
    argMaxMerge(LastThreshold) AS Threshold
FROM
(
    ` + sqlbuild.Indent(s.sums(b), 4) + `
)
GROUP BY Bucket, PointGroup
ORDER BY Bucket, PointGroup`)
}

// sums gives rows with the sums of a group over a minute or an hour.
func (s AlertCheckSpan) sums(b *sqlbuild.Builder) string {
	of := sqlbuild.OfOrganization().With("RuleId = " + b.Bind("rule", "String", s.Rule))
	if s.Group != "" {
		of = of.With("GroupKey = " + b.Bind("group", "String", s.Group))
	}
	since, until := b.Time("since", s.Since), b.Time("until", s.Until)
	checks := of.With("Timestamp >= "+since, "Timestamp <= "+until)
	from := s.Since.Truncate(time.Hour)
	if from.Before(s.Since) {
		from = from.Add(time.Hour)
	}
	to := s.Until.Truncate(time.Hour)
	hours := ""
	if s.Bucket >= time.Hour && from.Before(to) {
		first, end := b.Minute("first_hour", from), b.Minute("end_hour", to)
		checks = checks.With(fmt.Sprintf("(Timestamp < %s OR Timestamp >= %s)", first, end))
		hours = `
UNION ALL
SELECT
    Hour AS Time,
    GroupKey,
    CheckCount,
    BreachedCount,
    HealthyCount,
    SkippedCount,
    ErrorCount,
    TransitionCount,
    LowestValue,
    HighestValue,
    LastThreshold
FROM alert_check_hours
WHERE ` + of.With("Hour >= "+first, "Hour < "+end).Join(4)
	}
	return `SELECT
    Timestamp AS Time,
    GroupKey,
    count() AS CheckCount,
    countIf(Status = 'breached') AS BreachedCount,
    countIf(Status = 'healthy') AS HealthyCount,
    countIf(Status = 'skipped') AS SkippedCount,
    countIf(Status = 'error') AS ErrorCount,
    countIf(IncidentTransition IN ('opened', 'resolved')) AS TransitionCount,
    min(ObservedValue) AS LowestValue,
    max(ObservedValue) AS HighestValue,
    argMaxState(Threshold, Timestamp) AS LastThreshold
FROM alert_checks
WHERE ` + checks.Join(4) + `
GROUP BY Time, GroupKey` + hours
}
