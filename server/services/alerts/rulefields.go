package alerts

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// newRule reads and checks the settings of a new rule.
func newRule(req *svcv2.CreateAlertRuleRequest) (store.AlertRule, error) {
	r := store.AlertRule{
		Name: req.GetName(), Notes: req.Notes, Enabled: req.Enabled == nil || req.GetEnabled(), Severity: req.GetSeverity(),
		ServiceNames: plain(req.GetServiceNames()), ExcludeServiceNames: plain(req.GetExcludeServiceNames()),
		Environments: plain(req.GetEnvironments()), Tags: req.GetTags(), GroupBy: req.GetGroupBy(), SignalType: req.GetSignalType(),
		Comparator: req.GetComparator(), Threshold: req.GetThreshold(), ThresholdUpper: req.ThresholdUpper,
		ResolveThreshold: req.ResolveThreshold, WindowMinutes: int(req.GetWindowMinutes()), MinimumSampleCount: req.GetMinimumSampleCount(),
		ConsecutiveBreachesRequired: int(or(req.ConsecutiveBreachesRequired, limits.DefaultAlertBreaches)),
		ConsecutiveHealthyRequired:  int(or(req.ConsecutiveHealthyRequired, limits.DefaultAlertHealthy)),
		RenotifyIntervalMinutes:     int(or(req.RenotifyIntervalMinutes, limits.DefaultAlertRenotify)),
		ApdexThresholdMs:            req.ApdexThresholdMs, RawQuerySQL: req.RawQuerySql, RawQueryReducer: req.RawQueryReducer,
		AlertOnNoData: req.GetAlertOnNoData(),
	}
	r.Burn, r.Baseline = burnText(req.GetBurn()), baselineText(req.GetBaseline())
	var err error
	if r.NotificationTemplate, err = templateText(req.GetNotificationTemplate()); err != nil {
		return r, err
	}
	if r.QueryBuilderDraft, err = draftText(req.GetQueryBuilderDraft()); err != nil {
		return r, err
	}
	if r.DestinationIds, err = destinationIDs(req.GetDestinationIds()); err != nil {
		return r, err
	}
	return r, checkRule(&r)
}

func or(v *int32, other int32) int32 {
	if v == nil {
		return other
	}
	return *v
}

