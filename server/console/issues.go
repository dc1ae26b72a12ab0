package console

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
)

func issueStates() []string { return valuesOf(&svcv2.ErrorIssue{}, "workflow_state") }

func issueCommands() []Command {
	noteFlag := Flag{Name: "note", Usage: "a note for the history of the issue", Target: func(o *Options) any { return &o.Note }}
	return []Command{
		{
			Path: "issues", Short: "List error issues, latest first", service: true, page: true, kept: true,
			Flags: []Flag{
				{Name: "state", Usage: "only issues in this workflow state", Choices: issueStates(), Target: func(o *Options) any { return &o.State }},
				{
					Name: "kind", Usage: "only issues of this kind", Choices: valuesOf(&svcv2.ErrorIssue{}, "kind"),
					Target: func(o *Options) any { return &o.IssueKind },
				},
				searchFlag("text that the issue contains"),
			},
			Example: "  svc issues --state triage -s checkout", run: issues,
		},
		{
			Path: "issues get", Arguments: []string{"ID"}, Short: "Show an issue", Example: "  svc issues get iss_…", run: issue,
		},
		{
			Path: "issues claim", Arguments: []string{"ID"}, Short: "Take the lease of an issue, so that nobody else works on it",
			Flags: []Flag{{
				Name: "lease-seconds", Usage: "length of the lease: " + leaseBounds(),
				Target: func(o *Options) any { return &o.Lease },
			}},
			Example: "  svc issues claim iss_… --lease-seconds 3600", run: claimIssue,
		},
		{
			Path: "issues move", Arguments: []string{"ID", "STATE"}, Short: "Move an issue to another workflow state", Flags: []Flag{noteFlag},
			Long:    "States: " + strings.Join(issueStates(), ", ") + ".",
			Example: "  svc issues move iss_… done --note 'fixed in 1.4.2'", run: moveIssue,
		},
		{
			Path: "issues comment", Arguments: []string{"ID", "TEXT"}, Short: "Comment on an issue",
			Example: "  svc issues comment iss_… 'Seen again after the deploy'", run: commentIssue,
		},
	}
}

func leaseBounds() string {
	return fmt.Sprintf("use %.0f to %.0f", limits.IssueLeaseShortest.Seconds(), limits.IssueLeaseLongest.Seconds())
}

func issues(ctx context.Context, q *Query) (Answer, error) {
	res, err := collect(q, func(limit int32, cursor *string) (*svcv2.ListErrorIssuesResponse, error) {
		return q.client.issues.ListErrorIssues(ctx, &svcv2.ListErrorIssuesRequest{
			Limit: &limit, Cursor: cursor, WorkflowState: given(q.State), Kind: given(q.IssueKind), ServiceName: given(q.Service),
			DeploymentEnvironment: given(q.Environment), Search: given(q.Search),
		})
	}, func(r *svcv2.ListErrorIssuesResponse) *[]*svcv2.ErrorIssue { return &r.Data })
	if err != nil {
		return Answer{}, err
	}
	s := section{columns: issueColumns()}
	for _, v := range res.GetData() {
		s.rows = append(s.rows, issueRow(v))
	}
	return Answer{
		message: res, lines: linesOf(res.GetData()), sections: []section{s}, cursor: res.GetNextCursor(), empty: none(s, "no issue matches"),
	}, nil
}

func issueColumns() []column {
	return []column{
		{title: "ISSUE"},
		{title: "TITLE", grow: true},
		{title: "STATE"},
		{title: "SEVERITY", drop: 2},
		{title: "COUNT", right: true},
		{title: "LAST SEEN (UTC)", drop: 1},
		{title: "SERVICE", grow: true, drop: 3},
	}
}

func issueRow(v *svcv2.ErrorIssue) []cell {
	state := cell{text: v.GetWorkflowState()}
	if state.text == "regressed" {
		state.tone = bad
	}
	severity := cell{text: v.GetSeverity()}
	switch severity.text {
	case "critical":
		severity.tone = bad
	case "high":
		severity.tone = warned
	}
	return []cell{
		{text: v.GetId()},
		{text: v.GetErrorLabel()},
		state, severity,
		{text: count(v.GetEstimatedOccurrenceCount())},
		{text: at(v.GetLastSeenAt())},
		{text: v.GetServiceName()},
	}
}

