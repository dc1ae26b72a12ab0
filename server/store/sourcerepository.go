package store

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/ent/sourcerepository"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// Statuses of a repository.
const (
	RepositoryActive  = string(sourcerepository.StatusActive)
	RepositoryRemoved = string(sourcerepository.StatusRemoved)
)

// ErrIntegrationChanged reports that the settings of an account changed while it was read.
var ErrIntegrationChanged = errors.New("the account was changed while it was read")

// Tracked is the branch that is read if a request names none; empty for an empty repository.
func (r *SourceRepository) Tracked() string {
	if r.TrackedBranch != "" {
		return r.TrackedBranch
	}
	return r.DefaultBranch
}

// RepositoryFilter selects repositories of an organization. Zero fields do not filter.
type RepositoryFilter struct {
	Connection uuid.UUID
	// Status is active or removed.
	Status string
	// Search is a part of the full name, in any case.
	Search string
	// FullName is the name, or a name that the repository had until a while ago.
	FullName string
}

// ListSourceRepositories returns repositories by name. Request one more than a page to learn whether there is another page.
func (s *Store) ListSourceRepositories(
	ctx context.Context, org principal.OrgID, f RepositoryFilter, offset, limit int,
) ([]SourceRepository, error) {
	where := []predicate.SourceRepository{sourcerepository.OrgID(string(org))}
	if f.Connection != uuid.Nil {
		where = append(where, sourcerepository.ConnectionID(f.Connection))
	}
	if f.Status != "" {
		where = append(where, sourcerepository.StatusEQ(sourcerepository.Status(f.Status)))
	}
	if f.Search != "" {
		where = append(where, sourcerepository.FullNameContainsFold(f.Search))
	}
	if f.FullName != "" {
		return s.namedRepositories(ctx, where, f.FullName, offset, limit)
	}
	rows, err := s.read.SourceRepository.Query().Where(where...).
		Order(sourcerepository.ByFullName(), sourcerepository.ByID()).Offset(offset).Limit(limit).All(ctx)
	return collect("list source repositories", toSourceRepository, rows, err)
}

// namedRepositories prefers the present name of a repository to names that others had.
func (s *Store) namedRepositories(ctx context.Context, where []predicate.SourceRepository, name string, offset, limit int) (
	[]SourceRepository, error,
) {
	rows, err := s.read.SourceRepository.Query().Where(append(slices.Clone(where), sourcerepository.FullNameEqualFold(name))...).
		Order(sourcerepository.ByStatus(), sourcerepository.ByID()).Offset(offset).Limit(limit).All(ctx)
	if err != nil || len(rows) > 0 {
		return collect("find a source repository", toSourceRepository, rows, err)
	}
	renamed, err := s.read.SourceRepository.Query().Where(append(where, sourcerepository.FormerNamesNotNil())...).
		Order(sourcerepository.ByID()).All(ctx)
	all, err := collect("find a renamed source repository", toSourceRepository, renamed, err)
	if err != nil {
		return nil, err
	}
	now := s.stamp()
	all = slices.DeleteFunc(all, func(r SourceRepository) bool {
		return !slices.ContainsFunc(r.FormerNames, func(f schema.FormerName) bool {
			return strings.EqualFold(f.Name, name) && f.Until.After(now)
		})
	})
	return all[min(offset, len(all)):min(offset+limit, len(all))], nil
}

