package contract

import (
	"fmt"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/diagnose"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/source/frames"
	"github.com/svc-observability/svc/server/source/suspects"
)

// boundFigures binds each figure in a comment of the contract to its limit: a number with a unit of time or size, or any other number. A
// path is `Message.field`, `Service.Method`, or another name in package svc.v2.
var boundFigures = []struct{ figure, paths string }{
	{limits.Lasts(limits.RepositoryFormerName), "ListSourceRepositoriesRequest.full_name"},
	{limits.Number(limits.SourceLines), "ReadSourceFileRequest.end_line"},
	{limits.Number(limits.CommitShortest) + " characters", "ReadSourceFileRequest.ref"},
	{limits.Lasts(limits.RepositoryAccess), "SourceCodeService"},
	{limits.Number(limits.SourcePatch) + " characters", "SourceCodeService.CompareSourceCommits"},
	{limits.Number(limits.SourceText) + " characters", "SourceCodeService.ReadSourceFile"},
	{limits.Lasts(limits.IntegrationLogin), "SourceHostingService.InstallSourceHost ChatConnectorsService.InstallChatConnector " +
		"ChatConnectorsService.StartChatIdentityLink DatabasePlatformService.ConnectPlanetScaleIntegration"},
	{limits.Lasts(limits.DatabaseSync), "DatabasePlatformService.ListPlanetScaleDatabases"},
	{limits.Lasts(limits.PlatformEvents), "DatabasePlatformService.ListPlanetScaleEvents"},
	{limits.Lasts(limits.InsightsKept), "DatabasePlatformService.QueryPlanetScaleQueryInsights"},
	{limits.Lasts(limits.HostingSyncWait), "HostingPlatformsService.SyncHostingPlatform"},
	{limits.Lasts(limits.HostingRetention), "HostingPlatformsService.ListHostingDeployments"},
	{limits.Lasts(limits.HostingMissing), "HostingDrain.state"},
	{limits.Number(limits.ChatChannels), "ChatConnectorsService.ListChatWorkspaceDestinations"},
	{limits.Number(limits.SourceSnippets), "SourceMatch.snippets"},
	{limits.Number(limits.SourceSnippet) + " characters", "SourceSnippet.text"},
	{limits.Number(limits.SourceFrameLine) + " characters", "ErrorFrameSource.lines"},
	{limits.Number(limits.SuspectMessage) + " characters", "SuspectCommit.message"},
	{limits.Lasts(limits.SuspectWindow), "SuspectCommit.is_assumed"},
	{limits.Size(limits.SQLMemory), "SqlService.RunSql"},
	{limits.Number(limits.Buckets), "GetErrorEventRequest.bucket_seconds GetServiceApdexRequest.bucket_seconds " +
		"GetServiceOverviewRequest.bucket_seconds ListServiceReleasesRequest.bucket_seconds " +
		"QueryLogTimeseriesRequest.bucket_seconds QueryMetricsTimeseriesRequest.bucket_seconds " +
		"QueryProductEventTimeseriesRequest.bucket_seconds QueryTimeseriesRequest.bucket_seconds " +
		"QueryTraceTimeseriesRequest.bucket_seconds"},
	{limits.Number(limits.DefaultErrorBuckets), "GetErrorEventRequest.bucket_seconds"},
	{limits.Number(limits.DistributionColumns), "QueryTraceDistributionRequest.bucket_seconds"},
	{limits.Number(limits.SpanFields), "SearchSpansRequest.fields"},
	{limits.Number(limits.SpanFieldValue) + " characters", "SpanSummary.fields"},
	{limits.Number(limits.MinPasswordLength) + " characters", "AcceptInvitationRequest.password"},
	{limits.Lasts(limits.SQLTime), "SqlService.RunSql"},
	{limits.Number(limits.FeedbackDetails) + " characters", "CreateAgentFeedbackRequest.details"},
	{limits.Number(limits.FunnelSteps), "ProductEventsService.SearchProductEventFunnel"},
	{limits.Number(limits.Queries), "QueryService.QueryBreakdown QueryService.QueryTimeseries"},
	{limits.Lasts(limits.DefaultDashboardWindow), "CreateDashboardRequest.time_range PreviewDashboardWidgetRequest.time_range"},
	{limits.Number(limits.NameLength) + " characters", "CreateAgentFeedbackRequest.summary"},
	{limits.Number(limits.MapEdges), "ServiceMapService.GetServiceMap"},
	{limits.Lasts(limits.PatternWindow), "LogsService.SearchLogPatterns SearchLogPatternsRequest.end_time"},
	{limits.Number(limits.InvestigationFindings), "InvestigationsService.AddInvestigationFinding"},
	{limits.Size(limits.FindingRequest), "AddInvestigationFindingRequest.request"},
	{limits.Number(limits.UserViews), "SavedViewsService.CreateSavedView"},
	{limits.Number(limits.SavedViews), "SavedViewsService.CreateSavedView"},
	{limits.Lasts(limits.ReleaseWindow), "SearchReleasesRequest.end_time ServicesService.SearchReleases"},
	{limits.Lasts(limits.MarkerBefore), "Incident.markers"},
	{limits.Lasts(limits.UnfilteredBreakdownWindow), "QueryLogBreakdownRequest.end_time QueryService.QueryBreakdown " +
		"QueryTraceBreakdownRequest.end_time"},
	{limits.Lasts(limits.BreakdownWindow), "DashboardDataService.SearchDashboardWidgetData LogsService.QueryLogBreakdown " +
		"MetricsService.QueryMetricBreakdown ProductEventAnalyticsService.QueryProductEventBreakdown " +
		"QueryBreakdownRequest.end_time QueryLogBreakdownRequest.end_time QueryMetricBreakdownRequest.end_time " +
		"QueryProductEventBreakdownRequest.end_time QueryService.QueryBreakdown QueryTraceBreakdownRequest.end_time " +
		"TracesService.QueryTraceBreakdown"},
	{limits.Lasts(limits.AgentIdleGap), "AgentSessionFigures.idle_gap_count"},
	{limits.Lasts(limits.ErrorLookBack), "ErrorEventsService.GetErrorEvent"},
	{limits.Lasts(limits.ScrapeCheckRetention), "ScrapeTargetsService.ListScrapeTargetChecks"},
	{limits.Lasts(limits.ScrapeTimeout), "ScrapeTargetsService.ProbeScrapeTarget"},
	{limits.Number(limits.ScrapeTargetLabels), "CreateScrapeTargetRequest.labels_json UpdateScrapeTargetRequest.labels_json"},
	{limits.Lasts(limits.SignalWindow), "InstrumentationService.GetTelemetrySignals TelemetrySignals.window_start"},
	{limits.Lasts(limits.SetupEvidence), "InstrumentationService.GetSetupAudit"},
	{limits.Number(limits.SignalServices), "InstrumentationService.GetTelemetrySignals TelemetrySignals.services"},
	{limits.Lasts(limits.TraceRetention), "ServiceMapService.GetServiceMap ServiceOverview.operations"},
	{limits.Lasts(limits.SessionLifetime), "SessionsService.SignIn"},
	{limits.Lasts(limits.AttributeWindow), "AttributesService.ListAttributeKeys ListAttributeKeysRequest.end_time " +
		"ListAttributeValuesRequest.end_time"},
	{limits.Lasts(limits.AgentSessionWindow), "DiagnosisService.GetAgentSessionFigures DiagnosisService.GetAgentSessionVerdict " +
		"GetAgentSessionFiguresRequest.end_time GetAgentSessionRequest.end_time GetAgentSessionVerdictRequest.end_time"},
	{limits.Lasts(limits.ErrorWindow), "ErrorEventsService.SearchErrorEvents GetErrorEventRequest.end_time " +
		"SearchErrorEventsRequest.end_time"},
	{limits.Lasts(limits.MetricWindow), "GetMetricRequest.end_time ListMetricsRequest.end_time MetricsService.GetMetric " +
		"MetricsService.ListMetrics " +
		"MetricsService.SummarizeMetrics SummarizeMetricsRequest.end_time"},
	{limits.Lasts(limits.ActivityWindow), "ListProductEventsRequest.end_time ListSessionReplaysForTraceRequest.end_time " +
		"ProductEventsService.ListProductEvents ProductEventsService.SearchProductEvents " +
		"SearchProductEventFunnelRequest.end_time SearchProductEventPathsRequest.end_time " +
		"SearchProductEventsRequest.end_time SearchSessionReplayFacetsRequest.end_time " +
		"SearchSessionReplaysRequest.end_time SessionReplaysService.SearchSessionReplays"},
	{limits.Lasts(limits.TimeseriesWindow), "LogsService.QueryLogTimeseries MetricsService.QueryMetricsTimeseries " +
		"PreviewDashboardWidgetRequest.empty_range_fallback " +
		"ProductEventAnalyticsService.QueryProductEventTimeseries QueryLogTimeseriesRequest.end_time " +
		"QueryMetricsTimeseriesRequest.end_time QueryProductEventTimeseriesRequest.end_time " +
		"QueryService.QueryTimeseries QueryTimeseriesRequest.end_time QueryTraceTimeseriesRequest.end_time " +
		"SearchDashboardWidgetDataRequest.empty_range_fallback ShareService.ResolveShareWidgetData " +
		"ShareTimeRange.end_time SummarizeTracesRequest.end_time TracesService.QueryTraceTimeseries"},
	{limits.Size(limits.SQLText), "RunSqlRequest.sql"},
	{limits.Lasts(limits.ServiceWindow), "EnvironmentsService.ListEnvironments GetServiceApdexRequest.end_time " +
		"GetServiceMapRequest.end_time " +
		"GetServiceOverviewRequest.end_time GetServiceRequest.end_time ListEnvironmentsRequest.end_time " +
		"ListServiceOperationsRequest.end_time ListServiceReleasesRequest.end_time ListServicesRequest.end_time " +
		"ServiceMapService.GetServiceMap ServicesService.GetService ServicesService.GetServiceOverview " +
		"ServicesService.ListServiceReleases ServicesService.ListServices"},
	{limits.Lasts(limits.SQLWindow), "RunSqlRequest.end_time"},
	{
		limits.Lasts(limits.AlertCheckRetention),
		"AlertRulesService.ListAlertRuleChecks AlertRulesService.SummarizeAlertRuleChecks ListAlertRuleChecksRequest.since",
	},
	{limits.Lasts(limits.AlertCheckHourRetention), "AlertRulesService.SummarizeAlertRuleChecks SummarizeAlertRuleChecksRequest.until"},
	{limits.Number(limits.DeliveryAnswer) + " characters", "AlertDelivery.provider_message"},
	{limits.Number(limits.FeedbackReason) + " characters", "CreateAgentFeedbackRequest.reason"},
	{limits.Number(limits.RecordingPage), "SessionReplaysService.GetSessionReplayEvents"},
	{limits.Number(limits.TraceSpans), "TracesService.GetTrace"},
	{limits.Number(limits.SQLRowsRead), "SqlService.RunSql"},
	{limits.Lasts(limits.DefaultSQLWindow), "RunSqlRequest.start_time"},
	{limits.Number(limits.AffectedTraces), "Incident.affected_traces"},
	{limits.Lasts(limits.SearchWindow), "DiagnosisService.SearchIncidents ExplainDifferenceRequest.end_time " +
		"ExplainDifferenceRequest.other_end_time " +
		"SearchIncidentsRequest.end_time ComparePeriodsRequest.end_time DashboardDataService.SearchDashboardWidgetData " +
		"DiagnoseServiceRequest.end_time DiagnosisService.ComparePeriods DiagnosisService.DiagnoseService " +
		"DiagnosisService.SearchSlowerOperations GetAgentToolErrorRequest.end_time " +
		"GetAgentToolsOverviewRequest.end_time LogsService.SearchLogFacets LogsService.SearchLogs " +
		"SearchAgentSessionsRequest.end_time SearchLogFacetsRequest.end_time SearchLogsRequest.end_time " +
		"QueryTraceDistributionRequest.end_time TracesService.QueryTraceDistribution " +
		"SearchSlowerOperationsRequest.end_time SearchSpansRequest.end_time SearchTraceFacetsRequest.end_time SearchTracesRequest.end_time " +
		"ShareService.ResolveShareWidgetData TracesService.SearchSpans TracesService.SearchTraceFacets " +
		"TracesService.SearchTraces"},
	{limits.Lasts(limits.InvitationLink), "OrganizationService.CreateInvitation"},
	{limits.Lasts(limits.SessionIdle), "SessionsService.SignIn"},
	{limits.Size(limits.SQLResult), "SqlService.RunSql"},
	{limits.Lasts(limits.CLIKey), "CliService.RedeemCliLogin"},
	{limits.Lasts(limits.AlertBaseline), "AlertBaseline"},
	{limits.Number(limits.Series), "AlertBaseline"},
	{limits.Number(limits.AgentSpans), "AgentSession.truncated AgentSessionsService.GetAgentSession"},
	{limits.Number(limits.AgentFailures), "AgentToolError.sessions AgentToolsOverview.failures"},
	{limits.Number(limits.AgentMessages), "AgentToolError.variants"},
	{limits.Number(limits.AgentTools), "AgentToolsOverview.tools"},
	{limits.Number(limits.AlertBaselineHours), "AlertBaseline"},
	{limits.Number(limits.AlertCheckGroups), "AlertCheckSummary.top_group_keys"},
	{limits.Number(limits.DestinationTests), "AlertDestinationsService.TestAlertDestination"},
	{limits.Number(limits.AlertWindowMinutes), "AlertRule.window_minutes AlertRuleMutationResponse.window_minutes " +
		"CreateAlertRuleRequest.window_minutes " +
		"UpdateAlertRuleRequest.window_minutes"},
	{limits.Number(limits.IssueFilterHashes), "CountErrorIssuesRequest.fingerprint_hash ListErrorIssuesRequest.fingerprint_hash"},
	{limits.Number(limits.DefaultApdex.Milliseconds()), "CreateAlertRuleRequest.apdex_threshold_ms ServiceOperationDetail.apdex"},
	{limits.Number(limits.Sections), "CreateDashboardRequest.sections UpdateDashboardRequest.sections"},
	{limits.Number(limits.Variables), "CreateDashboardRequest.variables UpdateDashboardRequest.variables"},
	{limits.Number(limits.Widgets), "CreateDashboardRequest.widgets UpdateDashboardRequest.widgets"},
	{limits.Number(limits.VariableValues), "DashboardDataService.SearchDashboardVariableOptions"},
	{limits.Number(limits.Tabs), "DashboardSection.tabs"},
	{limits.Number(limits.DashboardVersions), "DashboardsService.ListDashboardVersions"},
	{limits.Number(limits.Differences), "Difference.data"},
	{limits.Number(limits.ErrorNames), "ErrorEvent.deployment_environments ErrorEvent.environments ErrorEvent.services " +
		"ErrorEventDetail.deployment_environments ErrorEventDetail.services ErrorEventTotals.environments"},
	{limits.Number(limits.ErrorFrames), "ErrorEventDetail.frames"},
	{limits.Number(limits.RelatedErrors), "ErrorEventDetail.related_errors"},
	{limits.Number(limits.SourceFrameLines), "ErrorFrameSource.lines"},
	{limits.Number(limits.IssueIncidents), "ErrorIssueDetail.incidents"},
	{limits.Number(limits.SuspectCommits), "ErrorIssueDetail.suspect_commits"},
	{limits.Number(limits.IssueVerifications), "ErrorIssueDetail.verifications"},
	{limits.Number(limits.IssueVerdictAttempts), "ErrorIssueVerification.attempt"},
	{limits.Number(limits.IssueVerdictExpected), "ErrorIssueVerification.expected_occurrence_count"},
	{limits.Number(limits.IssueFixReleases), "ErrorIssueVerification.releases"},
	{limits.Number(limits.FunnelSteps), "FunnelDisplay.steps"},
	{limits.Number(limits.IncidentMarkers), "Incident.markers"},
	{limits.Number(limits.IncidentSymptoms), "Incident.symptoms"},
	{limits.Number(limits.Incidents), "IncidentSearch.data"},
	{limits.Number(limits.CommitShortest), "LinkErrorIssuePullRequestRequest.merge_commit_sha TransitionErrorIssueRequest.fixed_in_commit"},
	{limits.Number(limits.PatternRecords), "LogsService.SearchLogPatterns"},
	{limits.Number(limits.MetricAttributeValues), "MetricAttribute.values"},
	{limits.Number(limits.PathBranches), "PathsDisplay.branches"},
	{limits.Number(limits.PathHops), "PathsDisplay.depth"},
	{limits.Number(limits.ComparedCauses), "PeriodComparison.causes"},
	{limits.Number(limits.GroupBy), "QueryDraft.group_by"},
	{limits.Number(limits.RecommendationServices), "Recommendation.services"},
	{limits.Number(limits.ScrapeChecks), "ScrapeTargetsService.ListScrapeTargetChecks"},
	{limits.Number(limits.DiagnosedCauses), "ServiceDiagnosis.causes"},
	{limits.Number(limits.DiagnosedErrors), "ServiceDiagnosis.top_errors"},
	{limits.Number(limits.ServiceOperations), "ServiceOverview.operations ServicesService.GetServiceOverview"},
	{limits.Number(limits.ServiceReleases), "ServiceReleases.data"},
	{limits.Size(limits.RecordingPayload), "SessionReplayManifest.max_bytes_per_request"},
	{limits.Number(limits.RecordingPage), "SessionReplayManifest.max_chunks_per_request"},
	{limits.Number(limits.RecordingManifest), "SessionReplayManifest.truncated SessionReplaysService.GetSessionReplayManifest"},
	{limits.Size(limits.RecordingAnswer), "SessionReplaysService.GetSessionReplayEvents"},
	{limits.Number(limits.AffectedObjects), "SetupAuditCheck.affected"},
	{limits.Number(limits.SharedWidgets), "ShareService.ResolveShareWidgetData"},
	{limits.Number(limits.SourceFailedJobs), "SourceCiRun.failed_jobs"},
	{limits.Number(limits.SourceText), "SourceCodeService.CompareSourceCommits"},
	{limits.Number(limits.SourceLines), "SourceCodeService.ReadSourceFile"},
	{limits.Number(limits.TraceSpans), "Trace.truncated"},
	{limits.Number(limits.RepeatedRuns), "TraceCriticalPath.repeated_operations"},
	{limits.Number(limits.RepeatedOperations), "TraceCriticalPath.repeated_operations"},
	{limits.Number(limits.PathSpans), "TraceCriticalPath.steps"},
	{limits.Number(limits.SummaryServices), "TraceFigures.services"},
	{limits.Number(limits.GridColumns), "Widget.layout WidgetLayout"},
	{limits.Number(limits.SlowerSpans), "DiagnosisService.SearchSlowerOperations"},
	{limits.Lasts(limits.AlertFastBurn), "AlertBurn"},
	{limits.Lasts(limits.AlertFastBurnShort), "AlertBurn"},
	{limits.Number(limits.AlertFastBurnShare), "AlertBurn"},
	{limits.Lasts(limits.AlertSteadyBurn), "AlertBurn"},
	{limits.Lasts(limits.AlertSteadyBurnShort), "AlertBurn"},
	{limits.Number(limits.AlertSteadyBurnShare), "AlertBurn"},
	{limits.Lasts(limits.AlertSlowBurn), "AlertBurn"},
	{limits.Lasts(limits.AlertSlowBurnShort), "AlertBurn"},
	{limits.Number(limits.AlertSlowBurnShare), "AlertBurn"},
	{limits.Lasts(limits.AlertCreepingBurn), "AlertBurn"},
	{limits.Lasts(limits.PatternWindow), "DiagnosisService.DiagnoseService"},
	{limits.Lasts(limits.ErrorContext), "ErrorEventsService.GetErrorEvent"},
	{limits.Lasts(limits.SetupWindow), "InstrumentationService.GetSetupAudit InstrumentationService.ListInstrumentationRecommendations " +
		"Recommendation.usage_count SetupAudit.data_status"},
	{limits.Lasts(limits.ChartFallback), "PreviewDashboardWidgetRequest.empty_range_fallback " +
		"SearchDashboardWidgetDataRequest.empty_range_fallback"},
	{limits.Lasts(limits.ChartFallbackLonger), "PreviewDashboardWidgetRequest.empty_range_fallback " +
		"SearchDashboardWidgetDataRequest.empty_range_fallback"},
	{limits.Lasts(limits.ServiceBaseline), "Service.baseline_p95_latency_ms Service.baseline_span_count"},
	{limits.Number(limits.SessionGlanceClicks), "SessionReplaySummary.tags"},
	{limits.Lasts(limits.RelativeMonth), "TimeRange.value"},
	{limits.Lasts(limits.LeastSQLInterval), "RunSqlRequest.granularity_seconds"},
	{limits.Lasts(limits.CLILoginSlowDown), "CliService.RedeemCliLogin"},
	{limits.Number(limits.ExaminedServices), "DiagnosisService.ComparePeriods"},
	{limits.Number(int(limits.APIKeyWeek.Seconds())), "CreateApiKeyRequest.expires_in_seconds"},
	{limits.Number(int(limits.APIKeyMonth.Seconds())), "CreateApiKeyRequest.expires_in_seconds"},
	{limits.Number(int(limits.APIKeyQuarter.Seconds())), "CreateApiKeyRequest.expires_in_seconds"},
	{limits.Number(int(limits.APIKeyYear.Seconds())), "CreateApiKeyRequest.expires_in_seconds"},
	// These figures are no limits: what others set, and smallest lengths.
	{"1 characters", "CreateAgentFeedbackRequest.reason CreateAgentFeedbackRequest.summary"},
	{"24 hours", "AlertDestinationsService.ListTelegramChats"}, // Telegram
	// The error of digests in percent of the ranks, as the oracle of the end-to-end tests holds it.
	{"2", "Service.p50_latency_ms"},
	{limits.Number(limits.SessionFacetValues), "SessionReplaysService.SearchSessionReplayFacets"},
	{limits.Number(limits.FunnelLeavers), "SearchProductEventFunnelRequest.leavers"},
	{limits.Lasts(limits.IssueQuiet), "ErrorIncident.status ErrorIssue.has_open_incident ErrorIssueDetail.has_open_incident"},
	{limits.Lasts(limits.IssueStaticVersion), "ErrorIssue.resolved_versions ErrorIssueDetail.resolved_versions"},
	{limits.Lasts(limits.IssueWindow), "GetErrorIssueRequest.start_time"},
	{limits.Lasts(limits.IssueDeployWait), "ErrorIssueVerification.reason"},
	// How far a value must rise for each sensitivity.
	{fmt.Sprint(alerting.LowDeviations), "AlertBaseline"},
	{fmt.Sprint(alerting.LowRatio), "AlertBaseline"},
	{fmt.Sprint(alerting.NormalDeviations), "AlertBaseline"},
	{fmt.Sprint(alerting.NormalRatio), "AlertBaseline"},
	{fmt.Sprint(alerting.HighDeviations), "AlertBaseline"},
	{fmt.Sprint(alerting.HighRatio), "AlertBaseline"},
	// Thresholds of a diagnosis: a rate that is so many times as high and above so many percent, and so many milliseconds more.
	{fmt.Sprint(diagnose.HigherRate), "ComparedService.flags"},
	{fmt.Sprint(diagnose.HigherRateFrom * 100), "ComparedService.flags"},
	{fmt.Sprint(diagnose.SlowerByMs), "DiagnosisService.SearchSlowerOperations"},
	// The first five values of the list, and the five signals.
	{"5", "AlertRule.signal_type AlertRuleMutationResponse.signal_type CreateAlertRuleRequest.signal_type " +
		"UpdateAlertRuleRequest.signal_type InstrumentationService.GetTelemetrySignals ServiceSignals.signals " +
		"TelemetrySignals.signals"},
	// So many calls of a program prove where its files are, and a change so near to a call counts.
	{limits.Number(frames.Proof), "ErrorFrameSource"},
	{limits.Number(suspects.Near), "SuspectCommit.is_near"},
	// The priority of most issues.
	{"3", "ErrorIssue.priority ErrorIssueDetail.priority"},
	// The formula of the Apdex: up to four times the threshold is tolerated and counts half. Its result has four decimals.
	{"4", "GetServiceApdexRequest.apdex_threshold_ms ServiceApdex.apdex_score ServiceApdexPoint.apdex_score " +
		"ServiceApdexPoint.tolerating_count ServicesService.GetServiceApdex"},
	{"2", "ServiceApdex"},
	// Severity numbers of OpenTelemetry.
	{"24", "Log.severity_number"},
	{"9", "LogFilters.minimum_severity"},
	{"17", "LogFilters.minimum_severity"},
	// The smallest ratio that is more than 0.
	{fmt.Sprintf("%.6f", 1./limits.LeastSampleParts), "SamplingPolicy.trace_sample_ratio UpdateSamplingPolicyRequest.trace_sample_ratio"},
	// How sessions are distinguished, in package reads.
	{limits.Lasts(limits.SessionPause), "SessionReplay.active_time_ms"},
	{limits.Lasts(limits.SessionBounce), "SessionReplaySummary.tags"},
	{limits.Lasts(limits.SessionGlance), "SessionReplaySummary.tags"},
	// 2^53: JSON has no larger integers.
	{"2", "WidgetTable.rows"},
	{"53", "WidgetTable.rows"},
}
