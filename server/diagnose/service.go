package diagnose

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/atonce"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
)

const (
	// listedServices is the highest number of services of a period.
	listedServices = limits.DiagnosedServices
	// servicePage is the number of services that one read returns.
	servicePage = 100
)

// Service reports the health of a service in a period beside the period of equal length before, and the explanation of a change.
func (e *Engine) Service(ctx context.Context, name string, environment *string, p Period) (*svcv2.ServiceDiagnosis, error) {
	prev := p.Before()
	var covered, coveredBefore coverage
	var apdex *svcv2.ServiceApdex
	err := atonce.Run(
		func() (err error) { covered, err = e.coverage(ctx, p, environment); return err },
		func() (err error) { coveredBefore, err = e.coverage(ctx, prev, environment); return err },
		// It refuses an unknown service, before the costly queries.
		func() (err error) {
			apdex, err = e.read.Services.GetServiceApdex(
				ctx,
				&svcv2.GetServiceApdexRequest{Name: name, StartTime: p.start(), EndTime: p.end(), DeploymentEnvironment: environment},
			)
			return err
		},
	)
	if err != nil {
		return nil, err
	}
	var v *evidence
	var row, was *svcv2.Service
	err = atonce.Run(
		func() (err error) {
			v, err = e.gather(ctx, name, environment, p, prev, covered, coveredBefore)
			return err
		},
		func() (err error) { row, err = e.service(ctx, p, name, environment); return err },
		func() (err error) { was, err = e.service(ctx, prev, name, environment); return err },
	)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ServiceDiagnosis{
		Object: "service_diagnosis", Name: name, StartTime: p.start(), EndTime: p.end(), Causes: toCauses(v.causes(), limits.DiagnosedCauses),
		Health: &svcv2.ServiceHealth{
			Throughput: covered.rate(p, row.GetThroughput()), ErrorRate: row.GetErrorRate(),
			ErrorCount: row.GetErrorRate() * row.GetThroughput() * p.length().Seconds(), P50LatencyMs: row.GetP50LatencyMs(),
			P95LatencyMs: row.GetP95LatencyMs(), P99LatencyMs: row.GetP99LatencyMs(), ApdexScore: apdex.GetApdexScore(),
		},
	}
	if was != nil {
		res.Previous = figures(was, prev, coveredBefore)
	}
	res.DeploymentEnvironments = row.GetDeploymentEnvironments()
	res.PreviousIsThin = coveredBefore.thin(covered)
	res.DataStartTime, res.DataEndTime = covered.times()
	res.PreviousDataStartTime, res.PreviousDataEndTime = coveredBefore.times()
	list := v.errors.GetData()
	for _, x := range list[:min(len(list), limits.DiagnosedErrors)] {
		res.TopErrors = append(
			res.TopErrors,
			&svcv2.DiagnosedError{
				FingerprintHash: x.GetFingerprintHash(), ErrorLabel: wording.Clip(x.GetErrorLabel(), 300), Count: x.GetCount(),
				EstimatedCount: x.GetEstimatedCount(),
			},
		)
	}
	return res, nil
}

// figures are the figures of a service in a period. The rate is over the part of the period that has data.
func figures(r *svcv2.Service, p Period, c coverage) *svcv2.PeriodFigures {
	return &svcv2.PeriodFigures{Throughput: c.rate(p, r.GetThroughput()), ErrorRate: r.GetErrorRate(), P95LatencyMs: r.GetP95LatencyMs()}
}

// service is the service's row in the list. It is nil if the service sent no spans in the period.
func (e *Engine) service(ctx context.Context, p Period, name string, environment *string) (*svcv2.Service, error) {
	rows, err := e.services(ctx, p, environment)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if r.GetName() == name {
			return r, nil
		}
	}
	return nil, nil
}

// services returns the busiest services of a period.
func (e *Engine) services(ctx context.Context, p Period, environment *string) ([]*svcv2.Service, error) {
	var rows []*svcv2.Service
	req := &svcv2.ListServicesRequest{
		StartTime:             p.start(),
		EndTime:               p.end(),
		Limit:                 new(int32(servicePage)),
		DeploymentEnvironment: environment,
	}
	for len(rows) < listedServices {
		res, err := e.read.Services.ListServices(ctx, req)
		if err != nil {
			return nil, err
		}
		rows = append(rows, res.GetData()...)
		if !res.GetHasMore() {
			break
		}
		req.Cursor = new(res.GetNextCursor())
	}
	return rows, nil
}
