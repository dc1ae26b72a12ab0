package diagnose

import (
	"context"
	"math"
	"net/url"
	"slices"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/wording"
)

// incident is a cluster with a known service and an unknown cause, for which the engine searches.
type incident struct {
	cluster
	names   []string
	service string
	// environment is that of all symptoms, nil for several.
	environment *string
	window      Period
	open        bool
	first       symptom
	search      *search
	// slower is the operation that got slower, nil without one.
	slower *reads.OperationLevelRow
	// markers are those around the incident, the latest first.
	markers []*svcv2.Marker
}

// incident explains a cluster. It is nil if the cluster turns out to be none.
func (e *Engine) incident(ctx context.Context, org principal.OrgID, s *search, c cluster, scope Scope) (*svcv2.Incident, error) {
	i := &incident{cluster: c, environment: scope.Environment, search: s}
	for { // without a change that turns out to be none, the rest may be an incident of another service
		i.locate(scope)
		if err := e.slowerOperation(ctx, org, i); err != nil {
			return nil, err
		}
		if !i.onlyMix() {
			break
		}
		i.symptoms = slices.DeleteFunc(i.symptoms, func(y symptom) bool { return y.kind == latency && y.service == i.service })
		if !i.matters() {
			return nil, nil
		}
	}
	environments := i.environments()
	if err := e.incidentMarkers(ctx, i); err != nil {
		return nil, err
	}
	var cause finding
	var hurt reads.AffectedRow
	err := atonce.Run(
		func() (err error) { cause, err = e.incidentCause(ctx, org, i); return err },
		func() (err error) {
			hurt, err = read.One[reads.AffectedRow](ctx, e.read.Warehouse, org, reads.Affected(
				query.Window{Start: i.window.Start, End: i.window.End}, i.bad(), limits.AffectedTraces))
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	res := &svcv2.Incident{
		StartTime: i.window.start(), ServiceName: i.service, Cause: cause.proto(), FirstSymptom: i.symptom(i.first), ServiceNames: i.names,
		DeploymentEnvironments: environments, AffectedTraces: int64(hurt.Traces), Confidence: cause.confidence,
		Markers: i.markers[:min(len(i.markers), limits.IncidentMarkers)],
	}
	if !i.open {
		res.EndTime = i.window.end()
	}
	if hurt.Users > 0 {
		res.AffectedUsers = new(int64(hurt.Users))
	}
	if hurt.Sessions > 0 {
		res.AffectedSessions = new(int64(hurt.Sessions))
	}
	for _, y := range i.symptoms[:min(len(i.symptoms), limits.IncidentSymptoms)] {
		res.Symptoms = append(res.Symptoms, i.symptom(y))
	}
	q := url.Values{"start_time": {wording.Clock(i.window.Start)}, "end_time": {wording.Clock(i.window.End)}}
	if i.environment != nil && *i.environment != "" {
		q.Set("deployment_environment", *i.environment)
	}
	res.NextPath = "/v2/services/" + url.PathEscape(i.service) + "/diagnosis?" + q.Encode()
	return res, nil
}

// locate finds the service of the cause, the times and the environment.
func (i *incident) locate(scope Scope) {
	i.names = i.services()
	i.service, i.first, i.open, i.slower, i.environment = i.names[0], symptom{}, false, nil, scope.Environment
	i.bound()
	if environments := i.environments(); i.environment == nil && len(environments) == 1 {
		i.environment = &environments[0]
	}
}

// bound finds the begin, the end and the first symptom. Weak changes at the edges do not count: they may be chance that joined.
func (i *incident) bound() {
	clearest, worst := i.symptoms[0], 0.0
	strongest := clearest.score
	for _, y := range i.symptoms {
		if y.hurts() {
			worst = max(worst, y.score)
		}
	}
	var last time.Time
	for _, y := range i.symptoms {
		if y.score < min(strongest/10, minorScore) {
			continue
		}
		// Only a change that is nearly as clear, or a resource that fills slowly, begins the incident ahead of the clearest change.
		fills := y.kind == resource && y.service == i.service
		if !fills && y.score < strongest/10 && y.from.Before(clearest.from.Add(-sameTime)) {
			continue
		}
		if i.first.kind == "" || y.from.Before(i.first.from) || y.from.Equal(i.first.from) && y.score > i.first.score {
			i.first = y
		}
		if worst > 0 && (!y.hurts() || y.score < worst/5) {
			continue
		}
		if y.to.After(last) {
			last = y.to
		}
		i.open = i.open || y.open
	}
	i.window = Period{i.first.from, last}
	if !last.After(i.first.from) {
		i.window.End = i.first.to
	}
}

func (i *incident) environments() []string {
	var out []string
	for _, y := range i.symptoms {
		if !slices.Contains(out, y.environment) {
			out = append(out, y.environment)
		}
	}
	slices.Sort(out)
	return out
}

func (i *incident) symptom(y symptom) *svcv2.IncidentSymptom {
	p := &svcv2.IncidentSymptom{
		Kind: y.kind, ServiceName: y.service, DeploymentEnvironment: y.environment, Subject: y.subject, Statement: y.statement(),
		StartTime: timestamppb.New(y.from), Value: y.value, Usual: y.usual, Unit: y.unit,
	}
	if !y.open {
		p.EndTime = timestamppb.New(y.to)
	}
	return p
}

// of returns the clearest change of a kind in the service of the cause. Its score is 0 without one.
func (i *incident) of(kinds ...string) symptom {
	for _, y := range i.symptoms { // the clearest first
		if y.service == i.service && slices.Contains(kinds, y.kind) {
			return y
		}
	}
	return symptom{}
}

// scope selects the entry spans of the service.
func (i *incident) scope() query.Filter {
	all := []query.Filter{is("service.name", query.OpEqual, i.service), is("is_entry", query.OpEqual, "true")}
	if i.environment != nil {
		all = append(all, is("deployment.environment", query.OpEqual, *i.environment))
	}
	return query.And(all...)
}

// bad selects the spans that show the incident: those that failed, or those slower than usual if the service is slow and does not fail.
func (i *incident) bad() query.Filter { return query.And(i.scope(), i.badness()) }

func (i *incident) badness() query.Filter {
	if slow := i.of(latency); slow.score > i.of(errorRate).score {
		// The limit is the geometric mean of the usual duration and the present one. Few good spans are slower, and most bad ones are.
		limit := slow.usual * min(max(math.Sqrt(slow.value/slow.usual), 1.2), 3)
		return is("duration", query.OpGreater, strconv.FormatFloat(limit, 'f', 3, 64)+"ms")
	}
	return is("has_error", query.OpEqual, "true")
}

func is(key string, op query.Op, value string) query.Filter {
	return query.Filter{Match: &query.Match{Field: query.Field{Key: key}, Op: op, Values: []string{value}}}
}
