package errorissues

import (
	"context"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
	"github.com/svc-observability/svc/server/store"
)

// answer shows the issue of a change.
func (s *Workflow) answer(ctx context.Context, i store.ErrorIssue, err error) (*svcv2.ErrorIssue, error) {
	if err != nil {
		return nil, err
	}
	return s.show(ctx, &i)
}

// TransitionErrorIssue moves an issue.
func (s *Workflow) TransitionErrorIssue(ctx context.Context, req *svcv2.TransitionErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	switch {
	case req.GetToState() == store.IssueDone:
	case req.FixedInVersion != nil:
		return nil, apierr.New(apierr.ErrorValidation, "`fixed_in_version` needs `to_state` done.", apierr.Param("fixed_in_version"))
	case req.FixedInCommit != nil:
		return nil, apierr.New(apierr.ErrorValidation, "`fixed_in_commit` needs `to_state` done.", apierr.Param("fixed_in_commit"))
	}
	var versions []string
	if req.GetToState() == store.IssueDone {
		versions = s.versions(ctx, caller.Org, issue.ServiceName)
	}
	teller, err := s.Teller(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, by store.IssueActor) error {
		act.Note, act.Versions, act.Snooze = req.GetNote(), versions, timeOf(req.GetSnoozeUntil())
		from := r.WorkflowState
		if err := issues.Move(r, req.GetToState(), act); err != nil {
			return err
		}
		if req.FixedInVersion != nil || req.FixedInCommit != nil {
			issues.Await(r, req.FixedInVersion, req.FixedInCommit, act)
		}
		if r.WorkflowState == from {
			return nil
		}
		return teller.moved(r, act.At, by)
	})
	return s.answer(ctx, i, err)
}

// versions are the versions of a service that ran in the last day. If the warehouse does not answer, only versions with occurrences count.
func (c *Config) versions(ctx context.Context, org principal.OrgID, service string) []string {
	now := c.Now().UTC()
	rows, err := read.All[reads.ReleaseRow](ctx, c.Warehouse, org, reads.ServiceReleases(reads.ServiceRead{
		Name: service, Window: query.Window{Start: now.Add(-24 * time.Hour), End: now}, Bucket: time.Hour, Rollups: c.Rollups,
	}, 100))
	if err != nil {
		return nil
	}
	var out []string
	for _, r := range rows {
		out = append(out, r.Version)
	}
	return out
}

// ClaimErrorIssue takes the lease.
func (s *Workflow) ClaimErrorIssue(ctx context.Context, req *svcv2.ClaimErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	teller, err := s.Teller(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	length := time.Duration(req.GetLeaseDurationSeconds()) * time.Second
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, by store.IssueActor) error {
		held := r.LeaseHolderID
		if err := issues.Claim(r, length, act); err != nil {
			return err
		}
		if held != nil && *held == by.ID {
			return nil
		}
		return teller.claimed(r, act.At, by)
	})
	return s.answer(ctx, i, err)
}

// HeartbeatErrorIssue renews the lease.
func (s *Workflow) HeartbeatErrorIssue(ctx context.Context, req *svcv2.HeartbeatErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, _ store.IssueActor) error {
		return issues.Heartbeat(r, act)
	})
	return s.answer(ctx, i, err)
}

// ReleaseErrorIssue gives up the lease.
func (s *Workflow) ReleaseErrorIssue(ctx context.Context, req *svcv2.ReleaseErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var versions []string
	if req.GetTransitionTo() == store.IssueDone {
		versions = s.versions(ctx, caller.Org, issue.ServiceName)
	}
	teller, err := s.Teller(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, by store.IssueActor) error {
		act.Note, act.Versions = req.GetNote(), versions
		from := r.WorkflowState
		if err := issues.Release(r, req.GetTransitionTo(), act); err != nil || r.WorkflowState == from {
			return err
		}
		return teller.moved(r, act.At, by)
	})
	return s.answer(ctx, i, err)
}

