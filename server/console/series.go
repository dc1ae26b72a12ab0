package console

import (
	"context"
	"fmt"
	"math"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// spec is the query of the flags.
func (q *Query) spec() *svcv2.QuerySpec {
	s := &svcv2.QuerySpec{
		Name: "A", Source: q.Source, Aggregation: q.Aggregation, ValueField: given(q.ValueField), Where: given(q.Where), GroupBy: q.GroupBy,
	}
	if q.Metric != "" {
		s.Metric = &svcv2.QueryMetric{Name: q.Metric, Type: q.MetricType}
		if s.Source == "" {
			s.Source = "metrics"
		}
	}
	if s.Source == "" {
		s.Source = "traces"
	}
	switch {
	case s.Aggregation != "":
	case s.Source == "metrics", q.ValueField != "":
		s.Aggregation = "avg"
	default:
		s.Aggregation = "count"
	}
	filter := &svcv2.QueryFilter{}
	for _, condition := range [][2]string{{"service.name", q.Service}, {"deployment.environment", q.Environment}} {
		if condition[1] != "" {
			filter.All = append(filter.All, &svcv2.QueryFilter{
				Field: &condition[0], Operator: proto.String("="), Value: structpb.NewStringValue(condition[1]),
			})
		}
	}
	if len(filter.GetAll()) > 0 {
		s.Filter = filter
	}
	return s
}

// checkSeries finds errors in the flags of a series that Check cannot see.
func (q *Query) checkSeries() error {
	switch {
	case q.Source == "metrics" && q.Metric == "":
		return usage("--source metrics needs --metric: 'svc metrics' lists the names")
	case q.Metric != "" && q.Source != "" && q.Source != "metrics":
		return usage("--metric is for --source metrics")
	case q.MetricType != "" && q.Metric == "":
		return usage("--type is the type of --metric, which is missing")
	case q.Limit > limits.Series:
		return usage("--limit %d: use 1 to %d", q.Limit, limits.Series)
	case q.Bucket < 0:
		return usage("--bucket %d: use a positive number of seconds", q.Bucket)
	case len(q.GroupBy) > limits.GroupBy:
		return usage("--group-by: give %d fields at most", limits.GroupBy)
	}
	return nil
}

func timeseries(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err == nil {
		err = q.checkSeries()
	}
	if err != nil {
		return Answer{}, err
	}
	spec := q.spec()
	spec.SeriesLimit = number(q.Limit)
	res, err := q.client.query.QueryTimeseries(ctx, &svcv2.QueryTimeseriesRequest{
		StartTime: start, EndTime: end, Queries: []*svcv2.QuerySpec{spec}, BucketSeconds: number(q.Bucket),
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{
		title: spec.GetAggregation() + " of " + subject(spec) + ", " + utcWindow(res.GetStartTime(), res.GetEndTime()) + ", buckets of " +
			length(time.Duration(res.GetBucketSeconds())*time.Second),
		columns: []column{
			{title: "SERIES", grow: true},
			{title: "OVER TIME", drop: 4},
			{title: "LAST", right: true},
			{title: "LEAST", right: true, drop: 3},
			{title: "MEAN", right: true, drop: 1},
			{title: "MOST", right: true, drop: 2},
			{title: "UNIT", drop: 5},
		},
	}
	for _, v := range res.GetSeries() {
		if len(v.GetPoints()) == 0 {
			continue
		}
		name := v.GetName()
		if len(spec.GetGroupBy()) == 0 {
			name = "all"
		}
		values := buckets(res, v.GetPoints())
		least, mean, most := spread(v.GetPoints())
		last := v.GetPoints()[len(v.GetPoints())-1].GetValue()
		s.rows = append(s.rows, row(name, sparkline(values), figure(last), figure(least), figure(mean), figure(most), v.GetUnit()))
	}
	a := Answer{
		message: res, lines: linesOf(res.GetSeries()), sections: []section{s}, notes: res.GetWarnings(),
		empty: none(s, "nothing matches in "+utcWindow(start, end)),
	}
	if res.GetTruncated() {
		a.notes = append(a.notes, fmt.Sprintf("there are more groups: --limit shows up to %d", limits.Series))
	}
	return a, nil
}

func subject(spec *svcv2.QuerySpec) string {
	switch {
	case spec.GetMetric() != nil:
		return spec.GetMetric().GetName()
	case spec.GetValueField() != "":
		return spec.GetValueField()
	}
	return spec.GetSource()
}

// mostBuckets bounds the width of a sparkline.
const mostBuckets = 60

// buckets places points in time, so that a bucket without a point is a hole in the picture. Several buckets share a place when there are
// many: the place shows the largest.
func buckets(res *svcv2.QueryTimeseriesResponse, points []*svcv2.TelemetryPoint) []float64 {
	length := time.Duration(res.GetBucketSeconds()) * time.Second
	begin := res.GetStartTime().AsTime().Truncate(length)
	n := int(res.GetEndTime().AsTime().Sub(begin)/length) + 1
	places := min(max(n, 1), mostBuckets)
	values := make([]float64, places)
	for i := range values {
		values[i] = math.NaN()
	}
	for _, p := range points {
		i := int(p.GetTimestamp().AsTime().Sub(begin)/length) * places / max(n, 1)
		i = min(max(i, 0), places-1)
		if math.IsNaN(values[i]) || p.GetValue() > values[i] {
			values[i] = p.GetValue()
		}
	}
	return values
}

func spread(points []*svcv2.TelemetryPoint) (least, mean, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, p := range points {
		least, most, mean = min(least, p.GetValue()), max(most, p.GetValue()), mean+p.GetValue()
	}
	return least, mean / float64(len(points)), most
}

func breakdown(ctx context.Context, q *Query) (Answer, error) {
	start, end, err := q.window()
	if err == nil {
		err = q.checkSeries()
	}
	if err != nil {
		return Answer{}, err
	}
	spec := q.spec()
	spec.Limit = number(q.Limit)
	if len(spec.GetGroupBy()) == 0 {
		spec.GroupBy = []string{"service.name"}
		if spec.GetSource() == "traces" {
			spec.GroupBy = []string{"span.name"}
		}
	}
	res, err := q.client.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: start, EndTime: end,
		Queries: []*svcv2.QuerySpec{spec},
	})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	s := section{title: spec.GetAggregation() + " of " + subject(spec) + ", " + utcWindow(res.GetStartTime(), res.GetEndTime())}
	for _, field := range spec.GetGroupBy() {
		s.columns = append(s.columns, column{title: field, grow: true})
	}
	title := spec.GetAggregation()
	if len(res.GetColumns()) > 0 && res.GetColumns()[0].GetUnit() != "" {
		title += " (" + res.GetColumns()[0].GetUnit() + ")"
	}
	s.columns = append(s.columns, column{title: title, right: true})
	for _, v := range res.GetData() {
		cells := make([]cell, len(s.columns))
		for i, text := range v.GetGroup() {
			if i < len(spec.GetGroupBy()) {
				cells[i].text = text
			}
		}
		if v.GetOther() || len(v.GetGroup()) == 0 {
			cells[0].text = v.GetName()
		}
		if len(v.GetValues()) > 0 && v.GetValues()[0].Value != nil {
			cells[len(cells)-1].text = figure(v.GetValues()[0].GetValue())
		}
		s.rows = append(s.rows, cells)
	}
	a := Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, notes: res.GetWarnings(),
		empty: none(s, "nothing matches in "+utcWindow(start, end)),
	}
	if res.GetTruncated() {
		a.notes = append(a.notes, fmt.Sprintf("there are more groups: --limit shows up to %d", limits.Series))
	}
	return a, nil
}

