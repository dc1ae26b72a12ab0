package query

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
	"github.com/svc-observability/svc/server/query/sqlbuild/sqltest"
)

// metricCases are statements about metrics: every type and kind of aggregation, over time and not.
func metricCases(w Window) map[string]sqlbuild.Statement {
	all := map[string]sqlbuild.Statement{}
	extremes := Spec{Source: Metrics, Metric: Metric{sqltest.Marker, "histogram"}, Aggregation: Aggregation{Func: Max}}
	all["metric_extremes"] = UnsentExtremes(&extremes, w)
	by := []Field{{Key: "service.name"}, {Scope: OwnAttribute, Key: sqltest.Marker}, {Scope: ResourceAttribute, Key: sqltest.Marker}}
	filter := And(Filter{Match: &Match{Field: Field{Key: "service.name"}, Op: OpEqual, Values: []string{sqltest.Marker}}},
		Filter{Match: &Match{Field: Field{Scope: OwnAttribute, Key: sqltest.Marker}, Op: OpGreater, Values: []string{"1.5"}}})
	for name, q := range map[string]Spec{
		"metric_gauge":       {Metric: Metric{sqltest.Marker, "gauge"}, Aggregation: Aggregation{Func: Avg}},
		"metric_quantile":    {Metric: Metric{sqltest.Marker, "gauge"}, Aggregation: Aggregation{Func: Quantile, Level: 0.95}},
		"metric_rate":        {Metric: Metric{sqltest.Marker, "sum"}, Aggregation: Aggregation{Func: Rate}},
		"metric_histogram":   {Metric: Metric{sqltest.Marker, "histogram"}, Aggregation: Aggregation{Func: Quantile, Level: 0.95}},
		"metric_count":       {Metric: Metric{sqltest.Marker, "histogram"}, Aggregation: Aggregation{Func: Count}},
		"metric_exponential": {Metric: Metric{sqltest.Marker, "exponential_histogram"}, Aggregation: Aggregation{Func: Quantile, Level: 0.95}},
		"metric_summary":     {Metric: Metric{sqltest.Marker, "summary"}, Aggregation: Aggregation{Func: Quantile, Level: 0.99}},
	} {
		q.Source = Metrics
		plain, err := PlanTimeseries(&q, w, time.Minute)
		if err != nil {
			panic(err)
		}
		all[name] = plain.Statement
		q.GroupBy, q.Filter = by, filter
		groups, err := PlanTimeseries(&q, w, time.Minute)
		if err != nil {
			panic(err)
		}
		all[name+"_groups"] = groups.Statement
		q.Having = []Having{{Op: OpGreater, Value: 3}}
		breakdown, err := PlanBreakdown(&q, w)
		if err != nil {
			panic(err)
		}
		all[name+"_breakdown"] = breakdown.Statement
	}
	return all
}
