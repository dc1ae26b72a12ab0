package errorevents

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/wording"
)

// issueSummary is the issue of an error.
type issueSummary struct {
	ID              string  `json:"id"`
	WorkflowState   string  `json:"workflowState"`
	Severity        *string `json:"severity,omitempty"`
	OccurrenceCount float64 `json:"occurrenceCount"`
	Grouped         string  `json:"grouped"`
	// Fix says whether the last fix holds; empty without one.
	Fix string `json:"fix,omitempty"`
}

// target returns the fingerprint that the arguments name, with its issue. An error may have no issue yet.
func (a *errorDetailArgs) target(ctx context.Context, s *tool.Clients) (*svcv2.ErrorIssueDetail, string, error) {
	switch {
	case (a.Fingerprint == nil) == (a.IssueID == nil):
		return nil, "", a.Bad(&a.Fingerprint, "or issue_id is needed, one of them.", "9223372036854775808")
	case a.IssueID != nil:
		issue, err := s.ErrorIssues.GetErrorIssue(ctx, &svcv2.GetErrorIssueRequest{Id: *a.IssueID, SampleLimit: new(int32(1))})
		if err != nil {
			return nil, "", err
		}
		for _, g := range issue.GetGrouping() { // the most frequent first
			if _, err := strconv.ParseUint(g.GetFingerprintHash(), 10, 64); err == nil {
				return issue, g.GetFingerprintHash(), nil
			}
		}
		if issue.GetKind() == "alert" {
			rule := issue.GetSourceRef().GetFields()["alert_rule_id"].GetStringValue()
			return nil, "", a.Bad(&a.IssueID, "names the issue of an alert. get_alert_rule with rule_id "+rule+" and list_alert_incidents show it.",
				"iss_…")
		}
		return nil, "", a.Bad(&a.IssueID, "names an issue without stored occurrences: it is of the kind "+issue.GetKind()+".", "iss_…")
	}
	if p, ok := principal.From(ctx); !ok || !p.Allows("error_issues", false) {
		a.Note("The issue was left out: the credential does not have the scope error_issues:read.")
		return nil, *a.Fingerprint, nil
	}
	list, err := s.ErrorIssues.ListErrorIssues(ctx, &svcv2.ListErrorIssuesRequest{
		FingerprintHash: a.Fingerprint, IncludeArchived: new(true), Limit: new(int32(1)),
	})
	if err != nil {
		a.Note("The issue was left out: %s", tool.FailureOf(&tool.Tool{}, err).Message)
		return nil, *a.Fingerprint, nil
	}
	if len(list.GetData()) == 0 {
		return nil, *a.Fingerprint, nil
	}
	issue, err := s.ErrorIssues.GetErrorIssue(ctx, &svcv2.GetErrorIssueRequest{Id: list.GetData()[0].GetId(), SampleLimit: new(int32(1))})
	if err != nil {
		a.Note("The issue was left out: %s", tool.FailureOf(&tool.Tool{}, err).Message)
		return nil, *a.Fingerprint, nil
	}
	return issue, *a.Fingerprint, nil
}

// grouped says why the occurrences of an issue are one group.
func grouped(i *svcv2.ErrorIssueDetail) string {
	if len(i.GetGrouping()) == 0 {
		return ""
	}
	g := i.GetGrouping()[0]
	var text string
	frames := strings.Join(g.GetFrames(), " ← ")
	switch g.GetVariant() {
	case "app":
		text = fmt.Sprintf("Grouped by %s of the application (%s)", count(len(g.GetFrames()), "frame"), wording.Clip(frames, 200))
	case "stack":
		text = fmt.Sprintf("Grouped by %s, none of them of the application (%s)", count(len(g.GetFrames()), "frame"), wording.Clip(frames, 200))
	case "message":
		text = "Grouped by type and message (" + wording.Clip(g.GetMessage(), 200) + ")"
	case "operation":
		text = "Grouped by operation and status, because there is no exception"
	default:
		text = "Grouped by an earlier method"
	}
	if n := g.GetLeftOut(); n > 0 {
		text += fmt.Sprintf(", %s left out", count(int(n), "further frame"))
	}
	if n := len(i.GetGrouping()); n > 1 {
		text += fmt.Sprintf("; %d groups were merged", n)
	}
	return text + "."
}

// fixOf says whether the last fix of an issue holds.
func fixOf(i *svcv2.ErrorIssueDetail) string {
	if len(i.GetVerifications()) == 0 {
		return ""
	}
	v := i.GetVerifications()[0]
	var what string
	switch {
	case v.GetStatus() == "waiting":
		return "merged or named " + v.GetFixedAt().AsTime().Format(time.RFC3339) + "; no release with it runs yet."
	case v.GetReason() == "superseded":
		return "its check ended when the issue moved."
	case v.GetReason() == "not_deployed":
		return "no release contained it within a week."
	case v.GetReason() == "rolled_back":
		what = "rolled back, so there is no verdict"
	case v.GetReason() == "no_traffic":
		what = "too little traffic for a verdict"
	case v.GetStatus() == "verified":
		what = "it holds"
	case v.GetStatus() == "not_fixed":
		what = "it does not hold"
	default:
		what = "checked now"
	}
	var versions []string
	for _, r := range v.GetReleases() {
		versions = append(versions, wording.OneLine(r.GetVersion()))
	}
	return fmt.Sprintf("%s: %s errors in %s (%s), %s expected without the fix, %.0f %% of the traffic.", what,
		wording.Number(v.GetOccurrenceCount()),
		wording.Clip(strings.Join(versions, ", "), 100), knownBy[v.GetDeployedBy()], wording.Number(v.GetExpectedOccurrenceCount()),
		100*v.GetSpanShare())
}

// knownBy says how a release is known to contain a fix.
var knownBy = map[string]string{
	"commit": "known by its commit", "version": "named as the fix",
	"assumed": "assumed, as it began after the fix",
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
