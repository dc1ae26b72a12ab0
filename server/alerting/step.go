package alerting

import (
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Status is the result of one evaluation of one group.
type Status string

// Results of an evaluation.
const (
	Breached Status = "breached"
	Healthy  Status = "healthy"
	Skipped  Status = "skipped"
	Failed   Status = "error"
)

// Reasons of a skipped evaluation.
const (
	SkipNoData  = "no_data"
	SkipSamples = "below_min_samples"
	SkipNoValue = "no_value"
	TotalGroup  = "__total__"
)

// Transition is the change of the incident of a group at one evaluation.
type Transition string

// Changes of an incident.
const (
	None      Transition = "none"
	Opened    Transition = "opened"
	Continued Transition = "continued"
	Resolved  Transition = "resolved"
)

// Event is a message to send.
type Event string

// Messages. The empty event stands for the absence of a message.
const (
	NoEvent  Event = ""
	Trigger  Event = "trigger"
	Renotify Event = "renotify"
	Resolve  Event = "resolve"
)

// Hold is the reason why an open incident does not resolve although the values would allow it.
type Hold string

// Reasons of a hold.
const (
	NoHold          Hold = ""
	HoldNoData      Hold = "no_data"
	HoldVolume      Hold = "volume_collapsed"
	HoldSampling    Hold = "sampling_changed"
	HoldProbeFailed Hold = "probe_failed"
)

// Thresholds of holds. Their lengths are in package limits. A hold because of a failing evaluation has no end.
const (
	// collapsed is the share of the samples at the opening below which a healthy value says nothing.
	collapsed = 0.1
	// resampled is the factor by which the mean weight of a sample may change.
	resampled = 2
)

// NoData is the meaning of an evaluation without any data.
type NoData string

// Meanings of missing data.
const (
	NoDataSkips NoData = "skip"
	NoDataZero  NoData = "zero"
	NoDataFires NoData = "alert"
)

// Condition is the part of a rule that decides about a value.
type Condition struct {
	Comparator string
	Threshold  float64
	// Upper is the upper end of the range of between and not_between.
	Upper *float64
	// ResolveThreshold is the value that must be passed before an evaluation counts as healthy for an open incident; nil for Threshold.
	ResolveThreshold *float64
	MinimumSamples   int64
	// BreachesRequired evaluations in a row open an incident, HealthyRequired resolve it.
	BreachesRequired, HealthyRequired int
	Renotify                          time.Duration
	NoData                            NoData
	// Volume is true when the value is itself a number of things. Then few samples are no reason to doubt a low value.
	Volume bool
	// MutedUntil is the end of a mute; the zero time without one. A muted rule opens and resolves incidents without messages.
	MutedUntil time.Time
}

// Input has the figures that an evaluation found for one group.
type Input struct {
	// Failed is true when the query failed. The other fields then say nothing.
	Failed bool
	// Present is false when the group has no data.
	Present bool
	// Value is nil when the data gives no value.
	Value *float64
	// Threshold replaces that of the condition. It is nil without a baseline.
	Threshold *float64
	// Samples is the number of samples behind the value, weighted by sampling. Weight is the mean weight of a received sample; 0 when
	// it is not known.
	Samples, Weight float64
}

// State is the memory of one group. The zero State is that of a group about which there is nothing to remember.
type State struct {
	Breaches int  `json:"breaches,omitempty"`
	Healthy  int  `json:"healthy,omitempty"`
	Open     bool `json:"open,omitempty"`
	// Told is true when the trigger of the open incident was sent. Only then its resolve is.
	Told     bool      `json:"told,omitempty"`
	Notified time.Time `json:"notified,omitzero"`
	// Samples and Weight are those of the opening.
	Samples float64   `json:"samples,omitempty"`
	Weight  float64   `json:"weight,omitempty"`
	Hold    Hold      `json:"hold,omitempty"`
	Held    time.Time `json:"held,omitzero"`
	// LastData is the last hour with data, for rules to which missing data means something.
	LastData time.Time `json:"last_data,omitzero"`
}

// Zero reports whether there is nothing to remember. The number of healthy evaluations matters only while an incident is open.
func (s State) Zero() bool {
	s.Healthy = 0
	return s == State{}
}

// Decision is the conclusion from an evaluation.
type Decision struct {
	Status     Status
	SkipReason string
	// Value is the compared value: that of the input, or 0 for missing data that counts as zero.
	Value      *float64
	Transition Transition
	Event      Event
	// Reason says why the incident was resolved, if not by healthy values.
	Reason string
}

// Step evaluates one group at the minute t. It is pure: the worker, the test of a rule and the preview all use it.
func Step(c *Condition, s State, in Input, t time.Time) (State, Decision) {
	d := c.judge(&s, in, t)
	if s.Open {
		s.open(c, in, t, &d)
	} else {
		s.closed(c, in, t, &d)
	}
	return s, d
}

// judge compares.
func (c *Condition) judge(s *State, in Input, t time.Time) Decision {
	d := Decision{Status: Failed, Transition: None}
	if in.Failed {
		return d
	}
	if c.NoData != NoDataSkips && in.Present && t.Sub(s.LastData) >= time.Hour {
		s.LastData = t
	}
	d.Value = in.Value
	if !in.Present {
		switch {
		case c.NoData == NoDataFires && !s.LastData.IsZero() && t.Sub(s.LastData) <= limits.AlertNoDataMemory:
			d.Status, d.Value = Breached, nil
			return d
		case c.NoData == NoDataZero, s.Open && c.recovered():
			zero := 0.0
			d.Value = &zero
		default:
			d.Status, d.SkipReason, d.Value = Skipped, SkipNoData, nil
			return d
		}
	}
	switch {
	case in.Samples < float64(c.MinimumSamples):
		d.Status, d.SkipReason = Skipped, SkipSamples
	case d.Value == nil:
		d.Status, d.SkipReason = Skipped, SkipNoValue
	case Compare(c.Comparator, *d.Value, in.threshold(c), c.Upper):
		d.Status = Breached
	default:
		d.Status = Healthy
	}
	return d
}

// recovered reports whether missing data means that there is nothing left of the reason for an incident: too many things were counted, and
// now there are none.
func (c *Condition) recovered() bool {
	return c.Volume && c.MinimumSamples == 0 && (c.Comparator == "gt" || c.Comparator == "gte")
}

func (in *Input) threshold(c *Condition) float64 {
	if in.Threshold != nil {
		return *in.Threshold
	}
	return c.Threshold
}

// closed is the step of a group without an open incident.
func (s *State) closed(c *Condition, in Input, t time.Time, d *Decision) {
	//exhaustive:enforce
	switch d.Status {
	case Breached:
		s.Breaches, s.Healthy = s.Breaches+1, 0
		if s.Breaches < c.BreachesRequired {
			return
		}
		s.Open, s.Told, s.Samples, s.Weight = true, false, in.Samples, in.Weight
		s.Hold, s.Held, s.Notified = NoHold, time.Time{}, time.Time{}
		d.Transition = Opened
		s.tell(c, t, d)
	case Healthy:
		s.Breaches, s.Healthy = 0, s.Healthy+1
	case Skipped, Failed:
	}
}

// open is the step of a group with an open incident.
func (s *State) open(c *Condition, in Input, t time.Time, d *Decision) {
	d.Transition = Continued
	switch {
	case d.Status == Breached:
		s.Breaches, s.Healthy = s.Breaches+1, 0
		s.release()
	case d.Status == Failed:
		s.hold(HoldProbeFailed, t)
	case d.SkipReason == SkipNoData:
		if s.hold(HoldNoData, t) >= limits.AlertHoldNoData {
			s.resolve(d, "no data for "+limits.Lasts(limits.AlertHoldNoData))
			return
		}
	case d.Status == Skipped:
		d.Transition = None
	default:
		s.healthy(c, in, t, d)
		if d.Transition == Resolved {
			return
		}
	}
	s.tell(c, t, d)
}

// healthy counts a healthy value of an open incident.
func (s *State) healthy(c *Condition, in Input, t time.Time, d *Decision) {
	s.Breaches = 0
	if c.ResolveThreshold != nil && Compare(c.Comparator, *d.Value, *c.ResolveThreshold, c.Upper) {
		s.Healthy = 0
		s.release()
		return
	}
	s.Healthy++
	switch {
	case !c.Volume && in.Samples < collapsed*s.Samples:
		if s.hold(HoldVolume, t) < limits.AlertHoldVolume {
			return
		}
		s.Samples = in.Samples
	case s.Weight > 0 && in.Weight > 0 && (in.Weight > resampled*s.Weight || in.Weight*resampled < s.Weight):
		if s.hold(HoldSampling, t) < limits.AlertHoldSampling {
			return
		}
		s.Weight = in.Weight
	}
	s.release()
	if s.Healthy >= c.HealthyRequired {
		s.resolve(d, "")
	}
}

// hold begins a hold or goes on with it, and returns how long it has lasted.
func (s *State) hold(h Hold, t time.Time) time.Duration {
	if s.Hold != h {
		s.Hold, s.Held = h, t
	}
	return t.Sub(s.Held)
}

func (s *State) release() { s.Hold, s.Held = NoHold, time.Time{} }

// tell sends the trigger of an incident, or the reminder that it is still open. A hold stops neither.
func (s *State) tell(c *Condition, t time.Time, d *Decision) {
	switch {
	case t.Before(c.MutedUntil):
	case !s.Told:
		s.Told, s.Notified, d.Event = true, t, Trigger
	case !t.Before(s.Notified.Add(c.Renotify)):
		s.Notified, d.Event = t, Renotify
	}
}

// resolve ends the incident. If a message about the incident was sent, its end is sent even while the rule is muted.
func (s *State) resolve(d *Decision, reason string) {
	d.Transition, d.Reason = Resolved, reason
	if s.Told {
		d.Event = Resolve
	}
	*s = State{LastData: s.LastData}
}

// End resolves the open incident of a group whose rule was changed, disabled or deleted.
func End(s State, reason string) (State, Decision) {
	d := Decision{Status: Skipped, Transition: None}
	if s.Open {
		s.resolve(&d, reason)
	}
	return State{}, d
}

// Compare reports whether a value breaches a threshold.
func Compare(comparator string, value, threshold float64, upper *float64) bool {
	top := threshold
	if upper != nil {
		top = *upper
	}
	switch comparator {
	case "gt":
		return value > threshold
	case "gte":
		return value >= threshold
	case "lt":
		return value < threshold
	case "lte":
		return value <= threshold
	case "eq":
		return value == threshold
	case "neq":
		return value != threshold
	case "between":
		return value >= threshold && value <= top
	case "not_between":
		return value < threshold || value > top
	default:
		return false
	}
}
