package errorissues

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/issues"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// Teller writes messages about issues of one organization.
type Teller struct {
	issues.Teller
	org        principal.OrgID
	baseURL    string
	picture    func(org principal.OrgID, issues []*store.IssueRecord, digest bool, at time.Time) (string, error)
	escalation issues.EscalationPolicy
	// byID are the enabled destinations that the policies name.
	byID map[string]store.AlertDestination
}

// Teller reads the policies of an organization, and the destinations that they name.
func (c *Config) Teller(ctx context.Context, org principal.OrgID) (*Teller, error) {
	t := &Teller{org: org, baseURL: c.BaseURL, picture: c.Picture, byID: map[string]store.AlertDestination{}}
	var err error
	if t.Policy, _, err = c.notification(ctx, org); err != nil {
		return nil, err
	}
	if t.escalation, _, err = c.escalation(ctx, org); err != nil {
		return nil, err
	}
	var ids []string
	if t.Policy.Enabled {
		ids = append(ids, t.Policy.DestinationIDs...)
	}
	for _, r := range t.escalation.Rules {
		ids = append(ids, r.DestinationIDs...)
	}
	for _, text := range ids {
		id, err := uuid.Parse(text)
		if err != nil {
			continue
		}
		d, err := c.Store.GetAlertDestination(ctx, org, id)
		switch {
		case errors.Is(err, store.ErrNotFound): // it was deleted
		case err != nil:
			return nil, err
		case d.Enabled:
			t.byID[text] = d
		}
	}
	t.Messages = func(n issues.Notice) ([]store.NewDelivery, error) {
		return t.messages(n, t.Policy.DestinationIDs, t.Policy.Severity)
	}
	return t, nil
}

// messages writes a notice for destinations.
func (t *Teller) messages(n issues.Notice, to []string, severity string) ([]store.NewDelivery, error) {
	first := n.Issues[0]
	about := publicIssue(first.ID)
	e := notify.Event{
		Type: n.Event, SentAt: n.At, IssueCount: n.Count, Rule: notify.Rule{Severity: severity},
		Incident: notify.Incident{ID: about, DedupeKey: fmt.Sprintf("%s:%s", t.org, about)},
		LinkURL:  notify.Links{BaseURL: t.baseURL, Org: t.org}.Issue(about),
	}
	if n.Event == notify.IssueDigest {
		e.Incident, e.LinkURL = notify.Incident{DedupeKey: n.Key}, "" // several issues have no page of their own
	}
	for _, r := range n.Issues {
		e.Issues = append(e.Issues, issueOf(r, n.By))
	}
	var out []store.NewDelivery
	for _, id := range to {
		d, ok := t.byID[id]
		if !ok {
			continue
		}
		if d.Type == notify.Chat && t.picture != nil {
			var err error
			if e.PictureURL, err = t.picture(t.org, n.Issues, n.Event == notify.IssueDigest, n.At); err != nil {
				return nil, err
			}
		}
		p, err := notify.Render(e, d.Type)
		if err != nil {
			return nil, err
		}
		body, err := p.Marshal()
		if err != nil {
			return nil, err
		}
		row := store.NewDelivery{
			Subject: store.SubjectIssue, DestinationID: d.ID, DestinationName: d.Name, DestinationType: d.Type, EventType: n.Event,
			Payload: body, ScheduledAt: n.At, DeliveryKey: fmt.Sprintf("%s:%s:%s", about, d.ID, n.Key),
		}
		if n.Event != notify.IssueDigest {
			row.IncidentID = &first.ID // messages about an issue keep their order
		}
		out = append(out, row)
	}
	return out, nil
}

func issueOf(r *store.IssueRecord, by string) notify.Issue {
	out := notify.Issue{
		ID: publicIssue(r.ID), Label: r.ErrorLabel, ExceptionType: r.ExceptionType, Message: r.ExceptionMessage, Service: r.ServiceName,
		TopFrame: r.TopFrame, State: r.WorkflowState, Occurrences: r.OccurrenceCount, FirstSeen: r.FirstSeenAt, LastSeen: r.LastSeenAt,
		Versions: r.Versions[:min(len(r.Versions), 5)], By: by,
	}
	if r.Severity != nil {
		out.Severity = *r.Severity
	}
	return out
}

// one adds a notice about one issue to its record.
func (t *Teller) one(r *store.IssueRecord, event, key string, at time.Time, by store.IssueActor, to []string, severity string) error {
	rows, err := t.messages(issues.Notice{
		Event: event, Issues: []*store.IssueRecord{r}, Count: 1, At: at, By: actorName(by), Key: key,
	}, to, severity)
	r.Deliveries = append(r.Deliveries, rows...)
	return err
}

func actorName(a store.IssueActor) string {
	if a.Type == store.ActorTypeAgent {
		return a.Name
	}
	return "user " + publicid.Encode(publicid.Actor, a.ID)
}

// moved reports a move to in_review or done.
func (t *Teller) moved(r *store.IssueRecord, at time.Time, by store.IssueActor) error {
	key := fmt.Sprintf("%s:%d", r.WorkflowState, at.UnixMilli())
	switch {
	case !t.Policy.Enabled:
		return nil
	case r.WorkflowState == store.IssueInReview && t.Policy.OnInReview:
		return t.one(r, notify.IssueInReview, key, at, by, t.Policy.DestinationIDs, t.Policy.Severity)
	case r.WorkflowState == store.IssueDone && t.Policy.OnDone:
		return t.one(r, notify.IssueDone, key, at, by, t.Policy.DestinationIDs, t.Policy.Severity)
	default:
		return nil
	}
}

// claimed reports a new lease.
func (t *Teller) claimed(r *store.IssueRecord, at time.Time, by store.IssueActor) error {
	if !t.Policy.Enabled || !t.Policy.OnClaim {
		return nil
	}
	return t.one(r, notify.IssueClaimed, fmt.Sprintf("claim:%d", at.UnixMilli()), at, by, t.Policy.DestinationIDs, t.Policy.Severity)
}

// escalated reports a severity that rose, once an issue and severity.
func (t *Teller) escalated(r *store.IssueRecord, before *string, source string, at time.Time, by store.IssueActor) error {
	to := t.escalation.Escalates(before, r.Severity, source)
	if len(to) == 0 {
		return nil
	}
	severity := "warning"
	if *r.Severity == "critical" {
		severity = "critical"
	}
	return t.one(r, notify.IssueEscalated, "escalation:"+*r.Severity, at, by, to, severity)
}
