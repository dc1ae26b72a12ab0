// Package diagnosis answers the methods of svc.v2.DiagnosisService: it finds changes and their causes.
package diagnosis

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

// Service implements svcv2connect.DiagnosisServiceHandler. It is safe for concurrent use.
type Service struct{ engine *diagnose.Engine }

// New returns the service. Its engine reads through the other services, which answer for the caller's organization.
func New(r diagnose.Readers) *Service { return &Service{diagnose.New(r)} }

// DiagnoseService reports the health of a service and explains a change.
func (s *Service) DiagnoseService(ctx context.Context, req *svcv2.DiagnoseServiceRequest) (*svcv2.ServiceDiagnosis, error) {
	p, err := period(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	return s.engine.Service(ctx, req.GetName(), req.DeploymentEnvironment, p)
}

// ComparePeriods reports which services changed between two periods, and why.
func (s *Service) ComparePeriods(ctx context.Context, req *svcv2.ComparePeriodsRequest) (*svcv2.PeriodComparison, error) {
	current, err := period(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	end := req.GetPreviousEndTime()
	if end == nil {
		end = req.GetStartTime()
	}
	start := req.GetPreviousStartTime()
	if start == nil {
		start = timestamppb.New(current.Until(end.AsTime()).Start)
	}
	prev, err := period(start, end, limits.SearchWindow)
	if err != nil {
		return nil, ofPrevious(err)
	}
	return s.engine.Compare(ctx, current, prev, diagnose.Scope{Service: req.ServiceName, Environment: req.DeploymentEnvironment})
}

// SearchSlowerOperations lists operations that take longer than before.
func (s *Service) SearchSlowerOperations(
	ctx context.Context, req *svcv2.SearchSlowerOperationsRequest,
) (*svcv2.SlowerOperationList, error) {
	p, err := period(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	return s.engine.Slower(ctx, p, diagnose.Scope{Service: req.ServiceName, Environment: req.DeploymentEnvironment})
}

// GetTraceCriticalPath reports the spans on which a trace waited.
func (s *Service) GetTraceCriticalPath(ctx context.Context, req *svcv2.GetTraceCriticalPathRequest) (*svcv2.TraceCriticalPath, error) {
	var begun time.Time
	if req.GetTimestamp() != nil {
		begun = req.GetTimestamp().AsTime()
	}
	return s.engine.CriticalPath(ctx, req.GetTraceId(), begun)
}

// GetAgentSessionVerdict reports whether a session of an agent went well.
func (s *Service) GetAgentSessionVerdict(
	ctx context.Context, req *svcv2.GetAgentSessionVerdictRequest,
) (*svcv2.AgentSessionVerdict, error) {
	p, err := period(req.GetStartTime(), req.GetEndTime(), limits.AgentSessionWindow)
	if err != nil {
		return nil, err
	}
	return s.engine.AgentSessionVerdict(ctx, req.GetSessionId(), p)
}

// GetAgentSessionFigures measures a session of an agent.
func (s *Service) GetAgentSessionFigures(
	ctx context.Context, req *svcv2.GetAgentSessionFiguresRequest,
) (*svcv2.AgentSessionFigures, error) {
	p, err := period(req.GetStartTime(), req.GetEndTime(), limits.AgentSessionWindow)
	if err != nil {
		return nil, err
	}
	return s.engine.AgentSessionFigures(ctx, req.GetSessionId(), p)
}

// ofPrevious changes an error about a window so that it names the fields of the previous period.
func ofPrevious(err error) error {
	var e *apierr.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Param = "previous_" + e.Param
	named.Message = strings.NewReplacer("start_time", "previous_start_time", "end_time", "previous_end_time").Replace(e.Message)
	return &named
}

func period(start, end *timestamppb.Timestamp, longest time.Duration) (diagnose.Period, error) {
	if _, err := query.NewWindow(start, end, longest); err != nil {
		return diagnose.Period{}, err
	}
	return diagnose.Period{Start: start.AsTime(), End: end.AsTime()}, nil
}
