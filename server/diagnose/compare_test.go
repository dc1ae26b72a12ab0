package diagnose

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

// shop has three services that all fail more than before. web failed most, and an error of web explains it.
type shop struct {
	// search answers for the causes of a service. Nil means at once.
	search func(ctx context.Context, service string) error
	asked  []string
	// parts is the number of sixtieths of the earlier period that have spans, counted from its end. 0 means all.
	parts int
	// since is the time of the first span. The zero time means that parts says it.
	since time.Time
	grows bool
}

func (s *shop) readers() Readers {
	return Readers{Services: s, ServiceMap: s, Errors: s, Logs: s, Query: s}
}

// QueryTimeseries has a span in each second of the current period, and in the last parts of the earlier one.
func (s *shop) QueryTimeseries(_ context.Context, req *svcv2.QueryTimeseriesRequest) (*svcv2.QueryTimeseriesResponse, error) {
	length := time.Duration(req.GetBucketSeconds()) * time.Second
	since := now().Add(-time.Hour - time.Duration(s.history())*time.Minute)
	if !s.since.IsZero() {
		since = s.since
	}
	if req.GetEndTime().AsTime().Sub(req.GetStartTime().AsTime()) > limits.Buckets*length {
		return nil, errors.New("too many buckets")
	}
	series := &svcv2.QuerySeries{}
	for at := req.GetStartTime().AsTime().Truncate(length); at.Before(req.GetEndTime().AsTime()); at = at.Add(length) {
		point := &svcv2.TelemetryPoint{Timestamp: timestamppb.New(at)}
		if at.Add(length).After(since) {
			point.Value = 1
		}
		series.Points = append(series.Points, point)
	}
	return &svcv2.QueryTimeseriesResponse{BucketSeconds: req.GetBucketSeconds(), Series: []*svcv2.QuerySeries{series}}, nil
}

// QueryBreakdown has one operation, and in a service that grows a second one that is new and takes a quarter of the time.
func (s *shop) QueryBreakdown(_ context.Context, req *svcv2.QueryBreakdownRequest) (*svcv2.QueryBreakdownResponse, error) {
	row := func(name string, values ...float64) *svcv2.QueryRow {
		r := &svcv2.QueryRow{Name: name, Group: []string{name}}
		for _, v := range values[:len(req.GetQueries())] {
			r.Values = append(r.Values, &svcv2.QueryCell{Value: &v})
		}
		return r
	}
	out := &svcv2.QueryBreakdownResponse{Data: []*svcv2.QueryRow{row("GET /", 300, 10)}}
	if s.grows && req.GetEndTime().AsTime().Equal(now()) {
		out.Data = append(out.Data, row("loadVariants", 20, 50))
	}
	return out, nil
}

// history is the number of parts of the earlier period that have spans.
func (s *shop) history() int {
	if s.parts == 0 {
		return coverageParts
	}
	return s.parts
}

func (s *shop) ListServices(_ context.Context, req *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error) {
	rate := map[string]float64{"web": 0.01, "cart": 0.01, "stock": 0.01}
	if req.GetEndTime().AsTime().Equal(now()) {
		rate = map[string]float64{"web": 0.5, "cart": 0.3, "stock": 0.2}
	}
	out := &svcv2.ListServicesResponse{}
	for _, name := range []string{"cart", "stock", "web"} {
		out.Data = append(out.Data, &svcv2.Service{
			Name: name, SpanCount: 1000, ErrorCount: 1000 * rate[name], ErrorRate: rate[name],
			Throughput: 2, P95LatencyMs: 20,
		})
	}
	return out, nil
}

// ListServiceReleases is the read of a service that search delays or fails.
func (s *shop) ListServiceReleases(ctx context.Context, req *svcv2.ListServiceReleasesRequest) (*svcv2.ServiceReleases, error) {
	s.asked = append(s.asked, req.GetName())
	if s.search != nil {
		if err := s.search(ctx, req.GetName()); err != nil {
			return nil, err
		}
	}
	return &svcv2.ServiceReleases{}, nil
}

func (s *shop) ListServiceOperations(context.Context, *svcv2.ListServiceOperationsRequest) (*svcv2.ListServiceOperationsResponse, error) {
	return &svcv2.ListServiceOperationsResponse{}, nil
}

func (s *shop) GetServiceApdex(context.Context, *svcv2.GetServiceApdexRequest) (*svcv2.ServiceApdex, error) {
	return &svcv2.ServiceApdex{}, nil
}

func (s *shop) GetServiceMap(context.Context, *svcv2.GetServiceMapRequest) (*svcv2.ServiceMap, error) {
	return &svcv2.ServiceMap{}, nil
}

func (s *shop) SearchLogPatterns(context.Context, *svcv2.SearchLogPatternsRequest) (*svcv2.LogPatternList, error) {
	return &svcv2.LogPatternList{}, nil
}

