package diagnose

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// finding is a possible cause of an incident.
type finding struct {
	kind, statement    string
	target, key, value string
	confidence         float64
}

func (f finding) proto() *svcv2.IncidentCause {
	p := &svcv2.IncidentCause{Kind: f.kind, Statement: f.statement}
	if f.target != "" {
		p.Target = &f.target
	}
	if f.key != "" {
		p.AttributeKey, p.AttributeValue = &f.key, &f.value
	}
	return p
}

// incidentCause searches the likeliest cause. Each kind of cause is searched by itself; the one with the highest confidence stays.
func (e *Engine) incidentCause(ctx context.Context, org principal.OrgID, i *incident) (finding, error) {
	list := []finding{i.dependency(), i.resource(), i.errors(), i.logs(), i.operation(), i.marker()}
	found := make([]finding, 3)
	err := atonce.Run(
		func() (err error) { found[0], err = e.releaseOf(ctx, i); return err },
		func() (err error) { found[1], err = e.attributeOf(ctx, org, i); return err },
		func() (err error) { found[2], err = e.trafficOf(ctx, org, i); return err },
	)
	if err != nil {
		return finding{}, err
	}
	list = append(list, found...)
	best := finding{
		kind: "unknown", confidence: 0.1,
		statement: fmt.Sprintf("No change explains it. The first symptom was: %s.", i.first.statement()),
	}
	for _, f := range list {
		if f.confidence > best.confidence {
			best = f
		}
	}
	return best, nil
}

// dependency is the database, queue or host whose calls fail or last long.
func (i *incident) dependency() finding {
	y := i.of(dependencyErrors, dependencyLatency)
	if y.score == 0 {
		if y = i.of(dependencyCalls); y.score < minorScore {
			return finding{}
		}
		return finding{
			kind: "dependency", target: y.subject, confidence: 0.6,
			statement: fmt.Sprintf("%s calls %s more often for each request: %s times, usually %s.", i.service, y.label, wording.Number(y.value),
				wording.Number(y.usual)),
		}
	}
	f := finding{kind: "dependency", target: y.subject, statement: "The dependency changed: " + y.statement() + ".", confidence: 0.6}
	// The calls explain the failures of the service when they began no later.
	own := i.of(errorRate, latency)
	if own.score == 0 || y.from.Sub(own.from) <= 2*i.search.series.Bucket {
		f.confidence = 0.7
	}
	if y.kind == dependencyErrors && y.value > 0.5 {
		f.confidence += 0.05
	}
	return f
}

// resource is a resource that ran out, or filled, before callers felt it.
func (i *incident) resource() finding {
	y := i.of(resource)
	if y.score == 0 {
		return finding{}
	}
	f := finding{kind: "resource", target: y.subject, statement: "A resource changed: " + y.statement() + ".", confidence: 0.55}
	own := i.of(errorRate, latency)
	if own.score == 0 || !y.from.After(own.from) {
		f.confidence = 0.72
	}
	return f
}

// errors is the group of errors that is new or far more frequent.
func (i *incident) errors() finding {
	y := i.of(errorGroup)
	if y.score == 0 {
		return finding{}
	}
	f := finding{kind: "error", target: y.subject, statement: "An error became frequent: " + y.statement() + ".", confidence: 0.45}
	if y.usual < y.value/20 {
		f.confidence, f.statement = 0.66, "A new error: "+y.statement()+"."
	}
	return f
}

// logs are log records, when nothing else changed.
func (i *incident) logs() finding {
	y := i.of(logRecords)
	if y.score == 0 {
		return finding{}
	}
	f := finding{kind: "logs", target: y.subject, statement: "Log records changed: " + y.statement() + ".", confidence: 0.3}
	if !slices.ContainsFunc(i.symptoms, func(o symptom) bool { return o.kind != logRecords && o.kind != resource }) {
		f.confidence = 0.75
		f.statement += " Callers do not feel it: failures and latency are as usual."
	}
	return f
}

// releaseOf finds a version that began shortly before the incident.
func (e *Engine) releaseOf(ctx context.Context, i *incident) (finding, error) {
	const early, late = limits.MarkerBefore, limits.MarkerAfter // as far away as a marker
	list, err := e.read.Services.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{
		Name: i.service, StartTime: Period{i.search.series.Window.Start, i.search.asked.End}.start(), EndTime: i.search.asked.end(),
		DeploymentEnvironment: i.environment,
	})
	if err := optional(err); err != nil {
		return finding{}, err
	}
	for _, v := range list.GetData() {
		begun := v.GetFirstSeen().AsTime()
		if v.GetVersion() == "" || i.window.Start.Sub(begun) > early || begun.Sub(i.window.Start) > late {
			continue
		}
		older := slices.ContainsFunc(list.GetData(), func(o *svcv2.ServiceRelease) bool {
			return o.GetFirstSeen().AsTime().Before(begun.Add(-early))
		})
		if !older {
			continue
		}
		f := finding{
			kind: "release", target: v.GetVersion(), confidence: 0.78,
			statement: fmt.Sprintf("Release %s of %s began at %s.", v.GetVersion(), i.service, wording.Clock(begun)),
		}
		if ended := v.GetLastSeen().AsTime(); !i.open && ended.Sub(i.window.End).Abs() <= early {
			f.confidence = 0.92
			f.statement = strings.TrimSuffix(f.statement, ".") + " and ended at " + wording.Clock(ended) + ", with the incident."
		}
		return f, nil
	}
	return finding{}, nil
}

