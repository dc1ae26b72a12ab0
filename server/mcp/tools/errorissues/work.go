package errorissues

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// instant reads a time of an argument.
func instant(c *tool.Call, field **string) (*timestamppb.Timestamp, error) {
	if *field == nil {
		return nil, nil
	}
	at, err := time.Parse(time.RFC3339Nano, **field)
	if err != nil {
		return nil, c.Bad(field, "must be a time with its zone.", "2026-01-02T15:04:05Z")
	}
	return timestamppb.New(at), nil
}

// workResult is an issue after an act of the caller.
type workResult struct {
	ID                       string  `json:"id"`
	WorkflowState            string  `json:"workflowState"`
	FromState                *string `json:"fromState,omitempty"`
	ToState                  *string `json:"toState,omitempty"`
	LeaseHolderActorID       *string `json:"leaseHolderActorId,omitempty"`
	PreviousLeaseHolderActor *string `json:"previousLeaseHolderActorId,omitempty"`
	LeaseExpiresAt           *string `json:"leaseExpiresAt,omitempty"`
	ClaimedAt                *string `json:"claimedAt,omitempty"`
	Holder                   *string `json:"holder,omitempty"`
	AssignedActorID          *string `json:"assignedActorId,omitempty"`
	SnoozeUntil              *string `json:"snoozeUntil,omitempty"`
	ServiceName              string  `json:"serviceName"`
	ExceptionType            string  `json:"exceptionType"`
	Note                     *string `json:"note,omitempty"`
}

func workOf(i *svcv2.ErrorIssue) workResult {
	res := workResult{
		ID: i.GetId(), WorkflowState: i.GetWorkflowState(), LeaseHolderActorID: actorID(i.GetLeaseHolder()),
		LeaseExpiresAt: tool.Moment(i.GetLeaseExpiresAt()), ClaimedAt: tool.Moment(i.GetClaimedAt()),
		AssignedActorID: actorID(i.GetAssignedActor()),
		SnoozeUntil:     tool.Moment(i.GetSnoozeUntil()), ServiceName: i.GetServiceName(), ExceptionType: i.GetExceptionType(),
	}
	if a := i.GetLeaseHolder(); a != nil {
		res.Holder = new(actorName(a))
	}
	return res
}

func done(i *svcv2.ErrorIssue, what string, next ...tool.Suggestion) tool.Page {
	scope := []tool.Pair{tool.Labeled("Issue", i.GetId()), tool.Labeled("State", i.GetWorkflowState())}
	if a := i.GetLeaseHolder(); a != nil {
		scope = append(scope, tool.Labeled("Lease", actorName(a)+" until "+*tool.Moment(i.GetLeaseExpiresAt())))
	}
	return tool.Page{Scope: scope, Blocks: []tool.Block{{Empty: what}}, Next: next}
}

// last returns the newest event of an issue: that of the act before.
func last(ctx context.Context, s *tool.Clients, id string) (*svcv2.ErrorIssueEvent, error) {
	list, err := s.ErrorIssueWorkflow.ListErrorIssueEvents(ctx, &svcv2.ListErrorIssueEventsRequest{Id: id, Limit: new(int32(1))})
	if err != nil || len(list.GetData()) == 0 {
		return nil, err
	}
	return list.GetData()[0], nil
}

type claimArgs struct {
	issueArgs
	LeaseDurationSeconds *int `of:"ClaimErrorIssueRequest.lease_duration_seconds"`
}

func newClaimErrorIssue(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[workResult](&tool.Tool{
		Name: "claim_error_issue", View: "/errors/{issue_id}", Title: "Claim an error issue", Writes: true,
		Description: "Take the lease of an issue before you work on it, or renew it. Nobody else can claim it meanwhile. Each act of yours renews it.",
		Run: tool.With(func(ctx context.Context, a *claimArgs) (*tool.Answer, error) {
			req := &svcv2.ClaimErrorIssueRequest{Id: a.IssueID, LeaseDurationSeconds: tool.Int32(a.LeaseDurationSeconds)}
			i, err := s.ErrorIssueWorkflow.ClaimErrorIssue(ctx, req)
			if err != nil {
				return nil, err
			}
			return &tool.Answer{Data: workOf(i), Text: done(i, "The issue is yours.",
				tool.Next("error_detail", map[string]any{"issue_id": i.GetId()}, "see stack, traces and logs"))}, nil
		}),
	})
}

type releaseArgs struct {
	issueArgs
	TransitionTo *string `of:"ReleaseErrorIssueRequest.transition_to"`
	Note         *string
}

