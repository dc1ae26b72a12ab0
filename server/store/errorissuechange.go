package store

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorincident"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// ErrNoPullRequest reports that an issue has no such link.
var ErrNoPullRequest = errors.New("no such pull request")

// IssueRecord is an issue in a change. The function that makes the change edits it; the store saves it.
type IssueRecord struct {
	ErrorIssue
	// stored is the issue as it was read.
	stored ErrorIssue
	// IsNew is set for an issue that does not exist yet.
	IsNew bool
	// Incident is the open incident; nil without one. A change opens one by setting it, and ends it by its status.
	Incident *ErrorIncident
	// Events are added to the history.
	Events []IssueEvent
	// Deliveries are put into the outbox.
	Deliveries []NewDelivery
	// Links are new pull requests.
	Links []ErrorIssuePullRequest
	// Reported are pull requests whose state changed.
	Reported []ErrorIssuePullRequest
	// Verification is the check of a fix that has not ended; nil without one. A change may end it, and begin the next one by setting Next.
	Verification, Next *ErrorIssueVerification
}

// IssueEvent is a new entry of the history of an issue.
type IssueEvent struct {
	Type     string
	Actor    *uuid.UUID
	From, To string
	Payload  map[string]any
}

// byKey is the condition that rows are of an organization, for a read of rows by their keys. SQLite has no statistics: it would take the
// index of the organization, and look at all of its rows. A plus sign forbids that.
func (s *Store) byKey(column string, org principal.OrgID) func(*entsql.Selector) {
	return func(sel *entsql.Selector) {
		if s.dialect == dialect.SQLite {
			sel.Where(entsql.ExprP("+"+sel.C(column)+" = ?", string(org)))
			return
		}
		sel.Where(entsql.EQ(sel.C(column), string(org)))
	}
}

// loadIssues reads and locks issues with their open incidents, in the order of their ids.
func (s *Store) loadIssues(ctx context.Context, tx *ent.Tx, org principal.OrgID, ids []uuid.UUID) (map[uuid.UUID]*IssueRecord, error) {
	out := map[uuid.UUID]*IssueRecord{}
	for part := range slices.Chunk(ids, 500) {
		q := tx.ErrorIssue.Query().Where(s.byKey(errorissue.FieldOrgID, org), errorissue.IDIn(part...)).Order(errorissue.ByID())
		if s.dialect == dialect.Postgres {
			q.ForUpdate()
		}
		rows, err := q.All(ctx)
		if err != nil {
			return nil, err
		}
		open, checks := map[uuid.UUID]*IssueRecord{}, map[uuid.UUID]*IssueRecord{}
		for _, row := range rows {
			r := &IssueRecord{ErrorIssue: toErrorIssue(row)}
			r.stored = r.ErrorIssue
			out[row.ID] = r
			if row.OpenIncidentID != nil {
				open[*row.OpenIncidentID] = r
			}
			if row.OpenVerificationID != nil {
				checks[*row.OpenVerificationID] = r
			}
		}
		incidents, err := tx.ErrorIncident.Query().
			Where(s.byKey(errorincident.FieldOrgID, org), errorincident.IDIn(slices.Collect(maps.Keys(open))...)).All(ctx)
		if err != nil {
			return nil, err
		}
		for _, row := range incidents {
			in := toErrorIncident(row)
			open[row.ID].Incident = &in
		}
		if err := loadVerifications(ctx, tx, org, checks); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ChangeErrorIssue changes one issue by a function, in one transaction. The errors are ErrNotFound and those of change.
func (s *Store) ChangeErrorIssue(
	ctx context.Context, org principal.OrgID, id uuid.UUID, change func(*IssueRecord) error,
) (out ErrorIssue, err error) {
	err = s.tx(ctx, "change an error issue", func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, []uuid.UUID{id})
		if err != nil {
			return err
		}
		r := records[id]
		if r == nil {
			return &ent.NotFoundError{}
		}
		if err := change(r); err != nil {
			return err
		}
		if err := s.saveIssue(ctx, tx, r); err != nil {
			return err
		}
		out = r.ErrorIssue
		return nil
	})
	return out, err
}

// CommentOnErrorIssue is ChangeErrorIssue for a change with one event, which it returns.
func (s *Store) CommentOnErrorIssue(
	ctx context.Context, org principal.OrgID, id uuid.UUID, change func(*IssueRecord) error,
) (out ErrorIssueEvent, err error) {
	_, err = s.ChangeErrorIssue(ctx, org, id, change)
	if err != nil {
		return ErrorIssueEvent{}, err
	}
	events, err := s.ListErrorIssueEvents(ctx, org, id, 0, 1)
	if err != nil || len(events) == 0 {
		return ErrorIssueEvent{}, err
	}
	return events[0], nil
}

