package issues

import (
	"encoding/json"
	"fmt"

	"github.com/svc-observability/svc/server/store"
)

// NotificationPolicy says which changes are sent. Its JSON is that of the store and of the audit log.
type NotificationPolicy struct {
	Enabled        bool     `json:"enabled"`
	DestinationIDs []string `json:"destination_ids"`
	OnFirstSeen    bool     `json:"notify_on_first_seen"`
	OnRegression   bool     `json:"notify_on_regression"`
	OnResolve      bool     `json:"notify_on_resolve"`
	OnInReview     bool     `json:"notify_on_transition_in_review"`
	OnDone         bool     `json:"notify_on_transition_done"`
	OnClaim        bool     `json:"notify_on_claim"`
	MinOccurrences int64    `json:"min_occurrence_count"`
	Severity       string   `json:"severity"`
}

// DefaultPolicy is the policy of a request that leaves out everything.
func DefaultPolicy() NotificationPolicy {
	return NotificationPolicy{Enabled: true, OnFirstSeen: true, OnRegression: true, MinOccurrences: 1, Severity: "warning"}
}

// ReadPolicy reads a stored policy.
func ReadPolicy(stored json.RawMessage) (NotificationPolicy, error) {
	p := DefaultPolicy()
	if err := json.Unmarshal(stored, &p); err != nil {
		return NotificationPolicy{}, fmt.Errorf("issues: read the notification policy: %w", err)
	}
	return p, nil
}

// EscalationRule is a rule of the escalation policy.
type EscalationRule struct {
	Severity       string   `json:"severity"`
	DestinationIDs []string `json:"destination_ids"`
	MinConfidence  *string  `json:"min_confidence,omitempty"`
}

// EscalationPolicy says to which destinations a rising severity is sent.
type EscalationPolicy struct {
	Enabled bool             `json:"enabled"`
	Rules   []EscalationRule `json:"rules"`
}

// ReadEscalation reads a stored policy.
func ReadEscalation(stored json.RawMessage) (EscalationPolicy, error) {
	var p EscalationPolicy
	if err := json.Unmarshal(stored, &p); err != nil {
		return p, fmt.Errorf("issues: read the escalation policy: %w", err)
	}
	return p, nil
}

// Escalates returns the destinations of a rise of the severity. A severity that an agent sets counts only for rules that demand no
// confidence, because nothing measures that of an agent.
func (p *EscalationPolicy) Escalates(before, after *string, by string) []string {
	if !p.Enabled || store.SeverityRank(after) <= store.SeverityRank(before) {
		return nil
	}
	for _, r := range p.Rules {
		if r.Severity == *after && (by == sourceManual || r.MinConfidence == nil) {
			return r.DestinationIDs
		}
	}
	return nil
}
