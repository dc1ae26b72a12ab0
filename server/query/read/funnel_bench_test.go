package read_test

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// BenchmarkActivity reads a million product events and 50,000 sessions of one organization. Each of its 20,000 visitors has about
// 50 events.
func BenchmarkActivity(b *testing.B) {
	w := warehousetest.Shared(b)
	const org = principal.OrgID("org_bench_activity")
	const at = "toDateTime64(today() - 2, 9, 'UTC') + toIntervalMillisecond(number * 80)"
	for _, sql := range []string{
		`INSERT INTO product_events (OrgId, Name, Timestamp, Kind, Source, VisitorId, UserId, SessionId, PagePath, Attributes)
			SELECT '` + string(org) + `', ['$pageview', 'view', 'add to cart', 'checkout', 'order'][1 + number % 7 % 5], ` + at + `, if(number % 7 % 5 = 0, 'navigation', 'custom'), 'browser',
			concat('v', toString(number * 7919 % 20000)), if(number % 3 = 0, concat('u', toString(number * 7919 % 20000)), ''), concat('s', toString(number * 7919 % 50000)),
			concat('/', toString(number % 50)), map('plan', if(number % 4 = 0, 'pro', 'free')) FROM numbers(1000000)`,
		`INSERT INTO session_replays (OrgId, SessionId, Version, StartTime, VisitorId, UserId, Country, DurationMs, PageViews, ClickCount, Status)
			SELECT '` + string(org) + `', concat('s', toString(number)), 2, toDateTime64(today() - 2, 9, 'UTC') + toIntervalSecond(number), concat('v', toString(number % 20000)), '',
			['CZ', 'DE', 'FR'][1 + number % 3], number, number % 5, number % 9, 'ended' FROM numbers(50000)`,
	} {
		if err := w.Exec(b.Context(), sql); err != nil {
			b.Fatal(err)
		}
	}
	day := time.Now().UTC().Truncate(24 * time.Hour).Add(-48 * time.Hour)
	window := query.Window{Start: day, End: day.Add(48 * time.Hour)}
	funnel := reads.Funnel{Window: window, Steps: []reads.Step{
		{EventName: "view"},
		{EventName: "add to cart"},
		{EventName: "checkout"},
		{EventName: "order"},
	}, KeyBy: query.ByPerson, Within: time.Hour}
	grouped := funnel
	grouped.KeyBy, grouped.Dimension, grouped.Groups = query.ByVisitor, "country", 6
	paths := reads.Paths{
		Window: window, Anchor: reads.Step{PagePath: "/7"}, Depth: 3, Branches: 4, KeyBy: query.ByVisitor, Within: time.Hour,
		Include: reads.IncludeAll,
	}
	for _, c := range []struct {
		name string
		s    sqlbuild.Statement
	}{
		{"search sessions", reads.SearchSessions(reads.SessionSearch{Window: window, Limit: 21})},
		{"session facets", reads.SessionFacets(window, reads.SessionFilters{})},
		{"search events", reads.SearchProductEvents(reads.ProductEventSearch{Window: window, Limit: 21})},
		{"names of events", reads.ListProductEventNames(reads.ProductEventNameList{Window: window, Limit: 21})},
		{"funnel of persons", reads.FunnelCounts(funnel)},
		{"funnel of visitors by country", reads.FunnelCounts(grouped)},
		{"leavers", reads.FunnelLeavers(funnel)},
		{"nodes of paths", reads.PathNodes(paths)},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				rows, err := w.Query(b.Context(), org, c.s.SQL, c.s.Args...)
				if err != nil {
					b.Fatal(read.Failure(b.Context(), err))
				}
				n := 0
				for rows.Next() {
					n++
				}
				if err := rows.Close(); err != nil || n == 0 {
					b.Fatalf("%d rows, %v", n, err)
				}
			}
		})
	}
}
