package reads

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// ScrapeCheckRow is a row of ScrapeChecks.
type ScrapeCheckRow struct {
	Timestamp                   time.Time `ch:"Timestamp"`
	SubTargetKey                string    `ch:"SubTargetKey"`
	Success                     bool      `ch:"Success"`
	DurationSeconds             *float64  `ch:"DurationSeconds"`
	SamplesScraped              *uint32   `ch:"SamplesScraped"`
	SamplesPostMetricRelabeling *uint32   `ch:"SamplesPostMetricRelabeling"`
	Message                     string    `ch:"Message"`
}

// ScrapeChecks gives the latest ScrapeCheckRow rows of a target from since to until, until left out, newest first.
func ScrapeChecks(target string, since, until time.Time, limit int) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	where := sqlbuild.OfOrganization().With(
		"TargetId = "+b.Bind("target", "String", target), "Timestamp >= "+b.Time("since", since), "Timestamp < "+b.Time("until", until),
	)
	return b.Statement(`SELECT Timestamp, SubTargetKey, Success, DurationSeconds, SamplesScraped, SamplesPostMetricRelabeling, Message
FROM scrape_checks
WHERE ` + where.Join(4) + `
ORDER BY Timestamp DESC, SubTargetKey, Success, Message
LIMIT ` + b.Bind("limit", "UInt32", int64(limit)))
}