func issue(ctx context.Context, q *Query) (Answer, error) {
	res, err := q.client.issues.GetErrorIssue(ctx, &svcv2.GetErrorIssueRequest{Id: q.Arguments[0]})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	var values []float64
	for _, p := range res.GetTimeseries() {
		values = append(values, p.GetCount())
	}
	samples := occurrences()
	for _, v := range res.GetSampleTraces() {
		samples.rows = append(samples.rows, row(at(v.GetTimestamp()), v.GetTraceId(), v.GetServiceName(), v.GetExceptionMessage()))
	}
	return Answer{
		message: res, lines: linesOf([]*svcv2.ErrorIssueDetail{res}),
		sections: []section{
			pairs([2]string{"Issue", res.GetId()}, [2]string{"Title", res.GetErrorLabel()}, [2]string{"Message", res.GetExceptionMessage()},
				[2]string{"At", res.GetTopFrame()}, [2]string{"Service", res.GetServiceName()}, [2]string{"State", res.GetWorkflowState()},
				[2]string{"Severity", res.GetSeverity()}, [2]string{"Assigned to", actor(res.GetAssignedActor())},
				[2]string{"Lease of", actor(res.GetLeaseHolder())}, [2]string{"Count", count(res.GetEstimatedOccurrenceCount())},
				[2]string{"Over time", sparkline(values)}, [2]string{"First seen", at(res.GetFirstSeenAt()) + " UTC"},
				[2]string{"Last seen", at(res.GetLastSeenAt()) + " UTC"}, [2]string{"Fingerprint", res.GetFingerprintHash()},
				[2]string{"Notes", res.GetNotes()}),
			samples,
		},
	}, nil
}

func actor(a *svcv2.Actor) string {
	if a.GetAgentName() != "" {
		return a.GetAgentName()
	}
	return a.GetUserId()
}

func changed(c *Client, res *svcv2.ErrorIssue, err error) (Answer, error) {
	if err != nil {
		return Answer{}, c.failure(err)
	}
	return Answer{
		message: res, lines: linesOf([]*svcv2.ErrorIssue{res}), sections: []section{{columns: issueColumns(), rows: [][]cell{issueRow(res)}}},
	}, nil
}

func claimIssue(ctx context.Context, q *Query) (Answer, error) {
	if lease := time.Duration(q.Lease) * time.Second; q.Lease != 0 && (lease < limits.IssueLeaseShortest || lease > limits.IssueLeaseLongest) {
		return Answer{}, usage("--lease-seconds %d: %s", q.Lease, leaseBounds())
	}
	res, err := q.client.workflow.ClaimErrorIssue(ctx, &svcv2.ClaimErrorIssueRequest{
		Id:                   q.Arguments[0],
		LeaseDurationSeconds: number(q.Lease),
	})
	return changed(q.client, res, err)
}

func moveIssue(ctx context.Context, q *Query) (Answer, error) {
	if !slices.Contains(issueStates(), q.Arguments[1]) {
		return Answer{}, usage("STATE %q: use %s", q.Arguments[1], either(issueStates()))
	}
	res, err := q.client.workflow.TransitionErrorIssue(ctx, &svcv2.TransitionErrorIssueRequest{
		Id: q.Arguments[0], ToState: q.Arguments[1], Note: given(q.Note),
	})
	return changed(q.client, res, err)
}

func commentIssue(ctx context.Context, q *Query) (Answer, error) {
	res, err := q.client.workflow.CommentOnErrorIssue(ctx, &svcv2.CommentOnErrorIssueRequest{Id: q.Arguments[0], Body: q.Arguments[1]})
	if err != nil {
		return Answer{}, q.client.failure(err)
	}
	return Answer{message: res, lines: linesOf([]*svcv2.ErrorIssueEvent{res}), sections: []section{
		pairs([2]string{"Comment", res.GetId()}, [2]string{"Issue", res.GetIssueId()}, [2]string{"Time", at(res.GetCreatedAt()) + " UTC"}),
	}}, nil
}
