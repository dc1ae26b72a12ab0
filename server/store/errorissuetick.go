package store

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/delivery"
	"github.com/svc-observability/svc/ent/errorincident"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/ent/errorpolicy"
	"github.com/svc-observability/svc/server/principal"
)

// IssueRef names an issue.
type IssueRef struct {
	Org principal.OrgID
	ID  uuid.UUID
}

// IssueTimes are the times before which something of an issue is over.
type IssueTimes struct {
	// Now is for leases and pauses, Quiet for the last occurrence of an incident, Done for issues to archive.
	Now, Quiet, Done time.Time
}

// OverdueErrorIssues returns the issues of a shard with a lease, a pause or an incident that is over, and those to archive.
func (s *Store) OverdueErrorIssues(ctx context.Context, shard int, at IssueTimes, limit int) ([]IssueRef, error) {
	rows, err := s.read.ErrorIssue.Query().Where(errorissue.Shard(shard), errorissue.MergedIntoIsNil(), errorissue.Or(
		errorissue.LeaseExpiresAtLTE(utc(at.Now)),
		errorissue.And(errorissue.SnoozeUntilLTE(utc(at.Now)), errorissue.WorkflowState(IssueWontfix)),
		errorissue.And(errorissue.WorkflowState(IssueDone), errorissue.ArchivedAtIsNil(), errorissue.ResolvedAtLTE(utc(at.Done))),
	)).Order(errorissue.ByID()).Limit(limit).Select(errorissue.FieldID, errorissue.FieldOrgID).All(ctx)
	if err != nil {
		return nil, mapError("list overdue error issues", err)
	}
	var out []IssueRef
	for _, row := range rows {
		out = append(out, IssueRef{principal.OrgID(row.OrgID), row.ID})
	}
	quiet, err := s.read.ErrorIncident.Query().
		Where(errorincident.Shard(shard), errorincident.Status(IncidentOpen), errorincident.LastTriggeredAtLTE(utc(at.Quiet)),
			errorincident.HasIssueWith(errorissue.KindNEQ(IssueKindAlert))). // an alert says itself when it is over
		Order(errorincident.ByLastTriggeredAt()).Limit(limit).All(ctx)
	if err != nil {
		return nil, mapError("list quiet error incidents", err)
	}
	for _, row := range quiet {
		out = append(out, IssueRef{principal.OrgID(row.OrgID), row.IssueID})
	}
	return out, nil
}

