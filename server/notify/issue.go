package notify

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Types of events about error issues.
const (
	IssueFirstSeen  = "error_issue.first_seen"
	IssueRegression = "error_issue.regression"
	IssueQuiet      = "error_issue.resolve"
	IssueInReview   = "error_issue.in_review"
	IssueDone       = "error_issue.done"
	IssueClaimed    = "error_issue.claim"
	IssueEscalated  = "error_issue.escalation"
	IssueDigest     = "error_issue.digest"
)

// Issue is the error issue of an event. ID is a public id.
type Issue struct {
	ID, Label, ExceptionType, Message, Service, TopFrame, State string
	// Severity is that of the issue, empty without one.
	Severity    string
	Occurrences int64
	FirstSeen   time.Time
	LastSeen    time.Time
	Versions    []string
	// By is the name of the actor of a change, empty for the server.
	By string
}

// aboutIssues says whether the event is about error issues, not about an alert.
func (e *Event) aboutIssues() bool { return len(e.Issues) > 0 }

// issueLabel names the event for people.
func (e *Event) issueLabel() string {
	switch e.Type {
	case IssueFirstSeen:
		return "New error"
	case IssueRegression:
		return "Error is back"
	case IssueQuiet:
		return "Error stopped"
	case IssueInReview:
		return "A fix is in review"
	case IssueDone:
		return "Error is done"
	case IssueClaimed:
		return "Somebody works on an error"
	case IssueEscalated:
		return "Error is " + e.Issues[0].Severity
	default:
		return fmt.Sprintf("%s errors", limits.Number(int64(e.IssueCount)))
	}
}

func (e *Event) issueEmoji() string {
	switch e.Type {
	case IssueQuiet, IssueDone:
		return "✅"
	case IssueInReview, IssueClaimed:
		return "🛠"
	}
	if e.Rule.Severity == "critical" {
		return "🔴"
	}
	return "🟠"
}

func (i *Issue) title() string {
	if i.Service == "" {
		return i.Label
	}
	return i.Label + " in " + i.Service
}

func (e *Event) issueTitle() string {
	if e.Type == IssueDigest {
		return fmt.Sprintf("%s %s need attention", e.issueEmoji(), e.issueLabel())
	}
	return e.issueEmoji() + " " + e.issueLabel() + ": " + e.Issues[0].title()
}

func (e *Event) issueLines() []string {
	if e.Type == IssueDigest {
		var lines []string
		for _, i := range e.Issues {
			lines = append(lines, fmt.Sprintf("%s (%s, %s)", i.title(), occurrences(i.Occurrences), i.State))
		}
		if more := e.IssueCount - len(e.Issues); more > 0 {
			lines = append(lines, fmt.Sprintf("… and %s more", limits.Number(int64(more))))
		}
		return lines
	}
	i := e.Issues[0]
	var lines []string
	add := func(name, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			lines = append(lines, name+": "+value)
		}
	}
	if i.Message != "" && i.Message != i.Label {
		lines = append(lines, strings.Join(strings.Fields(i.Message), " "))
	}
	add("Type", i.ExceptionType)
	add("Frame", i.TopFrame)
	add("Versions", strings.Join(i.Versions, ", "))
	add("Occurrences", limits.Number(i.Occurrences))
	add("First seen", i.FirstSeen.UTC().Format(time.RFC3339))
	add("Last seen", i.LastSeen.UTC().Format(time.RFC3339))
	add("Severity", i.Severity)
	add("By", i.By)
	add("Issue", i.ID)
	return lines
}

func occurrences(n int64) string {
	if n == 1 {
		return "1 occurrence"
	}
	return limits.Number(n) + " occurrences"
}

// webhookIssue is an error issue in the JSON of a webhook.
type webhookIssue struct {
	ID              string    `json:"id"`
	ErrorLabel      string    `json:"error_label"`
	ExceptionType   string    `json:"exception_type"`
	Message         string    `json:"exception_message"`
	ServiceName     string    `json:"service_name"`
	TopFrame        string    `json:"top_frame"`
	WorkflowState   string    `json:"workflow_state"`
	Severity        *string   `json:"severity"`
	OccurrenceCount int64     `json:"occurrence_count"`
	FirstSeenAt     time.Time `json:"first_seen_at"`
	LastSeenAt      time.Time `json:"last_seen_at"`
	Versions        []string  `json:"versions"`
	ChangedBy       *string   `json:"changed_by"`
}

// webhookIssues is the JSON of a webhook about error issues.
type webhookIssues struct {
	APIVersion string         `json:"api_version"`
	EventType  string         `json:"event_type"`
	DedupeKey  string         `json:"dedupe_key"`
	Severity   string         `json:"severity"`
	IssueCount int            `json:"issue_count"`
	Issues     []webhookIssue `json:"issues"`
	LinkURL    *string        `json:"link_url"`
	SentAt     time.Time      `json:"sent_at"`
}

func (e *Event) issueWebhook() webhookIssues {
	out := webhookIssues{
		APIVersion: "2", EventType: e.Type, DedupeKey: e.Incident.DedupeKey, Severity: e.Rule.Severity, IssueCount: e.IssueCount,
		LinkURL: orNull(e.LinkURL), SentAt: e.SentAt.UTC(),
	}
	for _, i := range e.Issues {
		versions := i.Versions
		if versions == nil {
			versions = []string{}
		}
		out.Issues = append(out.Issues, webhookIssue{
			ID: i.ID, ErrorLabel: i.Label, ExceptionType: i.ExceptionType, Message: i.Message, ServiceName: i.Service, TopFrame: i.TopFrame,
			WorkflowState: i.State, Severity: orNull(i.Severity), OccurrenceCount: i.Occurrences,
			FirstSeenAt: i.FirstSeen.UTC(), LastSeenAt: i.LastSeen.UTC(), Versions: versions, ChangedBy: orNull(i.By),
		})
	}
	return out
}

func (e *Event) issuePagerDuty() pagerDutyEvent {
	out := pagerDutyEvent{Action: "trigger", DedupKey: dedupKey(e.Incident.DedupeKey)}
	if e.Type == IssueQuiet || e.Type == IssueDone {
		out.Action = "resolve"
		return out
	}
	severity := "warning"
	if e.Rule.Severity == "critical" {
		severity = "critical"
	}
	out.Client, out.ClientURL = "svc", e.LinkURL
	out.Payload = &pagerDutyAlert{
		Summary: cut(e.title(PagerDuty, plain, plain), pagerDutySummary), Source: "svc", Severity: severity, Timestamp: e.SentAt.UTC(),
		Class: e.Type, Details: map[string]any{"body": short(e.body(PagerDuty, plain, plain), pagerDutyDetail)},
	}
	return out
}

// cleanIssues removes broken UTF-8.
func cleanIssues(issues []Issue) []Issue {
	out := make([]Issue, len(issues))
	for n, i := range issues {
		for _, text := range []*string{&i.Label, &i.ExceptionType, &i.Message, &i.Service, &i.TopFrame, &i.By} {
			*text = strings.ToValidUTF8(*text, "\uFFFD")
		}
		out[n] = i
	}
	return out
}