func (s *shop) SearchErrorEvents(_ context.Context, req *svcv2.SearchErrorEventsRequest) (*svcv2.SearchErrorEventsResponse, error) {
	if !req.GetEndTime().AsTime().Equal(now()) {
		return &svcv2.SearchErrorEventsResponse{}, nil
	}
	return &svcv2.SearchErrorEventsResponse{
		Totals: &svcv2.ErrorEventTotals{Occurrences: 100, EstimatedOccurrences: 100},
		Data: []*svcv2.ErrorEvent{{
			FingerprintHash: "1", ErrorLabel: "Timeout", Count: 100, EstimatedCount: 100, SampleMessage: "no answer",
			FirstSeen: timestamppb.New(now().Add(-time.Minute)),
		}},
	}, nil
}

func compare(ctx context.Context, s *shop) (*svcv2.PeriodComparison, error) {
	current := Period{now().Add(-time.Hour), now()}
	return New(s.readers()).Compare(ctx, current, current.Before(), Scope{})
}

// causesOf returns the services of the causes of a comparison.
func causesOf(c *svcv2.PeriodComparison) []string {
	var list []string
	for _, x := range c.GetCauses() {
		list = append(list, x.GetServiceName())
	}
	slices.Sort(list)
	return list
}

// wait is a read that ends only with its context.
func wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestComparisonAnswersBeforeItsDeadline compares with searches for causes that share the time of one call. A search that takes too
// long ends early enough to answer with the figures and with the causes found so far.
func TestComparisonAnswersBeforeItsDeadline(t *testing.T) {
	const patience = 30 * time.Second
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		s := &shop{search: func(ctx context.Context, service string) error {
			if service == "web" {
				return nil
			}
			return wait(ctx)
		}}
		begun := time.Now()
		got, err := compare(ctx, s)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != patience-answerTime {
			t.Errorf("it took %s of %s; %s are for the answer", took, patience, answerTime)
		}
		if !got.GetIncomplete() || len(got.GetServices()) != 3 || got.GetCurrent().GetSpanCount() != 3*7200 {
			t.Errorf("incomplete %t with %d services and %v spans", got.GetIncomplete(), len(got.GetServices()), got.GetCurrent().GetSpanCount())
		}
		if causes := causesOf(got); !slices.Equal(causes, []string{"web"}) {
			t.Errorf("causes in %v; that of web was found in time", causes)
		}
		if !slices.Equal(s.asked, []string{"web", "cart"}) {
			t.Errorf("searched %v; no search begins after the time ran out", s.asked)
		}
	})
}

// TestComparisonIsWhole has searches that end in time, with and without a deadline.
func TestComparisonIsWhole(t *testing.T) {
	for name, patience := range map[string]time.Duration{"deadline": 30 * time.Second, "no deadline": 0} {
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			if patience > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, patience)
				defer cancel()
			}
			got, err := compare(ctx, &shop{search: func(context.Context, string) error { time.Sleep(9 * time.Second); return nil }})
			if err != nil {
				t.Fatal(err)
			}
			if causes := causesOf(got); got.GetIncomplete() || !slices.Equal(causes, []string{"cart", "stock", "web"}) {
				t.Errorf("%s: incomplete %t, causes in %v", name, got.GetIncomplete(), causes)
			}
		})
	}
}

// TestComparisonFails has a caller who disconnects, and a read that fails. Neither is an incomplete answer.
func TestComparisonFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		got, err := compare(ctx, &shop{search: func(ctx context.Context, _ string) error { return wait(ctx) }})
		if !errors.Is(err, context.Canceled) || got != nil {
			t.Errorf("disconnected: %v %v", got, err)
		}
	})
	broken := errors.New("broken")
	if got, err := compare(t.Context(), &shop{search: func(context.Context, string) error { return broken }}); !errors.Is(err, broken) ||
		got != nil {
		t.Errorf("broken: %v %v", got, err)
	}
}

// TestComparisonIsWeighted: each of the 1,000 received spans stands for 7.2 spans.
func TestComparisonIsWeighted(t *testing.T) {
	t.Parallel()
	got, err := compare(t.Context(), &shop{parts: 30})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.GetCurrent(); c.GetSpanCount() != 21600 || math.Abs(c.GetErrorCount()-7200) > 1e-6 || math.Abs(c.GetErrorRate()-1./3) > 1e-9 {
		t.Errorf("totals %v", c)
	}
	was := got.GetPrevious()
	if was.GetDataEndTime().AsTime().Sub(was.GetDataStartTime().AsTime()) != 30*time.Minute || got.GetPreviousIsThin() {
		t.Errorf("previous %v, thin %t", was, got.GetPreviousIsThin())
	}
	for _, s := range got.GetServices() {
		if s.GetPrevious().GetThroughput() != 4 || s.GetCurrent().GetThroughput() != 2 {
			t.Errorf("%s: %v a second before, %v now: a rate is of the time with data", s.GetName(), s.GetPrevious(), s.GetCurrent())
		}
	}
}

