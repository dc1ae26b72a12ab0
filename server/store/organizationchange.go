package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"entgo.io/ent/dialect"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/apikey"
	"github.com/svc-observability/svc/ent/deletedorganization"
	"github.com/svc-observability/svc/ent/devicelogin"
	"github.com/svc-observability/svc/ent/ingestkey"
	"github.com/svc-observability/svc/ent/logpushconnector"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/organization"
	"github.com/svc-observability/svc/ent/session"
	"github.com/svc-observability/svc/ent/user"
	"github.com/svc-observability/svc/server/principal"
)

// OrganizationEdit has the fields of an organization to change.
type OrganizationEdit struct {
	Name, Slug Patch[string]
}

// EditOrganization changes an organization. It returns ErrConflict if the slug is taken. The caller validates the input.
func (s *Store) EditOrganization(ctx context.Context, org principal.OrgID, edit OrganizationEdit) (Organization, error) {
	var out Organization
	err := s.tx(ctx, "edit organization", func(tx *ent.Tx) error {
		if err := s.lockOrganization(ctx, tx, org); err != nil {
			return err
		}
		row, err := tx.Organization.Get(ctx, string(org))
		if err != nil {
			return err
		}
		before := map[string]any{"name": row.Name, "slug": row.Slug}
		edit.Name.apply(&row.Name)
		edit.Slug.apply(&row.Slug)
		after := map[string]any{"name": row.Name, "slug": row.Slug}
		if row, err = tx.Organization.UpdateOneID(row.ID).SetName(row.Name).SetSlug(row.Slug).Save(ctx); err != nil {
			return err
		}
		out = toOrganization(row)
		if auditChanges(before, after) == nil {
			return nil
		}
		return s.audit(ctx, tx, org, AuditEvent{Action: "organization.updated", ResourceID: string(org), Before: before, After: after})
	})
	return out, err
}

// lockOrganization prevents concurrent changes to the organization or its members until the transaction ends. On SQLite every
// write transaction already excludes all others.
func (s *Store) lockOrganization(ctx context.Context, tx *ent.Tx, org principal.OrgID) error {
	return s.lockRow(ctx, tx, "SELECT id FROM organizations WHERE id = $1 FOR UPDATE", string(org))
}

// queueAtOrganization is lockOrganization for transactions that only exclude each other: meanwhile, others may add rows that belong to the
// organization.
func (s *Store) queueAtOrganization(ctx context.Context, tx *ent.Tx, org principal.OrgID) error {
	return s.lockRow(ctx, tx, "SELECT id FROM organizations WHERE id = $1 FOR NO KEY UPDATE", string(org))
}

// lockRow locks the row of an id by a statement of PostgreSQL.
func (s *Store) lockRow(ctx context.Context, tx *ent.Tx, statement, id string) (err error) {
	if s.dialect != dialect.Postgres {
		return nil
	}
	rows, err := tx.QueryContext(ctx, statement, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	return rows.Err()
}

// DeleteOrganization removes an organization with every row that belongs to it, and the users who then belong to no organization. It leaves
// a tombstone for the telemetry, which names the actor of the deletion. When it returns, no credential of the organization is served any
// more. It returns ErrNotFound if there is no such organization.
func (s *Store) DeleteOrganization(ctx context.Context, org principal.OrgID) error {
	ctx = patient(ctx) // the rows of some fifty tables go with it
	var gone []Change
	err := s.tx(ctx, "delete organization", func(tx *ent.Tx) error {
		if err := s.lockOrganization(ctx, tx, org); err != nil {
			return err
		}
		row, err := tx.Organization.Get(ctx, string(org))
		if err != nil {
			return err
		}
		if gone, err = credentialsOf(ctx, tx, org); err != nil {
			return err
		}
		if _, err := tx.DeviceLogin.Delete().Where(devicelogin.OrgID(string(org))).Exec(ctx); err != nil {
			return err
		}
		_, err = tx.User.Delete().Where(
			user.HasMembershipsWith(membership.OrgID(string(org))), user.Not(user.HasMembershipsWith(membership.OrgIDNEQ(string(org)))),
		).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := tx.Organization.Delete().Where(organization.ID(string(org))).Exec(ctx)
		if err := affected("delete organization", n, err); err != nil {
			return err
		}
		by := actor(ctx)
		err = tx.DeletedOrganization.Create().SetID(string(org)).SetDeletedAt(s.stamp()).SetName(row.Name).SetSlug(row.Slug).SetDeletedBy(&by).
			Exec(ctx)
		if err != nil {
			return err
		}
		for _, c := range gone {
			if err := s.announce(ctx, tx, c); err != nil {
				return err
			}
		}
		return nil
	})
	s.publishGone(gone, err)
	return err
}

// credentialsOf returns a change for everything that caches hold of an organization.
func credentialsOf(ctx context.Context, tx *ent.Tx, org principal.OrgID) ([]Change, error) {
	id := string(org)
	out := []Change{
		{Subject: SubjectMembership, Org: org},
		{Subject: SubjectIngestPolicy, Org: org},
		{Subject: SubjectOrganization, Org: org, Gone: true},
	}
	add := func(subject Subject, hashes []string, err error) error {
		for _, h := range hashes {
			out = append(out, Change{Subject: subject, Org: org, Hash: h, Gone: true})
		}
		return err
	}
	hashes, err := tx.ApiKey.Query().Where(apikey.OrgID(id)).Select(apikey.FieldSecretHash).Strings(ctx)
	if err := add(SubjectAPIKey, hashes, err); err != nil {
		return nil, err
	}
	hashes, err = tx.IngestKey.Query().Where(ingestkey.OrgID(id)).Select(ingestkey.FieldKeyHash).Strings(ctx)
	if err := add(SubjectIngestKey, hashes, err); err != nil {
		return nil, err
	}
	hashes, err = tx.LogpushConnector.Query().Where(logpushconnector.OrgID(id)).Select(logpushconnector.FieldSecretHash).Strings(ctx)
	if err := add(SubjectLogpushConnector, hashes, err); err != nil {
		return nil, err
	}
	hashes, err = tx.Session.Query().Where(session.OrgID(id)).Select(session.FieldTokenHash).Strings(ctx)
	if err := add(SubjectSession, hashes, err); err != nil {
		return nil, err
	}
	return out, nil
}

// Tombstone names an organization that was deleted.
type Tombstone struct {
	Org       principal.OrgID
	DeletedAt time.Time
	// Name and Slug are those of the organization, and By is the actor who deleted it. They are empty and nil for deletions by older
	// versions.
	Name, Slug string
	By         *AuditActor
}

// ListTombstones returns every deleted organization, the latest deletion first.
func (s *Store) ListTombstones(ctx context.Context) ([]Tombstone, error) {
	rows, err := s.read.DeletedOrganization.Query().
		Order(ent.Desc(deletedorganization.FieldDeletedAt), ent.Desc(deletedorganization.FieldID)).All(ctx)
	if err != nil {
		return nil, mapError("list deleted organizations", err)
	}
	out := make([]Tombstone, len(rows))
	for i, row := range rows {
		out[i] = Tombstone{Org: principal.OrgID(row.ID), DeletedAt: utc(row.DeletedAt), Name: row.Name, Slug: row.Slug, By: row.DeletedBy}
	}
	return out, nil
}

// ErrLastAdministrator means that an organization must keep at least one administrator.
var ErrLastAdministrator = fmt.Errorf("store: the organization would have no administrator: %w", ErrConflict)
