package store

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/ent/errorissuefingerprint"
	"github.com/svc-observability/svc/ent/errorissuepullrequest"
	"github.com/svc-observability/svc/server/principal"
)

// ErrFingerprints reports that an issue cannot be split so: a fingerprint is not one of its own, or none would stay.
var ErrFingerprints = errors.New("the fingerprints do not fit the issue")

// MergeErrorIssues moves the fingerprints of issues into another issue, with their counts. change edits the records before they are saved;
// it gets the issues in the order of ids. It returns ErrNotFound if one of the issues does not exist, or was merged already.
func (s *Store) MergeErrorIssues(
	ctx context.Context, org principal.OrgID, into uuid.UUID, ids []uuid.UUID, change func(into *IssueRecord, from []*IssueRecord) error,
) (out ErrorIssue, err error) {
	err = s.tx(ctx, "merge error issues", func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, append([]uuid.UUID{into}, ids...))
		if err != nil {
			return err
		}
		var from []*IssueRecord
		for _, id := range append([]uuid.UUID{into}, ids...) {
			r := records[id]
			if r == nil || r.MergedInto != nil {
				return &ent.NotFoundError{}
			}
			if id != into {
				from = append(from, r)
			}
		}
		prints, err := tx.ErrorIssueFingerprint.Query().
			Where(errorissuefingerprint.OrgID(string(org)), errorissuefingerprint.IssueIDIn(ids...)).IDs(ctx)
		if err != nil {
			return err
		}
		if err := moveFingerprints(ctx, tx, org, into, prints); err != nil {
			return err
		}
		if err := movePullRequests(ctx, tx, org, into, ids); err != nil {
			return err
		}
		// Ids that led to a merged issue lead to this one at once.
		err = tx.ErrorIssue.Update().Where(errorissue.OrgID(string(org)), errorissue.MergedIntoIn(ids...)).SetMergedInto(into).Exec(ctx)
		if err != nil {
			return err
		}
		for _, r := range from {
			r.MergedInto, r.OpenPullRequestCount, r.MergedPullRequestCount = &into, 0, 0
		}
		if err := s.recount(ctx, tx, records[into]); err != nil {
			return err
		}
		if err := change(records[into], from); err != nil {
			return err
		}
		for _, r := range append([]*IssueRecord{records[into]}, from...) {
			if err := s.saveIssue(ctx, tx, r); err != nil {
				return err
			}
		}
		out = records[into].ErrorIssue
		return nil
	})
	return out, err
}

// SplitErrorIssue takes fingerprints out of an issue into a new one, with their counts. change edits both before they are saved. It can
// return ErrFingerprints: see its comment.
func (s *Store) SplitErrorIssue(
	ctx context.Context, org principal.OrgID, id uuid.UUID, hashes []string, change func(from, made *IssueRecord) error,
) (out ErrorIssue, err error) {
	err = s.tx(ctx, "split an error issue", func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, []uuid.UUID{id})
		if err != nil {
			return err
		}
		from := records[id]
		if from == nil {
			return &ent.NotFoundError{}
		}
		rows, err := tx.ErrorIssueFingerprint.Query().
			Where(errorissuefingerprint.OrgID(string(org)), errorissuefingerprint.IssueID(id)).
			Order(errorissuefingerprint.ByOccurrenceCount(), errorissuefingerprint.ByID()).All(ctx)
		if err != nil {
			return err
		}
		var moved []*ent.ErrorIssueFingerprint
		for _, row := range rows {
			if slices.Contains(hashes, row.Hash) {
				moved = append(moved, row)
			}
		}
		if len(moved) == 0 || len(moved) != len(hashes) || len(moved) == len(rows) {
			return ErrFingerprints
		}
		head := moved[len(moved)-1] // the most frequent
		made := &IssueRecord{IsNew: true, ErrorIssue: ErrorIssue{
			Org: org, Shard: from.Shard, Kind: from.Kind, FingerprintHash: head.Hash, ServiceName: head.ServiceName,
			ExceptionType: head.ExceptionType, ExceptionMessage: head.ExceptionMessage, ErrorLabel: head.ErrorLabel, TopFrame: head.TopFrame,
			WorkflowState: IssueTriage, Priority: from.Priority, FirstSeenAt: head.FirstSeenAt, LastSeenAt: head.LastSeenAt,
			Versions: from.Versions, Environments: from.Environments, Told: true,
		}}
		if made.ErrorIssue, err = s.insertErrorIssue(ctx, tx, made.ErrorIssue); err != nil {
			return err
		}
		made.IsNew = false
		ids := make([]uuid.UUID, len(moved))
		for i, row := range moved {
			ids[i] = row.ID
		}
		if err := moveFingerprints(ctx, tx, org, made.ID, ids); err != nil {
			return err
		}
		for _, r := range []*IssueRecord{from, made} {
			if err := s.recount(ctx, tx, r); err != nil {
				return err
			}
		}
		if err := change(from, made); err != nil {
			return err
		}
		for _, r := range []*IssueRecord{from, made} {
			if err := s.saveIssue(ctx, tx, r); err != nil {
				return err
			}
		}
		out = made.ErrorIssue
		return nil
	})
	return out, err
}

// recount sets the counts and times of an issue to those of its fingerprints.
func (s *Store) recount(ctx context.Context, tx *ent.Tx, r *IssueRecord) error {
	rows, err := tx.ErrorIssueFingerprint.Query().
		Where(errorissuefingerprint.OrgID(string(r.Org)), errorissuefingerprint.IssueID(r.ID)).All(ctx)
	if err != nil || len(rows) == 0 {
		return err
	}
	r.OccurrenceCount, r.EstimatedCount = 0, 0
	r.FirstSeenAt, r.LastSeenAt = utc(rows[0].FirstSeenAt), utc(rows[0].LastSeenAt)
	for _, row := range rows {
		r.OccurrenceCount += row.OccurrenceCount
		r.EstimatedCount += row.EstimatedCount
		if row.FirstSeenAt.Before(r.FirstSeenAt) {
			r.FirstSeenAt = utc(row.FirstSeenAt)
		}
		if row.LastSeenAt.After(r.LastSeenAt) {
			r.LastSeenAt = utc(row.LastSeenAt)
		}
	}
	return nil
}

func moveFingerprints(ctx context.Context, tx *ent.Tx, org principal.OrgID, to uuid.UUID, prints []uuid.UUID) error {
	for part := range slices.Chunk(prints, 500) {
		err := tx.ErrorIssueFingerprint.Update().
			Where(errorissuefingerprint.OrgID(string(org)), errorissuefingerprint.IDIn(part...)).
			SetIssueID(to).SetPinned(true).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// movePullRequests moves the links that the surviving issue does not have. The others go with their issue.
func movePullRequests(ctx context.Context, tx *ent.Tx, org principal.OrgID, into uuid.UUID, ids []uuid.UUID) error {
	var own []string
	err := tx.ErrorIssuePullRequest.Query().Where(errorissuepullrequest.OrgID(string(org)), errorissuepullrequest.IssueID(into)).
		Select(errorissuepullrequest.FieldURL).Scan(ctx, &own)
	if err != nil {
		return err
	}
	rows, err := tx.ErrorIssuePullRequest.Query().
		Where(errorissuepullrequest.OrgID(string(org)), errorissuepullrequest.IssueIDIn(ids...)).All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if slices.Contains(own, row.URL) {
			continue
		}
		own = append(own, row.URL)
		if err := row.Update().SetIssueID(into).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}
