package diagnose

import (
	"cmp"
	"context"
	"slices"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
)

// evidence is the data of one service in two periods in which changes are searched.
type evidence struct {
	service       string
	current, prev Period
	// covered and coveredBefore are the parts of the two periods that have data.
	covered, coveredBefore coverage

	releases     *svcv2.ServiceReleases
	now, before  *svcv2.ServiceMap
	errors       *svcv2.SearchErrorEventsResponse
	errorsBefore *svcv2.SearchErrorEventsResponse
	patterns     *svcv2.LogPatternList
	operations   []*svcv2.ServiceOperationDetail
	opsBefore    []*svcv2.ServiceOperationDetail
	// spans are the operations of all spans of the service, the busiest first. spansBefore is the number of its spans in the earlier
	// period.
	spans       []spanOperation
	spansBefore float64
}

// gather reads the evidence.
func (e *Engine) gather(
	ctx context.Context,
	service string,
	environment *string,
	current, prev Period,
	covered, coveredBefore coverage,
) (*evidence, error) {
	v := &evidence{service: service, current: current, prev: prev, covered: covered, coveredBefore: coveredBefore}
	scope := Scope{&service, environment}
	err := atonce.Run(
		func() (err error) {
			v.releases, err = e.read.Services.ListServiceReleases(ctx, &svcv2.ListServiceReleasesRequest{
				Name: service, StartTime: prev.start(), EndTime: current.end(), DeploymentEnvironment: environment,
			})
			return optional(err)
		},
		func() (err error) { v.now, err = e.serviceMap(ctx, current, scope); return optional(err) },
		func() (err error) { v.before, err = e.serviceMap(ctx, prev, scope); return optional(err) },
		func() (err error) {
			if v.errors, err = e.errors(ctx, current, scope, nil); err != nil || len(v.errors.GetData()) == 0 {
				return err
			}
			v.errorsBefore, err = e.errors(ctx, prev, scope, v.errors.GetData())
			return err
		},
		func() (err error) { v.patterns, err = e.patterns(ctx, current, scope); return optional(err) },
		func() (err error) {
			v.operations, err = e.operations(ctx, current, service, environment)
			return optional(err)
		},
		func() (err error) {
			v.opsBefore, err = e.operations(ctx, prev, service, environment)
			return optional(err)
		},
		func() (err error) {
			v.spans, v.spansBefore, err = e.spanOperations(ctx, scope, current, prev)
			return err
		},
	)
	return v, err
}

// examinedRows is the number of a service's errors, patterns and operations that are compared.
const examinedRows = limits.DiagnosedRows

func (e *Engine) serviceMap(ctx context.Context, p Period, s Scope) (*svcv2.ServiceMap, error) {
	return e.read.ServiceMap.GetServiceMap(ctx, &svcv2.GetServiceMapRequest{
		StartTime: p.start(), EndTime: p.end(), ServiceName: s.Service, DeploymentEnvironment: s.Environment,
	})
}

// errors reads the most frequent errors of a period, or how often the given ones occurred in it.
func (e *Engine) errors(ctx context.Context, p Period, s Scope, of []*svcv2.ErrorEvent) (*svcv2.SearchErrorEventsResponse, error) {
	var fingerprints []string
	for _, x := range of {
		fingerprints = append(fingerprints, x.GetFingerprintHash())
	}
	return e.read.Errors.SearchErrorEvents(ctx, &svcv2.SearchErrorEventsRequest{
		StartTime: p.start(),
		EndTime:   p.end(),
		Limit:     new(int32(examinedRows)),
		Filters: &svcv2.ErrorEventFilters{
			ServiceName: s.Service, DeploymentEnvironment: s.Environment, FingerprintHashes: fingerprints,
		},
	})
}

// patterns reads the log patterns of a period, compared with the period before. If the period is too long, it reads only its end.
func (e *Engine) patterns(ctx context.Context, p Period, s Scope) (*svcv2.LogPatternList, error) {
	if p.length() > limits.PatternWindow {
		p.Start = p.End.Add(-limits.PatternWindow)
	}
	return e.read.Logs.SearchLogPatterns(ctx, &svcv2.SearchLogPatternsRequest{
		StartTime:   p.start(),
		EndTime:     p.end(),
		MaxPatterns: new(int32(examinedRows)),
		Filters:     &svcv2.LogFilters{ServiceName: s.Service, DeploymentEnvironment: s.Environment},
	})
}

func (e *Engine) operations(ctx context.Context, p Period, service string, environment *string) ([]*svcv2.ServiceOperationDetail, error) {
	res, err := e.read.Services.ListServiceOperations(ctx, &svcv2.ListServiceOperationsRequest{
		Name:                  service,
		StartTime:             p.start(),
		EndTime:               p.end(),
		Limit:                 new(int32(examinedRows)),
		DeploymentEnvironment: environment,
		OrderBy:               new("count"),
	})
	return res.GetData(), err
}

// edge is the calls from one end to another.
type edge struct {
	source, target         string
	calls, failed, average float64
}

// edges returns the edges between services, and those to databases, queues and external hosts. The names of the latter begin with
// their kind: "database:postgresql:orders".
func edges(m *svcv2.ServiceMap) []edge {
	var list []edge
	for _, x := range m.GetEdges() {
		list = append(
			list,
			edge{
				x.GetSourceService(),
				x.GetTargetService(),
				x.GetEstimatedCallCount(),
				x.GetErrorRate() * x.GetEstimatedCallCount(),
				x.GetAvgDurationMs(),
			},
		)
	}
	between := len(list)
	for _, x := range m.GetPeerEdges() {
		list = append(list, edge{
			strings.TrimPrefix(
				x.GetSource(),
				"service:",
			),
			strings.TrimPrefix(x.GetTarget(), "service:"),
			x.GetEstimatedCallCount(),
			x.GetErrorRate() * x.GetEstimatedCallCount(),
			x.GetAvgDurationMs(),
		})
	}
	for _, part := range [][]edge{list[:between], list[between:]} {
		slices.SortStableFunc(part, func(x, y edge) int { return cmp.Compare(y.calls, x.calls) })
	}
	return list
}