// plain trims names and drops repetitions.
func plain(names []string) []string {
	var out []string
	for _, n := range names {
		if n = strings.TrimSpace(n); n != "" && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

func invalidRule(field, message string) error {
	return apierr.New(apierr.AlertValidation, "`"+field+"` "+message, apierr.Param(field))
}

func templateText(t *svcv2.AlertNotificationTemplate) (json.RawMessage, error) {
	if t == nil {
		return nil, nil
	}
	text, err := protojson.Marshal(t)
	if err != nil {
		return nil, invalidRule("notification_template", "cannot be read.")
	}
	return compact(text)
}

func draftText(d *structpb.Struct) (json.RawMessage, error) {
	if d == nil {
		return nil, nil
	}
	text, err := d.MarshalJSON()
	if err != nil {
		return nil, invalidRule("query_builder_draft", "cannot be read.")
	}
	return compact(text)
}

// burnText is the stored form of a service level objective.
func burnText(b *svcv2.AlertBurn) json.RawMessage {
	if b == nil {
		return nil
	}
	out := alerting.Burn{Target: b.GetTarget(), PeriodDays: limits.DefaultAlertBurnDays, MinimumBad: limits.DefaultAlertBurnBad}
	if b.PeriodDays != nil {
		out.PeriodDays = int(b.GetPeriodDays())
	}
	if b.MinimumBad != nil {
		out.MinimumBad = b.GetMinimumBad()
	}
	return stored(out)
}

func baselineText(b *svcv2.AlertBaseline) json.RawMessage {
	if b == nil {
		return nil
	}
	return stored(alerting.Baseline{Sensitivity: b.GetSensitivity()})
}

// stored writes plain numbers and texts, which cannot fail.
func stored(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// compact writes JSON in one form, so that an edit that changes nothing is recognized.
func compact(text []byte) (json.RawMessage, error) {
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func destinationIDs(public []string) ([]string, error) {
	out := []string{}
	for i, text := range public {
		id, err := publicid.Decode(publicid.AlertDestination, text)
		if err != nil {
			return nil, apierr.New(apierr.AlertRuleDestinationNotFound,
				fmt.Sprintf("`destination_ids[%d]` is not the id of an alert destination: %s.", i, err))
		}
		if !slices.Contains(out, id.String()) {
			out = append(out, id.String())
		}
	}
	return out, nil
}

// editRule changes the fields that the mask names.
func editRule(r *store.AlertRule, req *svcv2.UpdateAlertRuleRequest) (err error) {
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			r.Name = req.GetName()
		case "notes":
			r.Notes = req.Notes
		case "notification_template":
			r.NotificationTemplate, err = templateText(req.GetNotificationTemplate())
		case "enabled":
			r.Enabled = req.GetEnabled()
		case "severity":
			r.Severity = req.GetSeverity()
		case "service_names":
			r.ServiceNames = plain(req.GetServiceNames())
		case "exclude_service_names":
			r.ExcludeServiceNames = plain(req.GetExcludeServiceNames())
		case "environments":
			r.Environments = plain(req.GetEnvironments())
		case "tags":
			r.Tags = req.GetTags()
		case "group_by":
			r.GroupBy = req.GetGroupBy()
		case "signal_type":
			r.SignalType = req.GetSignalType()
		case "comparator":
			r.Comparator = req.GetComparator()
		case "threshold":
			r.Threshold = req.GetThreshold()
		case "threshold_upper":
			r.ThresholdUpper = req.ThresholdUpper
		case "resolve_threshold":
			r.ResolveThreshold = req.ResolveThreshold
		case "window_minutes":
			r.WindowMinutes = int(req.GetWindowMinutes())
		case "minimum_sample_count":
			r.MinimumSampleCount = req.GetMinimumSampleCount()
		case "consecutive_breaches_required":
			r.ConsecutiveBreachesRequired = int(req.GetConsecutiveBreachesRequired())
		case "consecutive_healthy_required":
			r.ConsecutiveHealthyRequired = int(req.GetConsecutiveHealthyRequired())
		case "renotify_interval_minutes":
			r.RenotifyIntervalMinutes = int(req.GetRenotifyIntervalMinutes())
		case "apdex_threshold_ms":
			r.ApdexThresholdMs = req.ApdexThresholdMs
		case "query_builder_draft":
			r.QueryBuilderDraft, err = draftText(req.GetQueryBuilderDraft())
		case "raw_query_sql":
			r.RawQuerySQL = req.RawQuerySql
		case "raw_query_reducer":
			r.RawQueryReducer = req.RawQueryReducer
		case "destination_ids":
			r.DestinationIds, err = destinationIDs(req.GetDestinationIds())
		case "alert_on_no_data":
			r.AlertOnNoData = req.GetAlertOnNoData()
		case "burn":
			r.Burn = burnText(req.GetBurn())
		case "baseline":
			r.Baseline = baselineText(req.GetBaseline())
		default:
			err = fmt.Errorf("alerts: no update of the field %s", path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// ruleMessage is the rule as the API shows it. The times of an evaluation are those of the organization, unless the rule has its own.
func ruleMessage(r *store.AlertRule, c store.AlertCursor) (*svcv2.AlertRule, error) {
	out := &svcv2.AlertRule{
		Id: publicid.Encode(publicid.AlertRule, r.ID), Object: "alert_rule", Name: r.Name, Notes: r.Notes, Enabled: r.Enabled,
		Severity: r.Severity, ServiceNames: r.ServiceNames, ExcludeServiceNames: r.ExcludeServiceNames, Environments: r.Environments,
		Tags: r.Tags, GroupBy: r.GroupBy, SignalType: r.SignalType, Comparator: r.Comparator, Threshold: r.Threshold,
		ThresholdUpper: r.ThresholdUpper, ResolveThreshold: r.ResolveThreshold, WindowMinutes: int32(r.WindowMinutes),
		MinimumSampleCount: r.MinimumSampleCount, ConsecutiveBreachesRequired: int32(r.ConsecutiveBreachesRequired),
		ConsecutiveHealthyRequired: int32(r.ConsecutiveHealthyRequired), RenotifyIntervalMinutes: int32(r.RenotifyIntervalMinutes),
		ApdexThresholdMs: r.ApdexThresholdMs, RawQuerySql: r.RawQuerySQL, RawQueryReducer: r.RawQueryReducer,
		AlertOnNoData: r.AlertOnNoData, NoDataBehavior: string(alerting.NoDataBehavior(r.SignalType, r.Comparator)),
		MutedUntil: timestampOrNil(r.MutedUntil), LastEvaluationError: r.LastEvaluationError,
		CreatedAt: timestamppb.New(r.CreatedAt), UpdatedAt: timestamppb.New(r.UpdatedAt),
		CreatedBy: string(r.CreatedBy), UpdatedBy: string(r.UpdatedBy),
	}
	if r.Enabled && (r.EnabledAt == nil || c.EvaluatedThrough != nil && c.EvaluatedThrough.After(*r.EnabledAt)) {
		out.LastEvaluatedAt = timestampOrNil(cmp.Or(r.LastEvaluatedAt, c.EvaluatedThrough))
		out.LastScheduledAt = timestampOrNil(cmp.Or(r.LastScheduledAt, c.ScheduledThrough))
	}
	for _, id := range r.DestinationIds {
		public, err := publicDestination(id)
		if err != nil {
			return nil, unreadableRule(err)
		}
		out.DestinationIds = append(out.DestinationIds, public)
	}
	if len(r.NotificationTemplate) > 0 {
		out.NotificationTemplate = &svcv2.AlertNotificationTemplate{}
		if err := protojson.Unmarshal(r.NotificationTemplate, out.NotificationTemplate); err != nil {
			return nil, unreadableRule(err)
		}
	}
	if len(r.Burn) > 0 {
		var b alerting.Burn
		if err := json.Unmarshal(r.Burn, &b); err != nil {
			return nil, unreadableRule(err)
		}
		out.Burn = &svcv2.AlertBurn{Target: b.Target, PeriodDays: new(int32(b.PeriodDays)), MinimumBad: &b.MinimumBad}
	}
	if len(r.Baseline) > 0 {
		var b alerting.Baseline
		if err := json.Unmarshal(r.Baseline, &b); err != nil {
			return nil, unreadableRule(err)
		}
		out.Baseline = &svcv2.AlertBaseline{Sensitivity: b.Sensitivity}
	}
	if len(r.QueryBuilderDraft) > 0 {
		out.QueryBuilderDraft = &structpb.Struct{}
		if err := out.QueryBuilderDraft.UnmarshalJSON(r.QueryBuilderDraft); err != nil {
			return nil, unreadableRule(err)
		}
	}
	return out, nil
}

func unreadableRule(cause error) error {
	return apierr.New(apierr.AlertRuleStoredConfigInvalid, "The stored alert rule cannot be read. Delete it, or ask the operator.",
		apierr.Cause(cause))
}