// symptomatic are attributes that describe the failure itself. They tell nothing about its cause.
func symptomatic(key string) bool {
	for _, part := range []string{
		"status", "error", "exception", "otel.", "duration", "elapsed", "retry", "attempt", "trace", "span",
		"body.size", "thread.",
	} {
		if strings.Contains(key, part) {
			return true
		}
	}
	return key == "kind" || key == "service.name" || key == "deployment.environment.name"
}

// deployed tells whether an attribute describes the running program, which changes with each release, and not who calls it.
func deployed(key string) bool {
	return key == "service.version" || strings.HasPrefix(key, "resource.")
}

// route tells whether an attribute names an operation.
func route(key string) bool {
	return key == "name" ||
		strings.HasPrefix(key, "url.") || strings.HasPrefix(key, "http.") || strings.HasPrefix(key, "rpc.") || strings.HasPrefix(key, "code.") ||
		strings.HasPrefix(key, "messaging.")
}

// before is the time with which rates are compared: as long as the incident, at least 30 minutes, and some minutes ahead of it.
func (i *incident) before() Period {
	const lead = 10 * time.Minute
	length := max(30*time.Minute, min(i.window.length(), 3*time.Hour))
	end := i.window.Start.Add(-lead)
	start := end.Add(-length)
	if first := i.search.series.Window.Start; start.Before(first) {
		start = first
	}
	if end.Sub(start) < lead { // the incident is as old as the data: the time after it
		return Period{i.window.End.Add(lead), i.window.End.Add(lead + length)}
	}
	return Period{start, end}
}

// narrowest names the attribute that says most about where the rows of a value come from. A release has its commit on the same rows, and a
// pod its host, on which other pods may be well.
func narrowest(v *svcv2.DifferenceValue) (key, value string) {
	same := map[string]string{v.GetKey(): v.GetValue()}
	for _, row := range v.GetSameRows() {
		if k, x, cut := strings.Cut(row, "="); cut {
			same[k] = x
		}
	}
	for _, k := range []string{"service.version", "resource.k8s.pod.name", "resource.service.instance.id", "resource.container.id"} {
		if x, found := same[k]; found {
			return k, x
		}
	}
	return v.GetKey(), v.GetValue()
}

// attributeOf finds the attribute that sets the bad spans apart from the good ones, and did not do so before.
func (e *Engine) attributeOf(ctx context.Context, org principal.OrgID, i *incident) (finding, error) {
	if i.of(errorRate, latency).score == 0 {
		return finding{}, nil
	}
	difference := func(p Period) (*svcv2.Difference, error) {
		w := query.Window{Start: p.Start, End: p.End}
		return e.Difference(ctx, org, reads.Difference{
			Source: query.Traces, Scope: i.scope(), Selected: reads.Selection{Window: w, Filter: i.badness()}, Other: reads.Selection{Window: w},
		})
	}
	var now, was *svcv2.Difference
	err := atonce.Run(
		func() (err error) { now, err = difference(i.window); return err },
		func() (err error) { was, err = difference(i.before()); return err },
	)
	if err != nil {
		return finding{}, err
	}
	rates := map[string]float64{}
	for _, v := range was.GetData() {
		rates[v.GetKey()+"="+v.GetValue()] = v.GetRateWith()
	}
	var best finding
	for _, v := range now.GetData() {
		if symptomatic(v.GetKey()) || rates[v.GetKey()+"="+v.GetValue()] > v.GetRateWith()/2 {
			continue
		}
		key, value := narrowest(v)
		f := finding{kind: "attribute", key: key, value: value}
		lift := 1000.0
		if v.Lift != nil {
			lift = v.GetLift()
		}
		switch {
		case v.GetSelectedShare() >= 0.7 && lift >= 5:
			f.confidence = 0.88
		case v.GetSelectedShare() >= 0.5 && lift >= 3:
			f.confidence = 0.74
		case v.GetSelectedShare() >= 0.3 && lift >= 3:
			f.confidence = 0.5
		default:
			continue
		}
		f.statement = fmt.Sprintf("%s has %s of the bad spans of %s and %s of the others: %s of its spans are bad, %s of the rest.",
			describe(key, value), wording.Percent(v.GetSelectedShare()), i.service, wording.Percent(v.GetOtherShare()),
			wording.Percent(v.GetRateWith()),
			wording.Percent(v.GetRateWithout()))
		switch {
		case key == "service.version":
			f = finding{kind: "release", target: value, statement: f.statement, confidence: f.confidence + 0.05}
		case route(key):
			f = finding{kind: "operation", target: value, statement: f.statement, confidence: min(f.confidence, 0.5)}
		}
		if f.confidence > best.confidence {
			best = f
		}
	}
	return best, nil
}
