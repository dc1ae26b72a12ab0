package diagnose

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// grown is the least factor by which the traffic of a service must have grown to be looked at.
const grown = 1.1

// trafficOf finds the sender of additional requests, if the service or one of its callers gets more than usual. When one customer sends a
// lot, a service with many customers gets only a little more. So a service counts even if its traffic is not a change by itself, provided
// that one value of an attribute makes up the difference.
func (e *Engine) trafficOf(ctx context.Context, org principal.OrgID, i *incident) (finding, error) {
	rise := i.rise()
	var f finding
	if rise.kind != "" {
		f = finding{kind: "traffic", statement: "More requests came: " + rise.statement() + ".", confidence: 0.62}
	}
	if rise.kind == "" && i.of(latency, resource, errorRate).score == 0 {
		return f, nil
	}
	for _, service := range i.upstream() {
		factor := i.search.growth(service, i.environment, i.window)
		if factor < grown {
			continue
		}
		v, err := e.sender(ctx, org, i, service)
		if err != nil {
			return finding{}, err
		}
		if v == nil {
			continue
		}
		if f.statement == "" {
			f = finding{kind: "traffic", statement: fmt.Sprintf("%s gets %s times as many requests as usual.", service,
				wording.Number(math.Round(10*factor)/10))}
		}
		f.key, f.value, f.confidence = v.GetKey(), v.GetValue(), 0.86
		f.statement += fmt.Sprintf(" %s makes %s of those of %s, %s before.", describe(f.key, f.value), wording.Percent(v.GetSelectedShare()),
			service, wording.Percent(v.GetOtherShare()))
		break
	}
	return f, nil
}

// rise is the change of traffic from which the others of the incident may come.
func (i *incident) rise() symptom {
	var rise symptom
	for _, y := range i.symptoms {
		if y.kind != throughput || !y.up() || y.from.Sub(i.window.Start) > Together {
			continue
		}
		// Of services that call each other, the traffic comes in at the first.
		if rise.kind == "" || i.calls[[2]string{y.service, rise.service}] && !i.calls[[2]string{rise.service, y.service}] {
			rise = y
		}
	}
	return rise
}

// upstream lists the service of the cause, and those from which its requests come, the nearest first.
func (i *incident) upstream() []string {
	const most = 6
	list := []string{i.service}
	for at := 0; at < len(list); at++ {
		var callers []string
		for pair := range i.calls {
			if pair[1] == list[at] && !slices.Contains(list, pair[0]) {
				callers = append(callers, pair[0])
			}
		}
		slices.Sort(callers)
		list = append(list, callers...)
	}
	return list[:min(len(list), most)]
}

// sender finds the value that sends the additional requests to a service: it has a much greater part of them than before.
func (e *Engine) sender(ctx context.Context, org principal.OrgID, i *incident, service string) (*svcv2.DifferenceValue, error) {
	scope := []query.Filter{is("service.name", query.OpEqual, service), is("is_entry", query.OpEqual, "true")}
	if i.environment != nil {
		scope = append(scope, is("deployment.environment", query.OpEqual, *i.environment))
	}
	before := i.before()
	d, err := e.Difference(ctx, org, reads.Difference{
		Source: query.Traces, Scope: query.And(scope...),
		Selected: reads.Selection{Window: query.Window{Start: i.window.Start, End: i.window.End}},
		Other:    reads.Selection{Window: query.Window{Start: before.Start, End: before.End}},
	})
	if err != nil {
		return nil, err
	}
	for _, v := range d.GetData() {
		if symptomatic(v.GetKey()) || route(v.GetKey()) || deployed(v.GetKey()) {
			continue
		}
		if v.GetSelectedShare()-v.GetOtherShare() >= 0.1 && v.GetSelectedShare() >= 2*v.GetOtherShare() {
			return v, nil
		}
	}
	return nil, nil
}

// growth is the factor by which a service gets more requests in a period than the rest of the search and the course of the day let expect.
// It is 1 if chance may explain it.
func (s *search) growth(service string, environment *string, p Period) float64 {
	const margin = 10 * time.Minute
	var inside, outside, courseInside, courseOutside float64
	for key, n := range s.traffic {
		if key[0] != service || environment != nil && key[1] != *environment {
			continue
		}
		for bucket, count := range n {
			at := s.series.Window.Start.Add(time.Duration(bucket) * s.series.Bucket)
			course := 1.0
			if s.course != nil {
				course = s.course[bucket]
			}
			switch {
			case bucket <= s.begin: // the first bucket is cut
			case !at.Before(p.Start) && at.Before(p.End):
				inside, courseInside = inside+count, courseInside+course
			case at.Before(p.Start.Add(-margin)) || at.After(p.End.Add(margin)):
				outside, courseOutside = outside+count, courseOutside+course
			}
		}
	}
	expected := outside / max(courseOutside, 1e-9) * courseInside
	if expected < 20 || inside-expected < 5*math.Sqrt(expected) {
		return 1
	}
	return inside / expected
}
