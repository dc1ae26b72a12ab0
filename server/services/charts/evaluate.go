package charts

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
)

// evaluate adds the figures of the minutes that are not known, with the evaluation of the worker. A rule that has changed since the
// decision asks another question, so nothing is added. groups are those that the chart shows; nil for all with data.
func (c *Charts) evaluate(ctx context.Context, a *alert, known map[time.Time]figure, groups []string, into figures) error {
	var missing []time.Time
	for _, at := range a.grid {
		if _, ok := known[at]; !ok {
			missing = append(missing, at)
		}
	}
	if a.rule.Version != a.Version || len(missing) == 0 {
		return nil
	}
	if !alerting.Together(&a.rule) {
		missing = thin(missing, limits.ChartEvaluations)
	}
	f, err := c.figures(ctx, a.Org, alerting.Ask{Rule: &a.rule, Minutes: missing, Keep: groups})
	if err != nil || f.Err != nil {
		return err // a rule whose query does not work any more has the figures of its checks only
	}
	condition := alerting.ConditionOf(&a.rule)
	for i, at := range missing {
		for _, group := range alerting.GroupsOf(&a.rule, f.Groups[i], nil) {
			if groups != nil && !slices.Contains(groups, group) {
				continue
			}
			in := f.Groups[i][group]
			_, decided := alerting.Step(&condition, alerting.State{}, in, at)
			threshold := a.rule.Threshold
			if in.Threshold != nil {
				threshold = *in.Threshold
			}
			into.put(group, at, figure{decided.Value, threshold})
		}
	}
	return nil
}

func (c *Charts) figures(ctx context.Context, org principal.OrgID, ask alerting.Ask) (alerting.Figures, error) {
	out, err := c.cfg.Figures.Figures(ctx, org, []alerting.Ask{ask})
	if err != nil {
		return alerting.Figures{}, read.Failure(ctx, query.ExplainAll(err))
	}
	return out[0], nil
}

// thin keeps so many minutes, equally far apart, the last one among them.
func thin(minutes []time.Time, most int) []time.Time {
	if len(minutes) <= most {
		return minutes
	}
	out := make([]time.Time, most)
	for i := range out {
		out[i] = minutes[(i+1)*len(minutes)/most-1]
	}
	return out
}

// series are the points of a group.
func (a *alert) series(name string, f map[time.Time]figure) *svcv2.ChartPictureSeries {
	out := &svcv2.ChartPictureSeries{Name: name}
	for _, at := range a.grid {
		if one := f[at]; one.value != nil {
			out.Points = append(out.Points, point(at, *one.value))
		}
	}
	return out
}

func point(at time.Time, value float64) *structpb.ListValue {
	return &structpb.ListValue{Values: []*structpb.Value{
		structpb.NewNumberValue(float64(at.UnixMilli())), structpb.NewNumberValue(value),
	}}
}

// compare adds the threshold, and the side on which values breach. Of the two ends of a range, it is the one that the value of the
// decision is beyond.
func compare(out *svcv2.ChartPicture, comparator string, threshold float64, upper, value *float64) {
	side := "none"
	switch comparator {
	case "gt", "gte":
		side = "above"
	case "lt", "lte":
		side = "below"
	case "not_between":
		side = "below"
		if upper != nil && value != nil && *value > *upper {
			threshold, side = *upper, "above"
		}
	}
	out.Threshold, out.BreachSide = &threshold, &side
}

// kindOf is the form of a chart: an amount has an area, another figure a line.
func kindOf(signal string) string {
	if signal == "throughput" {
		return "area"
	}
	return "line"
}

// unitOf is the unit of the figures of a rule. Messages write the throughput in requests a minute, so it is a plain number here, too.
func unitOf(r *store.AlertRule) string {
	switch {
	case len(r.Burn) > 0:
		return "number"
	case r.SignalType == "error_rate":
		return "percent"
	case r.SignalType == "p95_latency", r.SignalType == "p99_latency":
		return "duration_ms"
	default:
		return "number"
	}
}
