package errorissues

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type commentResult struct {
	EventID string  `json:"eventId"`
	IssueID string  `json:"issueId"`
	Type    string  `json:"type"`
	ActorID *string `json:"actorId,omitempty"`
	Actor   string  `json:"actor"`
}

type commentArgs struct {
	issueArgs
	Body       string  `doc:"Markdown." required:"true"`
	Kind       *string `of:"CommentOnErrorIssueRequest.kind"`
	Visibility *string `of:"CommentOnErrorIssueRequest.visibility"`
}

func newCommentOnErrorIssue(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[commentResult](&tool.Tool{
		Name: "comment_on_error_issue", View: "/errors/{issue_id}", Title: "Comment on an error issue", Writes: true,
		Description: "Add a comment, or a note about your work (agent_note), to the history of an issue.",
		Run: tool.With(func(ctx context.Context, a *commentArgs) (*tool.Answer, error) {
			e, err := s.ErrorIssueWorkflow.CommentOnErrorIssue(ctx, &svcv2.CommentOnErrorIssueRequest{
				Id: a.IssueID, Body: a.Body, Kind: a.Kind, Visibility: a.Visibility,
			})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: commentResult{
					EventID: e.GetId(), IssueID: e.GetIssueId(), Type: e.GetType(), ActorID: actorID(e.GetActor()), Actor: actorName(e.GetActor()),
				},
				Text: tool.Page{Scope: []tool.Pair{tool.Labeled("Issue", e.GetIssueId())}, Blocks: []tool.Block{{Empty: "The comment was added."}}},
			}, nil
		}),
	})
}

type fixResult struct {
	IssueID       string  `json:"issueId"`
	WorkflowState string  `json:"workflowState"`
	PrURL         *string `json:"prUrl,omitempty"`
}

type fixArgs struct {
	issueArgs
	PatchSummary string   `doc:"The fix in words." required:"true"`
	PrURL        *string  `doc:"Pull request; it is linked."`
	Artifacts    []string `doc:"Further results."`
}

func newProposeFix(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[fixResult](&tool.Tool{
		Name: "propose_fix", View: "/errors/{issue_id}", Title: "Propose a fix", Writes: true,
		Description: "Record a fix of an issue. It takes the lease and moves the issue to in_review.",
		Run: tool.With(func(ctx context.Context, a *fixArgs) (*tool.Answer, error) {
			i, err := s.ErrorIssueWorkflow.ProposeErrorIssueFix(ctx, &svcv2.ProposeErrorIssueFixRequest{
				Id: a.IssueID, PatchSummary: a.PatchSummary, PrUrl: a.PrURL, Artifacts: a.Artifacts,
			})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: fixResult{IssueID: i.GetId(), WorkflowState: i.GetWorkflowState(), PrURL: a.PrURL}, Text: done(i, "The fix was recorded."),
			}, nil
		}),
	})
}

type linkResult struct {
	PullRequestID string `json:"pullRequestId"`
	IssueID       string `json:"issueId"`
	RepoFullName  string `json:"repoFullName"`
	Number        int32  `json:"number"`
	URL           string `json:"url"`
	State         string `json:"state"`
	// CheckProblem says why the source host did not tell the state.
	CheckProblem *string `json:"checkProblem,omitempty"`
}

type linkArgs struct {
	issueArgs
	PullRequestURL string  `doc:"https://github.com/OWNER/REPOSITORY/pull/1" required:"true"`
	State          *string `of:"LinkErrorIssuePullRequestRequest.state" doc:"Report it; merged begins the check of the fix."`
	MergeCommitSha *string `doc:"With merged: releases are compared with it."`
	MergedAt       *string `doc:"With merged; now when left out."`
}

func newLinkPullRequest(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[linkResult](&tool.Tool{
		Name: "link_pull_request", View: "/errors/{issue_id}", Title: "Link a pull request", Writes: true, Repeatable: true,
		Description: "Link a pull request to an issue, or report its merge: then svc checks whether releases with it are free of the error.",
		Run: tool.With(func(ctx context.Context, a *linkArgs) (*tool.Answer, error) {
			req := &svcv2.LinkErrorIssuePullRequestRequest{Id: a.IssueID, Url: a.PullRequestURL, State: a.State, MergeCommitSha: a.MergeCommitSha}
			var err error
			if req.MergedAt, err = instant(&a.Call, &a.MergedAt); err != nil {
				return nil, err
			}
			l, err := s.ErrorIssueWorkflow.LinkErrorIssuePullRequest(ctx, req)
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: linkResult{
					PullRequestID: l.GetId(), IssueID: l.GetIssueId(), RepoFullName: l.GetRepoFullName(), Number: l.GetNumber(), URL: l.GetUrl(),
					State: l.GetState(), CheckProblem: l.CheckProblem,
				},
				Text: tool.Page{
					Scope:  []tool.Pair{tool.Labeled("Issue", l.GetIssueId())},
					Blocks: []tool.Block{{Empty: linked(l)}},
				},
			}, nil
		}),
	})
}

// linked describes the link, and the further way of the state.
func linked(l *svcv2.ErrorIssuePullRequest) string {
	text := fmt.Sprintf("%s, number %d, is linked. Its state is %s.", l.GetRepoFullName(), l.GetNumber(), l.GetState())
	switch {
	case l.GetState() != "open":
		return text
	case l.CheckProblem != nil:
		return text + " " + l.GetCheckProblem() + " Report the merge with link_pull_request."
	default:
		return text + " svc follows it, and checks the fix after the merge."
	}
}

