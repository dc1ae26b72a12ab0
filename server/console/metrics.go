package console

import (
	"context"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

func metricTypes() []string { return valuesOf(&svcv2.Metric{}, "type") }

func metricCommands() []Command {
	source := Flag{
		Name: "source", Usage: "telemetry to read (default traces; metrics with --metric)",
		Choices: valuesOf(&svcv2.QuerySpec{}, "source"), Target: func(o *Options) any { return &o.Source },
	}
	shared := []Flag{
		source,
		{Name: "metric", Usage: "name of the metric", Target: func(o *Options) any { return &o.Metric }},
		{
			Name: "type", Usage: "type of the metric, where several have the name", Choices: metricTypes(),
			Target: func(o *Options) any { return &o.MetricType },
		},
		{
			Name: "aggregation", Usage: "such as count, rate, error_rate, p95_duration, or avg and p95 of a metric or --value-field (default " +
				"count; avg of a metric)",
			Target: func(o *Options) any { return &o.Aggregation },
		},
		{Name: "value-field", Usage: "field to aggregate, such as attr.cart.size", Target: func(o *Options) any { return &o.ValueField }},
		{
			Name: "where", Usage: "conditions in the query language, such as 'duration > 250ms AND attr.tier = gold'",
			Target: func(o *Options) any { return &o.Where },
		},
	}
	group := func(text string) Flag {
		return Flag{Name: "group-by", Usage: text, Target: func(o *Options) any { return &o.GroupBy }}
	}
	return []Command{
		{
			Path: "metrics", Short: "List the metrics that received data points", window: true, page: true,
			Flags: []Flag{
				serviceFlag(), searchFlag("text that the name contains"),
				{Name: "type", Usage: "only metrics of this type", Choices: metricTypes(), Target: func(o *Options) any { return &o.MetricType }},
			},
			Example: "  svc metrics -s checkout -q duration", run: metrics,
		},
		{
			Path: "timeseries", Short: "Draw a figure over time, for all telemetry or for each group", window: true, service: true,
			Flags: append(append([]Flag{}, shared...),
				group("field to group by, such as service.name or attr.http.route; may be given several times"),
				Flag{
					Name: "bucket", Usage: "length of a bucket in seconds (default: about 30 buckets)",
					Target: func(o *Options) any { return &o.Bucket },
				},
				limitFlag("most series, 1 to %d (default %d)", limits.Series, limits.DefaultSeries)),
			Example: "  svc timeseries -s checkout --aggregation p95_duration --group-by span.name\n" +
				"  svc timeseries --metric http.server.request.duration --aggregation p95 --group-by service.name",
			run: timeseries,
		},
		{
			Path: "breakdown", Short: "Compute a figure for each group, largest first", window: true, service: true,
			Flags: append(append([]Flag{}, shared...),
				group("field to group by (default span.name for traces, else service.name); may be given several times"),
				limitFlag("most groups, 1 to %d (default %d)", limits.BreakdownRows, limits.DefaultBreakdownRows)),
			Example: "  svc breakdown --aggregation error_rate --group-by service.name --since 1h", run: breakdown,
		},
		{
			Path: "compare", Short: "Compare two periods: the services that changed, and likely causes", window: true, service: true,
			length: time.Hour,
			Flags: []Flag{
				{
					Name: "around", Usage: "time of a change: --since after it is compared with as long before it (default " +
						limits.Lasts(limits.CompareAround) + ")",
					Target: func(o *Options) any { return &o.Around },
				},
				{Name: "previous-start", Usage: "start of the earlier period, as --start", Target: func(o *Options) any { return &o.PreviousStart }},
				{Name: "previous-end", Usage: "end of the earlier period, as --start", Target: func(o *Options) any { return &o.PreviousEnd }},
			},
			Long:    "Without another flag, the command compares the window with the time before it, which is as long.",
			Example: "  svc compare --since 1h\n  svc compare --around '2026-11-21 12:30' --since 15m", run: compare,
		},
	}
}

func metrics(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListMetricsResponse, error) {
		return q.client.metrics.ListMetrics(ctx, &svcv2.ListMetricsRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, ServiceName: given(q.Service), MetricType: given(q.MetricType),
			Search: given(q.Search),
		})
	}, func(r *svcv2.ListMetricsResponse) *[]*svcv2.Metric { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: []column{
		{title: "METRIC"},
		{title: "TYPE", drop: 1},
		{title: "UNIT", drop: 3},
		{title: "SERVICE", grow: true},
		{title: "POINTS", right: true, drop: 2},
		{title: "LAST SEEN (UTC)", drop: 4},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, row(v.GetName(), v.GetType(), v.GetUnit(), v.GetServiceName(), count(v.GetDataPointCount()), at(v.GetLastSeen())))
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(),
		empty: none(s, "no metric received data points in "+utcWindow(start, end)),
	}, nil
}

func compare(ctx context.Context, q *Query) (Answer, error) {
	req, err := comparison(q)
	if err != nil {
		return Answer{}, err
	}
	res, err := q.client.diagnosis.ComparePeriods(ctx, req)
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{
		title: utcWindow(res.GetStartTime(), res.GetEndTime()) + ", before: " + utcWindow(res.GetPreviousStartTime(), res.GetPreviousEndTime()),
		columns: []column{
			{title: "SERVICE", grow: true},
			{title: "RATE/S", right: true},
			{title: "BEFORE", right: true},
			{title: "ERROR %", right: true},
			{title: "BEFORE", right: true},
			{title: "P95 MS", right: true},
			{title: "BEFORE", right: true},
			{title: "CHANGE", grow: true, drop: 1},
		},
	}
	for _, v := range res.GetServices() {
		now, before := v.GetCurrent(), v.GetPrevious()
		s.rows = append(s.rows, []cell{
			{text: v.GetName()},
			{text: figure(now.GetThroughput())},
			{figure(before.GetThroughput()), faint},
			share(now.GetErrorRate()),
			{percent(before.GetErrorRate()), faint},
			{text: figure(now.GetP95LatencyMs())},
			{figure(before.GetP95LatencyMs()), faint},
			{strings.ReplaceAll(strings.Join(v.GetFlags(), ", "), "_", " "), warned},
		})
	}
	a := Answer{
		message: res, lines: linesOf(res.GetServices()), sections: []section{s, causes(res.GetCauses())},
		empty: none(s, "no service sent spans in both periods"),
	}
	if res.GetPreviousIsThin() {
		a.notes = append(a.notes, "the earlier period has too little data for a comparison")
	}
	return a, nil
}
