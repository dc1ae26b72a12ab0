package store

import (
	"context"
	"strings"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/sqljson"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/errorincident"
	"github.com/svc-observability/svc/ent/errorissue"
	"github.com/svc-observability/svc/ent/errorissueevent"
	"github.com/svc-observability/svc/ent/errorissuefingerprint"
	"github.com/svc-observability/svc/ent/errorissuepullrequest"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// States of an error issue.
const (
	IssueTriage     = "triage"
	IssueTodo       = "todo"
	IssueInProgress = "in_progress"
	IssueInReview   = "in_review"
	IssueVerifying  = "verifying"
	IssueDone       = "done"
	IssueRegressed  = "regressed"
	IssueCancelled  = "cancelled"
	IssueWontfix    = "wontfix"
)

// Kinds of error issues.
const (
	IssueKindError = "error"
	IssueKindAlert = "alert"
)

// IssueFilter selects error issues. Empty fields select all.
type IssueFilter struct {
	State, Severity, Kind, Service, Environment, ExceptionType, Search string
	Fingerprints                                                       []string
	SeenAfter, SeenBefore, IntroducedAfter                             *time.Time
	Assigned                                                           *uuid.UUID
	// Actionable selects issues that ask for work at a time.
	Actionable *time.Time
	Archived   bool
	BySeverity bool
	// After continues a list behind an issue.
	After *IssuePlace
}

// IssuePlace is the place of an issue in a list.
type IssuePlace struct {
	Rank     int
	LastSeen time.Time
	ID       uuid.UUID
}

func (f *IssueFilter) after() predicate.ErrorIssue {
	at := utc(f.After.LastSeen)
	later := errorissue.Or(errorissue.LastSeenAtLT(at), errorissue.And(errorissue.LastSeenAt(at), errorissue.IDLT(f.After.ID)))
	if !f.BySeverity {
		return later
	}
	return errorissue.Or(errorissue.SeverityRankLT(f.After.Rank), errorissue.And(errorissue.SeverityRank(f.After.Rank), later))
}

// severityRanks give the order of severities.
var severityRanks = map[string]int{"critical": 4, "high": 3, "medium": 2, "low": 1}

// SeverityRank is the rank of a severity; 0 without one.
func SeverityRank(severity *string) int {
	if severity == nil {
		return 0
	}
	return severityRanks[*severity]
}

func (f *IssueFilter) predicates(org principal.OrgID) []predicate.ErrorIssue {
	out := []predicate.ErrorIssue{errorissue.OrgID(string(org)), errorissue.MergedIntoIsNil()}
	equal := func(v string, p func(string) predicate.ErrorIssue) {
		if v != "" {
			out = append(out, p(v))
		}
	}
	equal(f.State, errorissue.WorkflowState)
	equal(f.Kind, errorissue.Kind)
	equal(f.Service, errorissue.ServiceName)
	equal(f.ExceptionType, errorissue.ExceptionType)
	equal(f.Severity, func(v string) predicate.ErrorIssue { return errorissue.SeverityRank(severityRanks[v]) })
	equal(f.Environment, func(v string) predicate.ErrorIssue {
		return func(sel *entsql.Selector) {
			sel.Where(sqljson.ValueContains(sel.C(errorissue.FieldEnvironments), v))
		}
	})
	equal(strings.TrimSpace(f.Search), func(v string) predicate.ErrorIssue {
		return errorissue.Or(
			errorissue.ErrorLabelContainsFold(v), errorissue.ExceptionTypeContainsFold(v), errorissue.ExceptionMessageContainsFold(v),
			errorissue.TopFrameContainsFold(v),
		)
	})
	if !f.Archived {
		out = append(out, errorissue.ArchivedAtIsNil())
	}
	if len(f.Fingerprints) > 0 {
		out = append(out, errorissue.HasFingerprintsWith(errorissuefingerprint.HashIn(f.Fingerprints...)))
	}
	if f.SeenAfter != nil {
		out = append(out, errorissue.LastSeenAtGTE(utc(*f.SeenAfter)))
	}
	if f.SeenBefore != nil {
		out = append(out, errorissue.FirstSeenAtLTE(utc(*f.SeenBefore)))
	}
	if f.IntroducedAfter != nil {
		at := utc(*f.IntroducedAfter)
		out = append(out, errorissue.Or(errorissue.FirstSeenAtGTE(at), errorissue.LastRegressedAtGTE(at)))
	}
	if f.Assigned != nil {
		out = append(out, errorissue.AssignedActorID(*f.Assigned))
	}
	if f.Actionable != nil {
		out = append(out, errorissue.Or(
			errorissue.WorkflowStateIn(IssueTriage, IssueRegressed, IssueTodo),
			errorissue.And(
				errorissue.WorkflowStateIn(IssueInProgress, IssueInReview),
				errorissue.Or(errorissue.LeaseExpiresAtIsNil(), errorissue.LeaseExpiresAtLTE(utc(*f.Actionable))),
			),
		))
	}
	return out
}

// ListErrorIssues returns issues, the last seen first, or the most severe first.
func (s *Store) ListErrorIssues(ctx context.Context, org principal.OrgID, f IssueFilter, limit int) ([]ErrorIssue, error) {
	q := s.read.ErrorIssue.Query().Where(f.predicates(org)...)
	if f.After != nil {
		q.Where(f.after())
	}
	if f.BySeverity {
		q.Order(errorissue.BySeverityRank(entsql.OrderDesc()))
	}
	rows, err := q.Order(errorissue.ByLastSeenAt(entsql.OrderDesc()), errorissue.ByID(entsql.OrderDesc())).
		Limit(limit).All(ctx)
	return collect("list error issues", toErrorIssue, rows, err)
}

// CountErrorIssues returns the number of issues that a list has.
func (s *Store) CountErrorIssues(ctx context.Context, org principal.OrgID, f IssueFilter) (int, error) {
	n, err := s.read.ErrorIssue.Query().Where(f.predicates(org)...).Count(ctx)
	if err != nil {
		return 0, mapError("count error issues", err)
	}
	return n, nil
}

// ServiceIssues is the number of open issues of a service.
type ServiceIssues struct {
	Service string
	Open    int
}

// CountOpenErrorIssues counts issues that are not done, cancelled or set aside by service, the most first. Issues of alerts are left out.
func (s *Store) CountOpenErrorIssues(ctx context.Context, org principal.OrgID) ([]ServiceIssues, error) {
	var rows []struct {
		Service string `sql:"service_name"`
		Count   int    `sql:"count"`
	}
	f := IssueFilter{}
	err := s.read.ErrorIssue.Query().Where(f.predicates(org)...).
		Where(errorissue.KindNEQ(IssueKindAlert), errorissue.WorkflowStateNotIn(IssueDone, IssueCancelled, IssueWontfix)).
		GroupBy(errorissue.FieldServiceName).Aggregate(ent.As(ent.Count(), "count")).Scan(ctx, &rows)
	if err != nil {
		return nil, mapError("count open error issues", err)
	}
	out := make([]ServiceIssues, len(rows))
	for i, r := range rows {
		out[i] = ServiceIssues{Service: r.Service, Open: r.Count}
	}
	return out, nil
}

// ErrorIssue returns an issue. The id of an issue that was merged gives the issue that has its fingerprints now.
func (s *Store) ErrorIssue(ctx context.Context, org principal.OrgID, id uuid.UUID) (ErrorIssue, error) {
	for range maxMerges {
		issue, err := s.GetErrorIssue(ctx, org, id)
		if err != nil || issue.MergedInto == nil {
			return issue, err
		}
		id = *issue.MergedInto
	}
	return ErrorIssue{}, ErrNotFound
}

// maxMerges bounds how many merges a reader follows. A merge shortens the way of earlier ones, so it is one in practice.
const maxMerges = 8

// ErrorIssueFingerprints returns the fingerprints of an issue, the most frequent first.
func (s *Store) ErrorIssueFingerprints(
	ctx context.Context, org principal.OrgID, issue uuid.UUID, limit int,
) ([]ErrorIssueFingerprint, error) {
	rows, err := s.read.ErrorIssueFingerprint.Query().
		Where(errorissuefingerprint.OrgID(string(org)), errorissuefingerprint.IssueID(issue)).
		Order(errorissuefingerprint.ByOccurrenceCount(entsql.OrderDesc()), errorissuefingerprint.ByID()).Limit(limit).All(ctx)
	return collect("list fingerprints", toErrorIssueFingerprint, rows, err)
}

// ListErrorIssueEvents returns the history of an issue, the newest first.
func (s *Store) ListErrorIssueEvents(
	ctx context.Context, org principal.OrgID, issue uuid.UUID, offset, limit int,
) ([]ErrorIssueEvent, error) {
	rows, err := s.read.ErrorIssueEvent.Query().Where(errorissueevent.OrgID(string(org)), errorissueevent.IssueID(issue)).
		Order(errorissueevent.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list events of an error issue", toErrorIssueEvent, rows, err)
}

// ListErrorIncidents returns the incidents of an issue, or the open ones of the organization, the last triggered first.
func (s *Store) ListErrorIncidents(
	ctx context.Context, org principal.OrgID, issue *uuid.UUID, offset, limit int,
) ([]ErrorIncident, error) {
	q := s.read.ErrorIncident.Query().Where(errorincident.OrgID(string(org)))
	if issue != nil {
		q.Where(errorincident.IssueID(*issue))
	} else {
		q.Where(errorincident.Status(IncidentOpen))
	}
	rows, err := q.Order(errorincident.ByLastTriggeredAt(entsql.OrderDesc()), errorincident.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list error incidents", toErrorIncident, rows, err)
}

// ListErrorIssuePullRequests returns the pull requests of an issue, the newest link first.
func (s *Store) ListErrorIssuePullRequests(
	ctx context.Context, org principal.OrgID, issue uuid.UUID, limit int,
) ([]ErrorIssuePullRequest, error) {
	rows, err := s.read.ErrorIssuePullRequest.Query().
		Where(errorissuepullrequest.OrgID(string(org)), errorissuepullrequest.IssueID(issue)).
		Order(errorissuepullrequest.ByID(entsql.OrderDesc())).Limit(limit).All(ctx)
	return collect("list pull requests", toErrorIssuePullRequest, rows, err)
}
