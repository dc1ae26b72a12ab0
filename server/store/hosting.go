package store

import (
	"bytes"
	"context"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/hostingdeployment"
	"github.com/svc-observability/svc/ent/hostingproject"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// States of deployments.
const (
	DeploymentQueued   = "queued"
	DeploymentBuilding = "building"
	DeploymentReady    = "ready"
	DeploymentError    = "error"
	DeploymentCanceled = "canceled"
	DeploymentRemoved  = "removed"
	DeploymentUnknown  = "unknown"
)

// HostingList is the list that a hosting platform returned for an account.
type HostingList struct {
	// Projects is the complete list. Nil: it could not be read, and the stored one stays.
	Projects    []HostingProject
	Deployments []HostingDeployment
	// CompleteSince is the time from which on the list of deployments is complete: a stored one of then that it lacks is gone. Zero: no part
	// of the list is known to be complete.
	CompleteSince time.Time
	// KeepSince is the time before which stored deployments are forgotten.
	KeepSince time.Time
}

// hostingBatch is how many deployments one transaction stores. A first list may have thousands, and others wait for the database meanwhile.
const hostingBatch = 200

// SyncHosting stores the list of a hosting platform, in parts. A list whose end was not stored comes again. It returns ErrFenced if the
// worker lost its lease. It returns ErrIntegrationChanged if the account was connected again since the list was begun.
func (s *Store) SyncHosting(ctx context.Context, fence Fence, of IntegrationConnection, list HostingList, at time.Time) error {
	rest := list.Deployments
	for first := true; first || len(rest) > 0; first = false {
		part := HostingList{Deployments: rest[:min(hostingBatch, len(rest))], KeepSince: list.KeepSince}
		rest = rest[len(part.Deployments):]
		err := s.fenced(ctx, "store the list of a hosting platform", fence, func(tx *ent.Tx) error {
			beside, err := s.reportersBeside(ctx, tx, of)
			if err != nil {
				return err
			}
			row, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
			if err != nil {
				return err
			}
			if row.ExternalID != of.ExternalID || !bytes.Equal(row.Credentials, of.Credentials) {
				return ErrIntegrationChanged
			}
			if first && list.Projects != nil {
				if err := s.syncHostingProjects(ctx, tx, of, list.Projects, at); err != nil {
					return err
				}
			}
			if err := s.syncHostingDeployments(ctx, tx, of, part, beside, at); err != nil || len(rest) > 0 {
				return err
			}
			return dropDeployments(ctx, tx, of, list)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropDeployments deletes stored deployments that a list lacks although it is complete for their time.
func dropDeployments(ctx context.Context, tx *ent.Tx, of IntegrationConnection, list HostingList) error {
	if list.CompleteSince.IsZero() {
		return nil
	}
	_, err := tx.HostingDeployment.Delete().Where(append(deploymentsOf(of.Org, of.ID),
		hostingdeployment.StartedAtGTE(utc(list.CompleteSince)), hostingdeployment.ExternalIDNotIn(externalIDs(list.Deployments)...))...).
		Exec(ctx)
	return err
}

func externalIDs(list []HostingDeployment) []string {
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.ExternalID
	}
	return out
}

func (s *Store) syncHostingProjects(
	ctx context.Context, tx *ent.Tx, of IntegrationConnection, complete []HostingProject, at time.Time,
) error {
	rows, err := tx.HostingProject.Query().Where(projectsOf(of.Org, of.ID)...).All(ctx)
	if err != nil {
		return err
	}
	stored := make(map[string]*ent.HostingProject, len(rows))
	for _, row := range rows {
		stored[row.ExternalID] = row
	}
	for _, p := range complete {
		row := stored[p.ExternalID]
		delete(stored, p.ExternalID)
		if row == nil {
			p.Org, p.ConnectionID, p.SeenAt = of.Org, of.ID, utc(at)
			if _, err := s.insertHostingProject(ctx, tx, p); err != nil {
				return err
			}
			continue
		}
		u := row.Update().SetName(p.Name).SetSeenAt(utc(at)).SetEnvironments(p.Environments).SetServices(p.Services)
		setOr(nonZero(p.Framework), u.SetFramework, u.ClearFramework)
		setOr(nonZero(p.Repository), u.SetRepository, u.ClearRepository)
		if err := u.Exec(ctx); err != nil {
			return err
		}
	}
	for _, row := range stored {
		if err := tx.HostingProject.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// syncHostingDeployments stores deployments. Those that the list lacks stay, as long as they are kept.
func (s *Store) syncHostingDeployments(
	ctx context.Context, tx *ent.Tx, of IntegrationConnection, list HostingList, beside *reporters, at time.Time,
) error {
	if _, err := tx.HostingDeployment.Delete().Where(
		append(deploymentsOf(of.Org, of.ID), hostingdeployment.StartedAtLT(utc(list.KeepSince)))...).Exec(ctx); err != nil {
		return err
	}
	rows, err := tx.HostingDeployment.Query().
		Where(append(deploymentsOf(of.Org, of.ID), hostingdeployment.ExternalIDIn(externalIDs(list.Deployments)...))...).All(ctx)
	if err != nil {
		return err
	}
	stored := make(map[string]*ent.HostingDeployment, len(rows))
	for _, row := range rows {
		stored[row.ExternalID] = row
	}
	var began []HostingDeployment
	for _, d := range list.Deployments {
		if d.StartedAt.Before(list.KeepSince) {
			continue
		}
		row := stored[d.ExternalID]
		if row != nil && d.ReadyAt == nil {
			d.ReadyAt = row.ReadyAt // a time that was seen once stays
		}
		var was HostingDeployment
		if row != nil {
			was = toHostingDeployment(row)
		}
		// Also one that was replaced before it was first seen.
		begins := d.served() && !was.served()
		if begins && row != nil && d.ReadyAt == nil { // the platform does not tell it
			d.ReadyAt = new(utc(at))
		}
		switch {
		case row == nil:
			d.Org, d.ConnectionID, d.SeenAt = of.Org, of.ID, utc(at)
			if _, err := s.insertHostingDeployment(ctx, tx, d); err != nil {
				return err
			}
		case !sameDeployment(was, d):
			u := row.Update().SetProjectName(d.ProjectName).SetTarget(d.Target).SetState(hostingdeployment.State(d.State)).
				SetPlatformState(d.PlatformState).SetStartedAt(utc(d.StartedAt)).SetSeenAt(utc(at))
			setOr(nonZero(d.Service), u.SetService, u.ClearService)
			setOr(nonZero(d.CommitSha), u.SetCommitSha, u.ClearCommitSha)
			setOr(nonZero(d.Branch), u.SetBranch, u.ClearBranch)
			setOr(nonZero(d.URL), u.SetURL, u.ClearURL)
			setOr(utcPtr(d.ReadyAt), u.SetReadyAt, u.ClearReadyAt)
			if err := u.Exec(ctx); err != nil {
				return err
			}
		}
		if begins {
			began = append(began, d)
		}
	}
	// All are stored by now, and the oldest comes first, so that each finds the report that belongs to it.
	slices.SortStableFunc(began, func(a, b HostingDeployment) int { return a.StartedAt.Compare(b.StartedAt) })
	for _, d := range began {
		if err := s.markDeployment(ctx, tx, of, d, beside); err != nil {
			return err
		}
	}
	return nil
}

// sameDeployment reports whether nothing has changed that the platform reports of a deployment.
func sameDeployment(a, b HostingDeployment) bool {
	return a.ProjectName == b.ProjectName && a.Target == b.Target && a.State == b.State && a.PlatformState == b.PlatformState &&
		a.Service == b.Service && a.CommitSha == b.CommitSha && a.Branch == b.Branch && a.URL == b.URL &&
		a.StartedAt.Equal(utc(b.StartedAt)) && sameTime(a.ReadyAt, utcPtr(b.ReadyAt))
}

func projectsOf(org principal.OrgID, connection uuid.UUID) []predicate.HostingProject {
	return []predicate.HostingProject{hostingproject.OrgID(string(org)), hostingproject.ConnectionID(connection)}
}

func deploymentsOf(org principal.OrgID, connection uuid.UUID) []predicate.HostingDeployment {
	return []predicate.HostingDeployment{hostingdeployment.OrgID(string(org)), hostingdeployment.ConnectionID(connection)}
}

// ListHostingProjects returns projects of a connected platform by name.
func (s *Store) ListHostingProjects(ctx context.Context, org principal.OrgID, connection uuid.UUID, offset, limit int) (
	[]HostingProject, error,
) {
	rows, err := s.read.HostingProject.Query().Where(projectsOf(org, connection)...).
		Order(hostingproject.ByName(), hostingproject.ByID()).Offset(offset).Limit(limit).All(ctx)
	return collect("list hosting projects", toHostingProject, rows, err)
}

// ListHostingDeployments returns deployments of a connected platform, the newest first. A project is its id at the platform; empty: all.
func (s *Store) ListHostingDeployments(ctx context.Context, org principal.OrgID, connection uuid.UUID, project string, offset, limit int) (
	[]HostingDeployment, error,
) {
	where := deploymentsOf(org, connection)
	if project != "" {
		where = append(slices.Clone(where), hostingdeployment.ProjectExternalID(project))
	}
	newest := []hostingdeployment.OrderOption{
		hostingdeployment.ByStartedAt(entsql.OrderDesc()), hostingdeployment.ByID(entsql.OrderDesc()),
	}
	rows, err := s.read.HostingDeployment.Query().Where(where...).Order(newest...).Offset(offset).Limit(limit).All(ctx)
	return collect("list hosting deployments", toHostingDeployment, rows, err)
}

// CountHosting counts the stored projects and deployments of a connected platform.
func (s *Store) CountHosting(ctx context.Context, org principal.OrgID, connection uuid.UUID) (projects, deployments int, err error) {
	projects, err = s.read.HostingProject.Query().Where(projectsOf(org, connection)...).Count(ctx)
	if err == nil {
		deployments, err = s.read.HostingDeployment.Query().Where(deploymentsOf(org, connection)...).Count(ctx)
	}
	return projects, deployments, mapErrorOrNil("count the list of a hosting platform", err)
}
