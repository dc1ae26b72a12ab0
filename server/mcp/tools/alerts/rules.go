package alerts

import (
	"context"
	"fmt"
	"slices"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

// ruleRow is a rule in a list.
type ruleRow struct {
	ID             string   `json:"id"`
	Name           string   `json:"name"`
	Enabled        bool     `json:"enabled"`
	Severity       string   `json:"severity"`
	ServiceNames   []string `json:"serviceNames"`
	Environments   []string `json:"environments"`
	SignalType     string   `json:"signalType"`
	Comparator     string   `json:"comparator"`
	Threshold      float64  `json:"threshold"`
	ThresholdUpper *float64 `json:"thresholdUpper,omitempty"`
	WindowMinutes  int32    `json:"windowMinutes"`
	DestinationIDs []string `json:"destinationIds"`
	CreatedAt      string   `json:"createdAt"`
	UpdatedAt      string   `json:"updatedAt"`
}

// ruleDetail is a whole rule.
type ruleDetail struct {
	ruleRow

	ExcludeServiceNames         []string       `json:"excludeServiceNames"`
	GroupBy                     []string       `json:"groupBy"`
	MinimumSampleCount          int64          `json:"minimumSampleCount"`
	ConsecutiveBreachesRequired int32          `json:"consecutiveBreachesRequired"`
	ConsecutiveHealthyRequired  int32          `json:"consecutiveHealthyRequired"`
	RenotifyIntervalMinutes     int32          `json:"renotifyIntervalMinutes"`
	ApdexThresholdMs            *float64       `json:"apdexThresholdMs,omitempty"`
	QueryBuilderDraft           map[string]any `json:"queryBuilderDraft,omitempty"`
	RawQuerySQL                 *string        `json:"rawQuerySql,omitempty"`
	RawQueryReducer             *string        `json:"rawQueryReducer,omitempty"`
	NotificationTitle           *string        `json:"notificationTitle,omitempty"`
	NotificationBody            *string        `json:"notificationBody,omitempty"`
	LastEvaluationError         *string        `json:"lastEvaluationError,omitempty"`
	LastEvaluatedAt             *string        `json:"lastEvaluatedAt,omitempty"`
}

func toRuleRow(r *svcv2.AlertRule) ruleRow {
	return ruleRow{
		ID: r.GetId(), Name: r.GetName(), Enabled: r.GetEnabled(), Severity: r.GetSeverity(), ServiceNames: tool.NonNil(r.GetServiceNames()),
		Environments: tool.NonNil(r.GetEnvironments()), SignalType: r.GetSignalType(), Comparator: r.GetComparator(), Threshold: r.GetThreshold(),
		ThresholdUpper: r.ThresholdUpper, WindowMinutes: r.GetWindowMinutes(), DestinationIDs: tool.NonNil(r.GetDestinationIds()),
		CreatedAt: wording.Clock(r.GetCreatedAt().AsTime()), UpdatedAt: wording.Clock(r.GetUpdatedAt().AsTime()),
	}
}

func toRuleDetail(r *svcv2.AlertRule) ruleDetail {
	d := ruleDetail{
		ruleRow: toRuleRow(r), ExcludeServiceNames: tool.NonNil(r.GetExcludeServiceNames()), GroupBy: tool.NonNil(r.GetGroupBy()),
		MinimumSampleCount: r.GetMinimumSampleCount(), ConsecutiveBreachesRequired: r.GetConsecutiveBreachesRequired(),
		ConsecutiveHealthyRequired: r.GetConsecutiveHealthyRequired(), RenotifyIntervalMinutes: r.GetRenotifyIntervalMinutes(),
		ApdexThresholdMs: r.ApdexThresholdMs, RawQuerySQL: r.RawQuerySql, RawQueryReducer: r.RawQueryReducer,
		LastEvaluationError: r.LastEvaluationError, LastEvaluatedAt: tool.Moment(r.GetLastEvaluatedAt()),
	}
	if t := r.GetNotificationTemplate(); t != nil {
		d.NotificationTitle, d.NotificationBody = t.Title, t.Body
	}
	if q := r.GetQueryBuilderDraft(); q != nil {
		d.QueryBuilderDraft = q.AsMap()
	}
	return d
}

// condition writes the comparison of a rule.
func condition(r *ruleRow) string {
	text := fmt.Sprintf("%s %s %s", r.SignalType, r.Comparator, wording.Number(r.Threshold))
	if r.ThresholdUpper != nil {
		text += " and " + wording.Number(*r.ThresholdUpper)
	}
	return fmt.Sprintf("%s over %d min", text, r.WindowMinutes)
}

type rulesResult struct {
	Rules   []ruleRow      `json:"rules"`
	Total   int            `json:"total"`
	HasMore bool           `json:"hasMore"` // older rules exist that were not read
	Filters map[string]any `json:"filters"`
}

type listRulesArgs struct {
	tool.Call
	Services    []string
	SignalType  *string `of:"CreateAlertRuleRequest.signal_type"`
	Severity    *string `of:"CreateAlertRuleRequest.severity"`
	EnabledOnly bool    `doc:"Leave out disabled rules."`
}

func newListAlertRules(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[rulesResult](&tool.Tool{
		Name: "list_alert_rules", View: "/alerts/rules", Title: "Alert rules",
		Description: "List alert rules with their conditions, the newest first. A rule without services looks at all of them.",
		Run: tool.With(func(ctx context.Context, a *listRulesArgs) (*tool.Answer, error) {
			all, more, err := newestRules(ctx, s)
			if err != nil {
				return nil, err
			}
			res := rulesResult{Rules: []ruleRow{}, Filters: map[string]any{}}
			var cells [][]string
			for _, r := range all {
				if !a.matches(r) {
					continue
				}
				row := toRuleRow(r)
				res.Rules = append(res.Rules, row)
				state := "on"
				if !row.Enabled {
					state = "off"
				}
				if r.LastEvaluationError != nil {
					state += ", failing"
				}
				cells = append(cells, []string{row.ID, wording.Clip(row.Name, 120), row.Severity, condition(&row), state})
			}
			res.Total, res.HasMore = len(res.Rules), more
			total := fmt.Sprint(res.Total)
			if more {
				total += fmt.Sprintf(" of the %s newest; older ones exist", limits.Number(limits.ToolRules))
			}
			text := tool.Page{
				Scope:  []tool.Pair{tool.Labeled("Rules", total)},
				Blocks: []tool.Block{tool.Table("", "No rule matches.", []string{"id", "name", "severity", "condition", "state"}, cells)},
			}
			if len(res.Rules) > 0 {
				text.Next = []tool.Suggestion{tool.Next("get_incident_timeline", map[string]any{"rule_id": res.Rules[0].ID}, "see when a rule fired")}
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

func (a *listRulesArgs) matches(r *svcv2.AlertRule) bool {
	if a.SignalType != nil && r.GetSignalType() != *a.SignalType || a.Severity != nil && r.GetSeverity() != *a.Severity ||
		a.EnabledOnly && !r.GetEnabled() {
		return false
	}
	return len(a.Services) == 0 || len(r.GetServiceNames()) == 0 ||
		slices.ContainsFunc(a.Services, func(name string) bool { return slices.Contains(r.GetServiceNames(), name) })
}

// newestRules reads the rules of the organization; more says that older ones exist.
func newestRules(ctx context.Context, s *tool.Clients) (all []*svcv2.AlertRule, more bool, err error) {
	page := func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AlertRule, *string, error) {
		res, err := s.AlertRules.ListAlertRules(ctx, &svcv2.ListAlertRulesRequest{Limit: &limit, Cursor: cursor})
		return res.GetData(), tool.NextCursor(res), err
	}
	return tool.Collect(ctx, nil, 0, limits.ToolRules, page)
}

type ruleResult struct {
	Rule ruleDetail `json:"rule"`
}

type getRuleArgs struct {
	tool.Call
	RuleID string `doc:"Id of list_alert_rules." required:"true"`
}

func newGetAlertRule(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[ruleResult](&tool.Tool{
		Name: "get_alert_rule", View: "/alerts/rules/{rule_id}", Title: "Alert rule",
		Description: "Show one alert rule with its whole definition and the error of its last evaluation.",
		Run: tool.With(func(ctx context.Context, a *getRuleArgs) (*tool.Answer, error) {
			r, err := s.AlertRules.GetAlertRule(ctx, &svcv2.GetAlertRuleRequest{Id: a.RuleID})
			if err != nil {
				return nil, err
			}
			return ruleAnswer(r, ""), nil
		}),
	})
}

// ruleAnswer shows one rule. done names the change that was made.
func ruleAnswer(r *svcv2.AlertRule, done string, notes ...string) *tool.Answer {
	d := toRuleDetail(r)
	text := tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Rule", d.Name), tool.Labeled("Id", d.ID), tool.Labeled("Severity", d.Severity),
			tool.Labeled("Condition", condition(&d.ruleRow)),
		},
		Notes: notes,
		Blocks: []tool.Block{{Empty: done, Rows: []string{
			fmt.Sprintf("Opens after %d breaches in a row, resolves after %d healthy evaluations, reminds every %d minutes.",
				d.ConsecutiveBreachesRequired, d.ConsecutiveHealthyRequired, d.RenotifyIntervalMinutes),
		}}},
		Next: []tool.Suggestion{tool.Next("get_incident_timeline", map[string]any{"rule_id": d.ID}, "see when it fired")},
	}
	if done != "" {
		text.Blocks[0].Rows = append([]string{done}, text.Blocks[0].Rows...)
	}
	if d.LastEvaluationError != nil {
		text.Notes = append(text.Notes, "The last evaluation failed: "+*d.LastEvaluationError)
	}
	return &tool.Answer{ID: d.ID, Data: ruleResult{d}, Text: text}
}

type deletedResult struct {
	ID string `json:"id"`
}

type deleteRuleArgs struct {
	tool.Call
	RuleID  string `doc:"Id of list_alert_rules." required:"true"`
	Confirm bool   `doc:"Must be true." default:"false"`
}

func newDeleteAlertRule(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[deletedResult](&tool.Tool{
		Name: "delete_alert_rule", View: "/alerts/rules", Title: "Delete an alert rule", Writes: true, Destroys: true,
		Description: "Delete an alert rule with its incidents and deliveries. It cannot be undone; update_alert_rule can disable a rule instead.",
		Run: tool.With(func(ctx context.Context, a *deleteRuleArgs) (*tool.Answer, error) {
			if !a.Confirm {
				return nil, a.Bad(&a.Confirm, "must be true: this deletes the rule and its incidents. Ask the user when in doubt.", "true")
			}
			if _, err := s.AlertRules.DeleteAlertRule(ctx, &svcv2.DeleteAlertRuleRequest{Id: a.RuleID}); err != nil {
				return nil, err
			}
			return &tool.Answer{Data: deletedResult{a.RuleID}, Text: tool.Page{
				Scope: []tool.Pair{tool.Labeled("Rule", a.RuleID)}, Blocks: []tool.Block{{Empty: "The rule was deleted with its incidents."}},
			}}, nil
		}),
	})
}