// comparison is the request of svc compare.
func comparison(q *Query) (*svcv2.ComparePeriodsRequest, error) {
	req := &svcv2.ComparePeriodsRequest{ServiceName: given(q.Service), DeploymentEnvironment: given(q.Environment)}
	var err error
	if q.Around != "" {
		if q.Start != "" || q.End != "" || q.PreviousStart != "" || q.PreviousEnd != "" {
			return nil, usage("--around gives both periods: use it without --start, --end, --previous-start and --previous-end")
		}
		change, err := moment("around", q.Around)
		if err != nil {
			return nil, err
		}
		length := limits.CompareAround
		if q.Since != "" {
			if length, err = duration("since", q.Since); err != nil {
				return nil, err
			}
		}
		end := change.Add(length)
		if end.After(q.Now) {
			end = q.Now
		}
		req.StartTime, req.EndTime = timestamppb.New(change), timestamppb.New(end)
		req.PreviousStartTime, req.PreviousEndTime = timestamppb.New(change.Add(-length)), timestamppb.New(change)
		return req, nil
	}
	if req.StartTime, req.EndTime, err = q.window(); err != nil {
		return nil, err
	}
	if (q.PreviousStart == "") != (q.PreviousEnd == "") {
		return nil, usage("give both --previous-start and --previous-end")
	}
	if q.PreviousStart == "" {
		return req, nil
	}
	from, err := moment("previous-start", q.PreviousStart)
	if err != nil {
		return nil, err
	}
	to, err := moment("previous-end", q.PreviousEnd)
	if err != nil {
		return nil, err
	}
	if !from.Before(to) {
		return nil, usage("--previous-start %s is not before --previous-end", q.PreviousStart)
	}
	req.PreviousStartTime, req.PreviousEndTime = timestamppb.New(from), timestamppb.New(to)
	return req, nil
}
