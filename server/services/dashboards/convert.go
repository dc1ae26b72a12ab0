package dashboards

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/wirejson"
)

// The stored definition is the JSON of CreateDashboardRequest: a dashboard without id, object and times.

func readDefinition(text []byte) (*svcv2.CreateDashboardRequest, error) {
	def := &svcv2.CreateDashboardRequest{}
	if err := wirejson.Unmarshal(text, def); err != nil {
		return nil, apierr.New(apierr.DashboardStoredConfigInvalid, "The stored dashboard cannot be read.", apierr.Cause(err))
	}
	renameDimensions(def)
	return def, nil
}

// normalize brings a definition into the form that is stored.
func normalize(def *svcv2.CreateDashboardRequest) {
	def.Name = strings.TrimSpace(def.GetName())
	if def.GetTimeRange() == nil {
		def.TimeRange = &svcv2.TimeRange{Type: rangeRelative, Value: new("12h")}
	}
	renameDimensions(def)
}

// renameDimensions writes dimensions of sessions in snake_case; dashboards of earlier releases have them in camelCase.
func renameDimensions(def *svcv2.CreateDashboardRequest) {
	former := map[string]string{"referrerHost": "referrer_host", "utmSource": "utm_source", "utmMedium": "utm_medium", "utmCampaign": "utm_campaign"}
	rename := func(name *string) *string {
		if name != nil && former[*name] != "" {
			return new(former[*name])
		}
		return name
	}
	for _, w := range def.GetWidgets() {
		if funnel := w.GetDisplay().GetFunnel(); funnel != nil {
			funnel.BreakdownBy = rename(funnel.BreakdownBy)
			for _, step := range funnel.GetSteps() {
				step.Dimension = rename(step.Dimension)
			}
		}
	}
}

func toProto(row store.Dashboard, def *svcv2.CreateDashboardRequest) *svcv2.Dashboard {
	return &svcv2.Dashboard{
		Id: publicid.Encode(publicid.Dashboard, row.ID), Object: "dashboard", Name: def.GetName(), Description: def.Description, Tags: def.GetTags(),
		TimeRange: def.GetTimeRange(), Widgets: def.GetWidgets(), Sections: def.GetSections(), Variables: def.GetVariables(),
		RefreshIntervalSeconds: def.RefreshIntervalSeconds, CreatedAt: timestamppb.New(row.CreatedAt), UpdatedAt: timestamppb.New(row.UpdatedAt),
	}
}

// mutation is the answer to a change that made def of the dashboard. Without a transaction number nothing was changed.
func mutation(row store.Dashboard, def *svcv2.CreateDashboardRequest, txid string) *svcv2.DashboardMutationResponse {
	res := &svcv2.DashboardMutationResponse{
		Id: publicid.Encode(publicid.Dashboard, row.ID), Object: "dashboard", Name: def.GetName(), Description: def.Description, Tags: def.GetTags(),
		TimeRange: def.GetTimeRange(), Widgets: def.GetWidgets(), Sections: def.GetSections(), Variables: def.GetVariables(),
		RefreshIntervalSeconds: def.RefreshIntervalSeconds, CreatedAt: timestamppb.New(row.CreatedAt), UpdatedAt: timestamppb.New(row.UpdatedAt),
	}
	if txid != "" {
		res.Txid = &txid
	}
	return res
}

// auditFields are the fields of a definition for the audit log, without the large ones.
func auditFields(def *svcv2.CreateDashboardRequest) map[string]any {
	out := map[string]any{
		"name": def.GetName(), "tags": append([]string{}, def.GetTags()...), "time_range": rangeText(def.GetTimeRange()),
		"description": nil, "refresh_interval_seconds": nil,
	}
	if def.Description != nil {
		out["description"] = def.GetDescription()
	}
	if def.RefreshIntervalSeconds != nil {
		out["refresh_interval_seconds"] = int64(def.GetRefreshIntervalSeconds())
	}
	return out
}

// auditAfter adds a mark for each large field that changed (rest-wire.md section 5).
func auditAfter(old, now *svcv2.CreateDashboardRequest) map[string]any {
	out := auditFields(now)
	mark := func(field string, same bool) {
		if !same {
			out[field] = "<updated>"
		}
	}
	mark("widgets", equalLists(old.GetWidgets(), now.GetWidgets()))
	mark("sections", equalLists(old.GetSections(), now.GetSections()))
	mark("variables", equalLists(old.GetVariables(), now.GetVariables()))
	return out
}

func rangeText(r *svcv2.TimeRange) string {
	if r.GetType() == rangeRelative {
		return r.GetValue()
	}
	const form = "2006-01-02T15:04:05.999999999Z07:00"
	return r.GetStartTime().AsTime().Format(form) + "/" + r.GetEndTime().AsTime().Format(form)
}

func equalLists[M proto.Message](a, b []M) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !proto.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
