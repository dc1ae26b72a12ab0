package alerts

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// Message is a message about incidents, before it is written for a type of destination.
type Message notify.Event

// Render writes the message for a type of destination, as the outbox keeps it.
func (m Message) Render(kind string) (json.RawMessage, error) {
	p, err := notify.Render(notify.Event(m), kind)
	if err != nil {
		return nil, err
	}
	return p.Marshal()
}

// NoticeEvent is the message about one incident, with a link to its page. Rule and figures are those of the evaluation.
func NoticeEvent(n alerting.Notice, links notify.Links) Message {
	m := ruleEvent(n.Rule, n.Incident.GroupKey)
	m.Type, m.SentAt = string(n.Event), n.At
	m.Incident = notify.Incident{
		ID: publicid.Encode(publicid.AlertIncident, n.Incident.ID), Status: n.Incident.Status, DedupeKey: n.Incident.DedupeKey,
	}
	m.Observed = notify.Observed{Value: n.Value, SampleCount: int64(n.Samples)}
	m.LinkURL = links.Incident(m.Incident.ID)
	return m
}

// Summary says in a sentence what a notice observed.
func Summary(n alerting.Notice) string {
	e := notify.Event(NoticeEvent(n, notify.Links{}))
	return e.Summary()
}

// StormEvent is one message about many incidents of a rule that opened at once, with a link to the rule.
func StormEvent(notices []alerting.Notice, links notify.Links) Message {
	m := NoticeEvent(notices[0], links)
	m.Incident.ID, m.LinkURL = "", links.Rule(m.Rule.ID)
	for _, n := range notices {
		m.Groups = append(m.Groups, notify.Group{
			Key: n.Incident.GroupKey, IncidentID: publicid.Encode(publicid.AlertIncident, n.Incident.ID),
			Observed: notify.Observed{Value: n.Value, SampleCount: int64(n.Samples)},
		})
	}
	return m
}

// ruleEvent is the part of a message that the rule says.
func ruleEvent(r *store.AlertRule, group string) Message {
	m := Message{Rule: notify.Rule{
		ID: publicid.Encode(publicid.AlertRule, r.ID), Name: r.Name, SignalType: r.SignalType, Severity: r.Severity, GroupKey: group,
		Comparator: r.Comparator, Threshold: r.Threshold, ThresholdUpper: r.ThresholdUpper, WindowMinutes: r.WindowMinutes,
	}}
	// A stored template was checked when it was written.
	if t, err := readTemplate(r.NotificationTemplate); err == nil && len(r.NotificationTemplate) > 0 {
		m.Template = &t
	}
	return m
}

// TestMessage is the test message of a rule.
func testMessage(r *store.AlertRule, value *float64, samples float64, links notify.Links) notify.Event {
	m := ruleEvent(r, alerting.TotalGroup)
	m.Type = notify.Test
	if r.ID != uuid.Nil { // a rule that is not stored yet has no page
		m.LinkURL = links.Rule(m.Rule.ID)
	}
	m.Observed = notify.Observed{Value: value, SampleCount: int64(samples)}
	return notify.Event(m)
}
