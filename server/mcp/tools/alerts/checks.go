package alerts

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type checkRow struct {
	Timestamp            string   `json:"timestamp"`
	GroupKey             string   `json:"groupKey"`
	Status               string   `json:"status"`
	SkipReason           *string  `json:"skipReason,omitempty"`
	ObservedValue        *float64 `json:"observedValue,omitempty"`
	Threshold            float64  `json:"threshold"`
	ThresholdUpper       *float64 `json:"thresholdUpper,omitempty"`
	Comparator           string   `json:"comparator"`
	SampleCount          float64  `json:"sampleCount"`
	WindowStart          string   `json:"windowStart"`
	WindowEnd            string   `json:"windowEnd"`
	ConsecutiveBreaches  int32    `json:"consecutiveBreaches"`
	ConsecutiveHealthy   int32    `json:"consecutiveHealthy"`
	IncidentID           *string  `json:"incidentId,omitempty"`
	IncidentTransition   string   `json:"incidentTransition"`
	EvaluationDurationMs int64    `json:"evaluationDurationMs"`
	ErrorMessage         *string  `json:"errorMessage,omitempty"`
	ErrorCategory        *string  `json:"errorCategory,omitempty"`
}

type checksResult struct {
	RuleID string         `json:"ruleId"`
	Window tool.TimeRange `json:"window"`
	// The counts are those of the whole window, whatever status is asked for.
	Total       int64      `json:"total"`
	Breached    int64      `json:"breached"`
	Healthy     int64      `json:"healthy"`
	Skipped     int64      `json:"skipped"`
	Errored     int64      `json:"errored"`
	Transitions int64      `json:"transitions"`
	Checks      []checkRow `json:"checks"`
	HasMore     bool       `json:"hasMore"`
}

type listChecksArgs struct {
	tool.Window
	RuleID   string  `required:"true"`
	GroupKey *string `doc:"A group of the rule."`
	Status   *string `of:"ListAlertRuleChecksRequest.status"`
	Limit    int     `default:"{DefaultToolAlertChecks}" clamp:"1..{ToolAlertChecks}"`
}

func newListAlertChecks(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[checksResult](&tool.Tool{
		Name: "list_alert_checks", View: "/alerts/rules/{rule_id}", Title: "Checks of an alert rule",
		Description: "List the evaluations of an alert rule, the newest first, with their values, and count them over the window.",
		Run: tool.With(func(ctx context.Context, a *listChecksArgs) (*tool.Answer, error) {
			w, err := a.Range(limits.AlertCheckRetention)
			if err != nil {
				return nil, err
			}
			sum, err := s.AlertRules.SummarizeAlertRuleChecks(ctx, &svcv2.SummarizeAlertRuleChecksRequest{
				Id: a.RuleID, Since: w.StartProto(), Until: w.EndProto(), GroupKey: a.GroupKey,
			})
			if err != nil {
				return nil, err
			}
			t := sum.GetTotals()
			res := checksResult{
				RuleID: a.RuleID, Window: w, Total: t.GetTotal(), Breached: t.GetBreached(), Healthy: t.GetHealthy(), Skipped: t.GetSkipped(),
				Errored: t.GetError(), Transitions: t.GetTransitions(), Checks: []checkRow{},
			}
			req := &svcv2.ListAlertRuleChecksRequest{
				Id: a.RuleID, GroupKey: a.GroupKey, Status: a.Status, Since: w.StartProto(), Until: w.EndProto(),
			}
			for len(res.Checks) < a.Limit {
				req.Limit = new(int32(min(a.Limit-len(res.Checks), limits.LargestPage)))
				page, err := s.AlertRules.ListAlertRuleChecks(ctx, req)
				if err != nil {
					return nil, err
				}
				for _, c := range page.GetData() {
					res.Checks = append(res.Checks, toCheckRow(c))
				}
				if req.Cursor, res.HasMore = page.NextCursor, page.GetHasMore(); !res.HasMore {
					break
				}
			}
			return checksAnswer(res), nil
		}),
	})
}

func toCheckRow(c *svcv2.AlertCheck) checkRow {
	return checkRow{
		Timestamp: wording.Clock(c.GetTimestamp().AsTime()), GroupKey: c.GetGroupKey(), Status: c.GetStatus(), SkipReason: c.SkipReason,
		ObservedValue: c.ObservedValue, Threshold: c.GetThreshold(), ThresholdUpper: c.ThresholdUpper, Comparator: c.GetComparator(),
		SampleCount: c.GetSampleCount(), WindowStart: wording.Clock(c.GetWindowStart().AsTime()),
		WindowEnd:           wording.Clock(c.GetWindowEnd().AsTime()),
		ConsecutiveBreaches: c.GetConsecutiveBreaches(), ConsecutiveHealthy: c.GetConsecutiveHealthy(), IncidentID: c.IncidentId,
		IncidentTransition: c.GetIncidentTransition(), EvaluationDurationMs: c.GetEvaluationDurationMs(), ErrorMessage: c.ErrorMessage,
		ErrorCategory: c.ErrorCategory,
	}
}

func checksAnswer(res checksResult) *tool.Answer {
	rows := make([][]string, 0, len(res.Checks))
	for i := range res.Checks {
		rows = append(rows, checkCells(&res.Checks[i]))
	}
	text := tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Window", res.Window.Start+" to "+res.Window.End),
			tool.Labeled("Checks", fmt.Sprint(res.Total)), tool.Labeled("Breached", fmt.Sprint(res.Breached)),
			tool.Labeled("Healthy", fmt.Sprint(res.Healthy)), tool.Labeled("Skipped", fmt.Sprint(res.Skipped)),
			tool.Labeled("Errors", fmt.Sprint(res.Errored)), tool.Labeled("Incidents opened or resolved", fmt.Sprint(res.Transitions)),
		},
		Blocks: []tool.Block{tool.Table("", "No check matches. A rule is evaluated each minute while it is enabled.", []string{
			"time", "group", "status", "value", "threshold", "samples", "breaches", "healthy", "incident",
		}, rows)},
		Shown: tool.ShownOf(len(rows), res.HasMore, "checks"),
	}
	for i := range res.Checks {
		if res.Checks[i].IncidentID != nil {
			text.Next = []tool.Suggestion{
				tool.Next("get_incident_timeline", map[string]any{"rule_id": res.RuleID}, "see the incidents of this rule"),
			}
			break
		}
	}
	return &tool.Answer{Data: res, Text: text}
}

func checkCells(c *checkRow) []string {
	value, status := "", c.Status
	if c.ObservedValue != nil {
		value = wording.Number(*c.ObservedValue)
	}
	switch {
	case c.SkipReason != nil:
		status += " (" + *c.SkipReason + ")"
	case c.ErrorMessage != nil:
		status += ": " + *c.ErrorMessage
	}
	threshold := c.Comparator + " " + wording.Number(c.Threshold)
	if c.ThresholdUpper != nil {
		threshold += " and " + wording.Number(*c.ThresholdUpper)
	}
	incident := ""
	if c.IncidentID != nil {
		incident = *c.IncidentID + " " + c.IncidentTransition
	}
	return []string{
		c.Timestamp, c.GroupKey, status, value, threshold, wording.Number(c.SampleCount), fmt.Sprint(c.ConsecutiveBreaches),
		fmt.Sprint(c.ConsecutiveHealthy), incident,
	}
}
