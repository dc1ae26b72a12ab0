package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

// lookup is a name in the arguments of a call, with the query that shows whether any telemetry has it.
type lookup struct {
	param, source, field, operator, value string
	metric                                *svcv2.QueryMetric
}

// lookups lists the names in the arguments. Tools that write may name services before they send anything.
func (t *Tool) lookups(c *Call) []lookup {
	var out []lookup
	if t.Writes || t.clients == nil {
		return nil
	}
	for field, p := range c.fields {
		v, ok := c.value(field)
		if !ok {
			continue
		}
		if steps, ok := v.(json.RawMessage); ok && p.name == "steps_json" {
			for _, event := range eventsOf(steps) {
				out = append(out, lookup{param: p.name, source: "product_events", field: "event.name", operator: "=", value: event})
			}
			continue
		}
		values, isList := v.([]string)
		if text, isText := v.(string); isText {
			values = []string{text}
		} else if !isList {
			continue
		}
		for _, value := range values {
			l := lookup{param: p.name, source: "traces", operator: "=", value: value}
			switch p.name {
			case "service", "services":
				l.field = "service.name"
			case "environment", "environments":
				l.field = "deployment.environment"
			case "span_name":
				l.field, l.operator = "span.name", "contains"
			case "event_name":
				l.source, l.field = "product_events", "event.name"
			case "metric_name":
				l.source, l.metric = "metrics", &svcv2.QueryMetric{Name: value}
			case "attribute_key":
				if t.param("source") != nil {
					continue // the query itself names an attribute that nobody sends
				}
				l.field, l.operator = "attr."+value, "exists"
			default:
				continue
			}
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b lookup) int { return strings.Compare(a.param+a.value, b.param+b.value) })
	return out[:min(len(out), mostLookups)]
}

