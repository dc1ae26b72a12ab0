package notify

import "time"

// Types of events.
const (
	Trigger  = "trigger"
	Resolve  = "resolve"
	Renotify = "renotify"
	Test     = "test"
)

// Total is the group of a rule without groups.
const Total = "__total__"

// Event is everything that a message can say.
type Event struct {
	// Type is trigger, resolve, renotify or test.
	Type     string
	Incident Incident
	Rule     Rule
	Observed Observed
	// Samples are traces that show the problem, at most 3.
	Samples []Sample
	// Groups are set in a message about several incidents of one rule. Incident has no id then.
	Groups []Group
	// LinkURL leads to the incident or the rule, ChatURL to a chat about it. Both may be empty.
	LinkURL, ChatURL string
	// PictureURL is the address of a picture of a chart, for chats; empty without one.
	PictureURL string
	SentAt     time.Time
	// Template is the template of the rule; nil for the built-in text.
	Template *Template
	// Issues are set in a message about error issues: one, or those that a digest names. Of Rule, only the severity counts then, and of
	// Incident the key. IssueCount is the number of issues of a digest.
	Issues     []Issue
	IssueCount int
}

// Incident is the incident of an event. ID is a public id; it is empty for a test.
type Incident struct{ ID, Status, DedupeKey string }

// Rule is the rule of an event. ID is a public id.
type Rule struct {
	ID, Name, SignalType, Severity string
	// GroupKey is Total for a rule without groups.
	GroupKey       string
	Comparator     string
	Threshold      float64
	ThresholdUpper *float64
	WindowMinutes  int
}

// Observed is the value of the evaluation. Value is nil without data.
type Observed struct {
	Value       *float64
	SampleCount int64
}

// Sample is a trace that shows the problem.
type Sample struct {
	TraceID string `json:"trace_id"`
	URL     string `json:"link_url"`
}

// Group is one of several incidents of a message.
type Group struct {
	Key, IncidentID string
	Observed        Observed
}

// Template is the text of a rule's messages. Override of the type, then the text itself, then the built-in text.
type Template struct {
	Text
	Overrides map[string]Text `json:"overrides,omitempty"`
}

// Text is a title and a body. An empty one stands for the next in the order of Template.
type Text struct {
	Title string `json:"title,omitempty"`
	Body  string `json:"body,omitempty"`
}