// TickErrorIssues changes issues of an organization for the worker of its shard, under its lease. Issues that are gone are left out.
func (s *Store) TickErrorIssues(ctx context.Context, f Fence, org principal.OrgID, ids []uuid.UUID, change func(*IssueRecord) error) error {
	return s.fenced(ctx, "tick error issues", f, func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, ids)
		if err != nil {
			return err
		}
		for _, id := range slices.SortedFunc(maps.Keys(records), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) {
			if err := change(records[id]); err != nil {
				return err
			}
			if err := s.saveIssue(ctx, tx, records[id]); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteArchivedErrorIssues deletes issues of a shard that were archived before a time, and those that were merged before it.
func (s *Store) DeleteArchivedErrorIssues(ctx context.Context, f Fence, before time.Time, limit int) error {
	return s.fenced(ctx, "delete archived error issues", f, func(tx *ent.Tx) error {
		ids, err := tx.ErrorIssue.Query().Where(errorissue.Shard(f.Number), errorissue.Or(
			errorissue.ArchivedAtLT(utc(before)), errorissue.And(errorissue.MergedIntoNotNil(), errorissue.UpdatedAtLT(utc(before))),
		)).Limit(limit).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		_, err = tx.ErrorIssue.Delete().Where(errorissue.IDIn(ids...)).Exec(ctx)
		return err
	})
}

// UntoldOrganizations returns the organizations of a shard with issues whose news was not reported.
func (s *Store) UntoldOrganizations(ctx context.Context, shard int) ([]principal.OrgID, error) {
	var orgs []principal.OrgID
	err := s.read.ErrorIssue.Query().Where(errorissue.Shard(shard), errorissue.Told(false), errorissue.MergedIntoIsNil()).
		Unique(true).Select(errorissue.FieldOrgID).Scan(ctx, &orgs)
	if err != nil {
		return nil, mapError("list organizations with untold issues", err)
	}
	return orgs, nil
}

// UntoldIssues has the facts for a decision about messages.
type UntoldIssues struct {
	// Issues are those with enough occurrences, the first seen first. Count is their number; Issues has at most as many as were asked for.
	Issues []*IssueRecord
	Count  int
	// Recent is the number of messages about issues since a time, to the destination that got the most of them. Digest is set if one of them
	// was a digest.
	Recent int
	Digest bool
}

// Issues that TellErrorIssues marks as told besides those that the function marked.
const (
	TellNoMore = iota
	// TellEnough marks all issues with enough occurrences, TellAll all issues.
	TellEnough
	TellAll
)

// TellErrorIssues decides about messages for issues whose news was not told. The function marks issues as told and adds messages; it
// returns which further issues are marked. least is the number of occurrences that an issue needs.
func (s *Store) TellErrorIssues(
	ctx context.Context, f Fence, org principal.OrgID, least int64, since time.Time, digest string, limit int,
	tell func(*UntoldIssues) (more int, err error),
) error {
	return s.fenced(ctx, "tell error issues", f, func(tx *ent.Tx) error {
		enough := errorissue.Or(errorissue.OccurrenceCountGTE(least), errorissue.RegressionCountGT(0))
		untold := func() *ent.ErrorIssueQuery {
			return tx.ErrorIssue.Query().Where(errorissue.Shard(f.Number), errorissue.OrgID(string(org)), errorissue.Told(false),
				errorissue.MergedIntoIsNil(), enough)
		}
		ids, err := untold().Order(errorissue.ByFirstSeenAt(), errorissue.ByID()).Limit(limit).IDs(ctx)
		if err != nil || len(ids) == 0 {
			return err
		}
		u := &UntoldIssues{}
		if u.Count, err = untold().Count(ctx); err != nil {
			return err
		}
		records, err := s.loadIssues(ctx, tx, org, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			u.Issues = append(u.Issues, records[id])
		}
		var sent []struct {
			Destination uuid.UUID `sql:"destination_id"`
			Type        string    `sql:"event_type"`
			Count       int       `sql:"count"`
		}
		err = tx.Delivery.Query().Where(delivery.OrgID(string(org)), delivery.Subject(SubjectIssue), delivery.AttemptNumber(1),
			delivery.CreatedAtGT(utc(since))).
			GroupBy(delivery.FieldDestinationID, delivery.FieldEventType).Aggregate(ent.As(ent.Count(), "count")).Scan(ctx, &sent)
		if err != nil {
			return err
		}
		byDestination := map[uuid.UUID]int{}
		for _, row := range sent {
			byDestination[row.Destination] += row.Count
			u.Recent = max(u.Recent, byDestination[row.Destination])
			u.Digest = u.Digest || row.Type == digest
		}
		more, err := tell(u)
		if err != nil {
			return err
		}
		for _, r := range u.Issues {
			if err := s.saveIssue(ctx, tx, r); err != nil {
				return err
			}
		}
		rest := tx.ErrorIssue.Update().Where(errorissue.Shard(f.Number), errorissue.OrgID(string(org)), errorissue.Told(false))
		switch more {
		case TellNoMore:
			return nil
		case TellEnough:
			rest.Where(enough)
		}
		return rest.SetTold(true).Exec(ctx)
	})
}

// Kinds of policies about error issues.
const (
	PolicyNotification = "notification"
	PolicyEscalation   = "escalation"
)

// ErrorPolicy is a stored policy.
type ErrorPolicy struct {
	Policy    json.RawMessage
	UpdatedAt time.Time
	UpdatedBy principal.UserID
}

// GetErrorPolicy returns a policy. It returns ErrNotFound if it was never stored.
func (s *Store) GetErrorPolicy(ctx context.Context, org principal.OrgID, kind string) (ErrorPolicy, error) {
	row, err := s.read.ErrorPolicy.Query().Where(errorpolicy.OrgID(string(org)), errorpolicy.Kind(kind)).Only(ctx)
	return single("get an error policy", toErrorPolicy, row, err)
}

func toErrorPolicy(row *ent.ErrorPolicy) ErrorPolicy {
	return ErrorPolicy{Policy: row.Policy, UpdatedAt: utc(row.UpdatedAt), UpdatedBy: principal.UserID(row.UpdatedBy)}
}

// ReplaceErrorPolicy stores a policy. destinations are the ids that it names. It can return ErrNoDestination: see its comment.
func (s *Store) ReplaceErrorPolicy(
	ctx context.Context, org principal.OrgID, by principal.UserID, kind string, policy json.RawMessage, destinations []string,
) (out ErrorPolicy, err error) {
	err = s.tx(ctx, "replace an error policy", func(tx *ent.Tx) error {
		if err := s.checkDestinations(ctx, tx, org, destinations); err != nil {
			return err
		}
		now := s.stamp()
		var before map[string]any
		row, err := tx.ErrorPolicy.Query().Where(errorpolicy.OrgID(string(org)), errorpolicy.Kind(kind)).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			row, err = tx.ErrorPolicy.Create().SetID(id).SetOrgID(string(org)).SetKind(kind).SetPolicy(policy).SetUpdatedAt(now).
				SetUpdatedBy(string(by)).Save(ctx)
			if err != nil {
				return err
			}
		case err != nil:
			return err
		default:
			if err := json.Unmarshal(row.Policy, &before); err != nil {
				return err
			}
			if row, err = row.Update().SetPolicy(policy).SetUpdatedAt(now).SetUpdatedBy(string(by)).Save(ctx); err != nil {
				return err
			}
		}
		var after map[string]any
		if err := json.Unmarshal(policy, &after); err != nil {
			return err
		}
		out = toErrorPolicy(row)
		return s.audit(ctx, tx, org, AuditEvent{Action: "error_" + kind + "_policy.updated", Before: before, After: after})
	})
	return out, err
}
