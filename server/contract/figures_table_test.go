package contract

import (
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// boundFigures binds each figure in a comment of the contract to its limit: a unit of time or size, or a largest number of things. A
// path is `Message.field`, `Service.Method`, or another name in package svc.v2.
var boundFigures = []struct{ figure, paths string }{
	{limits.Lasts(limits.RepositoryFormerName), "ListSourceRepositoriesRequest.full_name"},
	{limits.Number(limits.SourceLines), "ReadSourceFileRequest.end_line"},
	{"7 characters", "ReadSourceFileRequest.ref"}, // fewer are no id of a commit: it is git's shortest form
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
	{limits.Lasts(limits.ReleaseWindow), "SearchReleasesRequest.end_time ServicesService.SearchReleases"},
	{limits.Lasts(20 * time.Minute), "Incident.markers"}, // package diagnose
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
	{limits.Lasts(limits.SearchWindow), "DiagnosisService.SearchIncidents ExplainDifferenceRequest.end_time ExplainDifferenceRequest.other_end_time " +
		"SearchIncidentsRequest.end_time ComparePeriodsRequest.end_time DashboardDataService.SearchDashboardWidgetData " +
		"DiagnoseServiceRequest.end_time DiagnosisService.ComparePeriods DiagnosisService.DiagnoseService " +
		"DiagnosisService.SearchSlowerOperations GetAgentToolErrorRequest.end_time " +
		"GetAgentToolsOverviewRequest.end_time LogsService.SearchLogFacets LogsService.SearchLogs " +
		"SearchAgentSessionsRequest.end_time SearchLogFacetsRequest.end_time SearchLogsRequest.end_time " +
		"SearchSlowerOperationsRequest.end_time SearchTraceFacetsRequest.end_time SearchTracesRequest.end_time " +
		"ShareService.ResolveShareWidgetData TracesService.SearchTraceFacets TracesService.SearchTraces"},
	{limits.Lasts(limits.InvitationLink), "OrganizationService.CreateInvitation"},
	{limits.Lasts(limits.SessionIdle), "SessionsService.SignIn"},
	{limits.Size(limits.SQLResult), "SqlService.RunSql"},
	{limits.Lasts(limits.CLIKey), "CliService.RedeemCliLogin"},
	{limits.Lasts(limits.AlertBaseline), "AlertBaseline"},
	{limits.Number(limits.Series), "AlertBaseline"},
	// These figures are no limits: fixed windows, thresholds, smallest lengths, and the lengths of lists in answers.
	{"1 hour", "AlertBurn"},
	{"5 minutes", "AlertBurn"},
	{"6 hours", "AlertBurn"},
	{"30 minutes", "AlertBurn"},
	{"24 hours", "AlertBurn"},
	{"2 hours", "AlertBurn"},
	{"3 days", "AlertBurn"},
	{"1 characters", "CreateAgentFeedbackRequest.reason CreateAgentFeedbackRequest.summary"},
	{"24 hours", "AlertDestinationsService.ListTelegramChats DiagnosisService.DiagnoseService ErrorEventsService.GetErrorEvent InstrumentationService.GetSetupAudit " +
		"InstrumentationService.ListInstrumentationRecommendations " +
		"PreviewDashboardWidgetRequest.empty_range_fallback Recommendation.usage_count " +
		"SearchDashboardWidgetDataRequest.empty_range_fallback SetupAudit.data_status"},
	{"2", "SessionReplaySummary.tags"},
	{"30 days", "TimeRange.value"},
	{"5 minutes", "RunSqlRequest.granularity_seconds"},
	{"5 seconds", "CliService.RedeemCliLogin"},
	{"50", "SessionReplaysService.SearchSessionReplayFacets"},
	{"5", "DiagnosisService.SearchSlowerOperations SearchProductEventFunnelRequest.leavers"},
	{"6", "DiagnosisService.ComparePeriods"},
	{"7 days", "PreviewDashboardWidgetRequest.empty_range_fallback SearchDashboardWidgetDataRequest.empty_range_fallback " +
		"Service.baseline_p95_latency_ms Service.baseline_span_count"},
	{limits.Lasts(limits.IssueQuiet), "ErrorIncident.status ErrorIssue.has_open_incident ErrorIssueDetail.has_open_incident"},
	{limits.Lasts(limits.IssueStaticVersion), "ErrorIssue.resolved_versions ErrorIssueDetail.resolved_versions"},
	{limits.Lasts(limits.IssueWindow), "GetErrorIssueRequest.start_time"},
	{limits.Lasts(limits.IssueDeployWait), "ErrorIssueVerification.reason"},
}