// SyncSourceRepositories makes the repositories of an account those of a complete list of the provider. A repository that is missing there
// becomes removed. The list was begun at a time: access counts as proven since then. It returns the ids of those that were removed by this
// call. It returns ErrFenced if the worker lost its lease. It returns ErrIntegrationChanged if the settings of the account changed since
// the list was begun, so it may hold repositories that may not be read any more.
func (s *Store) SyncSourceRepositories(ctx context.Context, fence Fence, of IntegrationConnection, complete []SourceRepository,
	at time.Time) (
	removed []uuid.UUID, err error,
) {
	changed := false
	err = s.mutate(ctx, "store source repositories", func(tx *ent.Tx) (Change, error) {
		removed, changed = nil, false
		if err := s.hold(ctx, tx, fence); err != nil {
			return Change{}, err
		}
		account, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
		if err != nil {
			return Change{}, err
		}
		if account.ExternalID != of.ExternalID || !bytes.Equal(account.Settings, of.Settings) {
			return Change{}, ErrIntegrationChanged
		}
		rows, err := tx.SourceRepository.Query().Where(sourcerepository.ConnectionID(of.ID), sourcerepository.OrgID(string(of.Org))).All(ctx)
		if err != nil {
			return Change{}, err
		}
		stored := make(map[string]*ent.SourceRepository, len(rows))
		for _, row := range rows {
			stored[row.ExternalID] = row
		}
		now := utc(at)
		for _, r := range complete {
			row := stored[r.ExternalID]
			delete(stored, r.ExternalID)
			r.Org, r.ConnectionID, r.Status, r.LastSyncedAt, r.CheckedAt = of.Org, of.ID, RepositoryActive, &now, &now
			r.Shard, r.LookDueAt = ShardOf(WorkRepositories, string(of.Org)), &now
			if row == nil {
				changed = true
				if _, err := s.insertSourceRepository(ctx, tx, r); err != nil {
					return Change{}, err
				}
				continue
			}
			if err := updateRepository(ctx, row, r, now); err != nil {
				return Change{}, err
			}
		}
		for _, row := range stored {
			if row.Status == sourcerepository.StatusRemoved {
				continue
			}
			removed = append(removed, row.ID)
			if err := s.removeRepository(ctx, tx, row, "The provider no longer lists the repository for this account."); err != nil {
				return Change{}, err
			}
		}
		if !changed && len(removed) == 0 {
			return Change{}, nil
		}
		return of.change(), nil
	})
	return removed, err
}

func updateRepository(ctx context.Context, row *ent.SourceRepository, r SourceRepository, now time.Time) error {
	u := row.Update().SetFullName(r.FullName).SetHTMLURL(r.HTMLURL).SetIsPrivate(r.IsPrivate).SetIsArchived(r.IsArchived).
		SetDefaultBranch(r.DefaultBranch).SetStatus(sourcerepository.StatusActive).SetLastSyncedAt(now).SetCheckedAt(now).
		ClearLastSyncError().ClearEtag().SetUpdatedAt(now)
	if row.FullName != r.FullName {
		u.SetFormerNames(formerNames(row, r.FullName, now))
	}
	if row.LookDueAt == nil { // it was removed, or is from before the server looked
		u.SetShard(r.Shard).SetLookDueAt(now)
	}
	return u.Exec(ctx)
}

// formerNames keeps the names that requests may still use.
func formerNames(row *ent.SourceRepository, name string, now time.Time) []schema.FormerName {
	kept := slices.DeleteFunc(slices.Clone(row.FormerNames), func(f schema.FormerName) bool {
		return !f.Until.After(now) || f.Name == name || f.Name == row.FullName
	})
	kept = append(kept, schema.FormerName{Name: row.FullName, Until: now.Add(limits.RepositoryFormerName)})
	return kept[max(0, len(kept)-limits.RepositoryFormerNames):]
}

func (s *Store) removeRepository(ctx context.Context, tx *ent.Tx, row *ent.SourceRepository, reason string) error {
	old := toSourceRepository(row)
	row, err := row.Update().SetStatus(sourcerepository.StatusRemoved).SetLastSyncError(reason).ClearEtag().ClearLookDueAt().
		SetUpdatedAt(s.stamp()).Save(ctx)
	if err != nil {
		return err
	}
	r := toSourceRepository(row)
	return s.audit(ctx, tx, r.Org, r.event("removed", old.auditFields(), r.auditFields()))
}

// RemoveSourceRepository marks a repository as removed, because the provider no longer gives access to it.
func (s *Store) RemoveSourceRepository(ctx context.Context, org principal.OrgID, id uuid.UUID, reason string) error {
	return s.changeRepository(ctx, org, id, func(tx *ent.Tx, row *ent.SourceRepository) error {
		if row.Status == sourcerepository.StatusRemoved {
			return nil
		}
		return s.removeRepository(ctx, tx, row, reason)
	})
}

