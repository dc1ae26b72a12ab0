package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

// tagUnknown is the tag of a refusal of a name that no telemetry has.
const tagUnknown = "@svc/cli/NameUnknown"

// lookup is a name in the command line. field is that of the query language, param that of requests.
type lookup struct{ flag, field, param, value string }

// unknown looks for the service and the environment of a query that found nothing, because an answer without rows would look like good
// news. A name that no telemetry has is a Failure, which lists near names. Otherwise a note says what is not certain.
func (q *Query) unknown(ctx context.Context, c *Command) (notes []string, err error) {
	if c.kept {
		return nil, nil
	}
	start, end, err := q.window()
	if err != nil {
		return nil, err
	}
	var names []lookup
	for _, n := range []lookup{
		{"service", "service.name", "service_name", q.Service},
		{"environment", "deployment.environment", "deployment_environment", q.Environment},
	} {
		if n.value != "" {
			names = append(names, n)
		}
	}
	found, checks := make([]string, len(names)), make([]func() error, len(names))
	for i, n := range names {
		checks[i] = func() (err error) {
			found[i], err = q.lookUp(ctx, c, n, start.AsTime(), end.AsTime())
			return err
		}
	}
	if err := atonce.Run(checks...); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(note string) bool { return note == "" }), nil
}

// lookUp looks for one name in the window of the query, and in the longest window until now.
func (q *Query) lookUp(ctx context.Context, c *Command, n lookup, start, end time.Time) (note string, err error) {
	recent := q.Now.Add(-limits.BreakdownWindow).Truncate(time.Minute).Add(time.Minute)
	if q.Follow { // a follower has no window
		start, end = recent, q.Now
	}
	warning, err := q.warning(ctx, n, start, end)
	if err == nil && warning == "" {
		return "", nil
	}
	if err == nil && !q.Follow {
		var later string
		if later, err = q.warning(ctx, n, recent, q.Now); err == nil && later == "" {
			return fmt.Sprintf("%s %s sent telemetry in the last %s, but not in this window: no rows means no data, not that all is well",
				n.flag, n.value, limits.Lasts(limits.BreakdownWindow)), nil
		}
	}
	switch {
	case err != nil:
		text, _, _ := strings.Cut(q.client.failure(err).Error(), "\n")
		return fmt.Sprintf("the server could not look up %s %s, so no rows may also mean that nothing has this name: %s", n.flag, n.value, text), nil
	case q.Follow:
		return fmt.Sprintf("%s %s is not known yet: %s", n.flag, n.value, warning), nil
	case start.Before(recent):
		return fmt.Sprintf("%s %s is not known in the last %s, and older names were not looked up: %s",
			n.flag, n.value, limits.Lasts(limits.BreakdownWindow), warning), nil
	case n.flag == "environment" && !slices.Contains([]string{"traces", "logs"}, c.signal(q)):
		return fmt.Sprintf("no span and no log record has environment %s; metrics and product events were not searched: %s", n.value, warning), nil
	}
	return "", &Failure{
		err: fmt.Errorf("%s %s is not known", n.flag, n.value),
		detail: &optionsv1.ErrorDetail{
			Tag: tagUnknown, Type: "invalid_request_error", Code: "name_unknown", Title: "Name unknown", Recovery: "fix_request", Param: n.param,
			Message: fmt.Sprintf("%q is not known in the last %s: %s", n.value, limits.Lasts(limits.BreakdownWindow), warning),
		},
	}
}

// signal is the telemetry that the command reads.
func (c *Command) signal(q *Query) string {
	if c.Path == "metrics" {
		return "metrics"
	}
	return q.signal()
}

// warning is what the query language says about a name that it does not find, in at most the last part of the window that one query may
// read. It is empty if telemetry has the name. Services come from all telemetry, environments from spans and log records.
func (q *Query) warning(ctx context.Context, n lookup, start, end time.Time) (string, error) {
	if longest := end.Add(-limits.BreakdownWindow).Add(time.Minute); start.Before(longest) {
		start = longest
	}
	res, err := q.client.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(end), Queries: []*svcv2.QuerySpec{{
			Name: "A", Source: "traces", Aggregation: "count", Filter: &svcv2.QueryFilter{All: []*svcv2.QueryFilter{
				{Field: &n.field, Operator: new("="), Value: structpb.NewStringValue(n.value)},
			}},
		}},
	})
	if err != nil {
		return "", err
	}
	for _, w := range res.GetWarnings() {
		if strings.HasPrefix(w, "No ") {
			return w, nil
		}
	}
	return "", nil
}
