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
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
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
		return nil, renamed(err, "previous_")
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

// SearchIncidents finds the incidents of a window.
func (s *Service) SearchIncidents(ctx context.Context, req *svcv2.SearchIncidentsRequest) (*svcv2.IncidentSearch, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	p, err := period(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return nil, err
	}
	return s.engine.Incidents(ctx, org, p, diagnose.Scope{Service: req.ServiceName, Environment: req.DeploymentEnvironment})
}

// ExplainDifference compares two selections of spans, log records or sessions.
func (s *Service) ExplainDifference(ctx context.Context, req *svcv2.ExplainDifferenceRequest) (*svcv2.Difference, error) {
	org, err := read.Org(ctx)
	if err != nil {
		return nil, err
	}
	// Spans and log records stay readable for keys from before there were differences of sessions.
	if p, ok := principal.From(ctx); req.GetSignal() == "sessions" && (!ok || !p.Allows("session_replays", false)) {
		return nil, apierr.New(apierr.InsufficientScope, "Differences of sessions need the scope session_replays:read.", apierr.Param("signal"))
	}
	d, err := difference(req)
	if err != nil {
		return nil, err
	}
	return s.engine.Difference(ctx, org, d)
}

// difference reads the two sides of a request.
func difference(req *svcv2.ExplainDifferenceRequest) (reads.Difference, error) {
	d := reads.Difference{Source: query.Traces}
	switch req.GetSignal() {
	case "logs":
		d.Source = query.Logs
	case "sessions":
		d.Source = query.Sessions
	}
	w, err := query.NewWindow(req.GetStartTime(), req.GetEndTime(), limits.SearchWindow)
	if err != nil {
		return d, err
	}
	d.Selected.Window, d.Other.Window = w, w
	if req.GetOtherStartTime() != nil || req.GetOtherEndTime() != nil {
		if d.Other.Window, err = query.NewWindow(req.GetOtherStartTime(), req.GetOtherEndTime(), limits.SearchWindow); err != nil {
			return d, renamed(err, "other_")
		}
	} else if req.Selected == nil && req.Other == nil {
		return d, apierr.New(apierr.ParameterInvalid,
			"selected is required when both sides have the same window: a condition such as status = Error.", apierr.Param("selected"))
	}
	for _, side := range []struct {
		name, text string
		to         *query.Filter
	}{{"where", req.GetWhere(), &d.Scope}, {"selected", req.GetSelected(), &d.Selected.Filter}, {"other", req.GetOther(), &d.Other.Filter}} {
		if *side.to, err = query.ParseWhere(d.Source, side.text); err != nil {
			return d, apierr.New(apierr.ParameterInvalid, side.name+" cannot be read: "+err.Error()+".", apierr.Param(side.name))
		}
	}
	return d, nil
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

// renamed changes an error about a window so that it names the fields of another period, which begin with a prefix.
func renamed(err error, prefix string) error {
	var e *apierr.Error
	if !errors.As(err, &e) {
		return err
	}
	named := *e
	named.Param = prefix + e.Param
	named.Message = strings.NewReplacer("start_time", prefix+"start_time", "end_time", prefix+"end_time").Replace(e.Message)
	return &named
}

func period(start, end *timestamppb.Timestamp, longest time.Duration) (diagnose.Period, error) {
	if _, err := query.NewWindow(start, end, longest); err != nil {
		return diagnose.Period{}, err
	}
	return diagnose.Period{Start: start.AsTime(), End: end.AsTime()}, nil
}
