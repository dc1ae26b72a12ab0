package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// DurationBounds are the shortest durations of the rows of a distribution, in nanoseconds. After 0 they have ten steps for each power of
// ten, from a microsecond to 10^15 ns, about 11 days. The steps are the round numbers of the series R10, so a bound reads well in a
// filter and is exact.
func DurationBounds() []uint64 {
	out := make([]uint64, 1, limits.DistributionRows)
	for power := uint64(1000); power < 1e15; power *= 10 {
		for _, step := range []uint64{100, 125, 160, 200, 250, 315, 400, 500, 630, 800} {
			out = append(out, power/100*step)
		}
	}
	return append(out, 1e15)
}

// DistributionRow is a row of Distribution: the spans of one bucket of time and one row of durations.
type DistributionRow struct {
	Bucket time.Time `ch:"Bucket"`
	// Shortest is one of DurationBounds.
	Shortest uint64 `ch:"Shortest"`
	// Received counts rows; the estimates are corrected for sampling.
	Received        uint64  `ch:"Received"`
	Estimated       float64 `ch:"Estimated"`
	EstimatedErrors float64 `ch:"EstimatedErrors"`
}

// Distribution gives a DistributionRow for each bucket and row of durations that has spans, in this order.
func Distribution(w query.Window, f query.Filter, bucket time.Duration) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	var bounds []string
	for _, n := range DurationBounds() {
		bounds = append(bounds, fmt.Sprint(n))
	}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End))
	c = c.With(query.FilterSQL(b, query.Traces, f)...)
	return b.Statement(fmt.Sprintf(`SELECT
    %s AS Bucket,
    roundDown(DurationNano, CAST([%s], 'Array(UInt64)')) AS Shortest,
    count() AS Received,
    toFloat64(sum(SampleRate)) AS Estimated,
    toFloat64(sumIf(SampleRate, HasError)) AS EstimatedErrors
FROM spans
WHERE %s
GROUP BY Bucket, Shortest
ORDER BY Bucket, Shortest`, query.BucketSQL(b, "Timestamp", w, bucket), strings.Join(bounds, ", "), c.Join(4)))
}
