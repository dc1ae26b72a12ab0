package alerts

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type updateRuleArgs struct {
	tool.Call
	RuleID                  *string
	RuleIds                 []string `doc:"Several rules; [\"*\"] for all."`
	Name                    *string
	Severity                *string `of:"CreateAlertRuleRequest.severity"`
	Enabled                 *bool
	DestinationIds          []string `doc:"Replaces the list."`
	AddDestinationIds       []string
	RemoveDestinationIds    []string
	definition              `doc:"-"`
	RenotifyIntervalMinutes *int
	NotificationTitle       *string
	NotificationBody        *string
	AlertOnNoData           *bool `doc:"Missing data is a breach."`
}

type updatedResult struct {
	Rules []ruleRow `json:"rules"`
}

func newUpdateAlertRule(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[updatedResult](&tool.Tool{
		Name: "update_alert_rule", View: "/alerts/rules/{rule_id}", Title: "Change alert rules", Writes: true, Repeatable: true,
		Description: "Change one or several alert rules. Arguments are those of create_alert_rule; ones that are left out keep their values. " +
			"Several rules are changed one after the other.",
		Run: tool.With(func(ctx context.Context, a *updateRuleArgs) (*tool.Answer, error) {
			ids, err := a.targets(ctx, s)
			if err != nil {
				return nil, err
			}
			res := updatedResult{Rules: []ruleRow{}}
			var cells [][]string
			for _, id := range ids {
				old, err := s.AlertRules.GetAlertRule(ctx, &svcv2.GetAlertRuleRequest{Id: id})
				if err != nil {
					return nil, err
				}
				req, err := a.change(old)
				if err != nil {
					return nil, err
				}
				if len(req.GetUpdateMask().GetPaths()) == 0 {
					return nil, a.Bad(&a.Enabled, "or another field to change is needed.", "false")
				}
				if _, err := s.AlertRules.UpdateAlertRule(ctx, req); err != nil {
					return nil, fmt.Errorf("%d rules were changed, then: %w", len(res.Rules), err)
				}
				r, err := s.AlertRules.GetAlertRule(ctx, &svcv2.GetAlertRuleRequest{Id: id})
				if err != nil {
					return nil, err
				}
				row := toRuleRow(r)
				res.Rules = append(res.Rules, row)
				cells = append(cells, []string{row.ID, row.Name, row.Severity, condition(&row), fmt.Sprint(row.Enabled)})
			}
			return &tool.Answer{Data: res, Text: tool.Page{
				Scope:  []tool.Pair{tool.Labeled("Changed", fmt.Sprint(len(res.Rules)))},
				Blocks: []tool.Block{tool.Table("", "No rule was changed.", []string{"id", "name", "severity", "condition", "enabled"}, cells)},
			}}, nil
		}),
	})
}

// targets are the ids of the rules to change.
func (a *updateRuleArgs) targets(ctx context.Context, s *tool.Clients) ([]string, error) {
	ids := slices.Clone(a.RuleIds)
	if a.RuleID != nil {
		ids = append(ids, *a.RuleID)
	}
	if len(ids) == 0 {
		return nil, a.Bad(&a.RuleID, "or rule_ids is needed.", "alrt_…")
	}
	if !slices.Contains(ids, "*") {
		return ids, nil
	}
	all, more, err := newestRules(ctx, s)
	if err != nil {
		return nil, err
	}
	if more {
		return nil, a.Bad(&a.RuleIds, fmt.Sprintf("cannot be * for more than %s rules: name them.", limits.Number(limits.ToolRules)), "alrt_…")
	}
	ids = ids[:0]
	for _, r := range all {
		ids = append(ids, r.GetId())
	}
	return ids, nil
}

// change is the request for one rule, with a mask of the fields that the call gives.
func (a *updateRuleArgs) change(old *svcv2.AlertRule) (*svcv2.UpdateAlertRuleRequest, error) {
	req := &svcv2.UpdateAlertRuleRequest{Id: old.GetId(), UpdateMask: &fieldmaskpb.FieldMask{}}
	set := func(given bool, path string) bool {
		if given {
			req.UpdateMask.Paths = append(req.UpdateMask.Paths, path)
		}
		return given
	}
	small := func(v *int, path string) *int32 {
		set(v != nil, path)
		return tool.Int32(v)
	}
	for _, f := range []any{
		&a.Name, &a.Severity, &a.Enabled, &a.SignalType, &a.Comparator, &a.Threshold, &a.ThresholdUpper, &a.ApdexThresholdMs, &a.RawQuerySQL,
		&a.RawQueryReducer, &a.AlertOnNoData,
	} {
		set(a.Given(f), a.NameOf(f)) // the field has the name of the argument
	}
	set(a.Environments != nil, a.NameOf(&a.Environments))
	set(a.GroupBy != nil, a.NameOf(&a.GroupBy))
	set(a.Services != nil, "service_names")
	set(a.ExcludeServices != nil, "exclude_service_names")
	req.Name, req.Severity, req.Enabled, req.SignalType, req.Comparator = a.Name, a.Severity, a.Enabled, a.SignalType, a.Comparator
	req.Threshold, req.ThresholdUpper, req.ServiceNames, req.ExcludeServiceNames = a.Threshold, a.ThresholdUpper, a.Services, a.ExcludeServices
	req.Environments, req.GroupBy, req.ApdexThresholdMs, req.RawQuerySql = a.Environments, a.GroupBy, a.ApdexThresholdMs, a.RawQuerySQL
	req.RawQueryReducer, req.AlertOnNoData = a.RawQueryReducer, a.AlertOnNoData
	req.WindowMinutes = small(a.WindowMinutes, a.NameOf(&a.WindowMinutes))
	req.ConsecutiveBreachesRequired = small(a.ConsecutiveBreaches, "consecutive_breaches_required")
	req.ConsecutiveHealthyRequired = small(a.ConsecutiveHealthy, "consecutive_healthy_required")
	req.RenotifyIntervalMinutes = small(a.RenotifyIntervalMinutes, a.NameOf(&a.RenotifyIntervalMinutes))
	if set(a.MinimumSampleCount != nil, a.NameOf(&a.MinimumSampleCount)) {
		req.MinimumSampleCount = new(int64(*a.MinimumSampleCount))
	}
	if set(len(a.QueryBuilderDraft) > 0, a.NameOf(&a.QueryBuilderDraft)) {
		var err error
		if req.QueryBuilderDraft, err = toStruct(&a.Call, &a.QueryBuilderDraft); err != nil {
			return nil, err
		}
	}
	if set(a.NotificationTitle != nil || a.NotificationBody != nil, "notification_template") {
		req.NotificationTemplate = &svcv2.AlertNotificationTemplate{
			Title: a.NotificationTitle, Body: a.NotificationBody, Overrides: old.GetNotificationTemplate().GetOverrides(),
		}
	}
	if set(a.DestinationIds != nil || len(a.AddDestinationIds)+len(a.RemoveDestinationIds) > 0, a.NameOf(&a.DestinationIds)) {
		ids := old.GetDestinationIds()
		if a.DestinationIds != nil {
			ids = a.DestinationIds
		}
		ids = append(slices.Clone(ids), a.AddDestinationIds...)
		req.DestinationIds = slices.DeleteFunc(ids, func(id string) bool { return slices.Contains(a.RemoveDestinationIds, id) })
	}
	return req, nil
}
