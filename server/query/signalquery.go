package query

import (
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/svc-observability/svc/server/limits"
)

// SignalQuery is a request to one of the signals' own timeseries and breakdown methods. The zero value of a field is its default.
type SignalQuery struct {
	Source              Source
	Window              Window
	Aggregation         string
	ApdexThresholdMs    float64
	Filter              Filter
	Where               string
	Metric              Metric // of the source Metrics
	GroupBy, GroupByKey string // the name of a group as the method has it, and the key of `attribute` and `resource_attribute`
	BucketSeconds       int32
	SeriesLimit         int32
	RowLimit            int32
}

// signalRequest has the fields of the timeseries and the breakdown requests of every signal.
type signalRequest interface {
	GetStartTime() *timestamppb.Timestamp
	GetEndTime() *timestamppb.Timestamp
	GetAggregation() string
	GetWhere() string
	GetGroupBy() string
}

// TimeseriesRequest is the request of a signal's timeseries method.
type TimeseriesRequest interface {
	signalRequest
	GetBucketSeconds() int32
	GetSeriesLimit() int32
}

// BreakdownRequest is the request of a signal's breakdown method.
type BreakdownRequest interface {
	signalRequest
	GetLimit() int32
}

// SignalTimeseries reads the request of a signal's timeseries method. complete adds the conditions, and the fields that only this signal
// has.
func SignalTimeseries(s Source, req TimeseriesRequest, complete func(*SignalQuery) error) (SignalQuery, error) {
	q, err := signalQuery(s, req, limits.TimeseriesWindow, complete)
	q.BucketSeconds, q.SeriesLimit = req.GetBucketSeconds(), req.GetSeriesLimit()
	return q, err
}

// SignalBreakdown reads the request of a signal's breakdown method, like SignalTimeseries.
func SignalBreakdown(s Source, req BreakdownRequest, complete func(*SignalQuery) error) (SignalQuery, error) {
	q, err := signalQuery(s, req, limits.BreakdownWindow, complete)
	q.RowLimit = req.GetLimit()
	return q, err
}

// signalQuery reports a fault of the window before those of the rest.
func signalQuery(s Source, req signalRequest, longest time.Duration, complete func(*SignalQuery) error) (q SignalQuery, err error) {
	q = SignalQuery{Source: s, Aggregation: req.GetAggregation(), Where: req.GetWhere(), GroupBy: req.GetGroupBy()}
	if q.Window, err = NewWindow(req.GetStartTime(), req.GetEndTime(), longest); err != nil {
		return q, err
	}
	// Some signals have these fields.
	if r, ok := req.(interface{ GetGroupByAttributeKey() string }); ok {
		q.GroupByKey = r.GetGroupByAttributeKey()
	}
	if r, ok := req.(interface{ GetApdexThresholdMs() float64 }); ok {
		q.ApdexThresholdMs = r.GetApdexThresholdMs()
	}
	return q, complete(&q)
}

// Request makes the request for the engine. Errors are *Invalid and use the field names of the method.
func (s SignalQuery) Request() (*Request, error) {
	a, err := ParseAggregation("", s.Source, s.Aggregation, "", time.Duration(s.ApdexThresholdMs*1e6))
	if err != nil {
		return nil, err
	}
	where, err := ParseWhere(s.Source, s.Where)
	if err != nil {
		return nil, BadWhere("where", err)
	}
	spec := Spec{
		Source:      s.Source,
		Metric:      s.Metric,
		Aggregation: a,
		Filter:      And(s.Filter, where),
		Limit:       int(s.RowLimit),
		SeriesLimit: int(s.SeriesLimit),
	}
	if err := s.group(&spec); err != nil {
		return nil, err
	}
	return &Request{
		Window: s.Window, Bucket: time.Duration(s.BucketSeconds) * time.Second, Queries: []Query{{Name: "A", Spec: spec}},
	}, nil
}

func (s SignalQuery) group(spec *Spec) error {
	scope, attribute := map[string]Scope{"attribute": OwnAttribute, "resource_attribute": ResourceAttribute}[s.GroupBy]
	switch {
	case s.GroupBy == "" && s.GroupByKey == "":
		return nil
	case attribute && s.GroupByKey == "":
		return invalid("group_by_attribute_key", "is required for the group %s: the attribute to group by, for example http.route", s.GroupBy)
	case attribute:
		spec.GroupBy = []Field{{Scope: scope, Key: s.GroupByKey}}
		return nil
	case s.GroupByKey != "":
		return invalid("group_by_attribute_key", "belongs to the groups attribute and resource_attribute")
	}
	f, err := ParseField(s.Source, s.GroupBy)
	if err != nil {
		return invalid("group_by", "cannot be read: %s", err)
	}
	spec.GroupBy = []Field{f}
	return nil
}
