package productevents

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/engine"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// SearchProductEventFunnel computes a funnel.
func (s *Service) SearchProductEventFunnel(
	ctx context.Context, req *svcv2.SearchProductEventFunnelRequest,
) (*svcv2.ProductEventFunnel, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	f, err := toFunnel(req)
	if err != nil {
		return nil, err
	}
	rows, err := read.All[reads.FunnelRow](ctx, s.warehouse, org, reads.FunnelCounts(f).Until(f.Window.End))
	if err != nil {
		return nil, err
	}
	res := &svcv2.ProductEventFunnel{
		Object: "product_event_funnel", StartTime: timestamppb.New(f.Window.Start), EndTime: timestamppb.New(f.Window.End),
		KeyBy: string(f.KeyBy), WindowSeconds: f.Within.Seconds(), BreakdownBy: req.BreakdownBy,
	}
	res.Steps, res.ConversionRate = toFunnelSteps(f.Steps, reads.FunnelRow{}) // a row of zeros
	var all reads.FunnelRow
	for _, row := range rows {
		steps, rate := toFunnelSteps(f.Steps, row)
		name := row.Group
		switch {
		case row.Class == reads.FunnelAll:
			all, res.Steps, res.ConversionRate = row, steps, rate
			continue
		case row.Class == reads.FunnelOther:
			name = reads.OtherNode
		case name == "":
			name = reads.NoGroup
		}
		res.Groups = append(res.Groups, &svcv2.ProductEventFunnelGroup{Group: name, Steps: steps, ConversionRate: rate})
	}
	if res.Warnings, err = engine.UnknownEvents(ctx, s.warehouse, org, f.Window, f.Unreached(all)); err != nil {
		return nil, err
	}
	if !req.GetLeavers() {
		return res, nil
	}
	leavers, err := read.All[reads.LeaverRow](ctx, s.warehouse, org, reads.FunnelLeavers(f).Until(f.Window.End))
	if err != nil {
		return nil, err
	}
	for _, row := range leavers {
		step := res.GetSteps()[row.Level-1]
		step.Leavers = append(step.Leavers, &svcv2.ProductEventLeaver{Name: row.Name, Count: float64(row.Count)})
	}
	return res, nil
}

func toFunnel(req *svcv2.SearchProductEventFunnelRequest) (f reads.Funnel, err error) {
	if f.Window, err = query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.ActivityWindow); err != nil {
		return f, err
	}
	if n := len(req.GetSteps()); n == 0 || n > limits.FunnelSteps {
		return f, apierr.New(apierr.InvalidRequest, fmt.Sprintf("steps must hold 1 to %d steps.", limits.FunnelSteps), apierr.Param("steps"))
	}
	for i, s := range req.GetSteps() {
		at := fmt.Sprintf("steps[%d]", i)
		if s.GetKind() == reads.StepSession && i > 0 {
			return f, invalid(at+".kind", "can be session only in the first step.")
		}
		step, err := toStep(at, s)
		if err != nil {
			return f, err
		}
		f.Steps = append(f.Steps, step)
	}
	if f.Dimension, f.Attribute, err = toBreakdown(req.BreakdownBy); err != nil {
		return f, err
	}
	f.KeyBy, f.Within = reads.NewKeyBy(req.KeyBy), reads.NewWithin(req.WindowSeconds)
	f.Sessions, f.Groups = reads.NewSessionFilters(req.GetFilters()), limits.DefaultFunnelBreakdown
	if req.BreakdownLimit != nil {
		f.Groups = int(req.GetBreakdownLimit())
	}
	return f, nil
}

func toFunnelSteps(steps []reads.Step, row reads.FunnelRow) (out []*svcv2.ProductEventFunnelStep, rate *float64) {
	count := func(i int) float64 {
		if i < len(row.Counts) {
			return float64(row.Counts[i])
		}
		return 0
	}
	first := count(0)
	for i, s := range steps {
		p := &svcv2.ProductEventFunnelStep{Step: uint32(i + 1), Name: s.Name(), Count: count(i)}
		if first > 0 {
			p.OfFirst = p.Count / first
		}
		if i > 0 {
			previous := count(i - 1)
			p.DropOff = previous - p.Count
			if previous > 0 {
				share := p.Count / previous
				p.OfPrevious = &share
			}
			if i-1 < len(row.Nanoseconds) && p.Count > 0 {
				p50, p90 := row.Nanoseconds[i-1][0]/1e6, row.Nanoseconds[i-1][1]/1e6
				p.P50Ms, p.P90Ms = &p50, &p90
			}
		}
		out = append(out, p)
	}
	if first > 0 && len(steps) > 1 {
		share := count(len(steps)-1) / first
		rate = &share
	}
	return out, rate
}