// CommentOnErrorIssue adds a comment.
func (s *Workflow) CommentOnErrorIssue(ctx context.Context, req *svcv2.CommentOnErrorIssueRequest) (*svcv2.ErrorIssueEvent, error) {
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	by, err := s.actor(ctx, caller)
	if err != nil {
		return nil, err
	}
	visibility := req.GetVisibility()
	if visibility == "" {
		visibility = "internal"
	}
	e, err := s.Store.CommentOnErrorIssue(ctx, caller.Org, issue.ID, func(r *store.IssueRecord) error {
		issues.Comment(r, req.GetBody(), visibility, req.GetKind() == issues.EventAgentNote, issues.Act{Actor: &by.ID, At: s.Now().UTC()})
		return nil
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return eventMessage(e, actors{by.ID: by}), nil
}

// ProposeErrorIssueFix records a fix.
func (s *Workflow) ProposeErrorIssueFix(ctx context.Context, req *svcv2.ProposeErrorIssueFixRequest) (*svcv2.ErrorIssue, error) {
	caller, _, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var link *store.ErrorIssuePullRequest
	if req.PrUrl != nil {
		if link, err = pullRequest("pr_url", req.GetPrUrl()); err != nil {
			return nil, err
		}
	}
	teller, err := s.Teller(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	i, err := s.changeLinked(ctx, req.GetId(), func(
		r *store.IssueRecord, links []store.ErrorIssuePullRequest, act issues.Act, by store.IssueActor,
	) error {
		from := r.WorkflowState
		fix := issues.Fix{Summary: req.GetPatchSummary(), URL: req.GetPrUrl(), Artifacts: req.GetArtifacts()}
		if err := issues.Propose(r, fix, act); err != nil {
			return err
		}
		if link != nil {
			link.LinkSource = by.Type
			if err := issues.Link(r, *link, links, act); err != nil {
				return err
			}
		}
		if r.WorkflowState == from {
			return nil
		}
		return teller.moved(r, act.At, by)
	})
	return s.answer(ctx, i, err)
}

// SetErrorIssueSeverity sets the severity.
func (s *Workflow) SetErrorIssueSeverity(
	ctx context.Context, req *svcv2.SetErrorIssueSeverityRequest,
) (*svcv2.ErrorIssueSeverityResult, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	teller, err := s.Teller(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	applied := false
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, by store.IssueActor) error {
		act.Note = req.GetNote()
		before, source := r.Severity, issues.SeverityBy(by.Type == store.ActorTypeAgent)
		if applied = issues.SetSeverity(r, req.Severity, source, act); !applied {
			return nil
		}
		return teller.escalated(r, before, source, act.At, by)
	})
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, &i)
	if err != nil {
		return nil, err
	}
	return &svcv2.ErrorIssueSeverityResult{Applied: applied, Issue: shown}, nil
}

// AssignErrorIssue names the actor that is to solve an issue.
func (s *Workflow) AssignErrorIssue(ctx context.Context, req *svcv2.AssignErrorIssueRequest) (*svcv2.ErrorIssue, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	var to *uuid.UUID
	if req.ActorId != nil {
		id, err := publicid.Decode(publicid.Actor, req.GetActorId())
		if err != nil {
			return nil, noActor("actor_id")
		}
		known, err := s.actorsOf(ctx, caller.Org, &id)
		if err != nil {
			return nil, err
		}
		if _, ok := known[id]; !ok {
			return nil, noActor("actor_id")
		}
		to = &id
	}
	i, err := s.change(ctx, req.GetId(), func(r *store.IssueRecord, act issues.Act, _ store.IssueActor) error {
		issues.Assign(r, to, act)
		return nil
	})
	return s.answer(ctx, i, err)
}

// ListErrorIssueEvents lists the history of an issue.
func (s *Workflow) ListErrorIssueEvents(
	ctx context.Context, req *svcv2.ListErrorIssueEventsRequest,
) (*svcv2.ListErrorIssueEventsResponse, error) {
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	caller, issue, err := s.target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListErrorIssueEvents(ctx, caller.Org, issue.ID, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	ids := make([]*uuid.UUID, len(rows))
	for i := range rows {
		ids[i] = rows[i].ActorID
	}
	by, err := s.actorsOf(ctx, caller.Org, ids...)
	if err != nil {
		return nil, err
	}
	res := &svcv2.ListErrorIssueEventsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, e := range rows {
		res.Data = append(res.Data, eventMessage(e, by))
	}
	return res, nil
}

// ListErrorIncidents lists incidents.
func (s *Workflow) ListErrorIncidents(
	ctx context.Context, req *svcv2.ListErrorIncidentsRequest,
) (*svcv2.ListErrorIncidentsResponse, error) {
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	var of *uuid.UUID
	if req.IssueId != nil {
		id, err := resource().Decode("issue_id", req.GetIssueId())
		if err != nil {
			return nil, err
		}
		issue, err := s.Store.ErrorIssue(ctx, caller.Org, id)
		if err != nil {
			return nil, failure(ctx, err)
		}
		of = &issue.ID
	}
	rows, err := s.Store.ListErrorIncidents(ctx, caller.Org, of, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListErrorIncidentsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, in := range rows {
		res.Data = append(res.Data, incidentMessage(in))
	}
	return res, nil
}

// Types of messages that the worker sends.
func Types() issues.Events {
	return issues.Events{
		FirstSeen: notify.IssueFirstSeen, Regression: notify.IssueRegression, Quiet: notify.IssueQuiet, Digest: notify.IssueDigest,
	}
}
