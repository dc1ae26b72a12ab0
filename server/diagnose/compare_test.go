package diagnose

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// shop has three services that all fail more than before. web failed most, and an error of web explains it.
type shop struct {
	// search answers for the causes of a service. Nil means at once.
	search func(ctx context.Context, service string) error
	asked  []string
}

func (s *shop) readers() Readers {
	return Readers{Services: s, ServiceMap: s, Errors: s, Logs: s}
}

func (s *shop) ListServices(_ context.Context, req *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error) {
	rate := map[string]float64{"web": 0.01, "cart": 0.01, "stock": 0.01}
	if req.GetEndTime().AsTime().Equal(now()) {
		rate = map[string]float64{"web": 0.5, "cart": 0.3, "stock": 0.2}
	}
	out := &svcv2.ListServicesResponse{}
	for _, name := range []string{"cart", "stock", "web"} {
		out.Data = append(out.Data, &svcv2.Service{Name: name, SpanCount: 1000, ErrorCount: 1000 * rate[name], ErrorRate: rate[name], Throughput: 1, P95LatencyMs: 20})
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
		Totals: &svcv2.ErrorEventTotals{Occurrences: 100},
		Data: []*svcv2.ErrorEvent{{
			FingerprintHash: "1", ErrorLabel: "Timeout", Count: 100, SampleMessage: "no answer", FirstSeen: timestamppb.New(now().Add(-time.Minute)),
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
		if !got.GetIncomplete() || len(got.GetServices()) != 3 || got.GetCurrent().GetSpanCount() != 3000 {
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
	if got, err := compare(t.Context(), &shop{search: func(context.Context, string) error { return broken }}); !errors.Is(err, broken) || got != nil {
		t.Errorf("broken: %v %v", got, err)
	}
}