func newReleaseErrorIssue(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[workResult](&tool.Tool{
		Name: "release_error_issue", View: "/errors/{issue_id}", Title: "Release an error issue", Writes: true,
		Description: "Give up the lease of an issue. An issue in progress moves to todo, unless transition_to says otherwise.",
		Run: tool.With(func(ctx context.Context, a *releaseArgs) (*tool.Answer, error) {
			i, err := s.ErrorIssueWorkflow.ReleaseErrorIssue(ctx, &svcv2.ReleaseErrorIssueRequest{
				Id: a.IssueID, TransitionTo: a.TransitionTo, Note: a.Note,
			})
			if err != nil {
				return nil, err
			}
			event, err := last(ctx, s, i.GetId())
			if err != nil {
				return nil, err
			}
			res := workOf(i)
			if event.GetPayload().GetFields()["held"].GetBoolValue() {
				res.PreviousLeaseHolderActor = actorID(event.GetActor())
			}
			return &tool.Answer{Data: res, Text: done(i, "The lease was given up.")}, nil
		}),
	})
}

type transitionArgs struct {
	issueArgs
	ToState        string  `of:"TransitionErrorIssueRequest.to_state" except:"verifying,regressed" required:"true"`
	Note           *string `doc:"For the history."`
	SnoozeUntil    *string `doc:"With wontfix: back to triage then."`
	FixedInVersion *string `doc:"With done: svc checks this version."`
	FixedInCommit  *string `doc:"With done: or the commit."`
}

func newTransitionErrorIssue(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[workResult](&tool.Tool{
		Name: "transition_error_issue", View: "/errors/{issue_id}", Title: "Move an error issue", Writes: true, Repeatable: true,
		Description: "Move an issue to another state. in_progress takes the lease. A merged pull request and a regression move issues by themselves.",
		Run: tool.With(func(ctx context.Context, a *transitionArgs) (*tool.Answer, error) {
			req := &svcv2.TransitionErrorIssueRequest{
				Id: a.IssueID, ToState: a.ToState, Note: a.Note, FixedInVersion: a.FixedInVersion,
				FixedInCommit: a.FixedInCommit,
			}
			var err error
			if req.SnoozeUntil, err = instant(&a.Call, &a.SnoozeUntil); err != nil {
				return nil, err
			}
			i, err := s.ErrorIssueWorkflow.TransitionErrorIssue(ctx, req)
			if err != nil {
				return nil, err
			}
			event, err := last(ctx, s, i.GetId())
			if err != nil {
				return nil, err
			}
			res, what := workOf(i), "The issue is in "+i.GetWorkflowState()+"."
			res.ToState, res.Note = new(i.GetWorkflowState()), a.Note
			if event.GetToState() == i.GetWorkflowState() {
				res.FromState = event.FromState
				what += " It was in " + event.GetFromState() + "."
			}
			return &tool.Answer{Data: res, Text: done(i, what)}, nil
		}),
	})
}

type severityResult struct {
	ID             string  `json:"id"`
	Severity       *string `json:"severity,omitempty"`
	SeveritySource *string `json:"severitySource,omitempty"`
	Applied        bool    `json:"applied"`
	WorkflowState  string  `json:"workflowState"`
	ServiceName    string  `json:"serviceName"`
	Note           *string `json:"note,omitempty"`
}

type severityArgs struct {
	issueArgs
	Severity string `doc:"none clears it." of:"SetErrorIssueSeverityRequest.severity" also:"none" required:"true"`
	Note     *string
}

func newSetIssueSeverity(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[severityResult](&tool.Tool{
		Name: "set_issue_severity", View: "/errors/{issue_id}", Title: "Set the severity of an error issue", Writes: true, Repeatable: true,
		Description: "Set or clear the severity of an issue. A person's choice stays: applied is false then.",
		Run: tool.With(func(ctx context.Context, a *severityArgs) (*tool.Answer, error) {
			req := &svcv2.SetErrorIssueSeverityRequest{Id: a.IssueID, Note: a.Note}
			if a.Severity != "none" {
				req.Severity = &a.Severity
			}
			set, err := s.ErrorIssueWorkflow.SetErrorIssueSeverity(ctx, req)
			if err != nil {
				return nil, err
			}
			i := set.GetIssue()
			what := "The severity is " + tool.Or(i.Severity, "not set") + "."
			if !set.GetApplied() {
				what = "A person chose the severity " + i.GetSeverity() + "; it stays."
			}
			return &tool.Answer{
				Data: severityResult{
					ID: i.GetId(), Severity: i.Severity, SeveritySource: i.SeveritySource, Applied: set.GetApplied(),
					WorkflowState: i.GetWorkflowState(), ServiceName: i.GetServiceName(), Note: a.Note,
				},
				Text: tool.Page{Scope: []tool.Pair{tool.Labeled("Issue", i.GetId())}, Blocks: []tool.Block{{Empty: what}}},
			}, nil
		}),
	})
}