// eventsOf lists the events in the steps of a funnel. A step is a name, or an object with event_name. The tool itself refuses other
// forms.
func eventsOf(steps json.RawMessage) (names []string) {
	var list []json.RawMessage
	if json.Unmarshal(steps, &list) != nil {
		return nil
	}
	for _, one := range list {
		var name string
		var step struct {
			Name string `json:"event_name"`
		}
		if json.Unmarshal(one, &name) != nil && json.Unmarshal(one, &step) == nil {
			name = step.Name
		}
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// mostLookups bounds the names that are looked up for one call.
const mostLookups = 6

// withNames runs a tool and looks up the names in its arguments at the same time. A name that no telemetry has is an error that
// lists existing names: an answer without rows would look like good news. A name that is missing only in the time range of the
// call gives a note.
func (t *Tool) withNames(ctx context.Context, c *Call, run func(context.Context) (*Answer, error)) (*Answer, error) {
	names := t.lookups(c)
	if len(names) == 0 {
		return run(ctx)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start, end := c.window()
	done := make(chan []string, 1)
	go func() {
		notes := make([]string, len(names))
		checks := make([]func() error, len(names))
		for i, l := range names {
			checks[i] = func() (err error) {
				notes[i], err = t.unknown(ctx, l, start, end, c.Now)
				return err
			}
		}
		if err := atonce.Run(checks...); err != nil {
			cancel(err) // ends the tool, which cannot find anything
		}
		done <- notes
	}()
	out, err := run(ctx)
	notes := <-done
	if bad := (*InputError)(nil); errors.As(context.Cause(ctx), &bad) {
		return nil, bad
	}
	if err != nil {
		return nil, err
	}
	for _, note := range notes {
		if note != "" {
			out.Text.Notes = append(out.Text.Notes, note)
		}
	}
	return out, nil
}

// window is the time that the arguments span, in whole minutes: from the first start to the last end.
func (c *Call) window() (start, end time.Time) {
	for field, p := range c.fields {
		v, ok := c.value(field)
		at, isTime := v.(time.Time)
		switch {
		case !ok || !isTime:
		case strings.Contains(p.name, "start") && (start.IsZero() || at.Before(start)):
			start = at
		case strings.Contains(p.name, "end") && at.After(end):
			end = at
		}
	}
	if end.IsZero() {
		end = c.Now
	}
	if start.IsZero() {
		start = end.Add(-limits.DefaultToolWindow)
	}
	end = end.Truncate(time.Minute).Add(time.Minute - time.Nanosecond)
	if longest := end.Add(-limits.BreakdownWindow); start.Before(longest) {
		start = longest.Add(time.Minute)
	}
	return start.Truncate(time.Minute), end
}

// unknown looks for a name in the time range, and if it is missing there, in the longest time range until now. If the name exists
// only there, unknown returns a note. If it does not exist at all, unknown returns an *InputError.
func (t *Tool) unknown(ctx context.Context, l lookup, start, end, now time.Time) (note string, err error) {
	warning, ok := t.ask(ctx, l, start, end)
	if !ok || warning == "" {
		return "", nil
	}
	longest := limits.BreakdownWindow
	if warning, ok := t.ask(ctx, l, now.Add(-longest).Truncate(time.Minute).Add(time.Minute), now); ok && warning == "" {
		note := fmt.Sprintf("%s %s was seen in the last %s, but not in this time range: no rows means no data, not that all is well.",
			l.param, l.value, limits.Lasts(longest))
		if last, ok := t.lastSeen(ctx, l, now); ok {
			w := Period(last, last.Add(time.Hour))
			note += fmt.Sprintf(" Its last data is from the hour with start_time=%s and end_time=%s.", w.Start, w.End)
		}
		return note, nil
	}
	return "", BadInput(l.param, fmt.Sprintf("is %q, which is not known. %s", l.value, warning), "")
}

// spec is the query that counts the rows with the name.
func (l lookup) spec() *svcv2.QuerySpec {
	spec := &svcv2.QuerySpec{Name: "A", Source: l.source, Aggregation: "count", Metric: l.metric}
	if l.field != "" {
		one := &svcv2.QueryFilter{Field: &l.field, Operator: &l.operator}
		if l.operator != "exists" {
			one.Value = StructValue(l.value)
		}
		spec.Filter = &svcv2.QueryFilter{All: []*svcv2.QueryFilter{one}}
	}
	return spec
}

// lastSeen is the last whole hour with rows that have the name. ok is false if no such hour was found.
func (t *Tool) lastSeen(ctx context.Context, l lookup, now time.Time) (last time.Time, ok bool) {
	out, err := t.clients.Query.QueryTimeseries(ctx, &svcv2.QueryTimeseriesRequest{
		StartTime: timestamppb.New(now.Add(-limits.BreakdownWindow).Truncate(time.Hour).Add(time.Hour)), EndTime: timestamppb.New(now),
		Queries: []*svcv2.QuerySpec{l.spec()}, BucketSeconds: new(int32(time.Hour / time.Second)),
	})
	if err != nil {
		return last, false
	}
	for _, s := range out.GetSeries() {
		for _, p := range s.GetPoints() {
			if at := p.GetTimestamp().AsTime(); p.GetValue() > 0 && at.After(last) {
				last, ok = at, true
			}
		}
	}
	return last, ok
}

// ask returns the warning of the query language about the name. The warning is empty if telemetry has the name. ok is false if
// the caller may not query, or if the query fails: the call itself then reports why.
func (t *Tool) ask(ctx context.Context, l lookup, start, end time.Time) (warning string, ok bool) {
	spec := l.spec()
	if l.field != "" && l.operator != "=" { // the names are known without a read of the rows
		field, operator := "trace.id", "="
		spec.Filter.All = append(spec.Filter.All, &svcv2.QueryFilter{
			Field: &field, Operator: &operator, Value: StructValue(strings.Repeat("0", 32)),
		})
	}
	out, err := t.clients.Query.QueryBreakdown(ctx, &svcv2.QueryBreakdownRequest{
		StartTime: timestamppb.New(start), EndTime: timestamppb.New(end), Queries: []*svcv2.QuerySpec{spec},
	})
	if err != nil {
		return "", false
	}
	for _, w := range out.GetWarnings() {
		if strings.HasPrefix(w, "No ") {
			return w, true
		}
	}
	return "", true
}
