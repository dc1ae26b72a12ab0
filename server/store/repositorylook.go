package store

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/ent/errorissueevent"
	"github.com/svc-observability/svc/ent/hostingdeployment"
	"github.com/svc-observability/svc/ent/hostingproject"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/sourcerepository"
	"github.com/svc-observability/svc/server/principal"
)

// DueRepositories returns the repositories of a shard that have to be looked at, the longest due first.
func (s *Store) DueRepositories(ctx context.Context, shard int, now time.Time, limit int) ([]SourceRepository, error) {
	rows, err := s.read.SourceRepository.Query().
		Where(sourcerepository.Shard(shard), sourcerepository.LookDueAtLTE(utc(now))).
		Order(sourcerepository.ByLookDueAt(), sourcerepository.ByID()).Limit(limit).All(ctx)
	return collect("list due repositories", toSourceRepository, rows, err)
}

// makeRepositoriesDue makes the repository of a delivery due, in every organization that connected its account.
func (s *Store) makeRepositoriesDue(ctx context.Context, tx *ent.Tx, in NewWebhookDelivery, now time.Time) (int, error) {
	return tx.SourceRepository.Update().Where(
		sourcerepository.FullNameEqualFold(in.Repository), sourcerepository.LookDueAtNotNil(),
		sourcerepository.StatusEQ(sourcerepository.StatusActive), sourcerepository.HasConnectionWith(
			integrationconnection.Provider(in.Provider), integrationconnection.BaseURL(in.BaseURL), integrationconnection.ExternalID(in.Account),
		),
	).SetLookDueAt(now).Save(ctx)
}

// NoteRepositoryLook stores what a look at a repository found, and when the next one is due. A delivery that came since the row was read
// leaves the repository due.
func (s *Store) NoteRepositoryLook(ctx context.Context, f Fence, r SourceRepository, asked *time.Time) error {
	return s.fenced(ctx, "note a look at a repository", f, func(tx *ent.Tx) error {
		u := tx.SourceRepository.Update().Where(sourcerepository.ID(r.ID), sourcerepository.OrgID(string(r.Org)))
		setOr(nonZero(r.PullsEtag), u.SetPullsEtag, u.ClearPullsEtag)
		setOr(utcPtr(r.PullsSeenAt), u.SetPullsSeenAt, u.ClearPullsSeenAt)
		if err := u.Exec(ctx); err != nil {
			return err
		}
		return tx.SourceRepository.Update().Where(
			sourcerepository.ID(r.ID), sourcerepository.OrgID(string(r.Org)), sourcerepository.LookDueAtEQ(utc(*asked)),
		).SetLookDueAt(utc(*r.LookDueAt)).Exec(ctx)
	})
}

// PostponeRepositories makes the repositories of the connection of one that are due now due later.
func (s *Store) PostponeRepositories(ctx context.Context, f Fence, of SourceRepository, now time.Time, by time.Duration) error {
	return s.fenced(ctx, "postpone looks at repositories", f, func(tx *ent.Tx) error {
		return tx.SourceRepository.Update().Where(
			sourcerepository.OrgID(string(of.Org)), sourcerepository.ConnectionID(of.ConnectionID), sourcerepository.LookDueAtLTE(utc(now)),
		).SetLookDueAt(utc(now.Add(by))).Exec(ctx)
	})
}

// unlinkedEvent is the type of the events that keep which pull requests were taken off an issue.
const unlinkedEvent = "pr_unlinked"

// ErrUnlinked reports a pull request that somebody has taken off an issue.
var ErrUnlinked = errors.New("the pull request was taken off the issue")

// wasUnlinked reports whether somebody has taken a pull request off an issue, or off one that was merged into it. The history of an issue
// keeps that as long as the issue.
func wasUnlinked(ctx context.Context, tx *ent.Tx, org principal.OrgID, issue uuid.UUID, addresses []string) (bool, error) {
	merged, err := tx.ErrorIssue.Query().Where(errorissue.OrgID(string(org)), errorissue.MergedInto(issue)).IDs(ctx)
	if err != nil {
		return false, err
	}
	for part := range slices.Chunk(append(merged, issue), 500) {
		rows, err := tx.ErrorIssueEvent.Query().Where(
			errorissueevent.OrgID(string(org)), errorissueevent.IssueIDIn(part...), errorissueevent.Type(unlinkedEvent),
		).All(ctx)
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			var payload struct {
				URL string `json:"url"`
			}
			if json.Unmarshal(row.Payload, &payload) == nil && HasAddress(addresses, payload.URL) {
				return true, nil
			}
		}
	}
	return false, nil
}

// HasAddress reports whether an address is one of some. The scheme does not count: a person may have written another one.
func HasAddress(addresses []string, address string) bool {
	bare := func(address string) string {
		if _, rest, found := strings.Cut(address, "://"); found {
			return rest
		}
		return address
	}
	return slices.ContainsFunc(addresses, func(a string) bool { return strings.EqualFold(bare(a), bare(address)) })
}

// SettledDeployments are the deployments of a project whose state will not change in a way that matters: they were ready, or have ended.
// last is when the last one of the project began.
func (s *Store) SettledDeployments(ctx context.Context, org principal.OrgID, connection uuid.UUID, project string) (
	settled map[string]bool, last time.Time, err error,
) {
	rows, err := s.read.HostingDeployment.Query().
		Where(append(deploymentsOf(org, connection), hostingdeployment.ProjectExternalID(project))...).All(ctx)
	list, err := collect("list deployments of a project", toHostingDeployment, rows, err)
	settled = map[string]bool{}
	for _, d := range list {
		ended := d.State == DeploymentError || d.State == DeploymentCanceled || d.State == DeploymentRemoved
		settled[d.ExternalID] = ended || d.ReadyAt != nil
		if d.StartedAt.After(last) {
			last = d.StartedAt
		}
	}
	return settled, last, err
}

// SyncDeployments stores deployments of one repository, which is a project of its account. Others stay.
func (s *Store) SyncDeployments(
	ctx context.Context, f Fence, of IntegrationConnection, p HostingProject, list HostingList, at time.Time,
) error {
	return s.fenced(ctx, "store the deployments of a repository", f, func(tx *ent.Tx) error {
		beside, err := s.reportersBeside(ctx, tx, of)
		if err != nil {
			return err
		}
		if _, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID); err != nil {
			return err
		}
		row, err := tx.HostingProject.Query().Where(append(projectsOf(of.Org, of.ID), hostingproject.ExternalID(p.ExternalID))...).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			p.Org, p.ConnectionID, p.SeenAt = of.Org, of.ID, utc(at)
			_, err = s.insertHostingProject(ctx, tx, p)
		case err == nil:
			err = row.Update().SetName(p.Name).SetRepository(p.Repository).SetSeenAt(utc(at)).Exec(ctx)
		}
		if err != nil {
			return err
		}
		return s.syncHostingDeployments(ctx, tx, of, list, beside, at)
	})
}
