package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/membership"
	"github.com/svc-observability/svc/ent/organization"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// Organization is a customer.
type Organization struct {
	ID        principal.OrgID
	Name      string
	Slug      string
	CreatedAt time.Time
}

// NewOrganization is an organization to create, with the administrator and the keys that make it usable.
type NewOrganization struct {
	Name string
	// Slug, when empty, is derived from the name, with a suffix if the derived slug is taken.
	Slug string
	// AdminUser names an existing user as administrator; otherwise Admin is created. One of the two is set.
	AdminUser principal.UserID
	Admin     *NewUser
	// IngestKeys, when set, become the organization's default keys.
	IngestKeys *DefaultIngestKeys
	// ApiKey, when set, is created in the name of the administrator.
	ApiKey *NewApiKey
}

// CreatedOrganization holds the rows that CreateOrganization wrote.
type CreatedOrganization struct {
	Organization Organization
	Admin        User
	// IngestKeys and ApiKey are empty when they were not requested.
	IngestKeys []IngestKey
	ApiKey     *ApiKey
}

// slugAttempts bounds the search for a free slug while other calls create organizations.
const slugAttempts = 3

// errEmailTaken is a conflict that a different slug cannot solve.
var errEmailTaken = fmt.Errorf("store: a user with this email address %w", ErrConflict)

// CreateOrganization creates an organization, its administrator and, where given, its keys, all or nothing. It returns ErrConflict if the
// administrator's email address or the given slug is taken. It returns ErrNotFound if AdminUser does not exist.
func (s *Store) CreateOrganization(ctx context.Context, in NewOrganization) (CreatedOrganization, error) {
	var out CreatedOrganization
	for attempt := 1; ; attempt++ {
		err := s.tx(ctx, "create organization", func(tx *ent.Tx) (err error) {
			out, err = s.createOrganization(ctx, tx, in)
			return err
		})
		if errors.Is(err, ErrConflict) && !errors.Is(err, errEmailTaken) && in.Slug == "" && attempt < slugAttempts {
			continue
		}
		return out, err
	}
}

// BootstrapOrganization is CreateOrganization for an empty database. If any organization exists, created is false and nothing is
// written. Nodes that start together create a single organization.
func (s *Store) BootstrapOrganization(ctx context.Context, in NewOrganization) (out CreatedOrganization, created bool, err error) {
	err = s.tx(ctx, "create the first organization", func(tx *ent.Tx) error {
		if s.dialect == dialect.Postgres {
			if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock($1)", advisoryLock); err != nil {
				return err
			}
		}
		exists, err := tx.Organization.Query().Exist(ctx)
		if err != nil || exists {
			return err
		}
		created = true
		out, err = s.createOrganization(ctx, tx, in)
		return err
	})
	return out, created && err == nil, err
}

func (s *Store) createOrganization(ctx context.Context, tx *ent.Tx, in NewOrganization) (out CreatedOrganization, err error) {
	now := s.stamp()
	id, err := uuid.NewV7()
	if err != nil {
		return out, err
	}
	slug := in.Slug
	if slug == "" {
		if slug, err = freeSlug(ctx, tx, in.Name, id); err != nil {
			return out, err
		}
	}
	org, err := tx.Organization.Create().SetID(publicid.Encode("org", id)).SetName(in.Name).SetSlug(slug).SetCreatedAt(now).Save(ctx)
	if err != nil {
		return out, err
	}
	out.Organization = toOrganization(org)
	if in.Admin != nil {
		out.Admin, err = s.createUser(ctx, tx, *in.Admin)
	} else {
		out.Admin, err = getUser(ctx, tx.User, in.AdminUser)
	}
	if err != nil {
		return out, err
	}
	if err := createMembership(ctx, tx, out.Organization.ID, out.Admin.ID, membership.RoleAdmin, now); err != nil {
		return out, err
	}
	for _, e := range []AuditEvent{
		{Action: "organization.created", ResourceID: org.ID, After: map[string]any{"name": org.Name, "slug": org.Slug}},
		memberAdded(out.Admin.ID, principal.RoleAdmin),
	} {
		if err := s.audit(ctx, tx, out.Organization.ID, e); err != nil {
			return out, err
		}
	}
	if in.IngestKeys != nil {
		keys := *in.IngestKeys
		keys.CreatedBy = out.Admin.ID
		if out.IngestKeys, err = s.createDefaultIngestKeys(ctx, tx, out.Organization.ID, keys); err != nil {
			return out, err
		}
	}
	if in.ApiKey != nil {
		key := *in.ApiKey
		key.CreatedBy, key.CreatedByEmail = out.Admin.ID, out.Admin.Email
		created, err := s.insertApiKey(ctx, tx, key.key(out.Organization.ID))
		if err != nil {
			return out, err
		}
		if err := s.audit(ctx, tx, out.Organization.ID, created.event("created", nil)); err != nil {
			return out, err
		}
		out.ApiKey = &created
	}
	return out, nil
}

// freeSlug prefers the plain name. If that is taken, it adds a suffix from the random end of the id.
func freeSlug(ctx context.Context, tx *ent.Tx, name string, id uuid.UUID) (string, error) {
	slug := slugOf(name)
	taken, err := tx.Organization.Query().Where(organization.Slug(slug)).Exist(ctx)
	if err != nil || !taken {
		return slug, err
	}
	text := id.String()
	return slug + "-" + text[len(text)-8:], nil
}

// slugOf keeps letters and digits of ASCII and turns every other run into one dash.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-")
	if slug == "" {
		return "organization"
	}
	return strings.Trim(slug[:min(len(slug), limits.SlugLength)], "-")
}

// GetOrganization returns the organization.
func (s *Store) GetOrganization(ctx context.Context, org principal.OrgID) (Organization, error) {
	row, err := s.read.Organization.Get(ctx, string(org))
	return single("get organization", toOrganization, row, err)
}

// ListOrganizations returns all organizations, oldest first. Only the operator may see the result.
func (s *Store) ListOrganizations(ctx context.Context) ([]Organization, error) {
	rows, err := s.read.Organization.Query().Order(organization.ByCreatedAt(), organization.ByID()).All(ctx)
	return collect("list organizations", toOrganization, rows, err)
}

// OrganizationIDs returns the ids of all organizations. Only background work may use it.
func (s *Store) OrganizationIDs(ctx context.Context) ([]principal.OrgID, error) {
	ids, err := s.read.Organization.Query().Order(organization.ByID()).IDs(ctx)
	if err != nil {
		return nil, mapError("list the ids of organizations", err)
	}
	out := make([]principal.OrgID, len(ids))
	for i, id := range ids {
		out[i] = principal.OrgID(id)
	}
	return out, nil
}

func toOrganization(row *ent.Organization) Organization {
	return Organization{ID: principal.OrgID(row.ID), Name: row.Name, Slug: row.Slug, CreatedAt: utc(row.CreatedAt)}
}
