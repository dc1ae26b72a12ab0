package console

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

func traceCommands() []Command {
	one := Command{
		Arguments: []string{"TRACE_ID"}, Short: "Show the spans of a trace as a tree",
		Long:    "A bar shows when a span ran within the trace.",
		Example: "  svc trace 4bf92f3577b34da6a3ce929d0e0e4736", run: trace,
	}
	get, short := one, one
	get.Path, short.Path = "traces get", "trace"
	filters := []Flag{
		{Name: "span-name", Usage: "only traces with a span of this name", Target: func(o *Options) any { return &o.SpanName }},
		{Name: "errors", Usage: "only traces with a failed span", Target: func(o *Options) any { return &o.Errors }},
		{Name: "min-duration-ms", Usage: "only traces with a span at least this long", Target: func(o *Options) any { return &o.MinDuration }},
		{Name: "max-duration-ms", Usage: "only traces with a span at most this long", Target: func(o *Options) any { return &o.MaxDuration }},
		{Name: "http-method", Usage: "only traces with a span of this HTTP method", Target: func(o *Options) any { return &o.HTTPMethod }},
	}
	return []Command{
		{
			Path: "traces", Short: "Search traces, latest first", window: true, service: true, page: true, Flags: filters,
			Long:    "One span of a trace must meet all conditions.",
			Example: "  svc traces -s checkout --errors --since 30m\n  svc traces --format jsonl -n 500 | jq -r .id",
			run:     traces,
		},
		get,
		short,
		{
			Path: "slow-traces", Short: "List the slowest traces, slowest first", window: true, service: true,
			Flags:   append(slices.Clone(filters), limitFlag("most rows to show (default %d)", limits.DefaultPage)),
			Long:    "Only traces count that take longer than nineteen of twenty, or --min-duration-ms.",
			Example: "  svc slow-traces -s checkout --min-duration-ms 1000", run: slowTraces,
		},
	}
}

func searchTraces(ctx context.Context, q *Query, scope *string, least float64) (*svcv2.SearchTracesResponse, error) {
	start, end, err := q.window()
	if err != nil {
		return nil, err
	}
	filters := &svcv2.TraceFilters{
		ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment), SpanName: given(q.SpanName), HttpMethod: given(q.HTTPMethod),
		SpanScope: scope,
	}
	if q.Errors {
		filters.HasError = &q.Errors
	}
	if least = max(least, q.MinDuration); least > 0 {
		filters.MinDurationMs = &least
	}
	if q.MaxDuration > 0 {
		filters.MaxDurationMs = &q.MaxDuration
	}
	return collect(q, func(limit int32, cursor *string) (*svcv2.SearchTracesResponse, error) {
		return q.client.traces.SearchTraces(ctx, &svcv2.SearchTracesRequest{
			StartTime: start, EndTime: end, Limit: &limit, Cursor: cursor, Filters: filters,
		})
	}, func(r *svcv2.SearchTracesResponse) *[]*svcv2.TraceSummary { return &r.Data })
}

func traces(ctx context.Context, q *Query) (Answer, error) {
	res, err := searchTraces(ctx, q, nil, 0)
	if err != nil {
		return Answer{}, err
	}
	a := traceTable(res)
	a.cursor = res.GetNextCursor()
	return a, nil
}

func traceTable(res *svcv2.SearchTracesResponse) Answer {
	s := section{columns: []column{
		{title: "START (UTC)", drop: 1},
		{title: "TRACE"},
		{title: "SERVICE", grow: true},
		{title: "OPERATION", grow: true},
		{title: "MS", right: true},
		{title: "STATUS", drop: 2},
	}}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, []cell{
			{at(v.GetStartTime()), faint},
			{text: v.GetId()},
			{text: v.GetRootServiceName()},
			{text: v.GetRootSpanName()},
			{text: figure(v.GetDurationMs())},
			status(v.GetRootStatusCode(), v.GetRootHasError()),
		})
	}
	return Answer{message: res, lines: linesOf(res.GetData()), sections: []section{s}, empty: none(s, "no trace matches in this window")}
}

// slowTraces reads traces that begin with a long span. Without --min-duration-ms, a span is long if it is among the slowest twentieth.
func slowTraces(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err != nil {
		return Answer{}, err
	}
	root, least := "root", q.MinDuration
	if least == 0 {
		p95, err := q.client.traces.QueryTraceTimeseries(ctx, &svcv2.QueryTraceTimeseriesRequest{
			StartTime: start, EndTime: end, Aggregation: "p95_duration", Filters: &svcv2.TraceFilters{
				ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment), SpanName: given(q.SpanName), SpanScope: &root,
			},
		})
		if err != nil {
			return Answer{}, q.client.failure(err)
		}
		least = usual(p95.GetSeries())
	}
	wanted := q.Limit
	if wanted == 0 {
		wanted = limits.DefaultPage
	}
	read := *q
	read.Limit = max(limits.SlowTraces, wanted)
	res, err := searchTraces(ctx, &read, &root, least)
	if err != nil {
		return Answer{}, err
	}
	slices.SortStableFunc(res.GetData(), func(a, b *svcv2.TraceSummary) int { return cmp.Compare(b.GetDurationMs(), a.GetDurationMs()) })
	var notes []string
	if res.GetHasMore() {
		notes = append(notes, fmt.Sprintf("only the latest %d slow traces were compared: a shorter window, or --min-duration-ms, finds the others", read.Limit))
	}
	res.Data = res.GetData()[:min(wanted, len(res.GetData()))]
	res.HasMore, res.NextCursor = false, nil // the order is not that of pages
	a := traceTable(res)
	a.notes = notes
	return a, nil
}

// usual is the median of the values of all series.
func usual(list []*svcv2.TelemetrySeries) float64 {
	var values []float64
	for _, series := range list {
		for _, point := range series.GetPoints() {
			if point.GetValue() > 0 {
				values = append(values, point.GetValue())
			}
		}
	}
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func trace(ctx context.Context, q *Query) (Answer, error) {
	res, err := q.client.traces.GetTrace(ctx, &svcv2.GetTraceRequest{TraceId: q.Arguments[0]})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	a := Answer{message: res, lines: linesOf(res.GetSpans()), sections: []section{
		pairs([2]string{"Trace", res.GetId()}, [2]string{"Time", utcWindowMs(res)}, [2]string{"Spans", spansAndServices(res)}),
		tree(res),
	}}
	if res.GetTruncated() {
		a.notes = append(a.notes, "the trace has more spans: these are the earliest")
	}
	return a, nil
}
