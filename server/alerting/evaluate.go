package alerting

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Ask is a rule to evaluate at minutes: at each, the value over the window that ends there.
type Ask struct {
	Rule    *store.AlertRule
	Minutes []time.Time
	// Keep are groups that must be in the answer when there are more groups than a rule may have.
	Keep []string
}

// Figures are the figures of one rule.
type Figures struct {
	// Groups has, for each minute of the question, the groups with data.
	Groups []map[string]Input
	// Err is the failure of this rule: its query does not work any more. Category is a word for it.
	Err      error
	Category string
	// LeftOut is the number of groups that were too many.
	LeftOut int
	Took    time.Duration
}

// Source reads the figures of rules.
type Source interface {
	// Figures answers in the order of the questions. An error is a failure of all of them, such as a warehouse that does not answer.
	Figures(ctx context.Context, org principal.OrgID, asks []Ask) ([]Figures, error)
}

// Check is the result of one evaluation of one group, as the warehouse keeps it.
type Check struct {
	Org                 principal.OrgID
	RuleID              string
	At                  time.Time
	GroupKey            string
	Status              Status
	SkipReason          string
	SignalType          string
	Comparator          string
	Threshold           float64
	ThresholdUpper      *float64
	ObservedValue       *float64
	SampleCount         float64
	WindowMinutes       int
	ConsecutiveBreaches int
	ConsecutiveHealthy  int
	IncidentID          string
	Transition          Transition
	DurationMs          int64
	ErrorMessage        string
	ErrorCategory       string
}
