package alerting

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// decide makes the commit of an organization: the step of each group at each minute, incidents, messages and checks.
func (s *Shard) decide(
	ctx context.Context, org principal.OrgID, m *orgMemory, rules []*ruleMemory, asks []Ask, figures []Figures, outage bool,
	commit *store.AlertCommit,
) error {
	checks, made := map[time.Time][]Check{}, 0
	asked := map[*ruleMemory]int{}
	for i, r := range rules {
		asked[r] = i
	}
	for _, r := range m.list {
		e := &evaluation{org: org, rule: r, told: map[string]bool{}, changed: map[string]*incidentChange{}}
		e.begin(commit.Through)
		if i, ok := asked[r]; ok {
			if err := e.run(asks[i].Minutes, &figures[i]); err != nil {
				return err
			}
		}
		result, err := e.result()
		if err != nil {
			return err
		}
		if i, ok := asked[r]; ok && !outage {
			e.report(&result, &figures[i], asks[i].Minutes)
		}
		if notices := e.notices(); len(notices) > 0 {
			if result.Deliveries, err = s.cfg.Messages(ctx, org, notices); err != nil {
				return err
			}
			for _, n := range notices {
				tellIncident(n)
			}
			e.copyIncidents(&result)
		}
		result.Issues = s.issues(e, limits.AlertIssues-made)
		made += len(result.Issues)
		if len(result.States)+len(result.Opened)+len(result.Updated) > 0 || result.SetError {
			commit.Rules = append(commit.Rules, result)
		}
		for _, c := range e.checks {
			checks[c.At] = append(checks[c.At], c)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(checks), time.Time.Compare) {
		rows, err := packChecks(checks[at])
		if err != nil {
			return err
		}
		commit.Checks = append(commit.Checks, store.AlertChecks{At: at, Rows: rows})
	}
	return nil
}

// evaluation evaluates one rule, at each minute that is due.
type evaluation struct {
	org  principal.OrgID
	rule *ruleMemory
	// told says, for each group with an incident at the beginning, whether its trigger had been told.
	told    map[string]bool
	changed map[string]*incidentChange
	order   []*incidentChange
	checks  []Check
}

// incidentChange is an incident that this evaluation opened or changed.
type incidentChange struct {
	group    string
	incident *store.AlertIncident
	opened   bool
	wasTold  bool
	event    Event // the last one
	at       time.Time
	value    *float64
	samples  float64
	// opening has the figures with which it opened.
	opening opening
}

type opening struct {
	Value   *float64
	Samples float64
}

// begin ends the groups that the rule does not look at any more.
func (e *evaluation) begin(at time.Time) {
	for _, key := range slices.Sorted(maps.Keys(e.rule.groups)) {
		g := e.rule.groups[key]
		e.told[key] = g.Told
		if g.Condition != e.rule.threshold {
			g.Condition, g.Breaches, g.Healthy = e.rule.threshold, 0, 0
		}
		reason, ok := e.rule.covers(key, g)
		if ok {
			continue
		}
		var d Decision
		g.State, d = End(g.State, reason)
		g.Scope = e.rule.scope
		e.follow(key, g, d, Input{}, at)
	}
}

// run steps through the minutes.
func (e *evaluation) run(minutes []time.Time, f *Figures) error {
	for i, at := range minutes {
		var inputs map[string]Input
		if f.Err == nil {
			inputs = f.Groups[i]
		}
		for _, key := range e.keys(inputs) {
			in, present := inputs[key]
			in.Present = in.Present && present
			in.Failed = in.Failed || f.Err != nil
			g := e.rule.groups[key]
			if g == nil {
				g = &group{Scope: e.rule.scope, Condition: e.rule.threshold}
				e.rule.groups[key] = g
			}
			var d Decision
			g.State, d = Step(&e.rule.condition, g.State, in, at)
			incident := e.follow(key, g, d, in, at)
			e.check(key, g, d, in, at, incident, f)
			if Forgotten(&e.rule.AlertRule, key, g.State, in, at) {
				g.State = State{}
			}
		}
	}
	return nil
}

// keys are the groups to evaluate.
func (e *evaluation) keys(inputs map[string]Input) []string {
	states := map[string]State{}
	for key, g := range e.rule.groups {
		if _, covered := e.rule.covers(key, g); covered {
			states[key] = g.State
		}
	}
	return GroupsOf(&e.rule.AlertRule, inputs, states)
}

// named are the groups that a rule has whatever the data is.
func named(r *store.AlertRule) []string {
	switch {
	case len(r.ServiceNames) > 0:
		return r.ServiceNames
	case len(r.GroupBy) > 0 || r.SignalType == "raw_query" || r.SignalType == "builder_query":
		return nil
	default:
		return []string{TotalGroup}
	}
}

// GroupsOf are the groups to evaluate: those with data, those with a memory, those that the rule names, or the one for all.
func GroupsOf(r *store.AlertRule, inputs map[string]Input, states map[string]State) []string {
	known := map[string]bool{}
	for key := range inputs {
		known[key] = true
	}
	for key, s := range states {
		if !s.Zero() {
			known[key] = true
		}
	}
	for _, key := range named(r) {
		known[key] = true
	}
	if len(known) == 0 {
		known[TotalGroup] = true
	}
	return slices.Sorted(maps.Keys(known))
}

// Forgotten reports whether a group can be forgotten after an evaluation, because it had no data for a day.
func Forgotten(r *store.AlertRule, key string, s State, in Input, at time.Time) bool {
	return !s.Open && !in.Present && !in.Failed && !slices.Contains(named(r), key) &&
		(s.LastData.IsZero() && s.Breaches == 0 || !s.LastData.IsZero() && at.Sub(s.LastData) > limits.AlertNoDataMemory)
}

// follow applies a decision to the incident of the group, and returns that incident.
func (e *evaluation) follow(key string, g *group, d Decision, in Input, at time.Time) *store.AlertIncident {
	switch {
	case d.Transition == Opened:
		g.incident = e.open(key, d, in, at)
		c := &incidentChange{group: key, incident: g.incident, opened: true, opening: opening{d.Value, in.Samples}}
		e.changed[key], e.order = c, append(e.order, c)
	case g.incident == nil:
		return nil
	}
	c := e.changed[key]
	if c == nil {
		c = &incidentChange{group: key, incident: g.incident, wasTold: e.told[key]}
		e.changed[key], e.order = c, append(e.order, c)
	}
	i := g.incident
	if d.Status == Breached {
		i.LastTriggeredAt = at
	}
	if d.Status == Breached || d.Status == Healthy {
		n := int64(in.Samples)
		i.LastObservedValue, i.LastSampleCount = d.Value, &n
	}
	i.TriggerTold = g.Told
	i.HoldReason, i.HeldSince = nil, nil
	if g.Hold != NoHold {
		hold, since := string(g.Hold), g.Held
		i.HoldReason, i.HeldSince = &hold, &since
	}
	if d.Event != NoEvent {
		c.event, c.at, c.value, c.samples = d.Event, at, d.Value, in.Samples
	}
	if d.Transition == Resolved {
		i.Status, i.ResolvedAt, i.OpenKey = store.IncidentResolved, &at, nil
		if d.Reason != "" {
			i.ResolveReason = &d.Reason
		}
		g.incident = nil
		// A later incident of the same group is another one.
		delete(e.changed, key)
	}
	return i
}

// open makes an incident with the rule as it is now.
func (e *evaluation) open(key string, d Decision, in Input, at time.Time) *store.AlertIncident {
	r := &e.rule.AlertRule
	openKey := r.ID.String() + "/" + key
	n := int64(in.Samples)
	return &store.AlertIncident{
		ID: incidentID(r, key, at), Org: e.org, RuleID: r.ID, RuleName: r.Name, GroupKey: key, SignalType: r.SignalType, Severity: r.Severity,
		Status: store.IncidentOpen, Comparator: r.Comparator, Threshold: in.threshold(&e.rule.condition), ThresholdUpper: r.ThresholdUpper,
		FirstTriggeredAt: at, LastTriggeredAt: at, LastObservedValue: d.Value, LastSampleCount: &n,
		DedupeKey: fmt.Sprintf("%s:%s:%s", e.org, publicid.Encode(publicid.AlertRule, r.ID), key), OpenKey: &openKey,
	}
}

// check records the evaluation.
func (e *evaluation) check(key string, g *group, d Decision, in Input, at time.Time, incident *store.AlertIncident, f *Figures) {
	r := &e.rule.AlertRule
	c := Check{
		Org: e.org, RuleID: publicid.Encode(publicid.AlertRule, r.ID), At: at, GroupKey: key, Status: d.Status, SkipReason: d.SkipReason,
		SignalType: r.SignalType, Comparator: r.Comparator, Threshold: r.Threshold, ThresholdUpper: r.ThresholdUpper,
		ObservedValue: d.Value, SampleCount: in.Samples, WindowMinutes: r.WindowMinutes, ConsecutiveBreaches: g.Breaches,
		ConsecutiveHealthy: g.Healthy, Transition: d.Transition, DurationMs: f.Took.Milliseconds(),
	}
	if in.Threshold != nil {
		c.Threshold = *in.Threshold
	}
	if incident != nil {
		c.IncidentID = publicid.Encode(publicid.AlertIncident, incident.ID)
	}
	if f.Err != nil {
		c.ErrorMessage, c.ErrorCategory = f.Err.Error(), f.Category
	}
	e.checks = append(e.checks, c)
}

// result collects what changed.
func (e *evaluation) result() (store.AlertResult, error) {
	out := store.AlertResult{Rule: e.rule.ID, Version: e.rule.Version, States: map[string]json.RawMessage{}}
	for key, g := range e.rule.groups {
		var text []byte
		if !g.Zero() {
			var err error
			if text, err = json.Marshal(g); err != nil {
				return out, err
			}
		}
		if !bytes.Equal(text, g.saved) {
			out.States[key] = text
			g.saved = text
		}
		if text == nil && g.Healthy == 0 {
			delete(e.rule.groups, key)
		}
	}
	e.copyIncidents(&out)
	return out, nil
}

func (e *evaluation) copyIncidents(out *store.AlertResult) {
	out.Opened, out.Updated = nil, nil
	for _, c := range e.order {
		if c.opened {
			out.Opened = append(out.Opened, *c.incident)
		} else {
			out.Updated = append(out.Updated, *c.incident)
		}
	}
}

// report sets or clears the error that the rule shows.
func (e *evaluation) report(out *store.AlertResult, f *Figures, minutes []time.Time) {
	text := ""
	switch {
	case f.Err != nil:
		text = f.Err.Error()
	case f.LeftOut > 0:
		text = fmt.Sprintf("The rule has too many groups: %d were left out.", f.LeftOut)
	}
	if text == "" && !e.rule.failing {
		return
	}
	out.SetError = true
	e.rule.failing = text != ""
	if text != "" {
		at := minutes[len(minutes)-1]
		out.Error, out.EvaluatedAt = &text, &at
	}
}

// notices are the messages of this evaluation: the last state of each incident. An incident that opened and resolved within one
// evaluation, after a gap, is not told.
func (e *evaluation) notices() (out []Notice) {
	for _, c := range e.order {
		resolved := c.incident.Status == store.IncidentResolved
		event := c.event
		switch {
		case event == NoEvent, resolved && !c.wasTold:
			continue
		case resolved:
			event = Resolve
		case !c.wasTold:
			event = Trigger
		}
		out = append(out, Notice{Rule: &e.rule.AlertRule, Incident: c.incident, Event: event, At: c.at, Value: c.value, Samples: c.samples})
	}
	return out
}

// tellIncident records the message on its incident.
func tellIncident(n Notice) {
	event, at := string(n.Event), n.At
	n.Incident.LastDeliveredEventType, n.Incident.LastNotifiedAt = &event, &at
}

// phase spreads keys over time, always in the same way.
func phase(key string, spread time.Duration) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(key))
	return time.Duration(h.Sum64() % uint64(max(1, spread)))
}
