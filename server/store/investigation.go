package store

import (
	"context"
	"reflect"
	"slices"
	"strings"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/investigation"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// InvestigationFinding is a sentence about a problem, with a figure and the call that gives it again.
type InvestigationFinding = schema.InvestigationFinding

// InvestigationStatuses are the states of an investigation. The first is that of a new one.
func InvestigationStatuses() []string {
	return []string{
		string(investigation.StatusInvestigating), string(investigation.StatusDiagnosed), string(investigation.StatusResolved),
		string(investigation.StatusFailed),
	}
}

// InvestigationEdit is a partial update.
type InvestigationEdit struct {
	Title, Status        Patch[string]
	Conclusion, Assignee Patch[*string]
}

// valid brings the investigation into the stored form and judges it.
func (r *Investigation) valid() error {
	var c checker
	c.oneLine("title", &r.Title, limits.InvestigationTitle)
	if !slices.Contains(InvestigationStatuses(), r.Status) {
		c.fail("status", "%q is not a state of an investigation; use %s", r.Status, strings.Join(InvestigationStatuses(), ", "))
	}
	c.optionalText("question", &r.Question, limits.DescriptionLength)
	c.optionalText("conclusion", &r.Conclusion, limits.InvestigationConclusion)
	c.optionalLine("assignee", &r.Assignee, limits.NameLength)
	return c.err()
}

// CreateInvestigation starts an investigation. It returns an *InvalidError if the input breaks a rule.
func (s *Store) CreateInvestigation(
	ctx context.Context, org principal.OrgID, by principal.UserID, in Investigation,
) (Investigation, error) {
	in.Org, in.CreatedBy, in.Status, in.Findings = org, by, InvestigationStatuses()[0], []InvestigationFinding{}
	if err := in.valid(); err != nil {
		return Investigation{}, err
	}
	var out Investigation
	err := s.tx(ctx, "create investigation", func(tx *ent.Tx) (err error) {
		if out, err = s.insertInvestigation(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, out.event("created", nil, out.auditFields()))
	})
	return out, err
}

// ListInvestigations returns investigations, the one that changed last first. An empty status selects all.
func (s *Store) ListInvestigations(ctx context.Context, org principal.OrgID, status string, offset, limit int) ([]Investigation, error) {
	where := []predicate.Investigation{investigation.OrgID(string(org))}
	if status != "" {
		where = append(where, investigation.StatusEQ(investigation.Status(status)))
	}
	rows, err := s.read.Investigation.Query().Where(where...).
		Order(investigation.ByUpdatedAt(entsql.OrderDesc()), investigation.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list investigations", toInvestigation, rows, err)
}

// EditInvestigation changes the fields that the edit sets. It returns ErrInvalid if the resulting investigation breaks a rule.
func (s *Store) EditInvestigation(ctx context.Context, org principal.OrgID, id uuid.UUID, edit InvestigationEdit) (Investigation, error) {
	return s.changeInvestigation(ctx, org, id, "updated", func(r *Investigation) error {
		edit.Title.apply(&r.Title)
		edit.Status.apply(&r.Status)
		edit.Conclusion.apply(&r.Conclusion)
		edit.Assignee.apply(&r.Assignee)
		return nil
	})
}

// AddFinding adds a finding. It returns ErrInvalid if the finding breaks a rule, or there are too many.
func (s *Store) AddFinding(
	ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID, f InvestigationFinding,
) (Investigation, error) {
	var c checker
	f.Text = strings.TrimSpace(f.Text)
	if f.Text == "" {
		c.fail("text", "must not be empty")
	}
	c.text("text", f.Text, limits.DescriptionLength)
	c.optionalLine("unit", &f.Unit, limits.NameLength)
	c.optionalLine("call", &f.Call, limits.NameLength)
	if len(f.Request) > limits.FindingRequest {
		c.fail("request", "has %d bytes as JSON; at most %s are allowed", len(f.Request), limits.Size(limits.FindingRequest))
	}
	if err := c.err(); err != nil {
		return Investigation{}, err
	}
	f.CreatedBy, f.CreatedAt = string(by), s.stamp()
	return s.changeInvestigation(ctx, org, id, "finding_added", func(r *Investigation) error {
		if len(r.Findings) >= limits.InvestigationFindings {
			var c checker
			c.fail("id", "names an investigation with %d findings; more are not allowed", limits.InvestigationFindings)
			return c.err()
		}
		r.Findings = append(slices.Clone(r.Findings), f)
		return nil
	})
}

// changeInvestigation changes one investigation under a lock of its row.
func (s *Store) changeInvestigation(
	ctx context.Context, org principal.OrgID, id uuid.UUID, verb string, change func(*Investigation) error,
) (r Investigation, err error) {
	err = s.tx(ctx, "change investigation", func(tx *ent.Tx) error {
		row, err := s.lockInvestigation(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toInvestigation(row)
		r = old
		if err := change(&r); err != nil {
			return err
		}
		if err := r.valid(); err != nil {
			return err
		}
		if reflect.DeepEqual(r, old) {
			return nil
		}
		u := row.Update().SetUpdatedAt(s.stamp()).SetTitle(r.Title).SetStatus(investigation.Status(r.Status)).SetFindings(r.Findings)
		if r.Conclusion == nil {
			u.ClearConclusion()
		} else {
			u.SetConclusion(*r.Conclusion)
		}
		if r.Assignee == nil {
			u.ClearAssignee()
		} else {
			u.SetAssignee(*r.Assignee)
		}
		if row, err = u.Save(ctx); err != nil {
			return err
		}
		r = toInvestigation(row)
		return s.audit(ctx, tx, org, r.event(verb, old.auditFields(), r.auditFields()))
	})
	return r, err
}

// DeleteInvestigation deletes an investigation with its findings.
func (s *Store) DeleteInvestigation(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.tx(ctx, "delete investigation", func(tx *ent.Tx) error {
		row, err := s.lockInvestigation(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toInvestigation(row)
		if err := s.audit(ctx, tx, org, old.event("deleted", old.auditFields(), nil)); err != nil {
			return err
		}
		return tx.Investigation.DeleteOne(row).Exec(ctx)
	})
}

// auditFields leave out the texts of findings, which can be long.
func (r *Investigation) auditFields() map[string]any {
	return map[string]any{
		"title": r.Title, "question": r.Question, "status": r.Status, "issue_id": r.IssueID, "conclusion": r.Conclusion, "assignee": r.Assignee,
		"finding_count": len(r.Findings),
	}
}
