package diagnose

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

// A service has a higher error rate than before if it is HigherRate times as high, and more than HigherRateFrom.
const (
	HigherRate     = 1.5
	HigherRateFrom = 0.001
)

const (
	// examined is the number of changed services that are searched for causes.
	examined = 3
	// answerTime is the time left of a call at which the search for causes stops.
	answerTime = 2 * time.Second
)

// before ends a context some time before its deadline.
func before(ctx context.Context, left time.Duration) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, deadline.Add(-left))
}

// compared is a service of a comparison. weight says how much it changed for the worse.
type compared struct {
	*svcv2.ComparedService
	weight float64
}

// Compare compares two periods. It finds the services that changed, and why.
func (e *Engine) Compare(ctx context.Context, current, prev Period, s Scope) (*svcv2.PeriodComparison, error) {
	var now, was []*svcv2.Service
	var patterns *svcv2.LogPatternList
	var m *svcv2.ServiceMap
	var covered, coveredBefore coverage
	err := atonce.Run(
		func() (err error) { covered, err = e.coverage(ctx, current, s.Environment); return err },
		func() (err error) { coveredBefore, err = e.coverage(ctx, prev, s.Environment); return err },
		func() (err error) { now, err = e.services(ctx, current, s.Environment); return err },
		func() (err error) { was, err = e.services(ctx, prev, s.Environment); return err },
		func() (err error) { patterns, err = e.patterns(ctx, current, s); return err },
		func() (err error) { m, err = e.serviceMap(ctx, current, Scope{Environment: s.Environment}); return err },
	)
	if err != nil {
		return nil, err
	}
	res := &svcv2.PeriodComparison{
		Object:            "period_comparison",
		StartTime:         current.start(),
		EndTime:           current.end(),
		PreviousStartTime: prev.start(),
		PreviousEndTime:   prev.end(),
		Current:           &svcv2.PeriodTotals{},
		Previous:          &svcv2.PeriodTotals{},
		PreviousIsThin:    coveredBefore.thin(covered),
	}
	res.Current.DataStartTime, res.Current.DataEndTime = covered.times()
	res.Previous.DataStartTime, res.Previous.DataEndTime = coveredBefore.times()
	rows := map[string]*compared{}
	add := func(list []*svcv2.Service, p Period, c coverage, sum *svcv2.PeriodTotals, set func(*compared, *svcv2.PeriodFigures)) {
		for _, r := range list {
			if s.Service != nil && *s.Service != r.GetName() {
				continue
			}
			if rows[r.GetName()] == nil {
				rows[r.GetName()] = &compared{
					&svcv2.ComparedService{Name: r.GetName(), Current: &svcv2.PeriodFigures{}, Previous: &svcv2.PeriodFigures{}},
					0,
				}
			}
			set(rows[r.GetName()], figures(r, p, c))
			res.DeploymentEnvironments = append(res.DeploymentEnvironments, r.GetDeploymentEnvironments()...)
			spans := r.GetThroughput() * p.length().Seconds()
			sum.SpanCount += spans
			sum.ErrorCount += spans * r.GetErrorRate()
		}
		if sum.SpanCount > 0 {
			sum.ErrorRate = sum.GetErrorCount() / sum.GetSpanCount()
		}
	}
	add(now, current, covered, res.GetCurrent(), func(c *compared, p *svcv2.PeriodFigures) { c.Current = p })
	add(was, prev, coveredBefore, res.GetPrevious(), func(c *compared, p *svcv2.PeriodFigures) { c.Previous = p })
	slices.Sort(res.DeploymentEnvironments)
	res.DeploymentEnvironments = slices.Compact(res.DeploymentEnvironments)
	var list []*compared
	for _, c := range rows {
		if !res.GetPreviousIsThin() {
			c.flag()
		}
		list = append(list, c)
	}
	slices.SortFunc(list, func(x, y *compared) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.GetName(), y.GetName()))
	})
	for _, c := range list {
		res.Services = append(res.Services, c.ComparedService)
	}
	var found []cause
	if !res.GetPreviousIsThin() {
		found = logCauses(patterns, "", scaled(1, coveredBefore.Period, covered.Period))
	}
	search, cancel := before(ctx, answerTime)
	defer cancel()
	for _, service := range suspects(list, m, found, s.Service) {
		v, err := e.gather(search, service, s.Environment, current, prev, covered, coveredBefore)
		if err != nil && search.Err() != nil && ctx.Err() == nil {
			res.Incomplete = true // the figures and the causes so far are worth more than a failure
			break
		}
		if err != nil {
			return nil, err
		}
		for _, c := range v.causes() {
			if c.kind != "logs" || !slices.ContainsFunc(found, func(f cause) bool { return f.kind == "logs" && f.service == c.service }) {
				found = append(found, c)
			}
		}
	}
	rank(found, edges(m))
	res.Causes = toCauses(found, limits.ComparedCauses)
	return res, nil
}

// flag sets the flags of the changes for the worse, and their weight.
func (c *compared) flag() {
	now, was := c.GetCurrent(), c.GetPrevious()
	if now.GetErrorRate() > HigherRate*was.GetErrorRate() && now.GetErrorRate() > HigherRateFrom {
		c.Flags = append(c.Flags, "error_rate_up")
		c.weight += 20*(now.GetErrorRate()-was.GetErrorRate()) + growth(now.GetErrorRate(), was.GetErrorRate())/2
	}
	if was.GetP95LatencyMs() > 0 && now.GetP95LatencyMs() > 2*was.GetP95LatencyMs() {
		c.Flags = append(c.Flags, "latency_up")
		c.weight += math.Log2(now.GetP95LatencyMs() / was.GetP95LatencyMs())
	}
	if was.GetThroughput() > 0 && now.GetThroughput() < 0.5*was.GetThroughput() {
		c.Flags = append(c.Flags, "throughput_drop")
		c.weight++
	}
}

// suspects returns the services to examine: the ones that changed most, and before them the ones that they call. Trouble moves
// from a service to its callers.
func suspects(list []*compared, m *svcv2.ServiceMap, logs []cause, only *string) []string {
	if only != nil {
		return []string{*only}
	}
	flagged := map[string]bool{}
	for _, c := range list {
		if len(c.Flags) > 0 {
			flagged[c.Name] = true
		}
	}
	calls := map[string]bool{} // flagged services that call a flagged one
	for _, e := range m.GetEdges() {
		if flagged[e.GetSourceService()] && flagged[e.GetTargetService()] && e.GetSourceService() != e.GetTargetService() {
			calls[e.GetSourceService()] = true
		}
	}
	var first, then []string
	for _, c := range list {
		switch {
		case !flagged[c.Name]:
		case calls[c.Name]:
			then = append(then, c.Name)
		default:
			first = append(first, c.Name)
		}
	}
	order := append(first, then...)
	order = order[:min(len(order), examined)]
	// The service that changed most is always examined, even if it only calls other services that changed.
	if len(list) > 0 && flagged[list[0].Name] && !slices.Contains(order, list[0].Name) {
		order = append(order, list[0].Name)
	}
	for _, c := range logs {
		if c.service != "" && !slices.Contains(order, c.service) && len(order) < limits.ExaminedServices {
			order = append(order, c.service)
		}
	}
	return order
}
