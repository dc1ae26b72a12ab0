package reads

import (
	"time"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// AlertCheckRow is a row of AlertChecks.
type AlertCheckRow struct {
	Timestamp            time.Time `ch:"Timestamp"`
	GroupKey             string    `ch:"GroupKey"`
	Status               string    `ch:"Status"`
	SkipReason           string    `ch:"SkipReason"`
	SignalType           string    `ch:"SignalType"`
	Comparator           string    `ch:"Comparator"`
	Threshold            float64   `ch:"Threshold"`
	ThresholdUpper       *float64  `ch:"ThresholdUpper"`
	ObservedValue        *float64  `ch:"ObservedValue"`
	SampleCount          float64   `ch:"SampleCount"`
	WindowMinutes        uint32    `ch:"WindowMinutes"`
	ConsecutiveBreaches  uint32    `ch:"ConsecutiveBreaches"`
	ConsecutiveHealthy   uint32    `ch:"ConsecutiveHealthy"`
	IncidentID           string    `ch:"IncidentId"`
	IncidentTransition   string    `ch:"IncidentTransition"`
	EvaluationDurationMs uint32    `ch:"EvaluationDurationMs"`
	ErrorMessage         string    `ch:"ErrorMessage"`
	ErrorCategory        string    `ch:"ErrorCategory"`
}

// AlertCheckList selects checks of one rule.
type AlertCheckList struct {
	// Rule is the public id.
	Rule string
	// Since is the first minute, Until is left out.
	Since, Until time.Time
	// Group and Status are empty for all.
	Group, Status string
	Offset, Limit int
}

// AlertChecks gives AlertCheckRow rows, the newest first, ties by group.
func AlertChecks(l AlertCheckList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	where := sqlbuild.OfOrganization().With(
		"RuleId = "+b.Bind("rule", "String", l.Rule), "Timestamp >= "+b.Time("since", l.Since), "Timestamp < "+b.Time("until", l.Until),
	)
	if l.Group != "" {
		where = where.With("GroupKey = " + b.Bind("group", "String", l.Group))
	}
	if l.Status != "" {
		where = where.With("Status = " + b.Bind("status", "String", l.Status))
	}
	return b.Statement(`SELECT Timestamp, GroupKey, Status, SkipReason, SignalType, Comparator, Threshold, ThresholdUpper, ObservedValue,
    SampleCount, WindowMinutes, ConsecutiveBreaches, ConsecutiveHealthy, IncidentId, IncidentTransition, EvaluationDurationMs,
    ErrorMessage, ErrorCategory
FROM alert_checks
WHERE ` + where.Join(4) + `
ORDER BY Timestamp DESC, GroupKey
LIMIT ` + b.Bind("limit", "UInt32", int64(l.Limit)) + ` OFFSET ` + b.Bind("offset", "UInt32", int64(l.Offset)))
}
