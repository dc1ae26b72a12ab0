package definition

import (
	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// AuditFields are the fields of a definition for the audit log, without the large ones.
func AuditFields(def *svcv2.DashboardDefinition) map[string]any {
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

// AuditAfter is AuditFields of the new definition. Each large field that changed has a mark instead of its content.
func AuditAfter(old, now *svcv2.DashboardDefinition) map[string]any {
	out := AuditFields(now)
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