type agentResult struct {
	ID           string   `json:"id"`
	AgentName    string   `json:"agentName"`
	Model        *string  `json:"model,omitempty"`
	Capabilities []string `json:"capabilities"`
}

type agentArgs struct {
	tool.Call
	Name         string `doc:"Unique in the organization." required:"true"`
	Model        *string
	Capabilities []string
}

func newRegisterAgent(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[agentResult](&tool.Tool{
		Name: "register_agent", View: "/errors", Title: "Register an agent", Writes: true, Repeatable: true,
		Description: "Register yourself as an agent. Send the id as the header x-svc-agent-id: then issues show which of several agents works " +
			"on them. It needs a signed-in user.",
		Run: tool.With(func(ctx context.Context, a *agentArgs) (*tool.Answer, error) {
			made, err := s.ErrorIssueWorkflow.RegisterErrorIssueAgent(ctx, &svcv2.RegisterErrorIssueAgentRequest{
				Name: a.Name, Model: a.Model, Capabilities: a.Capabilities,
			})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: agentResult{
					ID: made.GetId(), AgentName: made.GetAgentName(), Model: made.Model, Capabilities: tool.NonNil(made.GetCapabilities()),
				},
				Text: tool.Page{
					Scope:  []tool.Pair{tool.Labeled("Agent", made.GetAgentName()), tool.Labeled("Id", made.GetId())},
					Blocks: []tool.Block{{Empty: "Send the id as the header x-svc-agent-id with each request."}},
				},
			}, nil
		}),
	})
}

type policyResult struct {
	Enabled            bool     `json:"enabled"`
	DestinationIDs     []string `json:"destinationIds"`
	NotifyOnFirstSeen  bool     `json:"notifyOnFirstSeen"`
	NotifyOnRegression bool     `json:"notifyOnRegression"`
	NotifyOnResolve    bool     `json:"notifyOnResolve"`
	MinOccurrenceCount int32    `json:"minOccurrenceCount"`
	Severity           string   `json:"severity"`
}

type policyArgs struct {
	tool.Call
	Enabled            *bool
	DestinationIds     []string `doc:"Replaces the list."`
	NotifyOnFirstSeen  *bool
	NotifyOnRegression *bool
	NotifyOnResolve    *bool
	MinOccurrenceCount *int    `of:"ReplaceErrorNotificationPolicyRequest.min_occurrence_count"`
	Severity           *string `of:"ReplaceErrorNotificationPolicyRequest.severity"`
}

func newUpdateErrorNotificationPolicy(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[policyResult](&tool.Tool{
		Name: "update_error_notification_policy", View: "/errors?tab=policies", Title: "Messages about error issues", Writes: true,
		Repeatable: true,
		Description: "Say which changes of error issues are sent to which alert destinations. Arguments that are left out keep their values. " +
			"Administrators only.",
		Run: tool.With(func(ctx context.Context, a *policyArgs) (*tool.Answer, error) {
			old, err := s.ErrorIssuePolicies.GetErrorNotificationPolicy(ctx, &svcv2.GetErrorNotificationPolicyRequest{})
			if err != nil {
				return nil, err
			}
			req := &svcv2.ReplaceErrorNotificationPolicyRequest{
				Enabled: new(tool.Or(a.Enabled, old.GetEnabled())), DestinationIds: old.GetDestinationIds(),
				NotifyOnFirstSeen:          new(tool.Or(a.NotifyOnFirstSeen, old.GetNotifyOnFirstSeen())),
				NotifyOnRegression:         new(tool.Or(a.NotifyOnRegression, old.GetNotifyOnRegression())),
				NotifyOnResolve:            new(tool.Or(a.NotifyOnResolve, old.GetNotifyOnResolve())),
				NotifyOnTransitionInReview: new(old.GetNotifyOnTransitionInReview()), NotifyOnTransitionDone: new(old.GetNotifyOnTransitionDone()),
				NotifyOnClaim: new(old.GetNotifyOnClaim()), MinOccurrenceCount: new(old.GetMinOccurrenceCount()),
				Severity: new(tool.Or(a.Severity, old.GetSeverity())),
			}
			if a.DestinationIds != nil {
				req.DestinationIds = a.DestinationIds
			}
			req.MinOccurrenceCount = tool.Int32(a.MinOccurrenceCount)
			p, err := s.ErrorIssuePolicies.ReplaceErrorNotificationPolicy(ctx, req)
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: policyResult{
					Enabled: p.GetEnabled(), DestinationIDs: tool.NonNil(p.GetDestinationIds()), NotifyOnFirstSeen: p.GetNotifyOnFirstSeen(),
					NotifyOnRegression: p.GetNotifyOnRegression(), NotifyOnResolve: p.GetNotifyOnResolve(),
					MinOccurrenceCount: p.GetMinOccurrenceCount(), Severity: p.GetSeverity(),
				},
				Text: tool.Page{
					Scope: []tool.Pair{
						tool.Labeled("Enabled", fmt.Sprint(p.GetEnabled())),
						tool.Labeled("Destinations", fmt.Sprint(len(p.GetDestinationIds()))),
					},
					Blocks: []tool.Block{{Empty: fmt.Sprintf("New issues with %d occurrences: %v. Regressions: %v. Ends: %v.",
						p.GetMinOccurrenceCount(), p.GetNotifyOnFirstSeen(), p.GetNotifyOnRegression(), p.GetNotifyOnResolve())}},
				},
			}, nil
		}),
	})
}
