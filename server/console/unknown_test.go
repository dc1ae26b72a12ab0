package console_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// TestUnknownNames: a command that finds nothing says whether the service and the environment exist.
func TestUnknownNames(t *testing.T) {
	t.Parallel()
	const warning = `No service "payment" was received in this window; the nearest name is "payments".`
	// seen is the length of the windows in which telemetry has the name. 0 means in none.
	empty := func(seen time.Duration) *consoletest.Server {
		return consoletest.New(t, func(method string, request proto.Message) (proto.Message, error) {
			switch r := request.(type) {
			case *svcv2.SearchErrorEventsRequest:
				return &svcv2.SearchErrorEventsResponse{}, nil
			case *svcv2.SearchLogsRequest:
				return &svcv2.SearchLogsResponse{}, nil
			case *svcv2.SearchLogPatternsRequest:
				return &svcv2.LogPatternList{}, nil
			case *svcv2.SearchTracesRequest:
				return &svcv2.SearchTracesResponse{}, nil
			case *svcv2.ComparePeriodsRequest:
				return &svcv2.PeriodComparison{}, nil
			case *svcv2.GetServiceMapRequest:
				return &svcv2.ServiceMap{}, nil
			case *svcv2.ListMetricsRequest:
				return &svcv2.ListMetricsResponse{}, nil
			case *svcv2.QueryTraceTimeseriesRequest:
				return nil, nil
			case *svcv2.QueryBreakdownRequest:
				if seen > 0 && r.GetEndTime().AsTime().Sub(r.GetStartTime().AsTime()) > seen {
					return &svcv2.QueryBreakdownResponse{}, nil
				}
				return &svcv2.QueryBreakdownResponse{Warnings: []string{warning}}, nil
			}
			t.Errorf("%s is asked", method)
			return nil, nil
		})
	}
	for _, path := range []string{"errors", "logs", "log-patterns", "traces", "slow-traces", "compare", "service-map", "metrics"} {
		for _, options := range []console.Options{{Service: "payment"}, {Environment: "prod"}} {
			_, messages, err := run(t.Context(), t, empty(0), path, console.Query{Options: options}, console.Output{Format: console.FormatTable})
			if unknown := (*console.UnknownError)(nil); !errors.As(err, &unknown) || !strings.Contains(err.Error(), warning) {
				t.Errorf("svc %s with %q %q: %v, %q", path, options.Service, options.Environment, err, messages)
			}
		}
	}
	options := console.Options{Service: "payment"}
	_, messages, err := run(t.Context(), t, empty(7*time.Hour), "errors", console.Query{Options: options}, console.Output{Format: console.FormatTable})
	if err != nil || !strings.Contains(messages, "no error was found") || !strings.Contains(messages, "not that all is well") {
		t.Errorf("a name of another window: %v, %q", err, messages)
	}
	s := empty(0)
	if _, _, err := run(t.Context(), t, s, "errors", console.Query{}, console.Output{Format: console.FormatTable}); err != nil {
		t.Errorf("without names: %v", err)
	}
	if asked := s.Requests(); len(asked) != 1 {
		t.Errorf("without names: asked %v", asked)
	}
}
