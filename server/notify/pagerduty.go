package notify

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"time"
	"unicode/utf8"
)

// Limits of the Events API v2.
const (
	pagerDutySummary  = 1024
	pagerDutyDedupKey = 255
	pagerDutyDetail   = 4096 // our own, so that a body stays far below 512 KB
	pagerDutyGroups   = 100  // as pagerDutyDetail
)

type pagerDutyEvent struct {
	Action    string          `json:"event_action"`
	DedupKey  string          `json:"dedup_key"`
	Client    string          `json:"client,omitempty"`
	ClientURL string          `json:"client_url,omitempty"`
	Links     []pagerDutyLink `json:"links,omitempty"`
	Payload   *pagerDutyAlert `json:"payload,omitempty"`
}

type pagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

type pagerDutyAlert struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"`
	Timestamp time.Time      `json:"timestamp"`
	Class     string         `json:"class,omitempty"`
	Group     string         `json:"group,omitempty"`
	Details   map[string]any `json:"custom_details,omitempty"`
}

// dedupKey is the key of an incident at PagerDuty. A long key is replaced by its hash, so that two keys never become one.
func dedupKey(key string) string {
	if utf8.RuneCountInString(key) <= pagerDutyDedupKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

func (e *Event) pagerDuty() pagerDutyEvent {
	out := pagerDutyEvent{Action: "trigger", DedupKey: dedupKey(e.Incident.DedupeKey)}
	if e.Type == Resolve {
		out.Action = "resolve"
		return out
	}
	out.Client, out.ClientURL = "svc", e.LinkURL
	for _, s := range e.Samples {
		if s.URL != "" {
			out.Links = append(out.Links, pagerDutyLink{Href: s.URL, Text: "Trace " + s.TraceID})
		}
	}
	severity := "warning"
	if e.Rule.Severity == "critical" {
		severity = "critical"
	}
	details := map[string]any{
		"body": short(e.body(PagerDuty, plain, plain), pagerDutyDetail), "rule": short(e.Rule.Name, pagerDutyDetail),
		"signal": e.Rule.SignalType, "threshold": e.value("threshold"), "window": e.value("window"), "sample_count": e.Observed.SampleCount,
	}
	if v := e.value("value"); v != "" {
		details["value"] = v
	}
	if g := e.group(); g != "" {
		details["group"] = short(g, pagerDutyDetail)
	}
	out.Payload = &pagerDutyAlert{
		Summary: cut(e.title(PagerDuty, plain, plain), pagerDutySummary), Source: "svc", Severity: severity, Timestamp: e.SentAt.UTC(),
		Class: e.Rule.SignalType, Group: short(e.group(), pagerDutySummary), Details: details,
	}
	return out
}

func (s *Sender) sendPagerDuty(ctx context.Context, d *Destination, p Payload) Result {
	body, err := merge(p.Body, map[string]any{"routing_key": d.Secrets.IntegrationKey})
	if err != nil {
		return Result{Outcome: Rejected, Problem: "The stored message cannot be read."}
	}
	a, err := s.post(ctx, s.cfg.Endpoints.PagerDuty+"/v2/enqueue", nil, body, true)
	if err != nil {
		return failed(err, d.Secrets)
	}
	r := a.result(d.Secrets, s.cfg.Now())
	var said struct {
		DedupKey string `json:"dedup_key"`
		Message  string `json:"message"`
	}
	if json.Unmarshal(a.body, &said) == nil {
		r.Reference = d.Secrets.strike(said.DedupKey)
	}
	return r
}

// CheckIntegrationKey asks PagerDuty whether it knows the key of a destination, by resolving an incident that does not exist. The error is
// a *FieldError if PagerDuty refuses the key. Any other failure says nothing about the key and is not an error.
func (s *Sender) CheckIntegrationKey(ctx context.Context, d *Destination) error {
	body, err := json.Marshal(pagerDutyEvent{Action: "resolve", DedupKey: "svc-key-check-" + rand.Text()})
	if err != nil {
		return err
	}
	r := s.Send(ctx, d, "", Payload{EventType: Resolve, Body: body})
	if r.Code == http.StatusBadRequest {
		return &FieldError{"integration_key", "is refused by PagerDuty: " + r.Answer}
	}
	return nil
}
