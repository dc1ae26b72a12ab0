package diagnose

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// slowerOperation compares the operations of a service that got slower with the time before, each with itself.
func (e *Engine) slowerOperation(ctx context.Context, org principal.OrgID, i *incident) error {
	if i.of(latency).score == 0 {
		return nil
	}
	const longest = 3 * time.Hour
	now, before := i.window, i.before()
	if now.length() > longest {
		now.End = now.Start.Add(longest)
	}
	rows, err := read.All[reads.OperationLevelRow](ctx, e.read.Warehouse, org, reads.OperationLevels(
		query.Window{Start: now.Start, End: now.End}, query.Window{Start: before.Start, End: before.End}, i.scope(), limits.IncidentOperations))
	if err != nil {
		return err
	}
	all := 0.0
	for _, r := range rows {
		all += float64(r.Now)
	}
	cost := 0.0
	for _, r := range rows {
		if float64(r.Now) < 0.03*all || r.Now < 10 || r.Before < 10 {
			continue
		}
		if more := float64(r.Now) * (r.NowMean - r.BeforeMean); slower(r) && more > cost {
			i.slower, cost = &r, more
		}
	}
	return nil
}

// slower tells whether an operation takes longer than before: some of its spans, or most of them, and not by chance. A few long spans more
// among a few dozen are chance.
func slower(r reads.OperationLevelRow) bool {
	tail := r.NowP95 > 1.4*r.BeforeP95 && r.NowMean > 1.25*r.BeforeMean && r.NowP95-r.BeforeP95 > 5
	most := r.NowMean > 1.1*r.BeforeMean && r.NowMean-r.BeforeMean > 5 && typically(r.NowLog) > 1.3*typically(r.BeforeLog)
	deviation := math.Sqrt(r.NowVariance/float64(r.Now) + r.BeforeVariance/float64(r.Before))
	return (tail || most) && r.NowLog-r.BeforeLog > 3.5*deviation
}

// typically is the geometric mean in milliseconds.
func typically(log float64) float64 { return math.Exp(log) / 1e6 }

// onlyMix tells whether the service only seems slow: none of its operations takes longer, but slow ones were called more often.
func (i *incident) onlyMix() bool {
	return i.of(latency).score > 0 && i.slower == nil && i.of(errorRate, dependencyErrors).score == 0 && i.of(errorGroup).score < 2*minorScore
}

// operation is the operation of the service that takes longer.
func (i *incident) operation() finding {
	if i.slower == nil {
		return finding{}
	}
	o := i.slower
	f := finding{
		kind: "operation", target: o.Name, confidence: 0.55,
		statement: fmt.Sprintf("The operation %s of %s takes longer: 95th percentile %s ms, %s ms before.", o.Name, i.service,
			wording.Number(o.NowP95), wording.Number(o.BeforeP95)),
	}
	if o.NowP95 <= 1.4*o.BeforeP95 {
		f.statement = fmt.Sprintf("The operation %s of %s takes longer: typically %s ms, %s ms before.", o.Name, i.service,
			wording.Number(typically(o.NowLog)), wording.Number(typically(o.BeforeLog)))
	}
	return f
}
