package notify

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
)

// Payload is a message as it is stored in the outbox: rendered for a type of destination, without the destination's settings and
// secrets.
type Payload struct {
	EventType string `json:"event_type"`
	// Incident is the public id of the incident; messages about it belong together.
	Incident string          `json:"incident,omitempty"`
	Body     json.RawMessage `json:"body"`
	// Thread is the reference of the first message about the incident. The outbox finds it when it sends; the last message of a deleted rule
	// brings it, since the earlier ones are gone.
	Thread string `json:"thread,omitempty"`
}

// Marshal writes the payload for the outbox.
func (p Payload) Marshal() (json.RawMessage, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("notify: write a message: %w", err)
	}
	return text, nil
}

// Render makes the message of an event for a type of destination. It depends on nothing but the event.
func Render(e Event, kind string) (Payload, error) {
	e = e.clean()
	var body any
	switch kind {
	case Webhook:
		body = e.webhook()
		if e.aboutIssues() {
			body = e.issueWebhook()
		}
	case PagerDuty:
		body = e.pagerDuty()
		if e.aboutIssues() {
			body = e.issuePagerDuty()
		}
	case Discord:
		body = e.discord()
	case Telegram:
		body = e.telegram()
	case Email:
		body = e.email()
	case Chat:
		body = e.chat()
	default:
		return Payload{}, fmt.Errorf("notify: no message for a destination of type %q", kind)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return Payload{}, fmt.Errorf("notify: write a message: %w", err)
	}
	return Payload{EventType: e.Type, Incident: e.Incident.ID, Body: text}, nil
}

// clean removes values that JSON cannot hold, and broken UTF-8.
func (e Event) clean() Event {
	finite := func(v *float64) *float64 {
		if v == nil || math.IsNaN(*v) || math.IsInf(*v, 0) {
			return nil
		}
		return v
	}
	e.Observed.Value = finite(e.Observed.Value)
	e.Rule.ThresholdUpper = finite(e.Rule.ThresholdUpper)
	if finite(&e.Rule.Threshold) == nil {
		e.Rule.Threshold = 0
	}
	e.Rule.Name, e.Rule.GroupKey = strings.ToValidUTF8(e.Rule.Name, "\uFFFD"), strings.ToValidUTF8(e.Rule.GroupKey, "\uFFFD")
	groups := make([]Group, len(e.Groups))
	for i, g := range e.Groups {
		g.Key, g.Observed.Value = strings.ToValidUTF8(g.Key, "\uFFFD"), finite(g.Observed.Value)
		groups[i] = g
	}
	e.Issues = cleanIssues(e.Issues)
	e.Groups, e.Samples = groups, e.Samples[:min(len(e.Samples), 3)]
	return e
}

// title and body are the texts for a type of destination.
func (e *Event) title(kind string, escape, literal func(string) string) string {
	if e.aboutIssues() {
		return strings.Join(strings.Fields(escape(e.issueTitle())), " ")
	}
	titles, _ := e.Template.texts(kind)
	return strings.Join(strings.Fields(first(titles, e.value, escape, literal)), " ")
}

func (e *Event) body(kind string, escape, literal func(string) string) string {
	if e.aboutIssues() {
		return escape(strings.Join(e.issueLines(), "\n"))
	}
	_, bodies := e.Template.texts(kind)
	body := first(bodies, e.value, escape, literal)
	for _, line := range e.groupLines() {
		body += "\n" + escape(line)
	}
	return body
}

func plain(text string) string { return text }

// webhookBody is the JSON of a webhook.
type webhookBody struct {
	APIVersion     string          `json:"api_version"`
	EventType      string          `json:"event_type"`
	IncidentID     *string         `json:"incident_id"`
	IncidentStatus *string         `json:"incident_status"`
	DedupeKey      string          `json:"dedupe_key"`
	Rule           webhookRule     `json:"rule"`
	Observed       webhookObserved `json:"observed"`
	Groups         []webhookGroup  `json:"groups,omitempty"`
	Template       *Text           `json:"template,omitempty"`
	Samples        []Sample        `json:"samples"`
	LinkURL        *string         `json:"link_url"`
	ChatURL        *string         `json:"chat_url"`
	SentAt         time.Time       `json:"sent_at"`
}

type webhookRule struct {
	ID             *string  `json:"id"`
	Name           string   `json:"name"`
	SignalType     string   `json:"signal_type"`
	Severity       string   `json:"severity"`
	GroupKey       *string  `json:"group_key"`
	Comparator     string   `json:"comparator"`
	Threshold      float64  `json:"threshold"`
	ThresholdUpper *float64 `json:"threshold_upper"`
	WindowMinutes  int      `json:"window_minutes"`
}

type webhookObserved struct {
	Value       *float64 `json:"value"`
	SampleCount int64    `json:"sample_count"`
}

type webhookGroup struct {
	GroupKey   string          `json:"group_key"`
	IncidentID string          `json:"incident_id"`
	Observed   webhookObserved `json:"observed"`
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func (e *Event) webhook() webhookBody {
	b := webhookBody{
		APIVersion: "2", EventType: e.Type, IncidentID: orNull(e.Incident.ID), IncidentStatus: orNull(e.Incident.Status),
		DedupeKey: e.Incident.DedupeKey,
		Rule: webhookRule{
			ID: orNull(e.Rule.ID), Name: e.Rule.Name, SignalType: e.Rule.SignalType, Severity: e.Rule.Severity, Comparator: e.Rule.Comparator,
			Threshold: e.Rule.Threshold, ThresholdUpper: e.Rule.ThresholdUpper, WindowMinutes: e.Rule.WindowMinutes,
		},
		Observed: webhookObserved(e.Observed), Samples: append([]Sample{}, e.Samples...),
		LinkURL: orNull(e.LinkURL), ChatURL: orNull(e.ChatURL), SentAt: e.SentAt.UTC(),
	}
	if e.Rule.GroupKey != Total {
		b.Rule.GroupKey = orNull(e.Rule.GroupKey)
	}
	for _, g := range e.Groups {
		b.Groups = append(b.Groups, webhookGroup{g.Key, g.IncidentID, webhookObserved(g.Observed)})
	}
	if e.Template != nil {
		b.Template = &Text{Title: e.title(Webhook, plain, plain), Body: e.body(Webhook, plain, plain)}
	}
	return b
}

// units counts UTF-16 code units, the largest of the ways in which the services count characters.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// cut shortens a text to a number of UTF-16 code units. It cuts between two characters, and neither inside an entity of HTML nor
// between a backslash and the character that it escapes.
func cut(text string, limit int) string {
	if units(text) <= limit {
		return text
	}
	if limit < 1 {
		return ""
	}
	n, end := 0, 0
	for i, r := range text {
		n += max(1, utf16.RuneLen(r))
		if n > limit-1 {
			end = i
			break
		}
	}
	text = text[:end]
	if at := strings.LastIndexByte(text, '&'); at >= 0 && len(text)-at < len("&quot;") && !strings.Contains(text[at:], ";") {
		text = text[:at]
	}
	slashes := len(text) - len(strings.TrimRight(text, `\`))
	if slashes%2 == 1 {
		text = text[:len(text)-1]
	}
	return strings.TrimRight(text, " \n") + "…"
}

// short is cut for a number of runes, for texts that no one escapes.
func short(text string, runes int) string {
	if utf8.RuneCountInString(text) <= runes {
		return text
	}
	return string([]rune(text)[:runes-1]) + "…"
}
