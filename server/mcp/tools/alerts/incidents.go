package alerts

import (
	"context"
	"fmt"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type incidentRow struct {
	ID                string   `json:"id"`
	RuleID            string   `json:"ruleId"`
	RuleName          string   `json:"ruleName"`
	GroupKey          *string  `json:"groupKey,omitempty"`
	SignalType        string   `json:"signalType"`
	Severity          string   `json:"severity"`
	Status            string   `json:"status"`
	HoldReason        *string  `json:"holdReason,omitempty"`
	HeldSince         *string  `json:"heldSince,omitempty"`
	Comparator        string   `json:"comparator"`
	Threshold         float64  `json:"threshold"`
	ThresholdUpper    *float64 `json:"thresholdUpper,omitempty"`
	FirstTriggeredAt  string   `json:"firstTriggeredAt"`
	LastTriggeredAt   string   `json:"lastTriggeredAt"`
	ResolvedAt        *string  `json:"resolvedAt,omitempty"`
	LastObservedValue *float64 `json:"lastObservedValue,omitempty"`
	LastNotifiedAt    *string  `json:"lastNotifiedAt,omitempty"`
}

type incidentsResult struct {
	Incidents     []incidentRow  `json:"incidents"`
	Total         int64          `json:"total"`
	OpenCount     int64          `json:"openCount"`
	ResolvedCount int64          `json:"resolvedCount"`
	HasMore       bool           `json:"hasMore"`
	Filters       map[string]any `json:"filters"`
}

// incidentFilter holds the arguments that narrow incidents.
type incidentFilter struct {
	tool.Call
	Status   *string `of:"ListAlertIncidentsRequest.status"`
	Severity *string `of:"ListAlertIncidentsRequest.severity"`
	GroupKey *string
}

type listIncidentsArgs struct {
	incidentFilter
	Limit int `default:"{DefaultToolNames}" of:"ListAlertIncidentsRequest.limit" clamp:""`
}

func newListAlertIncidents(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[incidentsResult](&tool.Tool{
		Name: "list_alert_incidents", View: "/alerts", Title: "Alert incidents",
		Description: "List alert incidents, the last triggered first, with their rules and values. A held incident waits for data before it resolves.",
		Run: tool.With(func(ctx context.Context, a *listIncidentsArgs) (*tool.Answer, error) {
			return incidents(ctx, s, &a.incidentFilter, nil, a.Limit)
		}),
	})
}

type timelineArgs struct {
	RuleID *string
	incidentFilter
	Limit int `default:"{DefaultPage}" of:"ListAlertIncidentsRequest.limit" clamp:""`
}

func newGetIncidentTimeline(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[incidentsResult](&tool.Tool{
		Name: "get_incident_timeline", View: "/alerts/rules/{rule_id}", Title: "Timeline of alert incidents",
		Description: "Show when the incidents of one rule, or of all, were triggered, reported and resolved, the last triggered first.",
		Run: tool.With(func(ctx context.Context, a *timelineArgs) (*tool.Answer, error) {
			return incidents(ctx, s, &a.incidentFilter, a.RuleID, a.Limit, &a.RuleID)
		}),
	})
}

// incidents lists incidents. Of is the further arguments that narrow them.
func incidents(ctx context.Context, s *tool.Clients, f *incidentFilter, rule *string, limit int, of ...any) (*tool.Answer, error) {
	n := int32(limit)
	list, err := s.AlertIncidents.ListAlertIncidents(ctx, &svcv2.ListAlertIncidentsRequest{
		Limit: &n, Status: f.Status, RuleId: rule, Severity: f.Severity, GroupKey: f.GroupKey,
	})
	if err != nil {
		return nil, err
	}
	counts, err := s.AlertIncidents.CountAlertIncidents(ctx, &svcv2.CountAlertIncidentsRequest{
		RuleId: rule, Severity: f.Severity, GroupKey: f.GroupKey,
	})
	if err != nil {
		return nil, err
	}
	res := incidentsResult{
		Incidents: []incidentRow{}, OpenCount: counts.GetOpen(), ResolvedCount: counts.GetResolved(),
		Total: counts.GetOpen() + counts.GetResolved(), HasMore: list.GetHasMore(),
		Filters: f.Chosen(append(of, &f.Status, &f.Severity, &f.GroupKey)...),
	}
	switch tool.Or(f.Status, "") {
	case "open":
		res.Total = res.OpenCount
	case "resolved":
		res.Total = res.ResolvedCount
	}
	rows := make([][]string, 0, len(list.GetData()))
	for _, i := range list.GetData() {
		row := toIncidentRow(i)
		res.Incidents = append(res.Incidents, row)
		rows = append(rows, incidentCells(&row))
	}
	text := tool.Page{
		Scope: []tool.Pair{
			tool.Labeled("Open", fmt.Sprint(res.OpenCount)), tool.Labeled("Resolved", fmt.Sprint(res.ResolvedCount)),
		},
		Blocks: []tool.Block{tool.Table("", "No incident matches.", []string{
			"id", "rule", "group", "severity", "status", "value", "threshold", "triggered", "last breach", "resolved", "reported",
		}, rows)},
		Shown: tool.ShownOf(len(rows), res.HasMore, "incidents"),
	}
	if len(res.Incidents) > 0 && rule == nil {
		first := res.Incidents[0]
		text.Next = []tool.Suggestion{
			tool.Next("get_incident_timeline", map[string]any{"rule_id": first.RuleID}, "see all incidents of "+first.RuleName),
		}
	}
	return &tool.Answer{Data: res, Text: text}, nil
}

func toIncidentRow(i *svcv2.AlertIncident) incidentRow {
	return incidentRow{
		ID: i.GetId(), RuleID: i.GetRuleId(), RuleName: i.GetRuleName(), GroupKey: i.GroupKey, SignalType: i.GetSignalType(),
		Severity: i.GetSeverity(), Status: i.GetStatus(), HoldReason: i.HoldReason, HeldSince: tool.Moment(i.GetHeldSince()),
		Comparator: i.GetComparator(), Threshold: i.GetThreshold(), ThresholdUpper: i.ThresholdUpper,
		FirstTriggeredAt: wording.Clock(i.GetFirstTriggeredAt().AsTime()), LastTriggeredAt: wording.Clock(i.GetLastTriggeredAt().AsTime()),
		ResolvedAt: tool.Moment(i.GetResolvedAt()), LastObservedValue: i.LastObservedValue, LastNotifiedAt: tool.Moment(i.GetLastNotifiedAt()),
	}
}

func incidentCells(r *incidentRow) []string {
	value := ""
	if r.LastObservedValue != nil {
		value = wording.Number(*r.LastObservedValue)
	}
	threshold := r.Comparator + " " + wording.Number(r.Threshold)
	if r.ThresholdUpper != nil {
		threshold += " and " + wording.Number(*r.ThresholdUpper)
	}
	status := r.Status
	if r.HoldReason != nil {
		status += ", held (" + *r.HoldReason + ")"
	}
	return []string{
		r.ID, r.RuleName, tool.Or(r.GroupKey, "all"), r.Severity, status, value, r.SignalType + " " + threshold,
		r.FirstTriggeredAt, r.LastTriggeredAt, tool.Or(r.ResolvedAt, ""), tool.Or(r.LastNotifiedAt, "no"),
	}
}
