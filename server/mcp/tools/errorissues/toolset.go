// Package errorissues has the tools for error issues: leases, states, comments and fixes.
package errorissues

import (
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{
		newListErrorIssues,
		newListErrorIssueEvents,
		newListErrorIncidents,
		newClaimErrorIssue,
		newReleaseErrorIssue,
		newTransitionErrorIssue,
		newSetIssueSeverity,
		newCommentOnErrorIssue,
		newProposeFix,
		newLinkPullRequest,
		newRegisterAgent,
		newUpdateErrorNotificationPolicy,
	}
}

// actorName is the name of an actor: agent:<name>, the id of a user, or system.
func actorName(a *svcv2.Actor) string {
	switch {
	case a == nil:
		return "system"
	case a.AgentName != nil:
		return "agent:" + a.GetAgentName()
	default:
		return a.GetUserId()
	}
}

func actorID(a *svcv2.Actor) *string {
	if a == nil {
		return nil
	}
	id := a.GetId()
	return &id
}

// issueArgs names an issue.
type issueArgs struct {
	tool.Call
	IssueID string `doc:"iss_…" required:"true"`
}