// saveIssue writes a record: the issue, its incident, its events with their audit entries, and messages.
func (s *Store) saveIssue(ctx context.Context, tx *ent.Tx, r *IssueRecord) error {
	if r.IsNew {
		made, err := s.insertErrorIssue(ctx, tx, r.ErrorIssue)
		if err != nil {
			return err
		}
		r.ErrorIssue, r.stored, r.IsNew = made, made, false
	}
	if err := s.saveIncident(ctx, tx, r); err != nil {
		return err
	}
	if err := s.saveVerifications(ctx, tx, r); err != nil {
		return err
	}
	r.UpdatedAt = s.stamp()
	if err := updateIssue(ctx, tx, &r.stored, &r.ErrorIssue); err != nil {
		return err
	}
	for _, e := range r.Events {
		if err := s.addIssueEvent(ctx, tx, &r.ErrorIssue, e); err != nil {
			return err
		}
	}
	for _, l := range r.Links {
		l.Org, l.IssueID, l.Shard = r.Org, r.ID, ShardOf(WorkIssueChecks, string(r.Org))
		if l.DueAt == nil && l.CheckedAt == nil {
			now := s.stamp()
			l.DueAt = &now
		}
		if _, err := s.insertErrorIssuePullRequest(ctx, tx, l); err != nil {
			return err
		}
	}
	for _, l := range r.Reported {
		if err := s.reportPullRequest(ctx, tx, r.Org, &l); err != nil {
			return err
		}
	}
	return s.enqueueDeliveries(ctx, tx, r.Org, r.Deliveries...)
}

// saveIncident writes the incident of a record. The issue must exist.
func (s *Store) saveIncident(ctx context.Context, tx *ent.Tx, r *IssueRecord) error {
	in := r.Incident
	switch {
	case in == nil:
		r.OpenIncidentID = nil
		return nil
	case in.ID == uuid.Nil:
		in.Org, in.IssueID, in.Shard = r.Org, r.ID, r.Shard
		made, err := s.insertErrorIncident(ctx, tx, *in)
		if err != nil {
			return err
		}
		*in = made
	default:
		err := tx.ErrorIncident.Update().Where(errorincident.ID(in.ID), errorincident.OrgID(string(r.Org))).
			SetStatus(in.Status).SetLastTriggeredAt(utc(in.LastTriggeredAt)).SetOccurrenceCount(in.OccurrenceCount).
			SetNillableResolvedAt(utcPtr(in.ResolvedAt)).Exec(ctx)
		if err != nil {
			return err
		}
	}
	r.OpenIncidentID = &in.ID
	if in.Status != IncidentOpen {
		r.OpenIncidentID, r.Incident = nil, nil
	}
	return nil
}

// addIssueEvent adds an entry of the history, and the same as an audit entry.
func (s *Store) addIssueEvent(ctx context.Context, tx *ent.Tx, i *ErrorIssue, e IssueEvent) error {
	if e.Payload == nil {
		e.Payload = map[string]any{}
	}
	payload, err := json.Marshal(e.Payload)
	if err != nil {
		return err
	}
	row := ErrorIssueEvent{Org: i.Org, IssueID: i.ID, ActorID: e.Actor, Type: e.Type, Payload: payload}
	if e.From != "" {
		row.FromState = &e.From
	}
	if e.To != "" {
		row.ToState = &e.To
	}
	made, err := s.insertErrorIssueEvent(ctx, tx, row)
	if err != nil {
		return err
	}
	metadata := map[string]any{"event_id": publicid.Encode(publicid.ErrorIssueEvent, made.ID)}
	if e.Actor != nil {
		metadata["issue_actor_id"] = publicid.Encode(publicid.Actor, *e.Actor)
	}
	audit := AuditEvent{
		Action: "error_issue." + e.Type, ResourceID: publicid.Encode(publicid.ErrorIssue, i.ID), Metadata: metadata,
	}
	if e.From != e.To {
		audit.Before, audit.After = map[string]any{"workflow_state": e.From}, map[string]any{"workflow_state": e.To}
	}
	return s.audit(ctx, tx, i.Org, audit)
}

// UnlinkErrorIssuePullRequest removes a link. It returns ErrNotFound if the issue has no such link.
func (s *Store) UnlinkErrorIssuePullRequest(
	ctx context.Context, org principal.OrgID, issue, link uuid.UUID, change func(*IssueRecord, ErrorIssuePullRequest) error,
) (out ErrorIssue, err error) {
	err = s.tx(ctx, "unlink a pull request", func(tx *ent.Tx) error {
		records, err := s.loadIssues(ctx, tx, org, []uuid.UUID{issue})
		if err != nil {
			return err
		}
		r := records[issue]
		if r == nil {
			return ErrNotFound
		}
		row, err := tx.ErrorIssuePullRequest.Get(ctx, link)
		if ent.IsNotFound(err) || err == nil && (row.IssueID != issue || row.OrgID != string(org)) {
			return ErrNoPullRequest
		}
		if err != nil {
			return err
		}
		if err := change(r, toErrorIssuePullRequest(row)); err != nil {
			return err
		}
		if err := tx.ErrorIssuePullRequest.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
		if err := s.saveIssue(ctx, tx, r); err != nil {
			return err
		}
		out = r.ErrorIssue
		return nil
	})
	return out, err
}
