package contract

import (
	"slices"
	"strings"
	"testing"
	"time"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

// bounds names the limit of every upper bound that the rules of request fields set. A bound is `field` for the value, the length or
// the number of elements of a field, `field[]` for each element of a list, `field{}` for each value of a map. Where two messages
// differ, `Message.field` comes first.
var bounds = []struct {
	limit float64
	paths string
}{
	{limits.SourceFiles, "SearchSourceCodeRequest.limit"},
	{limits.SourceRuns, "ListSourceCiRunsRequest.limit"},
	{limits.LargestPage, "limit"},
	{limits.SourceRef, "base head branch ref tracked_branch"},
	{limits.SourcePath, "path"},
	{limits.SourceQuery, "SearchSourceCodeRequest.query"},
	{limits.SourceCommits, "max_commits"},
	{limits.ReturnTo, "return_to"},
	{limits.NameLength, "full_name ListSourceRepositoriesRequest.search ListChatWorkspaceDestinationsRequest.q " +
		"QueryPlanetScaleQueryInsightsRequest.database QueryPlanetScaleQueryInsightsRequest.branch ListPlanetScaleEventsRequest.database " +
		"ListPlanetScaleEventsRequest.branch SelectPlanetScaleOrganizationRequest.organization ConnectHostingPlatformRequest.team " +
		"ListHostingDeploymentsRequest.project_id CreateLogpushConnectorRequest.zone_name CreateLogpushConnectorRequest.service_name " +
		"UpdateLogpushConnectorRequest.zone_name UpdateLogpushConnectorRequest.service_name"},
	{limits.PlatformToken, "ConnectHostingPlatformRequest.token"},
	{limits.Insights, "QueryPlanetScaleQueryInsightsRequest.limit"},
	{limits.PlatformEventPage, "ListPlanetScaleEventsRequest.limit"},
	{limits.Series, "series_limit"},
	{limits.Buckets, "max_data_points"},
	{limits.GroupBy, "group_by"},
	{limits.Having, "having"},
	{limits.Legend, "legend"},
	{limits.Queries, "queries formulas"},
	{limits.FunnelSteps, "steps"},
	{limits.FunnelBreakdown, "breakdown_limit"},
	{limits.PathHops, "depth"},
	{limits.PathBranches, "branches"},
	{limits.SQLRows, "max_rows"},
	{limits.SQLText, "sql raw_query_sql"},
	{limits.NotificationText, "notes AlertNotificationTemplate.title AlertNotificationTemplate.body AlertNotificationTexts.title " +
		"AlertNotificationTexts.body"},
	{limits.AlertMuteMinutes, "MuteAlertRuleRequest.minutes"},
	{limits.AlertBurnDays, "AlertBurn.period_days"},
	{1, "AlertBurn.target"},
	{limits.AlertTags, "CreateAlertRuleRequest.tags UpdateAlertRuleRequest.tags"},
	{limits.AlertTag, "CreateAlertRuleRequest.tags[] UpdateAlertRuleRequest.tags[]"},
	{limits.AlertDestinations, "destination_ids"},
	{limits.NameLength, "destination_ids[] service_names[] exclude_service_names[] CreateAlertRuleRequest.environments[] " +
		"UpdateAlertRuleRequest.environments[]"},
	{limits.SkeletonSpans, "max_spans"},
	{limits.TraceSummaries, "trace_ids"},
	{limits.SearchOffset, "offset"},
	{limits.SearchRanges, "ranges"},
	{limits.PatternSample, "sample_size"},
	{limits.Patterns, "max_patterns"},
	{limits.ErrorSamples, "sample_limit"},
	{limits.ErrorFingerprints, "fingerprint_hashes"},
	{limits.FilterNames, "names event_names exclude services environments models agents tools vendors service_names exclude_service_names"},
	{limits.EventNameBytes, "names[] event_names[] event_name"},
	{limits.EventPagePath, "page_path"},
	{limits.SessionPayload, "GetAgentSessionRequest.payload_chars"},
	{limits.ToolErrorPayload, "GetAgentToolErrorRequest.payload_chars"},
	{limits.SharedWidgets, "requests"},
	{limits.Variables, "variable_values variables"},
	{limits.VariableValue, "variable_values{}"},
	{limits.NameLength, "organization CreateScrapeTargetRequest.service_name UpdateScrapeTargetRequest.service_name"},
	{limits.ScrapeURL, "url"},
	{limits.ScrapeBranches, "include_branches exclude_branches"},
	{limits.ScrapeBranch, "include_branches[] exclude_branches[]"},
	{limits.LargestScrapeInterval.Seconds(), "scrape_interval_seconds"},
	{limits.ScrapeLabelsText, "labels_json"},
	{limits.ScrapeCredentials, "auth_credentials"},
	{limits.NameLength, "name summary related_to model version tool_contains actor_id affected_user action resource_type resource_id " +
		"changed request_id " +
		"hazel_organization_id hazel_organization_name hazel_channel_id hazel_channel_name chat_id member_user_ids[] workspace_id channel_id"},
	{limits.DescriptionLength, "description"},
	{limits.InvestigationTitle, "CreateInvestigationRequest.title UpdateInvestigationRequest.title"},
	{limits.InvestigationConclusion, "conclusion"},
	{limits.DescriptionLength, "question AddInvestigationFindingRequest.text"},
	{limits.NameLength, "assignee unit call"},
	{limits.SavedViewName, "CreateSavedViewRequest.name UpdateSavedViewRequest.name"},
	{limits.SavedViewState, "CreateSavedViewRequest.state UpdateSavedViewRequest.state"},
	{limits.MarkerTitleLength, "CreateMarkerRequest.title UpdateMarkerRequest.title"},
	{limits.FeedbackReason, "reason"},
	{limits.FeedbackDetails, "details"},
	{limits.EmailLength, "email"},
	{limits.SlugLength, "slug"},
	{limits.ClientName, "client_name"},
	{limits.DestinationURL, "url webhook_url hazel_organization_logo_url"},
	{limits.DestinationSecret, "integration_key signing_secret bot_token token_id token_secret"},
	{limits.DestinationMembers, "member_user_ids"},
	{limits.MaxPasswordBytes, "password current_password new_password"},
	{limits.MappingKeyLength, "source_key target_key"},
	{limits.KeyAttributes, "UpdateCustomIngestKeyRequest.resource_attributes CreateCustomIngestKeyRequest.resource_attributes"},
	{limits.KeyAttributeKeyLength, "IngestKeyAttribute.key"},
	{limits.KeyAttributeValueLength, "IngestKeyAttribute.value"},
	{limits.KeyRate, "rate_limit_per_second"},
	{limits.FieldKey, "group_by_attribute_key group_by_resource_attribute_key AttributeFilter.key"},
	{limits.FieldName, "value_field field group_by[] ListAttributeValuesRequest.key SearchSpansRequest.fields[]"},
	{limits.SpanFields, "SearchSpansRequest.fields"},
	{limits.LogContext, "GetLogContextRequest.before GetLogContextRequest.after"},
	{limits.AttributeFilters, "attributes resource_attributes attribute_equals"},
	{limits.FilterConditions, "all any"},
	{limits.FilterValues, "values"},
	{limits.WhereText, "where ExplainDifferenceRequest.selected ExplainDifferenceRequest.other"},
	{limits.FormulaText, "expression"},
	{limits.ListSearch, "ListAttributeKeysRequest.search ListAttributeValuesRequest.search ListMetricsRequest.search " +
		"ListProductEventsRequest.search " +
		"ProductEventFilters.search SearchDashboardVariableOptionsRequest.search"},
	{limits.SearchText, "search body_search message_search url_search user_search browser country device_type group_name level " +
		"session_id tool user_id visitor_id"},
	{limits.TelemetryNameBytes, "service_name metric_name deployment_environment span_name_contains QueryMetric.name"},
	{float64(limits.Apdex / time.Millisecond), "apdex_threshold_ms"},
	{float64(limits.SlowSpan / time.Millisecond), "always_keep_slow_spans_ms"},
	{limits.TimeseriesWindow.Seconds(), "bucket_seconds"},
	{limits.SearchWindow.Seconds(), "QueryTraceDistributionRequest.bucket_seconds"},
	{limits.Day.Seconds(), "GetErrorEventRequest.bucket_seconds"},
	{limits.ActivityWindow.Seconds(), "window_seconds"},
	{limits.ServiceWindow.Seconds(), "granularity_seconds"},
	{limits.Day.Seconds(), "GetErrorIssueRequest.bucket_seconds"},
	{limits.IssueMostSamples, "GetErrorIssueRequest.sample_limit"},
	{limits.TelemetryNameBytes, "ListErrorIssuesRequest.exception_type CountErrorIssuesRequest.exception_type"},
	{limits.IssueHashes, "fingerprint_hash"},
	{limits.IssueHash, "SplitErrorIssueRequest.fingerprint_hashes[]"},
	{limits.IssueNote, "note"},
	{limits.IssueComment, "body"},
	{limits.IssueFix, "patch_summary"},
	{limits.IssueFixVersion, "fixed_in_version"},
	{limits.IssueArtifacts, "artifacts"},
	{limits.DestinationURL, "pr_url artifacts[]"},
	{limits.AgentName, "RegisterErrorIssueAgentRequest.name capabilities[]"},
	{limits.AgentCapabilities, "capabilities"},
	{limits.IssueMerge, "issue_ids"},
	{limits.IssueFirstSeenCount, "min_occurrence_count"},
	{limits.IssueLeaseLongest.Seconds(), "lease_duration_seconds"},
	// These follow from the form of a value, or refuse values that cannot exist. They are no limits that a user meets.
	{1, "trace_sample_ratio"},
	{4, "ReplaceErrorEscalationPolicyRequest.rules"},
	{64, "aggregation user_code time_zone"},
	{100, "scopes"},
	{128, "table"},
	{138, "breakdown_by"},
	{200, "token device_code"},
	{255, "minimum_severity"},
	{256, "og_id"},
	{1024, "chart_id"},
	{999, "min_status"},
	{1000, "ListAlertIncidentsRequest.group_key CountAlertIncidentsRequest.group_key ListAlertRuleChecksRequest.group_key " +
		"SummarizeAlertRuleChecksRequest.group_key"},
}

// lowerBounds names the limit of every lower bound above 1, in the form of bounds.
var lowerBounds = []struct {
	limit float64
	paths string
}{
	{limits.MinPasswordLength, "new_password"},
	{limits.LeastBucket.Seconds(), "bucket_seconds"},
	{limits.LeastPatternSample, "sample_size"},
	{limits.LeastScrapeInterval.Seconds(), "scrape_interval_seconds"},
	{limits.IssueLeaseShortest.Seconds(), "lease_duration_seconds"},
	// These follow from the form of a value. They are no limits that a user meets.
	{3, "og_id chart_id"},
}

// TestBounds compares the bounds in the rules of request fields with limits.
func TestBounds(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	uppers, usedUppers := map[string]float64{}, map[string]bool{}
	for _, b := range bounds {
		for _, path := range strings.Fields(b.paths) {
			uppers[path] = b.limit
		}
	}
	lowers, usedLowers := map[string]float64{}, map[string]bool{}
	for _, b := range lowerBounds {
		for _, path := range strings.Fields(b.paths) {
			lowers[path] = b.limit
		}
	}
	check := func(want map[string]float64, used map[string]bool, f protoreflect.FieldDescriptor, suffix, rule string, got float64) {
		path := string(f.ContainingMessage().Name()) + "." + string(f.Name()) + suffix
		if _, ok := want[path]; !ok {
			path = string(f.Name()) + suffix
		}
		used[path] = true
		// All texts of requests are counted in characters. Two are not: the engine bounds the bytes of a statement, the hash those of a
		// password.
		if inBytes := slices.Contains([]string{"sql", "raw_query_sql", "password", "current_password", "new_password"},
			path); rule == "max_bytes" && !inBytes || rule == "max_len" && inBytes {
			t.Errorf("%s%s has %s: %v, which is the wrong unit", f.FullName(), suffix, rule, got)
		}
		if limit, ok := want[path]; !ok {
			t.Errorf("%s%s has %s: %v, which is no limit of this test", f.FullName(), suffix, rule, got)
		} else if got != limit {
			t.Errorf("%s%s has %s: %v; its limit is %v", f.FullName(), suffix, rule, got, limit)
		}
	}
	for _, f := range requestFields(c) {
		eachBound(Rules(f), upperRules, "", func(suffix, rule string, n float64) { check(uppers, usedUppers, f, suffix, rule, n) })
		eachBound(Rules(f), lowerRules, "", func(suffix, rule string, n float64) {
			if n > 1 {
				check(lowers, usedLowers, f, suffix, rule, n)
			}
		})
	}
	for path := range uppers {
		if !usedUppers[path] {
			t.Errorf("%s is in this test, and no field of a request has that bound", path)
		}
	}
	for path := range lowers {
		if !usedLowers[path] {
			t.Errorf("%s is in this test, and no field of a request has that lower bound", path)
		}
	}
}

const (
	upperRules = " max_len max_bytes max_items max_pairs lt lte "
	lowerRules = " min_len min_bytes min_items min_pairs gt gte "
)

// requestFields returns each field of each message that a request can hold.
func requestFields(c *Contract) (fields []protoreflect.FieldDescriptor) {
	seen := map[protoreflect.FullName]bool{}
	var add func(protoreflect.MessageDescriptor)
	add = func(m protoreflect.MessageDescriptor) {
		if seen[m.FullName()] {
			return
		}
		seen[m.FullName()] = true
		for i := range m.Fields().Len() {
			f := m.Fields().Get(i)
			fields = append(fields, f)
			if f.Message() != nil {
				add(f.Message())
			}
		}
	}
	for _, m := range c.Methods() {
		add(m.Descriptor.Input())
	}
	return fields
}

// eachBound calls found with each bound of a field that is set by one of the named rules, those of its elements included.
func eachBound(rules *validate.FieldRules, names, suffix string, found func(suffix, rule string, n float64)) {
	if rules == nil {
		return
	}
	m := rules.ProtoReflect()
	kind := m.WhichOneof(m.Descriptor().Oneofs().ByName("type"))
	if kind == nil {
		return
	}
	if list := rules.GetRepeated(); list.GetItems().GetString().GetIn() != nil {
		return // a list of different choices has as many elements as there are choices
	}
	m.Get(kind).Message().Range(func(rule protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch name := string(rule.Name()); {
		case name == "items":
			eachBound(v.Message().Interface().(*validate.FieldRules), names, suffix+"[]", found)
		case name == "values":
			eachBound(v.Message().Interface().(*validate.FieldRules), names, suffix+"{}", found)
		case name == "keys":
			eachBound(v.Message().Interface().(*validate.FieldRules), names, suffix+"{key}", found)
		case strings.Contains(names, " "+name+" "):
			switch n := v.Interface().(type) {
			case int32, int64:
				found(suffix, name, float64(v.Int()))
			case uint32, uint64:
				found(suffix, name, float64(v.Uint()))
			case float32:
				found(suffix, name, float64(n))
			case float64:
				found(suffix, name, n)
			}
		}
		return true
	})
}