// TestCoverageIsExact: a period begins to have data with its first span, to the second, however long the period is.
func TestCoverageIsExact(t *testing.T) {
	t.Parallel()
	for _, length := range []time.Duration{time.Minute, time.Hour, 24*time.Hour + 10*time.Minute, 31 * 24 * time.Hour} {
		for _, missing := range []time.Duration{0, 7 * time.Second, length / 3, length - 11*time.Second} {
			p := Period{now().Add(-length - 250*time.Millisecond), now().Add(-250 * time.Millisecond)}
			since := p.Start.Add(missing)
			got, err := New((&shop{since: since}).readers()).coverage(t.Context(), p, nil)
			if want := later(since.Truncate(time.Second), p.Start); err != nil || !got.Start.Equal(want) || !got.End.Equal(p.End) {
				t.Errorf("%s, the first %s without spans: %s to %s (%v), want %s to %s", length, missing, got.Start, got.End, err, want, p.End)
			}
		}
	}
}

// TestRateOfFewSpans: one span in an hour is a rate of one a minute at most, not of one a second.
func TestRateOfFewSpans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ period, covered, over time.Duration }{
		{time.Hour, time.Second, time.Minute},
		{time.Hour, time.Minute, time.Minute},
		{time.Hour, 10 * time.Minute, 10 * time.Minute},
		{time.Hour, time.Hour, time.Hour},
		{90 * time.Second, time.Second, 2 * time.Second},
		{time.Second, 10 * time.Millisecond, time.Second},
		{10 * time.Millisecond, time.Millisecond, 10 * time.Millisecond},
	} {
		p := Period{now().Add(-c.period), now()}
		one := 1 / c.period.Seconds()
		got := coverage{Period{p.End.Add(-c.covered), p.End}}.rate(p, one)
		if want := 1 / c.over.Seconds(); math.Abs(got-want) > 1e-9*want {
			t.Errorf("one span in %s of %s: %v a second, want %v", c.covered, c.period, got, want)
		}
	}
	if got := (coverage{}).rate(Period{now().Add(-time.Hour), now()}, 0); got != 0 {
		t.Errorf("no span: %v a second", got)
	}
}

// TestNewOperations: an operation that was not there before is a cause if the service spends a good part of its time in it.
func TestNewOperations(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		of     spanOperation
		before float64
		want   bool
	}{
		"new":                       {spanOperation{name: "a", count: 50, average: 8, share: 0.3}, 900, true},
		"known":                     {spanOperation{name: "a", count: 50, before: 1, average: 8, share: 0.3}, 900, false},
		"short":                     {spanOperation{name: "a", count: 50, average: 0.1, share: 0.01}, 900, false},
		"rare":                      {spanOperation{name: "a", count: 5, average: 80, share: 0.3}, 900, false},
		"the service is new itself": {spanOperation{name: "a", count: 50, average: 8, share: 0.3}, 0, false},
	} {
		got := (&evidence{service: "web", spans: []spanOperation{tc.of}, spansBefore: tc.before}).newOperationCauses()
		if (len(got) > 0) != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	list, before, err := (&Engine{read: (&shop{grows: true}).readers()}).spanOperations(
		t.Context(), Scope{}, Period{now().Add(-time.Hour), now()}, Period{now().Add(-2 * time.Hour), now().Add(-time.Hour)},
	)
	if err != nil || before != 300 || len(list) != 2 {
		t.Fatalf("%v %v %v", list, before, err)
	}
	for _, o := range list {
		if isNew := o.name == "loadVariants"; isNew != (o.before == 0) || isNew && o.share != 0.25 {
			t.Errorf("%+v", o)
		}
	}
}

// TestThinBaseline: a few minutes of data in the earlier period do not prove a change.
func TestThinBaseline(t *testing.T) {
	t.Parallel()
	for parts, thin := range map[int]bool{5: true, 6: false} {
		got, err := compare(t.Context(), &shop{parts: parts})
		if err != nil {
			t.Fatal(err)
		}
		flagged := slices.ContainsFunc(got.GetServices(), func(s *svcv2.ComparedService) bool { return len(s.GetFlags()) > 0 })
		if got.GetPreviousIsThin() != thin || flagged == thin || len(got.GetCauses()) > 0 == thin {
			t.Errorf("%d minutes of history: thin %t, flags %t, causes %v", parts, got.GetPreviousIsThin(), flagged, got.GetCauses())
		}
	}
}

// TestCauseBehindAGateway: the calls of a client fail because a service behind the gateway fails.
func TestCauseBehindAGateway(t *testing.T) {
	t.Parallel()
	list := []cause{
		{kind: "dependency", service: "browser", target: "gateway", weight: 9},
		{kind: "dependency", service: "gateway", target: "cart", weight: 3},
		{kind: "error", service: "cart", weight: 2},
		{kind: "error", service: "mail", weight: 1},
	}
	rank(list, []edge{
		{source: "browser", target: "gateway", calls: 10, failed: 5},
		{source: "gateway", target: "cart", calls: 10, failed: 5},
		{source: "gateway", target: "mail", calls: 10},
	})
	if list[0].service != "cart" || list[1].target != "cart" || list[2].target != "gateway" || list[3].service != "mail" {
		t.Errorf("%+v", list)
	}
}
