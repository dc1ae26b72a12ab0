package alerting

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
)

// group is the worker's memory of one group of one rule.
type group struct {
	State
	// Scope and Condition identify the definition of the rule under which the state came about.
	Scope     string `json:"scope"`
	Condition string `json:"condition"`

	incident *store.AlertIncident
	// saved is the state as it is in the database.
	saved []byte
}

// ruleMemory is a rule with its groups.
type ruleMemory struct {
	store.AlertRule
	condition        Condition
	scope, threshold string
	groups           map[string]*group
	// failing is true while the stored rule shows an error.
	failing bool
}

// orgMemory holds the rules of an organization, as they were when its cursor was read, or newer.
type orgMemory struct {
	cursor store.AlertCursor
	list   []*ruleMemory
}

// current reports whether no rule was created, edited or deleted since.
func (m *orgMemory) current(c store.AlertCursor) bool {
	return m.cursor.Rules == c.Rules && m.cursor.Edits == c.Edits && m.cursor.Changed == c.Changed
}

func remember(c store.AlertCursor, m store.AlertMemory) (*orgMemory, error) {
	out := &orgMemory{cursor: c}
	for _, r := range m.Rules {
		rm := &ruleMemory{
			AlertRule: r, condition: ConditionOf(&r), scope: scopeOf(&r), threshold: thresholdOf(&r), groups: map[string]*group{},
			failing: r.LastEvaluationError != nil,
		}
		for key, state := range m.States[r.ID] {
			g := &group{saved: state}
			if err := json.Unmarshal(state, g); err != nil {
				return nil, err
			}
			rm.groups[key] = g
		}
		for key, incident := range m.Open[r.ID] {
			g := rm.groups[key]
			if g == nil {
				// The state of an open incident is stored with it. Without one, the incident would stay open for ever.
				g = &group{State: State{Open: true, Told: incident.TriggerTold}, Scope: rm.scope, Condition: rm.threshold}
				rm.groups[key] = g
			}
			g.incident = &incident
		}
		out.list = append(out.list, rm)
	}
	return out, nil
}

// ConditionOf returns the part of a rule that decides.
func ConditionOf(r *store.AlertRule) Condition {
	c := Condition{
		Comparator: r.Comparator, Threshold: r.Threshold, Upper: r.ThresholdUpper, ResolveThreshold: r.ResolveThreshold,
		MinimumSamples: r.MinimumSampleCount, BreachesRequired: r.ConsecutiveBreachesRequired, HealthyRequired: r.ConsecutiveHealthyRequired,
		Renotify: time.Duration(r.RenotifyIntervalMinutes) * time.Minute, NoData: NoDataBehavior(r.SignalType, r.Comparator),
		Volume: countsThings(r),
	}
	if r.AlertOnNoData {
		c.NoData = NoDataFires
	}
	if r.MutedUntil != nil {
		c.MutedUntil = *r.MutedUntil
	}
	return c
}

// NoDataBehavior is the meaning of missing data for a signal: no requests are a throughput of zero, and say nothing about other signals.
func NoDataBehavior(signal, comparator string) NoData {
	if signal == "throughput" && (comparator == "lt" || comparator == "lte") {
		return NoDataZero
	}
	return NoDataSkips
}

// countsThings reports whether the value of a rule grows with the number of samples.
func countsThings(r *store.AlertRule) bool {
	if r.SignalType == "throughput" {
		return true
	}
	var d struct {
		Aggregation string `json:"aggregation"`
		Queries     []struct {
			Aggregation string `json:"aggregation"`
		} `json:"queries"`
	}
	if r.SignalType != "builder_query" || json.Unmarshal(r.QueryBuilderDraft, &d) != nil {
		return false
	}
	for _, q := range d.Queries {
		d.Aggregation = cmp.Or(d.Aggregation, q.Aggregation)
	}
	return slices.Contains([]string{
		"count", "error_count", "rate", "increase", "sum", "count_distinct", "sessions", "persons", "users", "visitors",
	}, d.Aggregation)
}

// scopeOf identifies what a rule looks at. When it changes, the open incidents belong to another question, and are resolved.
func scopeOf(r *store.AlertRule) string {
	return digest(r.SignalType, r.GroupBy, len(r.ServiceNames) > 0, r.Environments, r.QueryBuilderDraft, r.RawQuerySQL,
		r.RawQueryReducer, r.Burn, r.Baseline)
}

// thresholdOf identifies how a rule judges. When it changes, the counts begin again.
func thresholdOf(r *store.AlertRule) string {
	paging := len(r.Burn) > 0 && r.Severity == "critical"
	return digest(r.Comparator, r.Threshold, r.ThresholdUpper, r.WindowMinutes, r.MinimumSampleCount, r.ApdexThresholdMs, paging)
}

func digest(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return "unreadable"
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// covers reports whether the rule still looks at a group. reason says why not.
func (r *ruleMemory) covers(key string, g *group) (reason string, ok bool) {
	switch {
	case !r.Enabled:
		return "the rule was disabled", false
	case g.Scope != r.scope:
		return "the rule was changed", false
	case len(r.ServiceNames) > 0 && !slices.Contains(r.ServiceNames, key):
		return "the service was removed from the rule", false
	case slices.Contains(r.ExcludeServiceNames, key):
		return "the service was excluded from the rule", false
	default:
		return "", true
	}
}

// openGroups lists the groups with an open incident, which an evaluation must not leave out.
func (r *ruleMemory) openGroups() []string {
	var keys []string
	for key, g := range r.groups {
		if g.Open {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// incidentID is the id of the incident that a group opens at a minute. A repeated evaluation gives the same incident.
func incidentID(r *store.AlertRule, key string, at time.Time) uuid.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%d/%s", r.ID, at.Unix(), key))
	id := uuid.UUID(sum[:16])
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|uint64(binary.BigEndian.Uint16(sum[16:18])))
	id[6] = id[6]&0x0f | 0x70 // version 7
	id[8] = id[8]&0x3f | 0x80
	return id
}

// Late reports whether the telemetry of a rule arrives later than that of others.
func Late(r *store.AlertRule) bool {
	return r.SignalType == "builder_query" && bytes.Contains(r.QueryBuilderDraft, []byte(`"metrics"`))
}
