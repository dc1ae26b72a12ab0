package alerts

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func publicDestination(id string) (string, error) {
	u, err := uuid.Parse(id)
	if err != nil {
		return "", err
	}
	return publicid.Encode(publicid.AlertDestination, u), nil
}

// checkRule checks what one field of a rule means for another. Each refusal names the field.
func checkRule(r *store.AlertRule) error {
	between := r.Comparator == "between" || r.Comparator == "not_between"
	query := r.SignalType == "builder_query" || r.SignalType == "raw_query"
	switch {
	case between && r.ThresholdUpper == nil:
		return invalidRule("threshold_upper", "is needed for the comparator "+r.Comparator+".")
	case between && *r.ThresholdUpper < r.Threshold:
		return invalidRule("threshold_upper", "must not be less than `threshold`.")
	case !between && r.ThresholdUpper != nil:
		return invalidRule("threshold_upper", "is only for the comparators between and not_between.")
	case r.ResolveThreshold != nil && !alerting.OneSided(r.Comparator):
		return invalidRule("resolve_threshold", "is only for the comparators gt, gte, lt and lte.")
	case r.ResolveThreshold != nil && (r.Comparator == "gt" || r.Comparator == "gte") && *r.ResolveThreshold > r.Threshold:
		return invalidRule("resolve_threshold", "must not be above `threshold`, or nothing would resolve.")
	case r.ResolveThreshold != nil && (r.Comparator == "lt" || r.Comparator == "lte") && *r.ResolveThreshold < r.Threshold:
		return invalidRule("resolve_threshold", "must not be below `threshold`, or nothing would resolve.")
	case r.WindowMinutes < 1 || r.WindowMinutes > limits.AlertWindowMinutes:
		return invalidRule("window_minutes", fmt.Sprintf("must be 1 to %d.", limits.AlertWindowMinutes))
	case query && len(r.ServiceNames) > 0:
		return invalidRule("service_names", "is not for the signal "+r.SignalType+", because the query chooses its services and environments.")
	case query && len(r.ExcludeServiceNames) > 0:
		return invalidRule("exclude_service_names", "is not for the signal "+r.SignalType+", because the query chooses its services and environments.")
	case query && len(r.Environments) > 0:
		return invalidRule("environments", "is not for the signal "+r.SignalType+", because the query chooses its services and environments.")
	case r.SignalType == "raw_query" && len(r.GroupBy) > 0:
		return invalidRule("group_by", "is not for the signal raw_query: its column `group` names the groups.")
	case len(r.GroupBy) > 0 && len(r.ServiceNames) > 0:
		return invalidRule("group_by", "cannot be combined with `service_names`: each of these services is a group.")
	case len(r.ExcludeServiceNames) > 0 && (len(r.ServiceNames) > 0 || !slices.Equal(r.GroupBy, []string{"service.name"})):
		return invalidRule("exclude_service_names", "is only for a rule without `service_names` whose `group_by` is `service.name`.")
	case r.SignalType != "apdex" && r.ApdexThresholdMs != nil:
		return invalidRule("apdex_threshold_ms", "is only for the signal apdex.")
	case r.SignalType != "builder_query" && len(r.QueryBuilderDraft) > 0:
		return invalidRule("query_builder_draft", "is only for the signal builder_query.")
	case r.SignalType != "raw_query" && r.RawQuerySQL != nil:
		return invalidRule("raw_query_sql", "is only for the signal raw_query.")
	case r.SignalType != "raw_query" && r.RawQueryReducer != nil:
		return invalidRule("raw_query_reducer", "is only for the signal raw_query.")
	}
	if err := alerting.Validate(r); err != nil {
		var bad *alerting.Invalid
		if errors.As(err, &bad) {
			return invalidRule(bad.Field, bad.Message)
		}
		return err
	}
	return checkTemplate(r.NotificationTemplate)
}

func checkTemplate(text json.RawMessage) error {
	if len(text) == 0 {
		return nil
	}
	t, err := readTemplate(text)
	if err != nil {
		return invalidRule("notification_template", "cannot be read.")
	}
	if err := notify.CheckTemplate("notification_template", &t); err != nil {
		return invalid(err)
	}
	return nil
}

// readTemplate reads the stored texts of a rule.
func readTemplate(text json.RawMessage) (notify.Template, error) {
	var t notify.Template
	return t, json.Unmarshal(text, &t)
}
