package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/plan"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/principal"
)

// Plan limits what an organization may send. An organization without a plan has no limits.
type Plan struct {
	Name string
	// Active says whether telemetry is accepted at all.
	Active bool
	// Limits has at most one entry for a signal.
	Limits    []PlanLimit
	UpdatedAt time.Time
}

// PlanLimit bounds a signal for a calendar month (UTC). A nil field means no bound.
type PlanLimit struct {
	Signal string
	Items  *int64
	Bytes  *int64
}

// PlanParams is a plan to put.
type PlanParams struct {
	Name   string
	Active bool
	Limits []PlanLimit
}

func (p *PlanParams) check() error {
	var c checker
	c.name("name", &p.Name)
	seen := map[string]bool{}
	for i, l := range p.Limits {
		at := fmt.Sprintf("limits[%d].", i)
		c.signal(at+"signal", l.Signal)
		if seen[l.Signal] {
			c.fail(at+"signal", "%q appears twice", l.Signal)
		}
		seen[l.Signal] = true
		if l.Items == nil && l.Bytes == nil {
			c.fail(at+"items", "or %sbytes must be given", at)
		}
		if l.Items != nil && *l.Items < 0 {
			c.fail(at+"items", "must not be negative")
		}
		if l.Bytes != nil && *l.Bytes < 0 {
			c.fail(at+"bytes", "must not be negative")
		}
	}
	return c.err()
}

// GetPlan returns the organization's plan. It returns ErrNotFound if the organization has no plan, so nothing is limited.
func (s *Store) GetPlan(ctx context.Context, org principal.OrgID) (Plan, error) {
	row, err := s.read.Plan.Query().Where(plan.OrgID(string(org))).Only(ctx)
	return single("get plan", toPlan, row, err)
}

// PutPlan sets or replaces the organization's plan. It returns an *InvalidError if the input breaks a rule. It returns ErrNotFound if there
// is no such organization.
func (s *Store) PutPlan(ctx context.Context, org principal.OrgID, in PlanParams) (out Plan, err error) {
	if err := in.check(); err != nil {
		return Plan{}, err
	}
	err = s.mutate(ctx, "put plan", func(tx *ent.Tx) (Change, error) {
		old, err := planFields(ctx, tx, org)
		if err != nil {
			return Change{}, err
		}
		id, err := uuid.NewV7()
		if err != nil {
			return Change{}, err
		}
		limits := make([]schema.PlanLimit, len(in.Limits))
		for i, l := range in.Limits {
			limits[i] = schema.PlanLimit(l)
		}
		err = tx.Plan.Create().SetID(id).SetOrgID(string(org)).SetName(in.Name).SetActive(in.Active).SetLimits(limits).SetUpdatedAt(s.stamp()).
			OnConflictColumns(plan.FieldOrgID).
			Update(func(u *ent.PlanUpsert) { u.UpdateName().UpdateActive().UpdateLimits().UpdateUpdatedAt() }).
			Exec(ctx)
		if err != nil {
			return Change{}, err
		}
		row, err := tx.Plan.Query().Where(plan.OrgID(string(org))).Only(ctx)
		if err != nil {
			return Change{}, err
		}
		out = toPlan(row)
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, AuditEvent{
			Action: "plan.updated", Before: old, After: auditFieldsOfPlan(row),
		})
	})
	return out, err
}

// RemovePlan removes every limit of the organization. It returns ErrNotFound if the organization has no plan.
func (s *Store) RemovePlan(ctx context.Context, org principal.OrgID) error {
	return s.mutate(ctx, "remove plan", func(tx *ent.Tx) (Change, error) {
		old, err := planFields(ctx, tx, org)
		if err != nil {
			return Change{}, err
		}
		n, err := tx.Plan.Delete().Where(plan.OrgID(string(org))).Exec(ctx)
		if err := affected("remove plan", n, err); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectIngestPolicy, Org: org}, s.audit(ctx, tx, org, AuditEvent{Action: "plan.removed", Before: old})
	})
}

// planFields returns the fields of the organization's plan for the audit log, or nil if it has no plan.
func planFields(ctx context.Context, tx *ent.Tx, org principal.OrgID) (map[string]any, error) {
	row, err := tx.Plan.Query().Where(plan.OrgID(string(org))).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return auditFieldsOfPlan(row), nil
}

func auditFieldsOfPlan(row *ent.Plan) map[string]any {
	return map[string]any{"name": row.Name, "active": row.Active, "limits": row.Limits}
}

func toPlan(row *ent.Plan) Plan {
	var limits []PlanLimit
	for _, l := range row.Limits {
		limits = append(limits, PlanLimit(l))
	}
	return Plan{Name: row.Name, Active: row.Active, Limits: limits, UpdatedAt: utc(row.UpdatedAt)}
}
