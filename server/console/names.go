package console

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

// Kinds of names that a shell can complete. A server knows them.
const (
	NamesServices     = "services"
	NamesEnvironments = "environments"
	NamesTables       = "tables"
	NamesTools        = "tools"
)

// harmless are names that mean themselves in every shell. Names come from senders of telemetry, and a shell may run a name such as
// $(reboot) when a person completes and enters it. So others are not offered.
var harmless = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.:/@+%-]{0,127}$`)

// Names are the names of one kind on the server, in order.
func (c *Client) Names(ctx context.Context, kind string) ([]string, error) {
	var list []string
	switch kind {
	case NamesServices, NamesEnvironments:
		services, err := c.namedServices(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range services {
			if kind == NamesServices {
				list = append(list, s.GetName())
			} else {
				list = append(list, s.GetDeploymentEnvironments()...)
			}
		}
	case NamesTables:
		res, err := c.sql.ListSqlTables(ctx, &svcv2.ListSqlTablesRequest{})
		if err != nil {
			return nil, c.failure(err)
		}
		for _, t := range res.GetData() {
			list = append(list, t.GetName())
		}
	case NamesTools:
		tools, err := (&Query{client: c}).tools(ctx)
		if err != nil {
			return nil, err
		}
		for _, t := range tools {
			list = append(list, t.Name)
		}
	default:
		return nil, fmt.Errorf("there are no names of %s", kind)
	}
	list = slices.DeleteFunc(list, func(name string) bool { return !harmless.MatchString(name) })
	slices.Sort(list)
	return slices.Compact(list), nil
}

// namedServices are the services of the last day.
func (c *Client) namedServices(ctx context.Context) ([]*svcv2.Service, error) {
	now := time.Now()
	q := &Query{client: c, Options: Options{Limit: limits.CompletedNames}}
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListServicesResponse, error) {
		return c.services.ListServices(ctx, &svcv2.ListServicesRequest{
			StartTime: timestamppb.New(now.Add(-limits.Day)), EndTime: timestamppb.New(now), Limit: &limit, Cursor: cursor,
		})
	}, func(r *svcv2.ListServicesResponse) *[]*svcv2.Service { return &r.Data })
	return res.GetData(), err
}

// Completion returns the kind of names, or the list of values, that an argument can have. Both are empty for a text.
func (c *Command) Completion(argument int) (kind string, values []string) {
	if argument >= len(c.Arguments) {
		return "", nil
	}
	switch strings.Trim(c.Arguments[argument], "[]") {
	case "SERVICE":
		return NamesServices, nil
	case "TABLE":
		return NamesTables, nil
	case "STATE":
		return "", issueStates()
	case "NAME":
		return NamesTools, nil
	}
	return "", nil
}

// UnknownError is a name in the command line that no telemetry has.
type UnknownError struct{ text string }

func (e *UnknownError) Error() string { return e.text }

// unknown looks for the service and the environment of a query that found nothing, because an answer without rows would look like good
// news. A name that no telemetry has is an UnknownError, which lists near names. A name that is missing only in the window gives a note.
func (q *Query) unknown(ctx context.Context) (notes []string, err error) {
	start, end, err := q.window(0)
	if err != nil {
		return nil, err
	}
	names := []struct{ flag, field, value string }{
		{"service", "service.name", q.Service}, {"environment", "deployment.environment", q.Environment},
	}
	found := make([]string, len(names))
	var checks []func() error
	for i, n := range names {
		if n.value == "" {
			continue
		}
		checks = append(checks, func() error {
			warning := q.warning(ctx, n.field, n.value, start.AsTime(), end.AsTime())
			if warning == "" {
				return nil
			}
			longest := limits.BreakdownWindow
			if q.warning(ctx, n.field, n.value, q.Now.Add(-longest).Truncate(time.Minute).Add(time.Minute), q.Now) != "" {
				return &UnknownError{fmt.Sprintf("--%s %q is not known: %s", n.flag, n.value, warning)}
			}
			found[i] = fmt.Sprintf("%s %s sent telemetry in the last %s, but not in this window: no rows means no data, not that all is well",
				n.flag, n.value, limits.Lasts(longest))
			return nil
		})
	}
	if err := atonce.Run(checks...); err != nil {
		return nil, err
	}
	for _, note := range found {
		if note != "" {
			notes = append(notes, note)
		}
	}
	return notes, nil
}

// warning is what the query language says about a name that it does not find. It is empty if telemetry has the name, and if the server does
// not answer the question: then the answer of the command stands.
func (q *Query) warning(ctx context.Context, field, value string, start, end time.Time) string {
	if longest := end.Add(-limits.BreakdownWindow).Add(time.Minute); start.Before(longest) {
		start = longest
	}
	res, err := q.client.query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(end), Queries: []*svcv2.QuerySpec{{
			Name: "A", Source: "traces", Aggregation: "count", Filter: &svcv2.QueryFilter{All: []*svcv2.QueryFilter{
				{Field: &field, Operator: new("="), Value: structpb.NewStringValue(value)},
			}},
		}},
	})
	if err != nil {
		return ""
	}
	for _, w := range res.GetWarnings() {
		if strings.HasPrefix(w, "No ") {
			return w
		}
	}
	return ""
}
