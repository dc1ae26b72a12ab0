package store

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/marker"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// MarkerKinds are the kinds of markers.
func MarkerKinds() []string {
	return []string{string(marker.KindDeploy), string(marker.KindFlag), string(marker.KindConfiguration), string(marker.KindNote)}
}

// MarkerEdit is a partial update.
type MarkerEdit struct {
	Kind, Title                                    Patch[string]
	OccurredAt                                     Patch[time.Time]
	EndedAt                                        Patch[*time.Time]
	Description, ServiceName, Environment, Address Patch[*string]
}

// MarkerFilter selects markers. Nil and empty fields select all.
type MarkerFilter struct {
	// Start and End select the markers that touch a window.
	Start, End time.Time
	Kind       string
	// Service and Environment select the markers of one, and those without one.
	Service, Environment *string
}

func (f MarkerFilter) predicates(org principal.OrgID) []predicate.Marker {
	out := []predicate.Marker{marker.OrgID(string(org))}
	if !f.Start.IsZero() {
		out = append(out, marker.Or(marker.OccurredAtGTE(utc(f.Start)), marker.EndedAtGTE(utc(f.Start))))
	}
	if !f.End.IsZero() {
		out = append(out, marker.OccurredAtLTE(utc(f.End)))
	}
	if f.Kind != "" {
		out = append(out, marker.KindEQ(marker.Kind(f.Kind)))
	}
	if f.Service != nil {
		out = append(out, marker.Or(marker.ServiceNameIsNil(), marker.ServiceName(*f.Service)))
	}
	if f.Environment != nil {
		out = append(out, marker.Or(marker.DeploymentEnvironmentIsNil(), marker.DeploymentEnvironment(*f.Environment)))
	}
	return out
}

// valid brings the marker into the stored form and judges it.
func (r *Marker) valid() error {
	var c checker
	if !slices.Contains(MarkerKinds(), r.Kind) {
		c.fail("kind", "%q is not a kind of marker; use %s", r.Kind, strings.Join(MarkerKinds(), ", "))
	}
	c.oneLine("title", &r.Title, limits.MarkerTitleLength)
	c.optionalText("description", &r.Description, limits.DescriptionLength)
	c.optionalLine("service_name", &r.ServiceName, limits.FilterValue)
	c.optionalLine("deployment_environment", &r.DeploymentEnvironment, limits.FilterValue)
	c.optionalLine("url", &r.URL, limits.ScrapeURL)
	if r.URL != nil && !strings.HasPrefix(*r.URL, "https://") && !strings.HasPrefix(*r.URL, "http://") {
		c.fail("url", "must begin with https:// or http://")
	}
	if r.EndedAt != nil && r.EndedAt.Before(r.OccurredAt) {
		c.fail("ended_at", "is before occurred_at")
	}
	return c.err()
}

// CreateMarker creates a marker. Without a time, it is of now. It returns an *InvalidError if the input breaks a rule.
func (s *Store) CreateMarker(ctx context.Context, org principal.OrgID, by principal.UserID, in Marker) (Marker, error) {
	in.Org, in.CreatedBy = org, by
	if in.OccurredAt.IsZero() {
		in.OccurredAt = s.stamp()
	}
	if err := in.valid(); err != nil {
		return Marker{}, err
	}
	var out Marker
	err := s.tx(ctx, "create marker", func(tx *ent.Tx) (err error) {
		if out, err = s.insertMarker(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, out.event("created", nil, out.auditFields()))
	})
	return out, err
}

// ListMarkers returns markers, the latest first.
func (s *Store) ListMarkers(ctx context.Context, org principal.OrgID, f MarkerFilter, offset, limit int) ([]Marker, error) {
	rows, err := s.read.Marker.Query().Where(f.predicates(org)...).
		Order(marker.ByOccurredAt(entsql.OrderDesc()), marker.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list markers", toMarker, rows, err)
}

// EditMarker changes the fields that the edit sets. It returns ErrInvalid if the resulting marker breaks a rule.
func (s *Store) EditMarker(ctx context.Context, org principal.OrgID, id uuid.UUID, edit MarkerEdit) (r Marker, err error) {
	err = s.tx(ctx, "edit marker", func(tx *ent.Tx) error {
		row, err := s.lockMarker(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toMarker(row)
		r = old
		edit.Kind.apply(&r.Kind)
		edit.Title.apply(&r.Title)
		edit.OccurredAt.apply(&r.OccurredAt)
		edit.EndedAt.apply(&r.EndedAt)
		edit.Description.apply(&r.Description)
		edit.ServiceName.apply(&r.ServiceName)
		edit.Environment.apply(&r.DeploymentEnvironment)
		edit.Address.apply(&r.URL)
		r.OccurredAt, r.EndedAt = utc(r.OccurredAt), utcPtr(r.EndedAt)
		if err := r.valid(); err != nil {
			return err
		}
		if reflect.DeepEqual(r, old) {
			return nil
		}
		u := row.Update().SetUpdatedAt(s.stamp()).SetKind(marker.Kind(r.Kind)).SetTitle(r.Title).SetOccurredAt(r.OccurredAt)
		r.optional(u)
		if row, err = u.Save(ctx); err != nil {
			return err
		}
		r = toMarker(row)
		return s.audit(ctx, tx, org, r.event("updated", old.auditFields(), r.auditFields()))
	})
	return r, err
}

// optional sets or clears the columns that may be null. PostgreSQL refuses to do both.
func (r *Marker) optional(u *ent.MarkerUpdateOne) {
	if r.EndedAt == nil {
		u.ClearEndedAt()
	} else {
		u.SetEndedAt(*r.EndedAt)
	}
	for _, f := range []struct {
		text  *string
		set   func(string) *ent.MarkerUpdateOne
		clear func() *ent.MarkerUpdateOne
	}{
		{r.Description, u.SetDescription, u.ClearDescription},
		{r.ServiceName, u.SetServiceName, u.ClearServiceName},
		{r.DeploymentEnvironment, u.SetDeploymentEnvironment, u.ClearDeploymentEnvironment},
		{r.URL, u.SetURL, u.ClearURL},
	} {
		if f.text == nil {
			f.clear()
		} else {
			f.set(*f.text)
		}
	}
}

// DeleteMarker deletes a marker.
func (s *Store) DeleteMarker(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.tx(ctx, "delete marker", func(tx *ent.Tx) error {
		row, err := s.lockMarker(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toMarker(row)
		if err := s.audit(ctx, tx, org, old.event("deleted", old.auditFields(), nil)); err != nil {
			return err
		}
		return tx.Marker.DeleteOne(row).Exec(ctx)
	})
}

func (r *Marker) auditFields() map[string]any {
	return map[string]any{
		"kind": r.Kind, "title": r.Title, "description": r.Description, "occurred_at": r.OccurredAt, "ended_at": r.EndedAt,
		"service_name": r.ServiceName, "deployment_environment": r.DeploymentEnvironment, "url": r.URL,
	}
}
