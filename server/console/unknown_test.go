package console_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
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
			case *svcv2.ListErrorIssuesRequest:
				return &svcv2.ListErrorIssuesResponse{}, nil
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
			var unknown *console.Failure
			if path == "metrics" && options.Environment != "" { // metrics alone may have it
				if err != nil || !strings.Contains(messages, "product events were not searched: "+warning) {
					t.Errorf("svc metrics -e prod: %v, %q", err, messages)
				}
				continue
			}
			if !errors.As(err, &unknown) || !strings.Contains(err.Error(), warning) {
				t.Errorf("svc %s with %q %q: %v, %q", path, options.Service, options.Environment, err, messages)
				continue
			}
			flag := map[bool]string{true: `"service_name"`, false: `"deployment_environment"`}[options.Service != ""]
			if text := string(unknown.JSON()); !strings.Contains(text, `"_tag":"@svc/cli/NameUnknown"`) || !strings.Contains(text, flag) {
				t.Errorf("svc %s as JSON: %s", path, text)
			}
		}
	}
	options := console.Options{Service: "payment"}
	_, messages, err := run(t.Context(), t, empty(7*time.Hour), "errors", console.Query{Options: options}, console.Output{Format: console.FormatTable})
	if err != nil || !strings.Contains(messages, "no error was found") || !strings.Contains(messages, "not that all is well") {
		t.Errorf("a name of another window: %v, %q", err, messages)
	}
	long := options
	long.Since = "31d"
	_, messages, err = run(t.Context(), t, empty(0), "errors", console.Query{Options: long}, console.Output{Format: console.FormatTable})
	if err != nil || !strings.Contains(messages, "older names were not looked up") {
		t.Errorf("a window that reaches beyond the look-up: %v, %q", err, messages)
	}
	s := empty(0)
	if _, messages, err := run(t.Context(), t, s, "issues", console.Query{Options: options},
		console.Output{Format: console.FormatTable}); err != nil || !strings.Contains(messages, "no issue matches") {
		t.Errorf("issues, which are kept longer than telemetry: %v, %q", err, messages)
	}
	if asked := s.Requests(); len(asked) != 1 {
		t.Errorf("issues: asked %v", asked)
	}
	if _, _, err := run(t.Context(), t, s, "errors", console.Query{}, console.Output{Format: console.FormatTable}); err != nil {
		t.Errorf("without names: %v", err)
	}
	if asked := s.Requests(); len(asked) != 1 {
		t.Errorf("without names: asked %v", asked)
	}
}

// TestNamesThatCannotBeLookedUp: a failed look-up does not make a name known. The answer stands, and a note says what is not certain.
func TestNamesThatCannotBeLookedUp(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails func(r *svcv2.QueryBreakdownRequest) bool
		hours time.Duration // the default window
		path  string
	}{
		"both":             {func(*svcv2.QueryBreakdownRequest) bool { return true }, 6 * time.Hour, "errors"},
		"the longest":      {func(r *svcv2.QueryBreakdownRequest) bool { return length(r) > 24*time.Hour }, 6 * time.Hour, "errors"},
		"that of an hour":  {func(r *svcv2.QueryBreakdownRequest) bool { return length(r) <= time.Hour }, time.Hour, "log-patterns"},
		"that of an hour,": {func(r *svcv2.QueryBreakdownRequest) bool { return length(r) <= time.Hour }, time.Hour, "compare"},
	} {
		var windows []time.Duration
		s := consoletest.New(t, func(_ string, request proto.Message) (proto.Message, error) {
			switch r := request.(type) {
			case *svcv2.SearchErrorEventsRequest:
				return &svcv2.SearchErrorEventsResponse{}, nil
			case *svcv2.SearchLogPatternsRequest:
				return &svcv2.LogPatternList{}, nil
			case *svcv2.ComparePeriodsRequest:
				return &svcv2.PeriodComparison{}, nil
			case *svcv2.QueryBreakdownRequest:
				windows = append(windows, length(r))
				if c.fails(r) {
					return nil, connect.NewError(connect.CodeUnavailable, errors.New("the warehouse is away"))
				}
				return &svcv2.QueryBreakdownResponse{Warnings: []string{`No service "payment" was received in this window.`}}, nil
			}
			return nil, nil
		})
		_, messages, err := run(t.Context(), t, s, c.path, console.Query{Options: console.Options{Service: "payment"}},
			console.Output{Format: console.FormatTable})
		if err != nil || !strings.Contains(messages, "the server could not look up service payment") || !strings.Contains(messages, "is away") {
			t.Errorf("%s: %v, %q", name, err, messages)
		}
		if len(windows) == 0 || windows[0] != c.hours {
			t.Errorf("%s: svc %s looks a name up in %s, want %s first", name, c.path, windows, c.hours)
		}
	}
}

func length(r *svcv2.QueryBreakdownRequest) time.Duration {
	return r.GetEndTime().AsTime().Sub(r.GetStartTime().AsTime())
}
