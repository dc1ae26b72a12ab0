package store

import (
	"context"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertincident"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// States of an incident.
const (
	IncidentOpen     = "open"
	IncidentResolved = "resolved"
)

// IncidentFilter selects incidents. Empty fields select all.
type IncidentFilter struct {
	Status, Severity string
	Rule             *uuid.UUID
	// Group is the key of a group; a pointer, because a group may have the empty key.
	Group *string
}

func (f IncidentFilter) predicates(org principal.OrgID) []predicate.AlertIncident {
	out := []predicate.AlertIncident{alertincident.OrgID(string(org))}
	if f.Status != "" {
		out = append(out, alertincident.Status(f.Status))
	}
	if f.Severity != "" {
		out = append(out, alertincident.Severity(f.Severity))
	}
	if f.Rule != nil {
		out = append(out, alertincident.RuleID(*f.Rule))
	}
	if f.Group != nil {
		out = append(out, alertincident.GroupKey(*f.Group))
	}
	return out
}

// ListAlertIncidents returns incidents, the last triggered first.
func (s *Store) ListAlertIncidents(
	ctx context.Context, org principal.OrgID, f IncidentFilter, offset, limit int,
) ([]AlertIncident, error) {
	rows, err := s.read.AlertIncident.Query().Where(f.predicates(org)...).
		Order(alertincident.ByLastTriggeredAt(entsql.OrderDesc()), alertincident.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list alert incidents", toAlertIncident, rows, err)
}

// CountAlertIncidents returns the number of open and of resolved incidents.
func (s *Store) CountAlertIncidents(ctx context.Context, org principal.OrgID, f IncidentFilter) (open, resolved int, err error) {
	var sums []struct {
		Status string `sql:"status"`
		Count  int    `sql:"count"`
	}
	err = s.read.AlertIncident.Query().Where(f.predicates(org)...).
		GroupBy(alertincident.FieldStatus).Aggregate(ent.As(ent.Count(), "count")).Scan(ctx, &sums)
	if err != nil {
		return 0, 0, mapError("count alert incidents", err)
	}
	for _, sum := range sums {
		switch sum.Status {
		case IncidentOpen:
			open = sum.Count
		case IncidentResolved:
			resolved = sum.Count
		}
	}
	return open, resolved, nil
}
