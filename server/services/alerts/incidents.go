package alerts

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Incidents implements svcv2connect.AlertIncidentsServiceHandler. It is safe for concurrent use.
type Incidents struct{ store *store.Store }

// NewIncidents returns the service.
func NewIncidents(st *store.Store) *Incidents { return &Incidents{store: st} }

func incidentResource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AlertIncident, ID: "an alert incident",
		NotFound: storeerr.Answer{Tag: apierr.AlertIncidentNotFound, Message: "This organization has no such alert incident."},
		Unavailable: storeerr.Answer{
			Tag: apierr.AlertPersistence, Message: "Alert incidents cannot be read at the moment. Try again.",
		},
	}
}

// ListAlertIncidents lists incidents, the last triggered first.
func (s *Incidents) ListAlertIncidents(
	ctx context.Context, req *svcv2.ListAlertIncidentsRequest,
) (*svcv2.ListAlertIncidentsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	filter, err := incidentFilter(req.RuleId, req.GetSeverity(), req.GroupKey)
	if err != nil {
		return nil, err
	}
	filter.Status = req.GetStatus()
	rows, err := s.store.ListAlertIncidents(ctx, caller.Org, filter, page.Offset, page.Want())
	if err != nil {
		return nil, incidentResource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAlertIncidentsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, incidentMessage(row))
	}
	return res, nil
}

// GetAlertIncident returns one incident.
func (s *Incidents) GetAlertIncident(ctx context.Context, req *svcv2.GetAlertIncidentRequest) (*svcv2.AlertIncident, error) {
	caller, id, err := incidentResource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetAlertIncident(ctx, caller.Org, id)
	if err != nil {
		return nil, incidentResource().Failure(ctx, err)
	}
	return incidentMessage(row), nil
}

// CountAlertIncidents counts incidents by status.
func (s *Incidents) CountAlertIncidents(
	ctx context.Context, req *svcv2.CountAlertIncidentsRequest,
) (*svcv2.AlertIncidentCounts, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	filter, err := incidentFilter(req.RuleId, req.GetSeverity(), req.GroupKey)
	if err != nil {
		return nil, err
	}
	open, resolved, err := s.store.CountAlertIncidents(ctx, caller.Org, filter)
	if err != nil {
		return nil, incidentResource().Failure(ctx, err)
	}
	return &svcv2.AlertIncidentCounts{Open: int64(open), Resolved: int64(resolved)}, nil
}

func incidentFilter(rule *string, severity string, group *string) (store.IncidentFilter, error) {
	f := store.IncidentFilter{Severity: severity, Group: group}
	if rule != nil {
		id, err := publicid.Decode(publicid.AlertRule, *rule)
		if err != nil {
			return f, apierr.New(apierr.ParameterInvalid, "`rule_id` is not the id of an alert rule: "+err.Error()+".", apierr.Param("rule_id"))
		}
		f.Rule = &id
	}
	return f, nil
}

func incidentMessage(r store.AlertIncident) *svcv2.AlertIncident {
	out := &svcv2.AlertIncident{
		Id: publicid.Encode(publicid.AlertIncident, r.ID), Object: "alert_incident",
		RuleId: publicid.Encode(publicid.AlertRule, r.RuleID), RuleName: r.RuleName,
		SignalType: r.SignalType, Severity: r.Severity, Status: r.Status, Comparator: r.Comparator,
		Threshold: r.Threshold, ThresholdUpper: r.ThresholdUpper,
		FirstTriggeredAt: timestamppb.New(r.FirstTriggeredAt), LastTriggeredAt: timestamppb.New(r.LastTriggeredAt),
		ResolvedAt: timestampOrNil(r.ResolvedAt), LastObservedValue: r.LastObservedValue, LastSampleCount: r.LastSampleCount,
		DedupeKey: r.DedupeKey, LastDeliveredEventType: r.LastDeliveredEventType, LastNotifiedAt: timestampOrNil(r.LastNotifiedAt),
		HoldReason: r.HoldReason, HeldSince: timestampOrNil(r.HeldSince), ErrorIssueId: r.ErrorIssueID,
	}
	if r.GroupKey != TotalGroup {
		out.GroupKey = &r.GroupKey
	}
	return out
}

// TotalGroup is the key of the one group of a rule without groups. Incidents show it as null.
const TotalGroup = "__total__"

func timestampOrNil(t *time.Time) *timestamppb.Timestamp {
	if t == nil {
		return nil
	}
	return timestamppb.New(*t)
}
