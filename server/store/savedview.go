package store

import (
	"context"
	"net/url"
	"reflect"
	"strings"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/savedview"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Visibilities of a saved view.
const (
	ViewPrivate = string(savedview.VisibilityPrivate)
	ViewShared  = string(savedview.VisibilityShared)
)

// Viewer is the reader of saved views.
type Viewer struct {
	// User is the person; empty for an API key.
	User principal.UserID
	// Admin may change the shared views of others.
	Admin bool
}

// sees selects the shared views, and the private ones of the viewer.
func (v Viewer) sees(org principal.OrgID) []predicate.SavedView {
	shared := savedview.VisibilityEQ(savedview.VisibilityShared)
	if v.User == "" {
		return []predicate.SavedView{savedview.OrgID(string(org)), shared}
	}
	return []predicate.SavedView{savedview.OrgID(string(org)), savedview.Or(shared, savedview.UserID(string(v.User)))}
}

// changes judges whether the viewer may change a view that the viewer sees.
func (v Viewer) changes(r *SavedView) error {
	if v.Admin || v.User != "" && v.User == r.Owner {
		return nil
	}
	return ErrForbidden
}

// SavedViewFilter selects saved views. Empty fields select all.
type SavedViewFilter struct{ Page, Visibility string }

// SavedViewEdit is a partial update.
type SavedViewEdit struct {
	Name, State, Visibility Patch[string]
	Description             Patch[*string]
}

// valid brings the view into the stored form and judges it.
func (r *SavedView) valid() error {
	var c checker
	choice(&c, "page", savedview.Page(r.Page), SavedViewPages())
	choice(&c, "visibility", r.Visibility, []string{ViewPrivate, ViewShared})
	c.oneLine("name", &r.Name, limits.SavedViewName)
	c.optionalText("description", &r.Description, limits.DescriptionLength)
	switch _, err := url.ParseQuery(r.State); {
	case strings.ContainsFunc(r.State, func(r rune) bool { return r <= ' ' || r > '~' }):
		c.fail("state", "has a character that an address encodes with %%")
	case strings.HasPrefix(r.State, "?") || strings.Contains(r.State, "#"):
		c.fail("state", "must be the text between ? and # of an address, without them")
	case err != nil:
		c.fail("state", "is not the query of an address: %v", err)
	default:
		c.line("state", r.State, limits.SavedViewState)
	}
	if r.Owner == "" && r.Visibility == ViewPrivate {
		c.fail("visibility", "must be shared: the view has no owner")
	}
	return c.err()
}

// SavedViewPages are the pages of the web application to which a saved view can belong.
func SavedViewPages() []savedview.Page {
	return []savedview.Page{
		savedview.PageServices, savedview.PageMap, savedview.PageTraces, savedview.PageLogs, savedview.PageErrors, savedview.PageMetrics,
		savedview.PageIncidents, savedview.PageReplays, savedview.PageEvents, savedview.PageAgents, savedview.PageSQL,
	}
}

// CreateSavedView creates a view that its owner, if any, owns. It returns an *InvalidError if the input breaks a rule. It returns
// ErrConflict if the name is taken.
func (s *Store) CreateSavedView(ctx context.Context, org principal.OrgID, in SavedView) (SavedView, error) {
	in.Org = org
	if err := in.valid(); err != nil {
		return SavedView{}, err
	}
	var out SavedView
	err := s.tx(ctx, "create saved view", func(tx *ent.Tx) (err error) {
		if err := s.roomForView(ctx, tx, &in); err != nil {
			return err
		}
		if out, err = s.insertSavedView(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, out.event("created", nil, out.auditFields()))
	})
	return out, err
}

// roomForView judges whether the owner and the organization may have one more view. Creations wait for each other, so that two of them
// do not take the same last place.
func (s *Store) roomForView(ctx context.Context, tx *ent.Tx, in *SavedView) error {
	if err := s.queueAtOrganization(ctx, tx, in.Org); err != nil {
		return err
	}
	of := []predicate.SavedView{savedview.OrgID(string(in.Org))}
	all, err := tx.SavedView.Query().Where(of...).Count(ctx)
	if err != nil {
		return err
	}
	var c checker
	if all >= limits.SavedViews {
		c.fail("page", "cannot have another saved view: the organization has %d, which is the most; delete one first", all)
		return c.err()
	}
	if in.Owner == "" {
		return nil
	}
	own, err := tx.SavedView.Query().Where(append(of, savedview.UserID(string(in.Owner)))...).Count(ctx)
	if err == nil && own >= limits.UserViews {
		c.fail("page", "cannot have another saved view: you own %d, which is the most; delete one first", own)
		return c.err()
	}
	return err
}

// ListSavedViews returns the views that the viewer sees, by name.
func (s *Store) ListSavedViews(
	ctx context.Context, org principal.OrgID, by Viewer, f SavedViewFilter, offset, limit int,
) ([]SavedView, error) {
	where := by.sees(org)
	if f.Page != "" {
		where = append(where, savedview.PageEQ(savedview.Page(f.Page)))
	}
	if f.Visibility != "" {
		where = append(where, savedview.VisibilityEQ(savedview.Visibility(f.Visibility)))
	}
	rows, err := s.read.SavedView.Query().Where(where...).Order(savedview.ByName(), savedview.ByID()).Offset(offset).Limit(limit).All(ctx)
	return collect("list saved views", toSavedView, rows, err)
}

// GetSavedView returns one view that the viewer sees.
func (s *Store) GetSavedView(ctx context.Context, org principal.OrgID, by Viewer, id uuid.UUID) (SavedView, error) {
	row, err := s.read.SavedView.Query().Where(append(by.sees(org), savedview.ID(id))...).Only(ctx)
	return single("get saved view", toSavedView, row, err)
}

// ownSavedView locks a view for a change. It returns ErrNotFound if the viewer does not see it. It returns ErrForbidden if the viewer sees
// it only.
func (s *Store) ownSavedView(
	ctx context.Context, tx *ent.Tx, org principal.OrgID, by Viewer, id uuid.UUID,
) (*ent.SavedView, SavedView, error) {
	row, err := s.lockSavedView(ctx, tx, org, id)
	if err != nil {
		return nil, SavedView{}, err
	}
	r := toSavedView(row)
	if r.Visibility == ViewPrivate && (by.User == "" || by.User != r.Owner) {
		return nil, r, ErrNotFound
	}
	return row, r, by.changes(&r)
}

// EditSavedView changes the fields that the edit sets. It returns ErrInvalid if the resulting view breaks a rule. It returns ErrConflict if
// the name is taken. It returns ErrForbidden if the viewer may only read it, or makes a view of another user private.
func (s *Store) EditSavedView(
	ctx context.Context, org principal.OrgID, by Viewer, id uuid.UUID, edit SavedViewEdit,
) (r SavedView, err error) {
	err = s.tx(ctx, "edit saved view", func(tx *ent.Tx) error {
		row, old, err := s.ownSavedView(ctx, tx, org, by, id)
		if err != nil {
			return err
		}
		r = old
		edit.Name.apply(&r.Name)
		edit.State.apply(&r.State)
		edit.Visibility.apply(&r.Visibility)
		edit.Description.apply(&r.Description)
		if err := r.valid(); err != nil {
			return err
		}
		if r.Visibility == ViewPrivate && by.User != r.Owner {
			return ErrForbidden
		}
		if reflect.DeepEqual(r, old) {
			return nil
		}
		u := row.Update().SetUpdatedAt(s.stamp()).SetName(r.Name).SetState(r.State).SetVisibility(savedview.Visibility(r.Visibility))
		if r.Description == nil {
			u.ClearDescription()
		} else {
			u.SetDescription(*r.Description)
		}
		if row, err = u.Save(ctx); err != nil {
			return err
		}
		r = toSavedView(row)
		return s.audit(ctx, tx, org, r.event("updated", old.auditFields(), r.auditFields()))
	})
	return r, err
}

// DeleteSavedView deletes a view. It returns ErrForbidden if the viewer may only read it.
func (s *Store) DeleteSavedView(ctx context.Context, org principal.OrgID, by Viewer, id uuid.UUID) error {
	return s.tx(ctx, "delete saved view", func(tx *ent.Tx) error {
		row, old, err := s.ownSavedView(ctx, tx, org, by, id)
		if err != nil {
			return err
		}
		if err := s.audit(ctx, tx, org, old.event("deleted", old.auditFields(), nil)); err != nil {
			return err
		}
		return tx.SavedView.DeleteOne(row).Exec(ctx)
	})
}

// auditFields leaves out the texts of a private view: administrators read the audit log, but not the private views of others.
func (r *SavedView) auditFields() map[string]any {
	if r.Visibility == ViewPrivate {
		return map[string]any{"page": r.Page, "visibility": r.Visibility}
	}
	return map[string]any{
		"page": r.Page, "visibility": r.Visibility, "name": r.Name, "description": r.Description, "state": r.State,
	}
}