// RecordRepositoryAccess stores that the provider gave access to a repository at a time, and, if it has changed, its new properties. It
// does not bring back a repository that was removed meanwhile: ErrNotFound.
func (s *Store) RecordRepositoryAccess(ctx context.Context, org principal.OrgID, seen SourceRepository, changed bool, at time.Time) error {
	return s.tx(ctx, "record access to a source repository", func(tx *ent.Tx) error {
		row, err := s.lockSourceRepository(ctx, tx, org, seen.ID)
		if err != nil {
			return err
		}
		if row.Status != sourcerepository.StatusActive {
			return ErrNotFound
		}
		now := utc(at)
		if row.CheckedAt != nil && row.CheckedAt.After(now) {
			return nil // a later answer is stored already
		}
		if !changed {
			return row.Update().SetCheckedAt(now).Exec(ctx)
		}
		u := row.Update().SetFullName(seen.FullName).SetHTMLURL(seen.HTMLURL).SetIsPrivate(seen.IsPrivate).SetIsArchived(seen.IsArchived).
			SetDefaultBranch(seen.DefaultBranch).SetCheckedAt(now)
		setOr(nonZero(seen.Etag), u.SetEtag, u.ClearEtag)
		if row.FullName != seen.FullName {
			u.SetFormerNames(formerNames(row, seen.FullName, now))
		}
		return u.Exec(ctx)
	})
}

// TrackBranch sets the branch that is read if a request names none. An empty one means the default branch of the repository.
func (s *Store) TrackBranch(ctx context.Context, org principal.OrgID, id uuid.UUID, branch string) (r SourceRepository, err error) {
	err = s.changeRepository(ctx, org, id, func(tx *ent.Tx, row *ent.SourceRepository) error {
		old := toSourceRepository(row)
		u := row.Update().SetUpdatedAt(s.stamp())
		setOr(nonZero(branch), u.SetTrackedBranch, u.ClearTrackedBranch)
		if row, err = u.Save(ctx); err != nil {
			return err
		}
		r = toSourceRepository(row)
		if old.TrackedBranch == r.TrackedBranch {
			return nil
		}
		return s.audit(ctx, tx, org, r.event("updated", old.auditFields(), r.auditFields()))
	})
	return r, err
}

// DeleteSourceRepository deletes a removed repository. It returns ErrInvalid if it is active.
func (s *Store) DeleteSourceRepository(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.changeRepository(ctx, org, id, func(tx *ent.Tx, row *ent.SourceRepository) error {
		if row.Status != sourcerepository.StatusRemoved {
			return &InvalidError{Violations: []Violation{{
				Field: "id", Reason: "names an active repository. Only removed ones can be deleted: take it out of the installation at the provider first",
			}}}
		}
		r := toSourceRepository(row)
		if err := s.audit(ctx, tx, org, r.event("deleted", r.auditFields(), nil)); err != nil {
			return err
		}
		return tx.SourceRepository.DeleteOne(row).Exec(ctx)
	})
}

func (s *Store) changeRepository(
	ctx context.Context, org principal.OrgID, id uuid.UUID, change func(*ent.Tx, *ent.SourceRepository) error,
) error {
	return s.mutate(ctx, "change source repository", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockSourceRepository(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectIntegration, Org: org}, change(tx, row)
	})
}

func (r *SourceRepository) auditFields() map[string]any {
	return map[string]any{"full_name": r.FullName, "status": r.Status, "tracked_branch": r.TrackedBranch, "reason": r.LastSyncError}
}

// RepositoryIsActive reports whether a repository exists and may be read. A failure of the store is an error.
func (s *Store) RepositoryIsActive(ctx context.Context, org principal.OrgID, id uuid.UUID) (bool, error) {
	active, err := s.read.SourceRepository.Query().Where(
		sourcerepository.ID(id), sourcerepository.OrgID(string(org)), sourcerepository.StatusEQ(sourcerepository.StatusActive),
	).Exist(ctx)
	if err != nil {
		return false, mapError("find a source repository", err)
	}
	return active, nil
}
