// Written by server/web/gentypes. Do not edit.

/** The request and the answer of each method. */
export interface Calls {
  "AgentFeedbackService/CreateAgentFeedback": [CreateAgentFeedbackRequest, AgentFeedback];
  "AgentFeedbackService/ListAgentFeedback": [ListAgentFeedbackRequest, ListAgentFeedbackResponse];
  "AgentSessionsService/GetAgentSession": [GetAgentSessionRequest, AgentSession];
  "AgentSessionsService/GetAgentToolError": [GetAgentToolErrorRequest, AgentToolError];
  "AgentSessionsService/GetAgentToolsOverview": [GetAgentToolsOverviewRequest, AgentToolsOverview];
  "AgentSessionsService/SearchAgentSessions": [SearchAgentSessionsRequest, SearchAgentSessionsResponse];
  "AlertDeliveriesService/ListAlertDeliveries": [ListAlertDeliveriesRequest, ListAlertDeliveriesResponse];
  "AlertDestinationsService/CreateAlertDestination": [CreateAlertDestinationRequest, AlertDestinationMutationResponse];
  "AlertDestinationsService/DeleteAlertDestination": [DeleteAlertDestinationRequest, DeletedAlertDestination];
  "AlertDestinationsService/GetAlertDestination": [GetAlertDestinationRequest, AlertDestination];
  "AlertDestinationsService/ListAlertDestinations": [ListAlertDestinationsRequest, ListAlertDestinationsResponse];
  "AlertDestinationsService/ListTelegramChats": [ListTelegramChatsRequest, ListTelegramChatsResponse];
  "AlertDestinationsService/TestAlertDestination": [TestAlertDestinationRequest, AlertDestinationTestResult];
  "AlertDestinationsService/UpdateAlertDestination": [UpdateAlertDestinationRequest, AlertDestinationMutationResponse];
  "AlertIncidentsService/CountAlertIncidents": [CountAlertIncidentsRequest, AlertIncidentCounts];
  "AlertIncidentsService/GetAlertIncident": [GetAlertIncidentRequest, AlertIncident];
  "AlertIncidentsService/ListAlertIncidents": [ListAlertIncidentsRequest, ListAlertIncidentsResponse];
  "AlertRulesService/CreateAlertRule": [CreateAlertRuleRequest, AlertRuleMutationResponse];
  "AlertRulesService/DeleteAlertRule": [DeleteAlertRuleRequest, DeletedAlertRule];
  "AlertRulesService/GetAlertRule": [GetAlertRuleRequest, AlertRule];
  "AlertRulesService/ListAlertRuleChecks": [ListAlertRuleChecksRequest, ListAlertRuleChecksResponse];
  "AlertRulesService/ListAlertRules": [ListAlertRulesRequest, ListAlertRulesResponse];
  "AlertRulesService/MuteAlertRule": [MuteAlertRuleRequest, AlertRuleMutationResponse];
  "AlertRulesService/PreviewAlertRule": [PreviewAlertRuleRequest, AlertRulePreview];
  "AlertRulesService/SummarizeAlertRuleChecks": [SummarizeAlertRuleChecksRequest, AlertCheckSummary];
  "AlertRulesService/TestAlertRule": [TestAlertRuleRequest, AlertRuleTestResult];
  "AlertRulesService/UpdateAlertRule": [UpdateAlertRuleRequest, AlertRuleMutationResponse];
  "ApiKeysService/CreateApiKey": [CreateApiKeyRequest, ApiKeyWithSecret];
  "ApiKeysService/GetApiKey": [GetApiKeyRequest, ApiKey];
  "ApiKeysService/ListApiKeys": [ListApiKeysRequest, ListApiKeysResponse];
  "ApiKeysService/RevokeApiKey": [RevokeApiKeyRequest, ApiKeyMutationResponse];
  "ApiKeysService/RollApiKey": [RollApiKeyRequest, ApiKeyWithSecret];
  "AttributeMappingsService/CreateAttributeMapping": [CreateAttributeMappingRequest, AttributeMapping];
  "AttributeMappingsService/DeleteAttributeMapping": [DeleteAttributeMappingRequest, DeletedAttributeMapping];
  "AttributeMappingsService/GetAttributeMapping": [GetAttributeMappingRequest, AttributeMapping];
  "AttributeMappingsService/ListAttributeMappings": [ListAttributeMappingsRequest, ListAttributeMappingsResponse];
  "AttributeMappingsService/UpdateAttributeMapping": [UpdateAttributeMappingRequest, AttributeMapping];
  "AttributesService/ListAttributeKeys": [ListAttributeKeysRequest, ListAttributeKeysResponse];
  "AttributesService/ListAttributeValues": [ListAttributeValuesRequest, ListAttributeValuesResponse];
  "AuditLogService/ListAuditLogEntries": [ListAuditLogEntriesRequest, ListAuditLogEntriesResponse];
  "ChatConnectorsService/DeleteChatIdentity": [DeleteChatIdentityRequest, DeletedChatIdentity];
  "ChatConnectorsService/DeleteChatWorkspace": [DeleteChatWorkspaceRequest, DeletedChatWorkspace];
  "ChatConnectorsService/InstallChatConnector": [InstallChatConnectorRequest, ChatConnectorInstall];
  "ChatConnectorsService/ListChatConnectors": [ListChatConnectorsRequest, ListChatConnectorsResponse];
  "ChatConnectorsService/ListChatWorkspaceDestinations": [ListChatWorkspaceDestinationsRequest, ListChatWorkspaceDestinationsResponse];
  "ChatConnectorsService/StartChatIdentityLink": [StartChatIdentityLinkRequest, ChatIdentityLink];
  "ChatConnectorsService/UpdateChatWorkspace": [UpdateChatWorkspaceRequest, ChatWorkspace];
  "CliService/ApproveCliLogin": [ApproveCliLoginRequest, PendingCliLogin];
  "CliService/DenyCliLogin": [DenyCliLoginRequest, PendingCliLogin];
  "CliService/EndCliLogin": [EndCliLoginRequest, EndedCliLogin];
  "CliService/GetCliLogin": [GetCliLoginRequest, PendingCliLogin];
  "CliService/RedeemCliLogin": [RedeemCliLoginRequest, CliCredential];
  "CliService/StartCliLogin": [StartCliLoginRequest, CliLogin];
  "DashboardDataService/PreviewDashboardWidget": [PreviewDashboardWidgetRequest, WidgetData];
  "DashboardDataService/SearchDashboardVariableOptions": [SearchDashboardVariableOptionsRequest, SearchDashboardVariableOptionsResponse];
  "DashboardDataService/SearchDashboardWidgetData": [SearchDashboardWidgetDataRequest, WidgetData];
  "DashboardDataService/SearchDashboardWidgetInspection": [SearchDashboardWidgetInspectionRequest, WidgetInspection];
  "DashboardsService/CreateDashboard": [CreateDashboardRequest, DashboardMutationResponse];
  "DashboardsService/DeleteDashboard": [DeleteDashboardRequest, DeletedDashboard];
  "DashboardsService/GetDashboard": [GetDashboardRequest, Dashboard];
  "DashboardsService/GetDashboardShare": [GetDashboardShareRequest, GetDashboardShareResponse];
  "DashboardsService/GetDashboardVersion": [GetDashboardVersionRequest, DashboardVersionDetail];
  "DashboardsService/GetDashboardWidgetShare": [GetDashboardWidgetShareRequest, GetDashboardWidgetShareResponse];
  "DashboardsService/ImportExternalDashboard": [ImportExternalDashboardRequest, DashboardPersesImport];
  "DashboardsService/InstantiateDashboardTemplate": [InstantiateDashboardTemplateRequest, DashboardMutationResponse];
  "DashboardsService/ListDashboardShares": [ListDashboardSharesRequest, ListDashboardSharesResponse];
  "DashboardsService/ListDashboardTemplates": [ListDashboardTemplatesRequest, ListDashboardTemplatesResponse];
  "DashboardsService/ListDashboardVersions": [ListDashboardVersionsRequest, ListDashboardVersionsResponse];
  "DashboardsService/ListDashboards": [ListDashboardsRequest, ListDashboardsResponse];
  "DashboardsService/PreviewDashboardTemplate": [PreviewDashboardTemplateRequest, DashboardTemplatePreview];
  "DashboardsService/RestoreDashboardVersion": [RestoreDashboardVersionRequest, DashboardMutationResponse];
  "DashboardsService/RevokeDashboardShare": [RevokeDashboardShareRequest, DeletedDashboardShare];
  "DashboardsService/RevokeDashboardWidgetShare": [RevokeDashboardWidgetShareRequest, DeletedDashboardShare];
  "DashboardsService/RotateDashboardShare": [RotateDashboardShareRequest, DashboardShare];
  "DashboardsService/RotateDashboardWidgetShare": [RotateDashboardWidgetShareRequest, DashboardShare];
  "DashboardsService/UpdateDashboard": [UpdateDashboardRequest, DashboardMutationResponse];
  "DashboardsService/UpsertDashboardShare": [UpsertDashboardShareRequest, DashboardShare];
  "DashboardsService/UpsertDashboardWidgetShare": [UpsertDashboardWidgetShareRequest, DashboardShare];
  "DatabasePlatformService/ConnectPlanetScaleIntegration": [ConnectPlanetScaleIntegrationRequest, PlanetScaleConnect];
  "DatabasePlatformService/DisconnectPlanetScaleIntegration": [DisconnectPlanetScaleIntegrationRequest, PlanetScaleDisconnect];
  "DatabasePlatformService/GetPlanetScaleIntegration": [GetPlanetScaleIntegrationRequest, PlanetScaleIntegration];
  "DatabasePlatformService/GetPlanetScaleWebhookConfig": [GetPlanetScaleWebhookConfigRequest, PlanetScaleWebhookConfig];
  "DatabasePlatformService/ListPlanetScaleDatabases": [ListPlanetScaleDatabasesRequest, ListPlanetScaleDatabasesResponse];
  "DatabasePlatformService/ListPlanetScaleEvents": [ListPlanetScaleEventsRequest, ListPlanetScaleEventsResponse];
  "DatabasePlatformService/ListPlanetScaleOrganizations": [ListPlanetScaleOrganizationsRequest, ListPlanetScaleOrganizationsResponse];
  "DatabasePlatformService/QueryPlanetScaleQueryInsights": [QueryPlanetScaleQueryInsightsRequest, QueryPlanetScaleQueryInsightsResponse];
  "DatabasePlatformService/SelectPlanetScaleOrganization": [SelectPlanetScaleOrganizationRequest, PlanetScaleIntegration];
  "DatabasePlatformService/SetPlanetScaleMetricsToken": [SetPlanetScaleMetricsTokenRequest, PlanetScaleIntegration];
  "DiagnosisService/ComparePeriods": [ComparePeriodsRequest, PeriodComparison];
  "DiagnosisService/DiagnoseService": [DiagnoseServiceRequest, ServiceDiagnosis];
  "DiagnosisService/ExplainDifference": [ExplainDifferenceRequest, Difference];
  "DiagnosisService/GetAgentSessionFigures": [GetAgentSessionFiguresRequest, AgentSessionFigures];
  "DiagnosisService/GetAgentSessionVerdict": [GetAgentSessionVerdictRequest, AgentSessionVerdict];
  "DiagnosisService/GetTraceCriticalPath": [GetTraceCriticalPathRequest, TraceCriticalPath];
  "DiagnosisService/SearchIncidents": [SearchIncidentsRequest, IncidentSearch];
  "DiagnosisService/SearchSlowerOperations": [SearchSlowerOperationsRequest, SlowerOperationList];
  "EnvironmentsService/ListEnvironments": [ListEnvironmentsRequest, ListEnvironmentsResponse];
  "ErrorEventsService/GetErrorEvent": [GetErrorEventRequest, ErrorEventDetail];
  "ErrorEventsService/SearchErrorEvents": [SearchErrorEventsRequest, SearchErrorEventsResponse];
  "ErrorIssuePoliciesService/GetErrorEscalationPolicy": [GetErrorEscalationPolicyRequest, ErrorEscalationPolicy];
  "ErrorIssuePoliciesService/GetErrorNotificationPolicy": [GetErrorNotificationPolicyRequest, ErrorNotificationPolicy];
  "ErrorIssuePoliciesService/ReplaceErrorEscalationPolicy": [ReplaceErrorEscalationPolicyRequest, ErrorEscalationPolicy];
  "ErrorIssuePoliciesService/ReplaceErrorNotificationPolicy": [ReplaceErrorNotificationPolicyRequest, ErrorNotificationPolicy];
  "ErrorIssueWorkflowService/AssignErrorIssue": [AssignErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/ClaimErrorIssue": [ClaimErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/CommentOnErrorIssue": [CommentOnErrorIssueRequest, ErrorIssueEvent];
  "ErrorIssueWorkflowService/HeartbeatErrorIssue": [HeartbeatErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/LinkErrorIssuePullRequest": [LinkErrorIssuePullRequestRequest, ErrorIssuePullRequest];
  "ErrorIssueWorkflowService/ListErrorIncidents": [ListErrorIncidentsRequest, ListErrorIncidentsResponse];
  "ErrorIssueWorkflowService/ListErrorIssueActors": [ListErrorIssueActorsRequest, ListErrorIssueActorsResponse];
  "ErrorIssueWorkflowService/ListErrorIssueEvents": [ListErrorIssueEventsRequest, ListErrorIssueEventsResponse];
  "ErrorIssueWorkflowService/ListErrorIssuePullRequests": [ListErrorIssuePullRequestsRequest, ListErrorIssuePullRequestsResponse];
  "ErrorIssueWorkflowService/MergeErrorIssues": [MergeErrorIssuesRequest, ErrorIssue];
  "ErrorIssueWorkflowService/ProposeErrorIssueFix": [ProposeErrorIssueFixRequest, ErrorIssue];
  "ErrorIssueWorkflowService/RegisterErrorIssueAgent": [RegisterErrorIssueAgentRequest, Actor];
  "ErrorIssueWorkflowService/ReleaseErrorIssue": [ReleaseErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/SetErrorIssueSeverity": [SetErrorIssueSeverityRequest, ErrorIssueSeverityResult];
  "ErrorIssueWorkflowService/SplitErrorIssue": [SplitErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/TransitionErrorIssue": [TransitionErrorIssueRequest, ErrorIssue];
  "ErrorIssueWorkflowService/UnlinkErrorIssuePullRequest": [UnlinkErrorIssuePullRequestRequest, ErrorIssue];
  "ErrorIssuesService/CountErrorIssues": [CountErrorIssuesRequest, ErrorIssueCounts];
  "ErrorIssuesService/GetErrorIssue": [GetErrorIssueRequest, ErrorIssueDetail];
  "ErrorIssuesService/ListErrorIssueServiceCounts": [ListErrorIssueServiceCountsRequest, ListErrorIssueServiceCountsResponse];
  "ErrorIssuesService/ListErrorIssues": [ListErrorIssuesRequest, ListErrorIssuesResponse];
  "HostingPlatformsService/ConnectHostingPlatform": [ConnectHostingPlatformRequest, HostingPlatform];
  "HostingPlatformsService/DisconnectHostingPlatform": [DisconnectHostingPlatformRequest, DisconnectedHostingPlatform];
  "HostingPlatformsService/GetHostingPlatform": [GetHostingPlatformRequest, HostingPlatform];
  "HostingPlatformsService/ListHostingDeployments": [ListHostingDeploymentsRequest, ListHostingDeploymentsResponse];
  "HostingPlatformsService/ListHostingProjects": [ListHostingProjectsRequest, ListHostingProjectsResponse];
  "HostingPlatformsService/SyncHostingPlatform": [SyncHostingPlatformRequest, HostingSync];
  "IngestKeysService/CreateCustomIngestKey": [CreateCustomIngestKeyRequest, IngestKeyWithSecret];
  "IngestKeysService/DeleteCustomIngestKey": [DeleteCustomIngestKeyRequest, DeletedIngestKey];
  "IngestKeysService/GetCustomIngestKey": [GetCustomIngestKeyRequest, IngestKey];
  "IngestKeysService/GetIngestKeys": [GetIngestKeysRequest, IngestKeys];
  "IngestKeysService/GetSamplingPolicy": [GetSamplingPolicyRequest, SamplingPolicy];
  "IngestKeysService/ListCustomIngestKeys": [ListCustomIngestKeysRequest, ListCustomIngestKeysResponse];
  "IngestKeysService/RollCustomIngestKey": [RollCustomIngestKeyRequest, IngestKeyWithSecret];
  "IngestKeysService/RollPrivateIngestKey": [RollPrivateIngestKeyRequest, IngestKeys];
  "IngestKeysService/RollPublicIngestKey": [RollPublicIngestKeyRequest, IngestKeys];
  "IngestKeysService/UpdateCustomIngestKey": [UpdateCustomIngestKeyRequest, IngestKey];
  "IngestKeysService/UpdateSamplingPolicy": [UpdateSamplingPolicyRequest, SamplingPolicy];
  "InstrumentationService/DismissInstrumentationRecommendation": [DismissInstrumentationRecommendationRequest, Recommendation];
  "InstrumentationService/GetSetupAudit": [GetSetupAuditRequest, SetupAudit];
  "InstrumentationService/GetTelemetrySignals": [GetTelemetrySignalsRequest, TelemetrySignals];
  "InstrumentationService/ListInstrumentationRecommendations": [ListInstrumentationRecommendationsRequest, ListInstrumentationRecommendationsResponse];
  "InstrumentationService/ReopenInstrumentationRecommendation": [ReopenInstrumentationRecommendationRequest, Recommendation];
  "IntegrationsService/ListIntegrations": [ListIntegrationsRequest, ListIntegrationsResponse];
  "InvestigationsService/AddInvestigationFinding": [AddInvestigationFindingRequest, Investigation];
  "InvestigationsService/CreateInvestigation": [CreateInvestigationRequest, Investigation];
  "InvestigationsService/DeleteInvestigation": [DeleteInvestigationRequest, DeletedInvestigation];
  "InvestigationsService/GetInvestigation": [GetInvestigationRequest, Investigation];
  "InvestigationsService/GetInvestigationReport": [GetInvestigationReportRequest, InvestigationReport];
  "InvestigationsService/ListInvestigations": [ListInvestigationsRequest, ListInvestigationsResponse];
  "InvestigationsService/UpdateInvestigation": [UpdateInvestigationRequest, Investigation];
  "LogpushConnectorsService/CreateLogpushConnector": [CreateLogpushConnectorRequest, LogpushConnectorWithSetup];
  "LogpushConnectorsService/DeleteLogpushConnector": [DeleteLogpushConnectorRequest, DeletedLogpushConnector];
  "LogpushConnectorsService/GetLogpushConnector": [GetLogpushConnectorRequest, LogpushConnector];
  "LogpushConnectorsService/ListLogpushConnectors": [ListLogpushConnectorsRequest, ListLogpushConnectorsResponse];
  "LogpushConnectorsService/RotateLogpushConnector": [RotateLogpushConnectorRequest, LogpushConnectorWithSetup];
  "LogpushConnectorsService/UpdateLogpushConnector": [UpdateLogpushConnectorRequest, LogpushConnector];
  "LogsService/GetLog": [GetLogRequest, Log];
  "LogsService/GetLogContext": [GetLogContextRequest, LogContext];
  "LogsService/QueryLogBreakdown": [QueryLogBreakdownRequest, LogBreakdown];
  "LogsService/QueryLogTimeseries": [QueryLogTimeseriesRequest, LogTimeseries];
  "LogsService/SearchLogFacets": [SearchLogFacetsRequest, FacetList];
  "LogsService/SearchLogPatterns": [SearchLogPatternsRequest, LogPatternList];
  "LogsService/SearchLogs": [SearchLogsRequest, SearchLogsResponse];
  "MarkersService/CreateMarker": [CreateMarkerRequest, Marker];
  "MarkersService/DeleteMarker": [DeleteMarkerRequest, DeletedMarker];
  "MarkersService/GetMarker": [GetMarkerRequest, Marker];
  "MarkersService/ListMarkers": [ListMarkersRequest, ListMarkersResponse];
  "MarkersService/UpdateMarker": [UpdateMarkerRequest, Marker];
  "MetricsService/GetMetric": [GetMetricRequest, MetricDetail];
  "MetricsService/ListMetrics": [ListMetricsRequest, ListMetricsResponse];
  "MetricsService/QueryMetricBreakdown": [QueryMetricBreakdownRequest, MetricBreakdown];
  "MetricsService/QueryMetricsTimeseries": [QueryMetricsTimeseriesRequest, MetricTimeseries];
  "MetricsService/SummarizeMetrics": [SummarizeMetricsRequest, SummarizeMetricsResponse];
  "OrganizationService/AcceptInvitation": [AcceptInvitationRequest, AcceptedInvitation];
  "OrganizationService/CreateInvitation": [CreateInvitationRequest, InvitationWithLink];
  "OrganizationService/DeleteOrganization": [DeleteOrganizationRequest, DeletedOrganization];
  "OrganizationService/GetOrganization": [GetOrganizationRequest, Organization];
  "OrganizationService/ListInvitations": [ListInvitationsRequest, ListInvitationsResponse];
  "OrganizationService/ListMembers": [ListMembersRequest, ListMembersResponse];
  "OrganizationService/PreviewInvitation": [PreviewInvitationRequest, InvitationPreview];
  "OrganizationService/RemoveMember": [RemoveMemberRequest, RemovedMember];
  "OrganizationService/RevokeInvitation": [RevokeInvitationRequest, Invitation];
  "OrganizationService/UpdateMember": [UpdateMemberRequest, Member];
  "OrganizationService/UpdateOrganization": [UpdateOrganizationRequest, Organization];
  "PreferencesService/GetPreferences": [GetPreferencesRequest, Preferences];
  "PreferencesService/UpdatePreferences": [UpdatePreferencesRequest, Preferences];
  "ProductEventAnalyticsService/QueryProductEventBreakdown": [QueryProductEventBreakdownRequest, ProductEventBreakdown];
  "ProductEventAnalyticsService/QueryProductEventTimeseries": [QueryProductEventTimeseriesRequest, ProductEventTimeseries];
  "ProductEventsService/ListProductEvents": [ListProductEventsRequest, ListProductEventsResponse];
  "ProductEventsService/SearchProductEventFunnel": [SearchProductEventFunnelRequest, ProductEventFunnel];
  "ProductEventsService/SearchProductEventPaths": [SearchProductEventPathsRequest, ProductEventPaths];
  "ProductEventsService/SearchProductEvents": [SearchProductEventsRequest, SearchProductEventsResponse];
  "QueryService/QueryBreakdown": [QueryBreakdownRequest, QueryBreakdownResponse];
  "QueryService/QueryTimeseries": [QueryTimeseriesRequest, QueryTimeseriesResponse];
  "SavedViewsService/CreateSavedView": [CreateSavedViewRequest, SavedView];
  "SavedViewsService/DeleteSavedView": [DeleteSavedViewRequest, DeletedSavedView];
  "SavedViewsService/GetSavedView": [GetSavedViewRequest, SavedView];
  "SavedViewsService/ListSavedViews": [ListSavedViewsRequest, ListSavedViewsResponse];
  "SavedViewsService/UpdateSavedView": [UpdateSavedViewRequest, SavedView];
  "ScrapeTargetsService/CreateScrapeTarget": [CreateScrapeTargetRequest, ScrapeTarget];
  "ScrapeTargetsService/DeleteScrapeTarget": [DeleteScrapeTargetRequest, DeletedScrapeTarget];
  "ScrapeTargetsService/GetScrapeTarget": [GetScrapeTargetRequest, ScrapeTarget];
  "ScrapeTargetsService/ListScrapeTargetChecks": [ListScrapeTargetChecksRequest, ListScrapeTargetChecksResponse];
  "ScrapeTargetsService/ListScrapeTargets": [ListScrapeTargetsRequest, ListScrapeTargetsResponse];
  "ScrapeTargetsService/ProbeScrapeTarget": [ProbeScrapeTargetRequest, ScrapeTargetProbeResult];
  "ScrapeTargetsService/UpdateScrapeTarget": [UpdateScrapeTargetRequest, ScrapeTarget];
  "ServiceMapService/GetServiceMap": [GetServiceMapRequest, ServiceMap];
  "ServicesService/GetService": [GetServiceRequest, Service];
  "ServicesService/GetServiceApdex": [GetServiceApdexRequest, ServiceApdex];
  "ServicesService/GetServiceOverview": [GetServiceOverviewRequest, ServiceOverview];
  "ServicesService/ListServiceOperations": [ListServiceOperationsRequest, ListServiceOperationsResponse];
  "ServicesService/ListServiceReleases": [ListServiceReleasesRequest, ServiceReleases];
  "ServicesService/ListServices": [ListServicesRequest, ListServicesResponse];
  "ServicesService/SearchReleases": [SearchReleasesRequest, ReleaseList];
  "SessionReplaysService/GetSessionReplay": [GetSessionReplayRequest, SessionReplay];
  "SessionReplaysService/GetSessionReplayEvents": [GetSessionReplayEventsRequest, GetSessionReplayEventsResponse];
  "SessionReplaysService/GetSessionReplayManifest": [GetSessionReplayManifestRequest, SessionReplayManifest];
  "SessionReplaysService/GetSessionReplayTranscript": [GetSessionReplayTranscriptRequest, GetSessionReplayTranscriptResponse];
  "SessionReplaysService/ListSessionReplayTraces": [ListSessionReplayTracesRequest, ListSessionReplayTracesResponse];
  "SessionReplaysService/ListSessionReplaysForTrace": [ListSessionReplaysForTraceRequest, ListSessionReplaysForTraceResponse];
  "SessionReplaysService/SearchSessionReplayFacets": [SearchSessionReplayFacetsRequest, SessionReplayFacets];
  "SessionReplaysService/SearchSessionReplays": [SearchSessionReplaysRequest, SearchSessionReplaysResponse];
  "SessionsService/ChangePassword": [ChangePasswordRequest, ChangedPassword];
  "SessionsService/GetSession": [GetSessionRequest, Session];
  "SessionsService/SignIn": [SignInRequest, SessionWithToken];
  "SessionsService/SignOut": [SignOutRequest, EndedSession];
  "ShareService/ResolveAlertChart": [ResolveAlertChartRequest, ChartPicture];
  "ShareService/ResolveChatChart": [ResolveChatChartRequest, ChartPicture];
  "ShareService/ResolveShare": [ResolveShareRequest, ResolvedShare];
  "ShareService/ResolveShareOgCard": [ResolveShareOgCardRequest, ShareOgCard];
  "ShareService/ResolveShareOgMeta": [ResolveShareOgMetaRequest, ShareOgMeta];
  "ShareService/ResolveShareWidgetData": [ResolveShareWidgetDataRequest, ShareWidgetData];
  "SourceCodeService/CompareSourceCommits": [CompareSourceCommitsRequest, SourceComparison];
  "SourceCodeService/GetSourceCommit": [GetSourceCommitRequest, SourceCommit];
  "SourceCodeService/ListSourceCiRuns": [ListSourceCiRunsRequest, SourceCiRuns];
  "SourceCodeService/ReadSourceFile": [ReadSourceFileRequest, SourceFile];
  "SourceCodeService/SearchSourceCode": [SearchSourceCodeRequest, SourceMatches];
  "SourceHostingService/DeleteSourceRepository": [DeleteSourceRepositoryRequest, DeletedSourceRepository];
  "SourceHostingService/DisconnectSource": [DisconnectSourceRequest, DisconnectedSource];
  "SourceHostingService/GetSourceHost": [GetSourceHostRequest, SourceHost];
  "SourceHostingService/GetSourceRepository": [GetSourceRepositoryRequest, SourceRepository];
  "SourceHostingService/InstallSourceHost": [InstallSourceHostRequest, SourceHostInstall];
  "SourceHostingService/ListSourceRepositories": [ListSourceRepositoriesRequest, ListSourceRepositoriesResponse];
  "SourceHostingService/SetTrackedBranch": [SetTrackedBranchRequest, SourceRepository];
  "SourceHostingService/SyncSourceConnection": [SyncSourceConnectionRequest, SourceConnection];
  "SourceHostingService/UpdateSourceConnection": [UpdateSourceConnectionRequest, SourceConnection];
  "SqlService/ListSqlTables": [ListSqlTablesRequest, ListSqlTablesResponse];
  "SqlService/RunSql": [RunSqlRequest, SqlResult];
  "TracesService/GetSpan": [GetSpanRequest, Span];
  "TracesService/GetTrace": [GetTraceRequest, Trace];
  "TracesService/GetTraceSkeleton": [GetTraceSkeletonRequest, TraceSkeleton];
  "TracesService/QueryTraceBreakdown": [QueryTraceBreakdownRequest, TraceBreakdown];
  "TracesService/QueryTraceDistribution": [QueryTraceDistributionRequest, TraceDistribution];
  "TracesService/QueryTraceTimeseries": [QueryTraceTimeseriesRequest, TraceTimeseries];
  "TracesService/SearchSpans": [SearchSpansRequest, SearchSpansResponse];
  "TracesService/SearchTraceFacets": [SearchTraceFacetsRequest, FacetList];
  "TracesService/SearchTraces": [SearchTracesRequest, SearchTracesResponse];
  "TracesService/SummarizeTraces": [SummarizeTracesRequest, SummarizeTracesResponse];
}

export interface AcceptInvitationRequest {
  token?: string;
  email?: string;
  password?: string;
  name?: string;
}

export interface AcceptedInvitation {
  object?: "accepted_invitation";
  user?: User;
  organization?: SessionOrganization;
}

export interface Actor {
  id?: string;
  type?: "user" | "agent";
  userId?: string;
  agentName?: string;
  model?: string;
  capabilities?: Array<string>;
  lastActiveAt?: string;
}

export interface AddInvestigationFindingRequest {
  id?: string;
  text?: string;
  value?: number;
  unit?: string;
  call?: string;
  request?: Record<string, unknown>;
}

export interface AgentCheck {
  id?: "turns" | "model-calls" | "tools" | "loops" | "tokens";
  name?: string;
  status?: "passed" | "warning" | "failed" | "skipped";
  headline?: string;
  action?: string;
  fixArea?: "agent" | "model" | "tool" | "instrumentation";
}

export interface AgentCount {
  kind?: string;
  name?: string;
  count?: number;
}

export interface AgentFailureCount {
  kind?: string;
  label?: string;
  count?: number;
}

export interface AgentFeedback {
  id?: string;
  object?: "agent_feedback";
  kind?: "bug" | "feature_request" | "improvement" | "documentation" | "praise" | "other";
  impact?: "blocking" | "degraded" | "minor";
  summary?: string;
  reason?: string;
  details?: string;
  relatedTo?: string;
  agent?: FeedbackAgent;
  source?: "mcp" | "api";
  createdAt?: string;
}

export interface AgentFilters {
  services?: Array<string>;
  environments?: Array<string>;
  models?: Array<string>;
  agents?: Array<string>;
  tools?: Array<string>;
  vendors?: Array<string>;
}

export interface AgentFinding {
  kind?: string;
  severity?: "failure" | "anomaly";
  label?: string;
  count?: number;
  turn?: number;
  detail?: string;
  spanId?: string;
  turns?: Array<number>;
}

export interface AgentModelUse {
  model?: string;
  callCount?: number;
  totalTokens?: number;
  cost?: number;
}

export interface AgentRange {
  figure?: "duration_ms" | "cost" | "total_tokens" | "llm_calls" | "tool_calls";
  least?: number;
  most?: number;
}

export interface AgentSession {
  id?: string;
  spans?: Array<AgentSpan>;
  truncated?: boolean;
  turns?: Array<AgentTurn>;
}

export interface AgentSessionFigures {
  object?: "agent_session_figures";
  sessionId?: string;
  startTime?: string;
  truncated?: boolean;
  resumeStartTime?: string;
  spanCount?: number;
  traceCount?: number;
  modelCallCount?: number;
  toolCallCount?: number;
  vendors?: Array<string>;
  agents?: Array<string>;
  services?: Array<string>;
  tokenReporting?: "per-call" | "roll-up" | "none";
  tokens?: AgentTokens;
  cost?: number;
  models?: Array<AgentModelUse>;
  tools?: Array<AgentToolUse>;
  failures?: Array<AgentFailureCount>;
  firstTokenMs?: number;
  inferenceMs?: number;
  toolMs?: number;
  wallClockMs?: number;
  activeMs?: number;
  idleMs?: number;
  idleGapCount?: number;
  turns?: Array<AgentTurn>;
}

export interface AgentSessionSummary {
  id?: string;
  vendors?: Array<string>;
  traceCount?: number;
  spanCount?: number;
  errorSpanCount?: number;
  toolErrorCount?: number;
  turnErrorCount?: number;
  turns?: number;
  services?: Array<string>;
  models?: Array<string>;
  agents?: Array<string>;
  startTime?: string;
  endTime?: string;
  llmCalls?: number;
  toolCalls?: number;
  totalTokens?: number;
  cost?: number;
}

export interface AgentSessionVerdict {
  object?: "agent_session_verdict";
  sessionId?: string;
  status?: "clean" | "attention" | "failed";
  headline?: string;
  traceId?: string;
  spanId?: string;
  failedAt?: string;
  turnCount?: number;
  modelCallCount?: number;
  toolCallCount?: number;
  checks?: Array<AgentCheck>;
  findings?: Array<AgentFinding>;
  truncated?: boolean;
}

export interface AgentSpan {
  traceId?: string;
  spanId?: string;
  parentSpanId?: string;
  startTime?: string;
  durationMs?: number;
  operation?: string;
  name?: string;
  serviceName?: string;
  failed?: boolean;
  message?: string;
  errorType?: string;
  model?: string;
  vendor?: string;
  agent?: string;
  tool?: string;
  inputTokens?: number;
  outputTokens?: number;
  cacheReadTokens?: number;
  cacheWriteTokens?: number;
  reasoningTokens?: number;
  cost?: number;
  hasTokens?: boolean;
  hasCost?: boolean;
  firstTokenMs?: number;
  system?: string;
  input?: string;
  output?: string;
  turn?: number;
}

export interface AgentTokens {
  input?: number;
  cacheRead?: number;
  cacheWrite?: number;
  output?: number;
  reasoning?: number;
  total?: number;
}

export interface AgentTool {
  name?: string;
  description?: string;
  calls?: number;
  failed?: number;
  avgMs?: number;
  p95Ms?: number;
  sessions?: number;
  firstSeen?: string;
  lastSeen?: string;
}

export interface AgentToolError {
  failure?: AgentToolFailure;
  variants?: Array<AgentCount>;
  breakdown?: Array<AgentCount>;
  sessions?: Array<AgentCount>;
  samples?: Array<AgentToolSample>;
  hasMore?: boolean;
}

export interface AgentToolFailure {
  fingerprint?: string;
  errorType?: string;
  message?: string;
  count?: number;
  sessions?: number;
  lastSeen?: string;
  trend?: Array<number>;
}

export interface AgentToolSample {
  sessionId?: string;
  span?: AgentSpan;
}

export interface AgentToolUse {
  name?: string;
  callCount?: number;
  failedCount?: number;
  totalMs?: number;
  slowestMs?: number;
}

export interface AgentToolsOverview {
  tools?: Array<AgentTool>;
  current?: AgentTool;
  previous?: AgentTool;
  failures?: Array<AgentToolFailure>;
  bucketSeconds?: number;
}

export interface AgentTurn {
  number?: number;
  kind?: "agent" | "trace";
  agent?: string;
  traceId?: string;
  spanId?: string;
  startTime?: string;
  durationMs?: number;
  spanCount?: number;
  errorSpanCount?: number;
  failed?: boolean;
  asked?: string;
}

export interface AlertBaseline {
  sensitivity?: "low" | "normal" | "high";
}

export interface AlertBurn {
  target?: number;
  periodDays?: number;
  minimumBad?: number;
}

export interface AlertCheck {
  object?: "alert_check";
  timestamp?: string;
  groupKey?: string;
  status?: "breached" | "healthy" | "skipped" | "error";
  skipReason?: "no_data" | "below_min_samples" | "no_value";
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  observedValue?: number;
  sampleCount?: number;
  windowMinutes?: number;
  windowStart?: string;
  windowEnd?: string;
  consecutiveBreaches?: number;
  consecutiveHealthy?: number;
  incidentId?: string;
  incidentTransition?: "none" | "opened" | "continued" | "resolved";
  evaluationDurationMs?: string;
  errorMessage?: string;
  errorCategory?: string;
}

export interface AlertCheckPoint {
  bucket?: string;
  groupKey?: string;
  totalCount?: string;
  breachedCount?: string;
  healthyCount?: string;
  skippedCount?: string;
  errorCount?: string;
  transitionCount?: string;
  observedValue?: number;
  threshold?: number;
}

export interface AlertCheckSummary {
  object?: "alert_check.summary";
  bucketSeconds?: number;
  topGroupKeys?: Array<string>;
  totals?: AlertCheckTotals;
  points?: Array<AlertCheckPoint>;
}

export interface AlertCheckTotals {
  total?: string;
  breached?: string;
  healthy?: string;
  skipped?: string;
  error?: string;
  transitions?: string;
}

export interface AlertDelivery {
  id?: string;
  object?: "alert_delivery";
  incidentId?: string;
  ruleId?: string;
  destinationId?: string;
  destinationName?: string;
  destinationType?: "pagerduty" | "webhook" | "hazel-oauth" | "discord" | "telegram" | "email" | "chat";
  deliveryKey?: string;
  eventType?: "trigger" | "resolve" | "renotify" | "test";
  attemptNumber?: number;
  status?: "queued" | "processing" | "success" | "failed";
  scheduledAt?: string;
  attemptedAt?: string;
  providerMessage?: string;
  providerReference?: string;
  responseCode?: number;
  errorMessage?: string;
}

export interface AlertDestination {
  id?: string;
  object?: "alert_destination";
  name?: string;
  type?: "pagerduty" | "webhook" | "hazel-oauth" | "discord" | "telegram" | "email" | "chat";
  enabled?: boolean;
  summary?: string;
  channelLabel?: string;
  memberUserIds?: Array<string>;
  chatConnector?: string;
  chatWorkspaceId?: string;
  lastTestedAt?: string;
  lastTestError?: string;
  disabledReason?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface AlertDestinationMutationResponse {
  id?: string;
  object?: "alert_destination";
  name?: string;
  type?: "pagerduty" | "webhook" | "hazel-oauth" | "discord" | "telegram" | "email" | "chat";
  enabled?: boolean;
  summary?: string;
  channelLabel?: string;
  memberUserIds?: Array<string>;
  chatConnector?: string;
  chatWorkspaceId?: string;
  lastTestedAt?: string;
  lastTestError?: string;
  disabledReason?: string;
  createdAt?: string;
  updatedAt?: string;
  txid?: string;
}

export interface AlertDestinationTestResult {
  object?: "alert_destination.test_result";
  success?: boolean;
  message?: string;
}

export interface AlertIncident {
  id?: string;
  object?: "alert_incident";
  ruleId?: string;
  ruleName?: string;
  groupKey?: string;
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  severity?: "warning" | "critical";
  status?: "open" | "resolved";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  firstTriggeredAt?: string;
  lastTriggeredAt?: string;
  resolvedAt?: string;
  lastObservedValue?: number;
  lastSampleCount?: string;
  dedupeKey?: string;
  lastDeliveredEventType?: "trigger" | "resolve" | "renotify" | "test";
  lastNotifiedAt?: string;
  holdReason?: "no_data" | "volume_collapsed" | "sampling_changed" | "probe_failed";
  heldSince?: string;
  errorIssueId?: string;
}

export interface AlertIncidentCounts {
  open?: string;
  resolved?: string;
}

export interface AlertNotificationTemplate {
  title?: string;
  body?: string;
  overrides?: Record<string, AlertNotificationTexts>;
}

export interface AlertNotificationTexts {
  title?: string;
  body?: string;
}

export interface AlertPreviewIncident {
  groupKey?: string;
  start?: string;
  end?: string;
}

export interface AlertPreviewPoint {
  bucket?: string;
  value?: number;
  sampleCount?: number;
  status?: "breached" | "healthy" | "skipped";
  skipReason?: "no_data" | "below_min_samples" | "no_value";
  provisional?: boolean;
}

export interface AlertPreviewSeries {
  groupKey?: string;
  points?: Array<AlertPreviewPoint>;
}

export interface AlertRule {
  id?: string;
  object?: "alert_rule";
  name?: string;
  notes?: string;
  notificationTemplate?: AlertNotificationTemplate;
  enabled?: boolean;
  severity?: "warning" | "critical";
  serviceNames?: Array<string>;
  excludeServiceNames?: Array<string>;
  environments?: Array<string>;
  tags?: Array<string>;
  groupBy?: Array<string>;
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  windowMinutes?: number;
  minimumSampleCount?: string;
  consecutiveBreachesRequired?: number;
  consecutiveHealthyRequired?: number;
  renotifyIntervalMinutes?: number;
  apdexThresholdMs?: number;
  queryBuilderDraft?: Record<string, unknown>;
  rawQuerySql?: string;
  rawQueryReducer?: "identity" | "sum" | "avg" | "min" | "max";
  destinationIds?: Array<string>;
  resolveThreshold?: number;
  alertOnNoData?: boolean;
  noDataBehavior?: "skip" | "zero";
  mutedUntil?: string;
  lastEvaluationError?: string;
  lastEvaluatedAt?: string;
  lastScheduledAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
  updatedBy?: string;
  burn?: AlertBurn;
  baseline?: AlertBaseline;
}

export interface AlertRuleMutationResponse {
  id?: string;
  object?: "alert_rule";
  name?: string;
  notes?: string;
  notificationTemplate?: AlertNotificationTemplate;
  enabled?: boolean;
  severity?: "warning" | "critical";
  serviceNames?: Array<string>;
  excludeServiceNames?: Array<string>;
  environments?: Array<string>;
  tags?: Array<string>;
  groupBy?: Array<string>;
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  windowMinutes?: number;
  minimumSampleCount?: string;
  consecutiveBreachesRequired?: number;
  consecutiveHealthyRequired?: number;
  renotifyIntervalMinutes?: number;
  apdexThresholdMs?: number;
  queryBuilderDraft?: Record<string, unknown>;
  rawQuerySql?: string;
  rawQueryReducer?: "identity" | "sum" | "avg" | "min" | "max";
  destinationIds?: Array<string>;
  resolveThreshold?: number;
  alertOnNoData?: boolean;
  noDataBehavior?: "skip" | "zero";
  mutedUntil?: string;
  lastEvaluationError?: string;
  lastEvaluatedAt?: string;
  lastScheduledAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
  updatedBy?: string;
  burn?: AlertBurn;
  baseline?: AlertBaseline;
  txid?: string;
}

export interface AlertRulePreview {
  object?: "alert_rule.preview";
  bucketSeconds?: number;
  windowMinutes?: number;
  threshold?: number;
  thresholdUpper?: number;
  comparator?: string;
  truncatedToStart?: string;
  series?: Array<AlertPreviewSeries>;
  wouldFire?: Array<AlertPreviewIncident>;
}

export interface AlertRuleTestResult {
  object?: "alert_rule.test_result";
  status?: "breached" | "healthy" | "skipped";
  value?: number;
  sampleCount?: number;
  threshold?: number;
  thresholdUpper?: number;
  comparator?: string;
  reason?: string;
}

export interface ApiKey {
  id?: string;
  object?: "api_key";
  name?: string;
  description?: string;
  keyPrefix?: string;
  kind?: "standard" | "mcp";
  scopes?: Array<string>;
  revoked?: boolean;
  revokedAt?: string;
  lastUsedAt?: string;
  expiresAt?: string;
  createdAt?: string;
  createdBy?: string;
  createdByEmail?: string;
}

export interface ApiKeyMutationResponse {
  id?: string;
  object?: "api_key";
  name?: string;
  description?: string;
  keyPrefix?: string;
  kind?: "standard" | "mcp";
  scopes?: Array<string>;
  revoked?: boolean;
  revokedAt?: string;
  lastUsedAt?: string;
  expiresAt?: string;
  createdAt?: string;
  createdBy?: string;
  createdByEmail?: string;
  txid?: string;
}

export interface ApiKeyWithSecret {
  id?: string;
  object?: "api_key";
  name?: string;
  description?: string;
  keyPrefix?: string;
  kind?: "standard" | "mcp";
  scopes?: Array<string>;
  revoked?: boolean;
  revokedAt?: string;
  lastUsedAt?: string;
  expiresAt?: string;
  createdAt?: string;
  createdBy?: string;
  createdByEmail?: string;
  secret?: string;
  txid?: string;
}

export interface ApproveCliLoginRequest {
  userCode?: string;
}

export interface AssignErrorIssueRequest {
  id?: string;
  actorId?: string;
}

export interface AttributeFilter {
  key?: string;
  operator?: "exists" | "equals" | "contains" | "gt" | "gte" | "lt" | "lte";
  value?: unknown;
  negated?: boolean;
}

export interface AttributeKey {
  object?: "attribute_key";
  key?: string;
  scope?: "resource" | "span" | "log" | "metric" | "event" | "link";
  valueTypes?: Array<"string" | "int" | "double" | "bool" | "bytes" | "array" | "kvlist">;
  count?: number;
}

export interface AttributeMapping {
  id?: string;
  object?: "attribute_mapping";
  name?: string;
  sourceContext?: "span" | "resource";
  sourceKey?: string;
  targetKey?: string;
  operation?: "copy" | "move";
  enabled?: boolean;
  createdAt?: string;
  updatedAt?: string;
}

export interface AttributeValue {
  object?: "attribute_value";
  value?: string;
  count?: number;
}

export interface AuditLogChanges {
  fields?: Array<string>;
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
}

export interface AuditLogEntry {
  id?: string;
  object?: "audit_log_entry";
  action?: string;
  outcome?: "allowed" | "denied";
  denialReason?: string;
  actorType?: "user" | "api_key" | "agent" | "system";
  actorId?: string;
  actorName?: string;
  actorAvatarUrl?: string;
  affectedUser?: string;
  source?: "dashboard" | "api" | "mcp" | "chat_platform" | "system";
  resourceType?: string;
  resourceId?: string;
  changes?: AuditLogChanges;
  metadata?: Record<string, unknown>;
  requestId?: string;
  originIp?: string;
  originCountry?: string;
  occurredAt?: string;
  recordedAt?: string;
}

export interface Cause {
  kind?: "release" | "dependency" | "error" | "logs" | "operation";
  serviceName?: string;
  statement?: string;
  weight?: number;
  target?: string;
}

export interface ChangePasswordRequest {
  currentPassword?: string;
  newPassword?: string;
}

export interface ChangedPassword {
  object?: "password";
  user?: User;
  sessionsEnded?: number;
}

export interface ChartPicture {
  kind?: "line" | "area" | "bar" | "ranked";
  title?: string;
  unit?: "number" | "percent" | "duration_ms" | "bytes" | "requests_per_sec";
  series?: Array<ChartPictureSeries>;
  threshold?: number;
  breachSide?: "above" | "below" | "none";
  points?: Array<ChartPicturePoint>;
}

export interface ChartPicturePoint {
  name?: string;
  value?: number;
}

export interface ChartPictureSeries {
  name?: string;
  points?: Array<Array<unknown>>;
}

export interface ChartPresentation {
  legend?: "visible" | "hidden" | "right";
  seriesStats?: boolean;
  tooltip?: "visible" | "hidden";
  showPoints?: boolean;
  fillNulls?: unknown;
  compareToPreviousPeriod?: boolean;
}

export interface ChatConnector {
  id?: "slack" | "discord";
  object?: "chat_connector";
  name?: string;
  available?: boolean;
  workspaces?: Array<ChatWorkspace>;
  supportsIdentity?: boolean;
  identity?: ChatIdentity;
}

export interface ChatConnectorInstall {
  object?: "chat_connector.install";
  url?: string;
}

export interface ChatIdentity {
  externalUserId?: string;
  displayName?: string;
  createdAt?: string;
}

export interface ChatIdentityLink {
  object?: "chat_connector.identity_link";
  url?: string;
}

export interface ChatWorkspace {
  id?: string;
  object?: "chat_workspace";
  connector?: "slack" | "discord";
  externalWorkspaceId?: string;
  name?: string;
  settings?: Record<string, string>;
  createdAt?: string;
  status?: "connected" | "error" | "reconnect_needed" | "disconnected";
  error?: string;
  syncedAt?: string;
}

export interface ChatWorkspaceDestination {
  id?: string;
  name?: string;
  private?: boolean;
}

export interface ClaimErrorIssueRequest {
  id?: string;
  leaseDurationSeconds?: number;
}

export interface CliCredential {
  object?: "cli_credential";
  token?: string;
  keyId?: string;
  keyPrefix?: string;
  expiresAt?: string;
  user?: User;
  organization?: SessionOrganization;
}

export interface CliLogin {
  object?: "cli_login";
  deviceCode?: string;
  userCode?: string;
  verificationUri?: string;
  verificationUriComplete?: string;
  expiresIn?: number;
  interval?: number;
}

export interface ColumnThreshold {
  value?: number;
  color?: string;
}

export interface CommentOnErrorIssueRequest {
  id?: string;
  body?: string;
  visibility?: "internal" | "public";
  kind?: "comment" | "agent_note";
}

export interface ComparePeriodsRequest {
  startTime?: string;
  endTime?: string;
  previousStartTime?: string;
  previousEndTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
}

export interface CompareSourceCommitsRequest {
  id?: string;
  base?: string;
  head?: string;
  maxCommits?: number;
}

export interface ComparedService {
  name?: string;
  current?: PeriodFigures;
  previous?: PeriodFigures;
  flags?: Array<"error_rate_up" | "latency_up" | "throughput_drop">;
}

export interface ComputeRatio {
  numeratorName?: string;
  denominatorNames?: Array<string>;
}

export interface ConnectHostingPlatformRequest {
  platform?: string;
  token?: string;
  team?: string;
}

export interface ConnectPlanetScaleIntegrationRequest {
  returnTo?: string;
}

export interface CountAlertIncidentsRequest {
  ruleId?: string;
  severity?: "warning" | "critical";
  groupKey?: string;
}

export interface CountErrorIssuesRequest {
  workflowState?: "triage" | "todo" | "in_progress" | "in_review" | "verifying" | "done" | "regressed" | "cancelled" | "wontfix";
  severity?: "critical" | "high" | "medium" | "low" | "unset";
  kind?: "error" | "alert" | "integration";
  serviceName?: string;
  fingerprintHash?: string;
  deploymentEnvironment?: string;
  startTime?: string;
  endTime?: string;
  introducedAfter?: string;
  actionable?: "true";
  exceptionType?: string;
  search?: string;
  assignedActorId?: string;
  includeArchived?: boolean;
}

export interface CreateAgentFeedbackRequest {
  kind?: "bug" | "feature_request" | "improvement" | "documentation" | "praise" | "other";
  impact?: "blocking" | "degraded" | "minor";
  summary?: string;
  reason?: string;
  details?: string;
  relatedTo?: string;
  agent?: FeedbackAgentParams;
}

export interface CreateAlertDestinationRequest {
  name?: string;
  type?: "pagerduty" | "webhook" | "hazel-oauth" | "discord" | "telegram" | "email" | "chat";
  enabled?: boolean;
  integrationKey?: string;
  url?: string;
  signingSecret?: string;
  hazelOrganizationId?: string;
  hazelOrganizationName?: string;
  hazelOrganizationLogoUrl?: string;
  hazelChannelId?: string;
  hazelChannelName?: string;
  webhookUrl?: string;
  botToken?: string;
  chatId?: string;
  memberUserIds?: Array<string>;
  workspaceId?: string;
  channelId?: string;
}

export interface CreateAlertRuleRequest {
  name?: string;
  notes?: string;
  notificationTemplate?: AlertNotificationTemplate;
  enabled?: boolean;
  severity?: "warning" | "critical";
  serviceNames?: Array<string>;
  excludeServiceNames?: Array<string>;
  environments?: Array<string>;
  tags?: Array<string>;
  groupBy?: Array<string>;
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  windowMinutes?: number;
  minimumSampleCount?: string;
  consecutiveBreachesRequired?: number;
  consecutiveHealthyRequired?: number;
  renotifyIntervalMinutes?: number;
  apdexThresholdMs?: number;
  queryBuilderDraft?: Record<string, unknown>;
  rawQuerySql?: string;
  rawQueryReducer?: "identity" | "sum" | "avg" | "min" | "max";
  destinationIds?: Array<string>;
  resolveThreshold?: number;
  alertOnNoData?: boolean;
  burn?: AlertBurn;
  baseline?: AlertBaseline;
}

export interface CreateApiKeyRequest {
  name?: string;
  description?: string;
  expiresInSeconds?: number;
  kind?: "standard" | "mcp";
  scopes?: Array<string>;
}

export interface CreateAttributeMappingRequest {
  name?: string;
  sourceContext?: "span" | "resource";
  sourceKey?: string;
  targetKey?: string;
  operation?: "copy" | "move";
  enabled?: boolean;
}

export interface CreateCustomIngestKeyRequest {
  name?: string;
  description?: string;
  enabled?: boolean;
  allowedSignals?: Array<"traces" | "logs" | "metrics" | "sessions" | "events">;
  rateLimitPerSecond?: number;
  resourceAttributes?: Array<IngestKeyAttribute>;
  expiresAt?: string;
}

export interface CreateDashboardRequest {
  name?: string;
  description?: string;
  tags?: Array<string>;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  sections?: Array<DashboardSection>;
  variables?: Array<DashboardVariable>;
  refreshIntervalSeconds?: number;
}

export interface CreateInvestigationRequest {
  title?: string;
  question?: string;
  issueId?: string;
}

export interface CreateInvitationRequest {
  email?: string;
  role?: "org:admin" | "org:member";
}

export interface CreateLogpushConnectorRequest {
  name?: string;
  zoneName?: string;
  serviceName?: string;
}

export interface CreateMarkerRequest {
  kind?: "deploy" | "flag" | "configuration" | "note";
  title?: string;
  description?: string;
  occurredAt?: string;
  endedAt?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  url?: string;
}

export interface CreateSavedViewRequest {
  page?: "services" | "map" | "traces" | "logs" | "errors" | "metrics" | "incidents" | "replays" | "events" | "agents" | "sql";
  name?: string;
  description?: string;
  state?: string;
  visibility?: "private" | "shared";
}

export interface CreateScrapeTargetRequest {
  name?: string;
  serviceName?: string;
  url?: string;
  targetType?: "prometheus" | "planetscale";
  organization?: string;
  includeBranches?: Array<string>;
  excludeBranches?: Array<string>;
  scrapeIntervalSeconds?: number;
  labelsJson?: string;
  authType?: "none" | "bearer" | "basic" | "token";
  authCredentials?: string;
  enabled?: boolean;
}

export interface CriticalStep {
  spanId?: string;
  serviceName?: string;
  spanName?: string;
  selfMs?: number;
}

export interface Dashboard {
  id?: string;
  object?: "dashboard";
  name?: string;
  description?: string;
  tags?: Array<string>;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  sections?: Array<DashboardSection>;
  variables?: Array<DashboardVariable>;
  refreshIntervalSeconds?: number;
  createdAt?: string;
  updatedAt?: string;
}

export interface DashboardMutationResponse {
  id?: string;
  object?: "dashboard";
  name?: string;
  description?: string;
  tags?: Array<string>;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  sections?: Array<DashboardSection>;
  variables?: Array<DashboardVariable>;
  refreshIntervalSeconds?: number;
  createdAt?: string;
  updatedAt?: string;
  txid?: string;
}

export interface DashboardPersesImport {
  object?: "dashboard_import";
  dashboard?: DashboardMutationResponse;
  warnings?: Array<string>;
}

export interface DashboardSection {
  id?: string;
  title?: string;
  collapsed?: boolean;
  collapsible?: boolean;
  tabs?: Array<DashboardTab>;
}

export interface DashboardShare {
  id?: string;
  object?: "dashboard_share";
  dashboardId?: string;
  widgetId?: string;
  mode?: "public" | "org";
  token?: string;
  tokenSuffix?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface DashboardTab {
  id?: string;
  title?: string;
}

export interface DashboardTemplate {
  id?: string;
  object?: "dashboard_template";
  name?: string;
  description?: string;
  category?: "application" | "database" | "infrastructure" | "messaging";
  tags?: Array<string>;
  requirements?: Array<string>;
  requirement?: DashboardTemplateRequirement;
  requiredMetricPrefixes?: Array<string>;
  parameters?: Array<DashboardTemplateParameter>;
  preview?: Array<DashboardTemplateTile>;
}

export interface DashboardTemplateParameter {
  key?: string;
  label?: string;
  description?: string;
  required?: boolean;
  placeholder?: string;
}

export interface DashboardTemplatePreview {
  object?: "dashboard_template_preview";
  name?: string;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  variables?: Array<DashboardVariable>;
}

export interface DashboardTemplateRequirement {
  kind?: "metrics" | "integration" | "telemetry";
  label?: string;
  missing?: boolean;
  collector?: string;
  setupLabel?: string;
  hint?: string;
}

export interface DashboardTemplateTile {
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  kind?: "line" | "bar" | "hbar" | "area" | "pie" | "stat" | "gauge" | "table" | "list" | "histogram" | "heatmap" | "funnel" | "paths" | "markdown";
  title?: string;
}

export interface DashboardVariable {
  name?: string;
  label?: string;
  includeAll?: boolean;
  defaultValue?: string;
  type?: "query" | "custom" | "textbox";
  source?: VariableSource;
  options?: Array<VariableOption>;
}

export interface DashboardVersion {
  id?: string;
  object?: "dashboard_version";
  dashboardId?: string;
  versionNumber?: number;
  changeKind?: "created" | "renamed" | "description_changed" | "tags_changed" | "time_range_changed" | "variables_changed" | "refresh_interval_changed" | "widget_added" | "widget_removed" | "widget_updated" | "layout_changed" | "section_added" | "section_removed" | "section_updated" | "restored" | "multiple";
  changeSummary?: string;
  sourceVersionId?: string;
  createdAt?: string;
  createdBy?: string;
}

export interface DashboardVersionDetail {
  id?: string;
  object?: "dashboard_version";
  dashboardId?: string;
  versionNumber?: number;
  changeKind?: "created" | "renamed" | "description_changed" | "tags_changed" | "time_range_changed" | "variables_changed" | "refresh_interval_changed" | "widget_added" | "widget_removed" | "widget_updated" | "layout_changed" | "section_added" | "section_removed" | "section_updated" | "restored" | "multiple";
  changeSummary?: string;
  sourceVersionId?: string;
  createdAt?: string;
  createdBy?: string;
  snapshot?: Dashboard;
}

export interface DataTransform {
  fieldMap?: Record<string, string>;
  hideSeries?: HideSeries;
  flattenSeries?: FlattenSeries;
  reduceToValue?: ReduceToValue;
  computeRatio?: ComputeRatio;
  limit?: number;
  sortBy?: SortBy;
}

export interface DeleteAlertDestinationRequest {
  id?: string;
}

export interface DeleteAlertRuleRequest {
  id?: string;
}

export interface DeleteAttributeMappingRequest {
  id?: string;
}

export interface DeleteChatIdentityRequest {
  connector?: string;
}

export interface DeleteChatWorkspaceRequest {
  id?: string;
}

export interface DeleteCustomIngestKeyRequest {
  id?: string;
}

export interface DeleteDashboardRequest {
  id?: string;
}

export interface DeleteInvestigationRequest {
  id?: string;
}

export interface DeleteLogpushConnectorRequest {
  id?: string;
}

export interface DeleteMarkerRequest {
  id?: string;
}

export interface DeleteOrganizationRequest {
  confirm?: string;
}

export interface DeleteSavedViewRequest {
  id?: string;
}

export interface DeleteScrapeTargetRequest {
  id?: string;
}

export interface DeleteSourceRepositoryRequest {
  id?: string;
}

export interface DeletedAlertDestination {
  id?: string;
  object?: "alert_destination";
  deleted?: boolean;
  txid?: string;
}

export interface DeletedAlertRule {
  id?: string;
  object?: "alert_rule";
  deleted?: boolean;
  txid?: string;
}

export interface DeletedAttributeMapping {
  id?: string;
  object?: "attribute_mapping";
  deleted?: boolean;
}

export interface DeletedChatIdentity {
  object?: "chat_connector.identity";
  deleted?: boolean;
}

export interface DeletedChatWorkspace {
  id?: string;
  object?: "chat_workspace";
  deleted?: boolean;
}

export interface DeletedDashboard {
  id?: string;
  object?: "dashboard";
  deleted?: boolean;
  txid?: string;
}

export interface DeletedDashboardShare {
  dashboardId?: string;
  object?: "dashboard_share";
  deleted?: boolean;
}

export interface DeletedIngestKey {
  id?: string;
  object?: "ingest_key";
  deleted?: boolean;
}

export interface DeletedInvestigation {
  id?: string;
  object?: "investigation";
  deleted?: boolean;
}

export interface DeletedLogpushConnector {
  id?: string;
  object?: "logpush_connector";
  deleted?: boolean;
}

export interface DeletedMarker {
  id?: string;
  object?: "marker";
  deleted?: boolean;
}

export interface DeletedOrganization {
  id?: string;
  object?: "organization";
  deleted?: boolean;
}

export interface DeletedSavedView {
  id?: string;
  object?: "saved_view";
  deleted?: boolean;
}

export interface DeletedScrapeTarget {
  id?: string;
  object?: "scrape_target";
  deleted?: boolean;
}

export interface DeletedSourceRepository {
  id?: string;
  object?: "source_repository";
  deleted?: boolean;
}

export interface DenyCliLoginRequest {
  userCode?: string;
}

export interface DiagnoseServiceRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  deploymentEnvironment?: string;
}

export interface DiagnosedError {
  fingerprintHash?: string;
  errorLabel?: string;
  count?: number;
  estimatedCount?: number;
}

export interface Difference {
  object?: "difference";
  selected?: DifferenceSide;
  other?: DifferenceSide;
  data?: Array<DifferenceValue>;
  notCompared?: Array<string>;
}

export interface DifferenceSide {
  count?: number;
  receivedCount?: number;
  readShare?: number;
}

export interface DifferenceValue {
  key?: string;
  value?: string;
  selectedShare?: number;
  otherShare?: number;
  lift?: number;
  rateWith?: number;
  rateWithout?: number;
  sameRows?: Array<string>;
}

export interface DisconnectHostingPlatformRequest {
  platform?: string;
}

export interface DisconnectPlanetScaleIntegrationRequest {
}

export interface DisconnectSourceRequest {
  id?: string;
}

export interface DisconnectedHostingPlatform {
  id?: "platform_a" | "platform_b";
  object?: "hosting_platform";
  deleted?: boolean;
}

export interface DisconnectedSource {
  id?: string;
  object?: "source_connection";
  deleted?: boolean;
}

export interface DismissInstrumentationRecommendationRequest {
  id?: string;
}

export interface EndCliLoginRequest {
}

export interface EndedCliLogin {
  object?: "cli_credential";
  keyId?: string;
  deleted?: boolean;
}

export interface EndedSession {
  object?: "session";
  deleted?: boolean;
}

export interface Environment {
  object?: "environment";
  name?: string;
  spanCount?: number;
  serviceCount?: number;
}

export interface ErrorEscalationPolicy {
  enabled?: boolean;
  rules?: Array<ErrorEscalationRule>;
  updatedAt?: string;
  updatedBy?: string;
}

export interface ErrorEscalationRule {
  severity?: "critical" | "high" | "medium" | "low";
  destinationIds?: Array<string>;
  minConfidence?: "low" | "medium" | "high";
}

export interface ErrorEvent {
  object?: "error_event";
  fingerprintHash?: string;
  errorLabel?: string;
  exceptionType?: string;
  sampleMessage?: string;
  topFrame?: string;
  count?: number;
  estimatedCount?: number;
  services?: Array<string>;
  affectedServicesCount?: number;
  affectedTracesCount?: number;
  deploymentEnvironments?: Array<string>;
  firstSeen?: string;
  lastSeen?: string;
  environments?: Array<ErrorEventCount>;
}

export interface ErrorEventBurst {
  startTime?: string;
  endTime?: string;
  count?: number;
  estimatedCount?: number;
}

export interface ErrorEventCount {
  name?: string;
  count?: number;
  estimatedCount?: number;
}

export interface ErrorEventDetail {
  object?: "error_event";
  fingerprintHash?: string;
  errorLabel?: string;
  exceptionType?: string;
  sampleMessage?: string;
  topFrame?: string;
  count?: number;
  estimatedCount?: number;
  services?: Array<string>;
  affectedServicesCount?: number;
  affectedTracesCount?: number;
  deploymentEnvironments?: Array<string>;
  firstSeen?: string;
  lastSeen?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  timeseries?: Array<ErrorEventPoint>;
  environments?: Array<ErrorEventCount>;
  versions?: Array<ErrorEventCount>;
  sampleTraces?: Array<ErrorEventSample>;
  stacktrace?: string;
  relatedErrors?: Array<RelatedError>;
  noExceptionCount?: number;
  estimatedNoExceptionCount?: number;
  burst?: ErrorEventBurst;
  frames?: Array<ErrorFrame>;
  sourceProblem?: string;
}

export interface ErrorEventFilters {
  serviceName?: string;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
  exceptionType?: string;
  search?: string;
  fingerprintHashes?: Array<string>;
  rootOnly?: boolean;
}

export interface ErrorEventPoint {
  bucket?: string;
  count?: number;
  estimatedCount?: number;
}

export interface ErrorEventSample {
  traceId?: string;
  spanId?: string;
  spanName?: string;
  serviceName?: string;
  timestamp?: string;
  exceptionMessage?: string;
  durationMs?: number;
}

export interface ErrorEventTotals {
  occurrences?: number;
  estimatedOccurrences?: number;
  fingerprints?: number;
  noExceptionCount?: number;
  affectedServicesCount?: number;
  affectedTracesCount?: number;
  estimatedNoExceptionCount?: number;
  environments?: Array<ErrorEventCount>;
}

export interface ErrorFrame {
  exceptionType?: string;
  module?: string;
  function?: string;
  file?: string;
  line?: number;
  inApp?: boolean;
  source?: ErrorFrameSource;
}

export interface ErrorFrameSource {
  repositoryId?: string;
  repository?: string;
  path?: string;
  commitSha?: string;
  confidence?: "exact" | "tag" | "deployment" | "branch";
  htmlUrl?: string;
  startLine?: number;
  lines?: Array<string>;
}

export interface ErrorGrouping {
  fingerprintHash?: string;
  version?: number;
  variant?: string;
  frames?: Array<string>;
  leftOut?: number;
  message?: string;
  occurrenceCount?: number;
  pinned?: boolean;
}

export interface ErrorIncident {
  id?: string;
  object?: "error_incident";
  issueId?: string;
  status?: "open" | "resolved";
  reason?: "first_seen" | "regression" | "manual";
  firstTriggeredAt?: string;
  lastTriggeredAt?: string;
  resolvedAt?: string;
  occurrenceCount?: number;
}

export interface ErrorIssue {
  id?: string;
  object?: "error_issue";
  kind?: "error" | "alert" | "integration";
  fingerprintHash?: string;
  serviceName?: string;
  exceptionType?: string;
  exceptionMessage?: string;
  errorLabel?: string;
  topFrame?: string;
  workflowState?: "triage" | "todo" | "in_progress" | "in_review" | "verifying" | "done" | "regressed" | "cancelled" | "wontfix";
  priority?: number;
  severity?: "critical" | "high" | "medium" | "low";
  severitySource?: "detector" | "ai" | "manual";
  sourceRef?: Record<string, unknown>;
  assignedActor?: Actor;
  leaseHolder?: Actor;
  leaseExpiresAt?: string;
  claimedAt?: string;
  notes?: string;
  firstSeenAt?: string;
  lastSeenAt?: string;
  occurrenceCount?: number;
  resolvedAt?: string;
  lastResolvedAt?: string;
  lastRegressedAt?: string;
  regressionCount?: number;
  resolvedVersions?: Array<string>;
  snoozeUntil?: string;
  archivedAt?: string;
  hasOpenIncident?: boolean;
  commentCount?: number;
  openPullRequestCount?: number;
  mergedPullRequestCount?: number;
  estimatedOccurrenceCount?: number;
}

export interface ErrorIssueBucket {
  bucket?: string;
  count?: number;
}

export interface ErrorIssueCounts {
  matching?: string;
  actionable?: string;
}

export interface ErrorIssueDetail {
  id?: string;
  object?: "error_issue";
  kind?: "error" | "alert" | "integration";
  fingerprintHash?: string;
  serviceName?: string;
  exceptionType?: string;
  exceptionMessage?: string;
  errorLabel?: string;
  topFrame?: string;
  workflowState?: "triage" | "todo" | "in_progress" | "in_review" | "verifying" | "done" | "regressed" | "cancelled" | "wontfix";
  priority?: number;
  severity?: "critical" | "high" | "medium" | "low";
  severitySource?: "detector" | "ai" | "manual";
  sourceRef?: Record<string, unknown>;
  assignedActor?: Actor;
  leaseHolder?: Actor;
  leaseExpiresAt?: string;
  claimedAt?: string;
  notes?: string;
  firstSeenAt?: string;
  lastSeenAt?: string;
  occurrenceCount?: number;
  resolvedAt?: string;
  lastResolvedAt?: string;
  lastRegressedAt?: string;
  regressionCount?: number;
  resolvedVersions?: Array<string>;
  snoozeUntil?: string;
  archivedAt?: string;
  hasOpenIncident?: boolean;
  commentCount?: number;
  openPullRequestCount?: number;
  mergedPullRequestCount?: number;
  estimatedOccurrenceCount?: number;
  timeseries?: Array<ErrorIssueBucket>;
  sampleTraces?: Array<ErrorIssueSample>;
  incidents?: Array<ErrorIncident>;
  environments?: Array<ErrorIssueEnvironment>;
  grouping?: Array<ErrorGrouping>;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  verifications?: Array<ErrorIssueVerification>;
  suspectCommits?: Array<SuspectCommit>;
  suspectProblem?: string;
}

export interface ErrorIssueEnvironment {
  name?: string;
  count?: number;
}

export interface ErrorIssueEvent {
  id?: string;
  issueId?: string;
  actor?: Actor;
  type?: "created" | "state_change" | "assignment" | "claim" | "release" | "lease_expired" | "comment" | "agent_note" | "fix_proposed" | "regression" | "snooze" | "unsnooze" | "ai_triage" | "anomaly_linked" | "severity_change" | "pr_linked" | "pr_unlinked" | "pr_merged" | "verification_started" | "verification_verdict" | "merged" | "split";
  fromState?: string;
  toState?: string;
  payload?: Record<string, unknown>;
  createdAt?: string;
}

export interface ErrorIssueFixedRelease {
  deploymentEnvironment?: string;
  version?: string;
  commitSha?: string;
  firstSeen?: string;
  lastSeen?: string;
  state?: "current" | "replaced" | "rolled_back";
  estimatedSpanCount?: number;
  occurrenceCount?: number;
}

export interface ErrorIssuePullRequest {
  id?: string;
  issueId?: string;
  provider?: "github" | "gitlab";
  repoFullName?: string;
  number?: number;
  url?: string;
  title?: string;
  authorLogin?: string;
  state?: "open" | "merged" | "closed";
  mergedAt?: string;
  mergeCommitSha?: string;
  linkSource?: "agent" | "user" | "auto";
  linkedByActor?: Actor;
  createdAt?: string;
  checkedAt?: string;
  checkProblem?: string;
}

export interface ErrorIssueSample {
  traceId?: string;
  spanId?: string;
  serviceName?: string;
  timestamp?: string;
  exceptionMessage?: string;
  durationMicros?: number;
}

export interface ErrorIssueServiceCount {
  serviceName?: string;
  openCount?: string;
}

export interface ErrorIssueSeverityResult {
  applied?: boolean;
  issue?: ErrorIssue;
}

export interface ErrorIssueVerification {
  id?: string;
  issueId?: string;
  attempt?: number;
  status?: "waiting" | "running" | "verified" | "not_fixed" | "inconclusive" | "abandoned";
  reason?: "no_traffic" | "rolled_back" | "not_deployed" | "superseded";
  pullRequestUrl?: string;
  commitSha?: string;
  version?: string;
  fixedAt?: string;
  deployedBy?: "commit" | "version" | "assumed";
  deployedAt?: string;
  releases?: Array<ErrorIssueFixedRelease>;
  estimatedSpanCount?: number;
  spanShare?: number;
  expectedOccurrenceCount?: number;
  occurrenceCount?: number;
  otherOccurrenceCount?: number;
  checkedAt?: string;
  endedAt?: string;
  createdAt?: string;
}

export interface ErrorNotificationPolicy {
  enabled?: boolean;
  destinationIds?: Array<string>;
  notifyOnFirstSeen?: boolean;
  notifyOnRegression?: boolean;
  notifyOnResolve?: boolean;
  notifyOnTransitionInReview?: boolean;
  notifyOnTransitionDone?: boolean;
  notifyOnClaim?: boolean;
  minOccurrenceCount?: number;
  severity?: "warning" | "critical";
  updatedAt?: string;
  updatedBy?: string;
}

export interface ExplainDifferenceRequest {
  signal?: "traces" | "logs" | "sessions";
  startTime?: string;
  endTime?: string;
  where?: string;
  selected?: string;
  other?: string;
  otherStartTime?: string;
  otherEndTime?: string;
}

export interface Facet {
  facetType?: string;
  name?: string;
  count?: number;
}

export interface FacetList {
  object?: "list";
  data?: Array<Facet>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface FeedbackAgent {
  type?: "coding_agent" | "chat_assistant" | "autonomous_agent" | "ci" | "other";
  name?: string;
  model?: string;
  version?: string;
}

export interface FeedbackAgentParams {
  type?: "coding_agent" | "chat_assistant" | "autonomous_agent" | "ci" | "other";
  name?: string;
  model?: string;
  version?: string;
}

export interface FlattenSeries {
  valueField?: string;
}

export interface FunnelDisplay {
  showStepPercent?: boolean;
  steps?: Array<FunnelStep>;
  keyBy?: "person" | "visitor" | "user" | "session";
  windowSeconds?: number;
  breakdownBy?: string;
  filters?: ProductFilters;
  variant?: "bars" | "dropoff";
}

export interface FunnelStep {
  kind?: "event" | "page" | "session";
  eventName?: string;
  attributeEquals?: Record<string, string>;
  pagePath?: string;
  host?: string;
  dimension?: "referrer_host" | "utm_source" | "utm_medium" | "utm_campaign" | "country" | "host";
  value?: string;
}

export interface GaugeDisplay {
  min?: number;
  max?: number;
  style?: "radial" | "bar";
}

export interface GetAgentSessionFiguresRequest {
  sessionId?: string;
  startTime?: string;
  endTime?: string;
}

export interface GetAgentSessionRequest {
  sessionId?: string;
  startTime?: string;
  endTime?: string;
  payloadChars?: number;
}

export interface GetAgentSessionVerdictRequest {
  sessionId?: string;
  startTime?: string;
  endTime?: string;
}

export interface GetAgentToolErrorRequest {
  startTime?: string;
  endTime?: string;
  tool?: string;
  fingerprint?: string;
  filters?: AgentFilters;
  sessionId?: string;
  limit?: number;
  payloadChars?: number;
}

export interface GetAgentToolsOverviewRequest {
  startTime?: string;
  endTime?: string;
  filters?: AgentFilters;
  toolContains?: string;
  tool?: string;
}

export interface GetAlertDestinationRequest {
  id?: string;
}

export interface GetAlertIncidentRequest {
  id?: string;
}

export interface GetAlertRuleRequest {
  id?: string;
}

export interface GetApiKeyRequest {
  id?: string;
}

export interface GetAttributeMappingRequest {
  id?: string;
}

export interface GetCliLoginRequest {
  userCode?: string;
}

export interface GetCustomIngestKeyRequest {
  id?: string;
}

export interface GetDashboardRequest {
  id?: string;
}

export interface GetDashboardShareRequest {
  id?: string;
}

export interface GetDashboardShareResponse {
  share?: DashboardShare;
}

export interface GetDashboardVersionRequest {
  id?: string;
  versionId?: string;
}

export interface GetDashboardWidgetShareRequest {
  id?: string;
  widgetId?: string;
}

export interface GetDashboardWidgetShareResponse {
  share?: DashboardShare;
}

export interface GetErrorEscalationPolicyRequest {
}

export interface GetErrorEventRequest {
  fingerprint?: string;
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  bucketSeconds?: number;
  sampleLimit?: number;
}

export interface GetErrorIssueRequest {
  id?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  sampleLimit?: number;
}

export interface GetErrorNotificationPolicyRequest {
}

export interface GetHostingPlatformRequest {
  platform?: string;
}

export interface GetIngestKeysRequest {
}

export interface GetInvestigationReportRequest {
  id?: string;
}

export interface GetInvestigationRequest {
  id?: string;
}

export interface GetLogContextRequest {
  id?: string;
  before?: number;
  after?: number;
  scope?: "service" | "pod" | "instance" | "trace";
}

export interface GetLogRequest {
  id?: string;
}

export interface GetLogpushConnectorRequest {
  id?: string;
}

export interface GetMarkerRequest {
  id?: string;
}

export interface GetMetricRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  serviceName?: string;
}

export interface GetOrganizationRequest {
}

export interface GetPlanetScaleIntegrationRequest {
}

export interface GetPlanetScaleWebhookConfigRequest {
}

export interface GetPreferencesRequest {
}

export interface GetSamplingPolicyRequest {
}

export interface GetSavedViewRequest {
  id?: string;
}

export interface GetScrapeTargetRequest {
  id?: string;
}

export interface GetServiceApdexRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  deploymentEnvironment?: string;
  bucketSeconds?: number;
  apdexThresholdMs?: number;
}

export interface GetServiceMapRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
}

export interface GetServiceOverviewRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  deploymentEnvironment?: string;
  bucketSeconds?: number;
}

export interface GetServiceRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
}

export interface GetSessionReplayEventsRequest {
  id?: string;
  limit?: number;
  cursor?: string;
  windowStart?: string;
  windowEnd?: string;
  fromChunkSeq?: number;
  toChunkSeq?: number;
}

export interface GetSessionReplayEventsResponse {
  object?: "list";
  data?: Array<SessionReplayEventChunk>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface GetSessionReplayManifestRequest {
  id?: string;
  windowStart?: string;
  windowEnd?: string;
}

export interface GetSessionReplayRequest {
  id?: string;
  windowStart?: string;
  windowEnd?: string;
}

export interface GetSessionReplayTranscriptRequest {
  id?: string;
  limit?: number;
  cursor?: string;
  windowStart?: string;
  windowEnd?: string;
  types?: Array<"navigation" | "click" | "input" | "console" | "network" | "error" | "custom">;
  errorsOnly?: boolean;
  traceId?: string;
}

export interface GetSessionReplayTranscriptResponse {
  object?: "list";
  data?: Array<SessionReplayTranscriptEvent>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface GetSessionRequest {
}

export interface GetSetupAuditRequest {
}

export interface GetSourceCommitRequest {
  id?: string;
  sha?: string;
}

export interface GetSourceHostRequest {
  provider?: string;
}

export interface GetSourceRepositoryRequest {
  id?: string;
}

export interface GetSpanRequest {
  traceId?: string;
  spanId?: string;
  timestamp?: string;
}

export interface GetTelemetrySignalsRequest {
}

export interface GetTraceCriticalPathRequest {
  traceId?: string;
  timestamp?: string;
}

export interface GetTraceRequest {
  traceId?: string;
  timestamp?: string;
}

export interface GetTraceSkeletonRequest {
  traceId?: string;
  startTime?: string;
  endTime?: string;
  parentSpanId?: string;
  errorsOnly?: boolean;
  maxSpans?: number;
  cursor?: string;
}

export interface HeartbeatErrorIssueRequest {
  id?: string;
}

export interface HeatmapDisplay {
  colorScale?: "amber" | "blues" | "reds" | "viridis" | "magma" | "cividis";
  scaleType?: "linear" | "log";
}

export interface HideSeries {
  baseNames?: Array<string>;
}

export interface HistogramDisplay {
  bucketCount?: number;
  bucketWidth?: number;
  logScaleY?: boolean;
}

export interface HostingDeployment {
  id?: string;
  object?: "hosting_deployment";
  projectId?: string;
  projectName?: string;
  target?: string;
  state?: "queued" | "building" | "ready" | "error" | "canceled" | "removed" | "unknown";
  platformState?: string;
  commitSha?: string;
  branch?: string;
  url?: string;
  startedAt?: string;
  readyAt?: string;
  service?: string;
}

export interface HostingDrain {
  id?: string;
  name?: string;
  state?: "enabled" | "disabled" | "errored" | "missing";
}

export interface HostingEnvironmentError {
  environment?: string;
  message?: string;
}

export interface HostingPlatform {
  id?: "platform_a" | "platform_b";
  object?: "hosting_platform";
  name?: string;
  available?: boolean;
  status?: "not_configured" | "available" | "connected" | "error" | "reconnect_needed" | "disconnected";
  integrationId?: string;
  account?: string;
  externalAccountId?: string;
  connectedAt?: string;
  lastSyncAt?: string;
  error?: string;
  projects?: number;
  deployments?: number;
  drains?: Array<HostingDrain>;
  drainsError?: string;
  resourcesSeen?: number;
  environmentErrors?: Array<HostingEnvironmentError>;
}

export interface HostingProject {
  id?: string;
  object?: "hosting_project";
  name?: string;
  framework?: string;
  repository?: string;
  seenAt?: string;
  environments?: Array<string>;
  services?: Array<string>;
}

export interface HostingSync {
  object?: "hosting_platform.sync";
  startedAt?: string;
  running?: boolean;
  platform?: HostingPlatform;
}

export interface ImportExternalDashboardRequest {
  dashboard?: Record<string, unknown>;
}

export interface Incident {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  cause?: IncidentCause;
  firstSymptom?: IncidentSymptom;
  symptoms?: Array<IncidentSymptom>;
  serviceNames?: Array<string>;
  deploymentEnvironments?: Array<string>;
  affectedTraces?: string;
  affectedUsers?: string;
  affectedSessions?: string;
  confidence?: number;
  nextPath?: string;
  markers?: Array<Marker>;
}

export interface IncidentCause {
  kind?: "release" | "marker" | "dependency" | "attribute" | "operation" | "resource" | "traffic" | "error" | "logs" | "unknown";
  statement?: string;
  target?: string;
  attributeKey?: string;
  attributeValue?: string;
}

export interface IncidentSearch {
  object?: "list";
  data?: Array<Incident>;
  startTime?: string;
  endTime?: string;
  comparedFrom?: string;
  beforeIsEmpty?: boolean;
  bucketSeconds?: number;
  seriesCount?: number;
  notSearched?: Array<string>;
}

export interface IncidentSymptom {
  kind?: "error_rate" | "latency" | "throughput" | "dependency_errors" | "dependency_latency" | "dependency_calls" | "error_group" | "logs" | "resource";
  serviceName?: string;
  deploymentEnvironment?: string;
  subject?: string;
  statement?: string;
  startTime?: string;
  endTime?: string;
  value?: number;
  usual?: number;
  unit?: string;
}

export interface IngestKey {
  id?: string;
  object?: "ingest_key";
  name?: string;
  description?: string;
  keyPrefix?: string;
  enabled?: boolean;
  allowedSignals?: Array<"traces" | "logs" | "metrics" | "sessions" | "events">;
  rateLimitPerSecond?: number;
  resourceAttributes?: Array<IngestKeyAttribute>;
  expiresAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
  lastUsedAt?: string;
  rotatedAt?: string;
}

export interface IngestKeyAttribute {
  key?: string;
  value?: string;
  mode?: "always_set" | "if_missing";
}

export interface IngestKeyWithSecret {
  id?: string;
  object?: "ingest_key";
  name?: string;
  description?: string;
  keyPrefix?: string;
  enabled?: boolean;
  allowedSignals?: Array<"traces" | "logs" | "metrics" | "sessions" | "events">;
  rateLimitPerSecond?: number;
  resourceAttributes?: Array<IngestKeyAttribute>;
  expiresAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
  lastUsedAt?: string;
  rotatedAt?: string;
  secret?: string;
}

export interface IngestKeys {
  object?: "ingest_keys";
  publicKey?: string;
  privateKey?: string;
  publicRotatedAt?: string;
  privateRotatedAt?: string;
}

export interface InstallChatConnectorRequest {
  connector?: string;
  returnTo?: string;
}

export interface InstallSourceHostRequest {
  provider?: string;
  returnTo?: string;
}

export interface InstantiateDashboardTemplateRequest {
  templateId?: string;
  parameters?: Record<string, string>;
  name?: string;
}

export interface Integration {
  id?: string;
  object?: "integration";
  provider?: "github" | "gitlab" | "slack" | "discord" | "platform_a" | "platform_b" | "planetscale" | "logpush";
  name?: string;
  class?: "source" | "chat" | "hosting" | "database" | "cdn";
  connected?: boolean;
  status?: "not_configured" | "available" | "connected" | "error" | "reconnect_needed" | "disconnected";
  connectedAt?: string;
  account?: string;
  lastSyncAt?: string;
  error?: string;
  missingPermissions?: Array<string>;
  nextAction?: string;
  tools?: Array<string>;
}

export interface Investigation {
  id?: string;
  object?: "investigation";
  title?: string;
  question?: string;
  status?: "investigating" | "diagnosed" | "resolved" | "failed";
  issueId?: string;
  conclusion?: string;
  assignee?: string;
  findings?: Array<InvestigationFinding>;
  findingCount?: number;
  createdBy?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface InvestigationFinding {
  number?: number;
  text?: string;
  value?: number;
  unit?: string;
  call?: string;
  request?: Record<string, unknown>;
  createdBy?: string;
  createdAt?: string;
}

export interface InvestigationReport {
  id?: string;
  object?: "investigation_report";
  markdown?: string;
}

export interface Invitation {
  id?: string;
  object?: "invitation";
  email?: string;
  role?: "org:admin" | "org:member";
  status?: "pending" | "accepted" | "revoked" | "expired";
  createdAt?: string;
  createdBy?: string;
  expiresAt?: string;
  acceptedAt?: string;
  acceptedBy?: string;
  revokedAt?: string;
}

export interface InvitationPreview {
  object?: "invitation_preview";
  organizationName?: string;
  role?: "org:admin" | "org:member";
  email?: string;
  expiresAt?: string;
}

export interface InvitationWithLink {
  id?: string;
  object?: "invitation";
  email?: string;
  role?: "org:admin" | "org:member";
  status?: "pending";
  createdAt?: string;
  createdBy?: string;
  expiresAt?: string;
  link?: string;
}

export interface LinkErrorIssuePullRequestRequest {
  id?: string;
  url?: string;
  state?: "open" | "merged" | "closed";
  mergedAt?: string;
  mergeCommitSha?: string;
}

export interface ListAgentFeedbackRequest {
  limit?: number;
  cursor?: string;
}

export interface ListAgentFeedbackResponse {
  object?: "list";
  data?: Array<AgentFeedback>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAlertDeliveriesRequest {
  limit?: number;
  cursor?: string;
  incidentId?: string;
  ruleId?: string;
  destinationId?: string;
  status?: "queued" | "processing" | "success" | "failed";
}

export interface ListAlertDeliveriesResponse {
  object?: "list";
  data?: Array<AlertDelivery>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAlertDestinationsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListAlertDestinationsResponse {
  object?: "list";
  data?: Array<AlertDestination>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAlertIncidentsRequest {
  limit?: number;
  cursor?: string;
  status?: "open" | "resolved";
  ruleId?: string;
  severity?: "warning" | "critical";
  groupKey?: string;
}

export interface ListAlertIncidentsResponse {
  object?: "list";
  data?: Array<AlertIncident>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAlertRuleChecksRequest {
  id?: string;
  limit?: number;
  cursor?: string;
  groupKey?: string;
  since?: string;
  until?: string;
  status?: "breached" | "healthy" | "skipped" | "error";
}

export interface ListAlertRuleChecksResponse {
  object?: "list";
  data?: Array<AlertCheck>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAlertRulesRequest {
  limit?: number;
  cursor?: string;
}

export interface ListAlertRulesResponse {
  object?: "list";
  data?: Array<AlertRule>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListApiKeysRequest {
  limit?: number;
  cursor?: string;
}

export interface ListApiKeysResponse {
  object?: "list";
  data?: Array<ApiKey>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAttributeKeysRequest {
  startTime?: string;
  endTime?: string;
  signal?: "traces" | "logs" | "metrics" | "product_events";
  scope?: "resource" | "span" | "log" | "metric" | "event" | "link";
  search?: string;
  serviceName?: string;
  limit?: number;
  cursor?: string;
}

export interface ListAttributeKeysResponse {
  object?: "list";
  data?: Array<AttributeKey>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAttributeMappingsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListAttributeMappingsResponse {
  object?: "list";
  data?: Array<AttributeMapping>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListAttributeValuesRequest {
  startTime?: string;
  endTime?: string;
  signal?: "traces" | "logs" | "metrics" | "product_events";
  key?: string;
  scope?: "resource" | "span" | "log" | "metric" | "event";
  search?: string;
  serviceName?: string;
  metricName?: string;
  limit?: number;
  cursor?: string;
  where?: string;
}

export interface ListAttributeValuesResponse {
  object?: "list";
  data?: Array<AttributeValue>;
  hasMore?: boolean;
  nextCursor?: string;
  sampled?: boolean;
}

export interface ListAuditLogEntriesRequest {
  limit?: number;
  cursor?: string;
  actorType?: "user" | "api_key" | "agent" | "system";
  actorId?: string;
  affectedUser?: string;
  action?: string;
  outcome?: "allowed" | "denied";
  resourceType?: string;
  resourceId?: string;
  changed?: string;
  requestId?: string;
  since?: string;
  until?: string;
}

export interface ListAuditLogEntriesResponse {
  object?: "list";
  data?: Array<AuditLogEntry>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListChatConnectorsRequest {
}

export interface ListChatConnectorsResponse {
  object?: "chat_connector_list";
  data?: Array<ChatConnector>;
}

export interface ListChatWorkspaceDestinationsRequest {
  id?: string;
  q?: string;
}

export interface ListChatWorkspaceDestinationsResponse {
  object?: "chat_workspace.destination_list";
  destinations?: Array<ChatWorkspaceDestination>;
  syncedAt?: string;
}

export interface ListCustomIngestKeysRequest {
  limit?: number;
  cursor?: string;
}

export interface ListCustomIngestKeysResponse {
  object?: "list";
  data?: Array<IngestKey>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListDashboardSharesRequest {
  id?: string;
}

export interface ListDashboardSharesResponse {
  shares?: Array<DashboardShare>;
}

export interface ListDashboardTemplatesRequest {
  limit?: number;
  cursor?: string;
}

export interface ListDashboardTemplatesResponse {
  object?: "list";
  data?: Array<DashboardTemplate>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListDashboardVersionsRequest {
  id?: string;
  limit?: number;
  cursor?: string;
}

export interface ListDashboardVersionsResponse {
  object?: "list";
  data?: Array<DashboardVersion>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListDashboardsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListDashboardsResponse {
  object?: "list";
  data?: Array<Dashboard>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListEnvironmentsRequest {
  startTime?: string;
  endTime?: string;
}

export interface ListEnvironmentsResponse {
  object?: "list";
  data?: Array<Environment>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIncidentsRequest {
  limit?: number;
  cursor?: string;
  issueId?: string;
}

export interface ListErrorIncidentsResponse {
  object?: "list";
  data?: Array<ErrorIncident>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIssueActorsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListErrorIssueActorsResponse {
  object?: "list";
  data?: Array<Actor>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIssueEventsRequest {
  id?: string;
  limit?: number;
  cursor?: string;
}

export interface ListErrorIssueEventsResponse {
  object?: "list";
  data?: Array<ErrorIssueEvent>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIssuePullRequestsRequest {
  id?: string;
}

export interface ListErrorIssuePullRequestsResponse {
  object?: "list";
  data?: Array<ErrorIssuePullRequest>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIssueServiceCountsRequest {
}

export interface ListErrorIssueServiceCountsResponse {
  object?: "list";
  data?: Array<ErrorIssueServiceCount>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListErrorIssuesRequest {
  limit?: number;
  cursor?: string;
  workflowState?: "triage" | "todo" | "in_progress" | "in_review" | "verifying" | "done" | "regressed" | "cancelled" | "wontfix";
  severity?: "critical" | "high" | "medium" | "low" | "unset";
  kind?: "error" | "alert" | "integration";
  serviceName?: string;
  fingerprintHash?: string;
  deploymentEnvironment?: string;
  startTime?: string;
  endTime?: string;
  introducedAfter?: string;
  actionable?: "true";
  sort?: "last_seen" | "severity";
  exceptionType?: string;
  search?: string;
  assignedActorId?: string;
  includeArchived?: boolean;
}

export interface ListErrorIssuesResponse {
  object?: "list";
  data?: Array<ErrorIssue>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListHostingDeploymentsRequest {
  platform?: string;
  limit?: number;
  cursor?: string;
  projectId?: string;
}

export interface ListHostingDeploymentsResponse {
  object?: "list";
  data?: Array<HostingDeployment>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListHostingProjectsRequest {
  platform?: string;
  limit?: number;
  cursor?: string;
}

export interface ListHostingProjectsResponse {
  object?: "list";
  data?: Array<HostingProject>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListInstrumentationRecommendationsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListInstrumentationRecommendationsResponse {
  object?: "list";
  data?: Array<Recommendation>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListIntegrationsRequest {
}

export interface ListIntegrationsResponse {
  object?: "list";
  data?: Array<Integration>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListInvestigationsRequest {
  limit?: number;
  cursor?: string;
  status?: "investigating" | "diagnosed" | "resolved" | "failed";
}

export interface ListInvestigationsResponse {
  object?: "list";
  data?: Array<Investigation>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListInvitationsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListInvitationsResponse {
  object?: "list";
  data?: Array<Invitation>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListLogpushConnectorsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListLogpushConnectorsResponse {
  object?: "list";
  data?: Array<LogpushConnector>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListMarkersRequest {
  limit?: number;
  cursor?: string;
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  kind?: "deploy" | "flag" | "configuration" | "note";
}

export interface ListMarkersResponse {
  object?: "list";
  data?: Array<Marker>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListMembersRequest {
  limit?: number;
  cursor?: string;
}

export interface ListMembersResponse {
  object?: "list";
  data?: Array<Member>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListMetricsRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  serviceName?: string;
  metricType?: "sum" | "gauge" | "histogram" | "exponential_histogram" | "summary";
  search?: string;
}

export interface ListMetricsResponse {
  object?: "list";
  data?: Array<Metric>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListPlanetScaleDatabasesRequest {
}

export interface ListPlanetScaleDatabasesResponse {
  object?: "planetscale_integration.database_list";
  databases?: Array<PlanetScaleDatabase>;
  lastInventoryAt?: string;
}

export interface ListPlanetScaleEventsRequest {
  database?: string;
  branch?: string;
  startTime?: string;
  endTime?: string;
  categories?: Array<"deploy_request" | "branch" | "database" | "cluster" | "keyspace">;
  limit?: number;
  cursor?: string;
}

export interface ListPlanetScaleEventsResponse {
  object?: "planetscale_integration.event_list";
  data?: Array<PlanetScaleEvent>;
  nextCursor?: string;
}

export interface ListPlanetScaleOrganizationsRequest {
}

export interface ListPlanetScaleOrganizationsResponse {
  object?: "planetscale_integration.organization_list";
  organizations?: Array<PlanetScaleOrganization>;
}

export interface ListProductEventsRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  kind?: "custom" | "screen" | "navigation";
  search?: string;
  serviceName?: string;
  host?: string;
  pagePath?: string;
  referrerHost?: string;
  country?: string;
  utmSource?: string;
  utmMedium?: string;
  utmCampaign?: string;
}

export interface ListProductEventsResponse {
  object?: "list";
  data?: Array<ProductEventName>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListSavedViewsRequest {
  limit?: number;
  cursor?: string;
  page?: "services" | "map" | "traces" | "logs" | "errors" | "metrics" | "incidents" | "replays" | "events" | "agents" | "sql";
  visibility?: "private" | "shared";
}

export interface ListSavedViewsResponse {
  object?: "list";
  data?: Array<SavedView>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListScrapeTargetChecksRequest {
  id?: string;
  limit?: number;
  cursor?: string;
  since?: string;
  until?: string;
}

export interface ListScrapeTargetChecksResponse {
  object?: "list";
  data?: Array<ScrapeCheck>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListScrapeTargetsRequest {
  limit?: number;
  cursor?: string;
}

export interface ListScrapeTargetsResponse {
  object?: "list";
  data?: Array<ScrapeTarget>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListServiceOperationsRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  deploymentEnvironment?: string;
  orderBy?: "count" | "error_rate" | "avg_duration" | "p50_duration" | "p95_duration" | "p99_duration" | "total_duration";
}

export interface ListServiceOperationsResponse {
  object?: "list";
  data?: Array<ServiceOperationDetail>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListServiceReleasesRequest {
  name?: string;
  startTime?: string;
  endTime?: string;
  deploymentEnvironment?: string;
  bucketSeconds?: number;
}

export interface ListServicesRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
}

export interface ListServicesResponse {
  object?: "list";
  data?: Array<Service>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListSessionReplayTracesRequest {
  id?: string;
  limit?: number;
  cursor?: string;
}

export interface ListSessionReplayTracesResponse {
  object?: "list";
  data?: Array<SessionReplayTrace>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListSessionReplaysForTraceRequest {
  traceId?: string;
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
}

export interface ListSessionReplaysForTraceResponse {
  object?: "list";
  data?: Array<SessionReplayRef>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListSourceCiRunsRequest {
  id?: string;
  branch?: string;
  commitSha?: string;
  status?: "queued" | "in_progress" | "completed" | "success" | "failure" | "cancelled" | "skipped" | "timed_out" | "action_required" | "neutral";
  limit?: number;
}

export interface ListSourceRepositoriesRequest {
  limit?: number;
  cursor?: string;
  search?: string;
  fullName?: string;
  status?: "active" | "removed";
}

export interface ListSourceRepositoriesResponse {
  object?: "list";
  data?: Array<SourceRepository>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListSqlTablesRequest {
  table?: string;
}

export interface ListSqlTablesResponse {
  object?: "list";
  data?: Array<SqlTable>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface ListTelegramChatsRequest {
  botToken?: string;
}

export interface ListTelegramChatsResponse {
  object?: "alert_destination.telegram_chat_list";
  chats?: Array<TelegramChat>;
}

export interface Log {
  id?: string;
  object?: "log";
  timestamp?: string;
  severityText?: string;
  severityNumber?: number;
  serviceName?: string;
  body?: string;
  traceId?: string;
  spanId?: string;
  logAttributes?: Record<string, string>;
  resourceAttributes?: Record<string, string>;
  scopeName?: string;
  eventName?: string;
}

export interface LogBreakdown {
  object?: "log_breakdown";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  groupBy?: string;
  data?: Array<TelemetryGroup>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface LogContext {
  object?: "log_context";
  data?: Array<Log>;
  position?: number;
  hasMoreBefore?: boolean;
  hasMoreAfter?: boolean;
}

export interface LogFilters {
  serviceName?: string;
  severity?: string;
  minimumSeverity?: number;
  traceId?: string;
  spanId?: string;
  bodySearch?: string;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
  attributes?: Array<AttributeFilter>;
  resourceAttributes?: Array<AttributeFilter>;
}

export interface LogPattern {
  object?: "log_pattern";
  template?: string;
  sample?: string;
  count?: number;
  estimatedCount?: number;
  share?: number;
  severityCounts?: Record<string, number>;
  serviceCounts?: Record<string, number>;
  firstSeen?: string;
  lastSeen?: string;
  baselineCount?: number;
  baselineEstimatedCount?: number;
  isNew?: boolean;
  countError?: number;
  recordsPerMinute?: number;
}

export interface LogPatternList {
  object?: "log_patterns";
  startTime?: string;
  endTime?: string;
  totalCount?: number;
  sampledCount?: number;
  baselineStartTime?: string;
  baselineEndTime?: string;
  baselineTotalCount?: number;
  baselineSampledCount?: number;
  patternCount?: number;
  truncated?: boolean;
  data?: Array<LogPattern>;
  baselineIsThin?: boolean;
  baselineDataStartTime?: string;
  baselineDataEndTime?: string;
}

export interface LogTimeseries {
  object?: "log_timeseries";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  groupBy?: string;
  series?: Array<TelemetrySeries>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface LogpushConnector {
  id?: string;
  object?: "logpush_connector";
  name?: string;
  zoneName?: string;
  serviceName?: string;
  dataset?: "http_requests";
  enabled?: boolean;
  secretPrefix?: string;
  lastReceivedAt?: string;
  lastError?: string;
  secretRotatedAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
}

export interface LogpushConnectorWithSetup {
  id?: string;
  object?: "logpush_connector";
  name?: string;
  zoneName?: string;
  serviceName?: string;
  dataset?: "http_requests";
  enabled?: boolean;
  secretPrefix?: string;
  lastReceivedAt?: string;
  lastError?: string;
  secretRotatedAt?: string;
  createdAt?: string;
  updatedAt?: string;
  createdBy?: string;
  setup?: LogpushSetup;
}

export interface LogpushSetup {
  destinationConf?: string;
  secret?: string;
  dataset?: "http_requests";
}

export interface MarkdownDisplay {
  content?: string;
}

export interface Marker {
  id?: string;
  object?: "marker";
  kind?: "deploy" | "flag" | "configuration" | "note";
  title?: string;
  description?: string;
  occurredAt?: string;
  endedAt?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  url?: string;
  createdBy?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface Member {
  id?: string;
  object?: "organization_member";
  email?: string;
  name?: string;
  role?: "org:admin" | "org:member";
  createdAt?: string;
}

export interface MergeErrorIssuesRequest {
  id?: string;
  issueIds?: Array<string>;
}

export interface Metric {
  object?: "metric";
  name?: string;
  type?: "sum" | "gauge" | "histogram" | "exponential_histogram" | "summary";
  serviceName?: string;
  description?: string;
  unit?: string;
  isMonotonic?: boolean;
  dataPointCount?: number;
  firstSeen?: string;
  lastSeen?: string;
}

export interface MetricAttribute {
  key?: string;
  valueCount?: number;
  values?: Array<string>;
}

export interface MetricBreakdown {
  object?: "metric_breakdown";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  groupBy?: string;
  data?: Array<TelemetryGroup>;
  truncated?: boolean;
  warnings?: Array<string>;
  unit?: string;
}

export interface MetricDetail {
  object?: "metric_detail";
  name?: string;
  types?: Array<MetricOfType>;
}

export interface MetricFilters {
  metricName?: string;
  metricType?: "sum" | "gauge" | "histogram" | "exponential_histogram" | "summary";
  serviceName?: string;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
  attributes?: Array<AttributeFilter>;
  resourceAttributes?: Array<AttributeFilter>;
}

export interface MetricOfType {
  type?: "sum" | "gauge" | "histogram" | "exponential_histogram" | "summary";
  description?: string;
  unit?: string;
  isMonotonic?: boolean;
  dataPointCount?: number;
  firstSeen?: string;
  lastSeen?: string;
  services?: Array<string>;
  seriesCount?: number;
  attributes?: Array<MetricAttribute>;
  resourceAttributes?: Array<MetricAttribute>;
  latestValue?: number;
}

export interface MetricTimeseries {
  object?: "metric_timeseries";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  groupBy?: string;
  series?: Array<TelemetrySeries>;
  truncated?: boolean;
  warnings?: Array<string>;
  unit?: string;
}

export interface MetricTypeFigures {
  type?: string;
  metricCount?: number;
  dataPointCount?: number;
}

export interface MuteAlertRuleRequest {
  id?: string;
  minutes?: number;
}

export interface Organization {
  id?: string;
  object?: "organization";
  name?: string;
  slug?: string;
  createdAt?: string;
}

export interface PathsDisplay {
  anchor?: FunnelStep;
  direction?: "after" | "before";
  depth?: number;
  branches?: number;
  keyBy?: "person" | "visitor" | "user" | "session";
  windowSeconds?: number;
  include?: "all" | "events" | "pages";
  exclude?: Array<string>;
  filters?: ProductFilters;
}

export interface PendingCliLogin {
  object?: "pending_cli_login";
  userCode?: string;
  clientName?: string;
  clientAddress?: string;
  status?: "pending" | "approved" | "denied";
  createdAt?: string;
  expiresAt?: string;
}

export interface PeriodComparison {
  object?: "period_comparison";
  startTime?: string;
  endTime?: string;
  previousStartTime?: string;
  previousEndTime?: string;
  current?: PeriodTotals;
  previous?: PeriodTotals;
  services?: Array<ComparedService>;
  causes?: Array<Cause>;
  incomplete?: boolean;
  previousIsThin?: boolean;
  deploymentEnvironments?: Array<string>;
}

export interface PeriodFigures {
  throughput?: number;
  errorRate?: number;
  p95LatencyMs?: number;
}

export interface PeriodTotals {
  spanCount?: number;
  errorCount?: number;
  errorRate?: number;
  dataStartTime?: string;
  dataEndTime?: string;
}

export interface PieDisplay {
  donut?: boolean;
  innerRadius?: number;
  showLabels?: boolean;
  showPercent?: boolean;
}

export interface PlanetScaleBranch {
  id?: string;
  name?: string;
  production?: boolean;
  ready?: boolean;
}

export interface PlanetScaleConnect {
  object?: "planetscale_integration.connect";
  redirectUrl?: string;
  state?: string;
}

export interface PlanetScaleDatabase {
  id?: string;
  object?: "planetscale_integration.database";
  name?: string;
  kind?: "mysql" | "postgresql";
  state?: string;
  region?: string;
  plan?: string;
  branches?: Array<PlanetScaleBranch>;
}

export interface PlanetScaleDisconnect {
  object?: "planetscale_integration";
  connected?: boolean;
}

export interface PlanetScaleEvent {
  id?: string;
  object?: "planetscale_integration.event";
  databaseName?: string;
  branchName?: string;
  category?: "deploy_request" | "branch" | "database" | "cluster" | "keyspace";
  eventType?: string;
  state?: string;
  externalId?: string;
  title?: string;
  source?: "webhook" | "backfill";
  actorLogin?: string;
  url?: string;
  occurredAt?: string;
}

export interface PlanetScaleIntegration {
  object?: "planetscale_integration";
  connected?: boolean;
  pendingOrgSelection?: boolean;
  organization?: string;
  connectedByUserId?: string;
  detectedPermissions?: Record<string, boolean>;
  metricsAuth?: "oauth" | "service_token" | "missing";
  scrapeTarget?: PlanetScaleScrapeTarget;
  lastInventoryAt?: string;
  lastInventoryError?: string;
  revokedAt?: string;
  expiresAt?: string;
}

export interface PlanetScaleOrganization {
  id?: string;
  name?: string;
}

export interface PlanetScaleQueryInsight {
  object?: "planetscale_integration.query_insight";
  fingerprint?: string;
  normalizedSql?: string;
  statementType?: string;
  queryCount?: string;
  errorCount?: string;
  totalDurationMillis?: number;
  timePerQueryMillis?: number;
  p50LatencyMillis?: number;
  p99LatencyMillis?: number;
  rowsReadPerQuery?: number;
  rowsReturnedPerQuery?: number;
  lastRunAt?: string;
}

export interface PlanetScaleScrapeTarget {
  id?: string;
  object?: "planetscale_integration.scrape_target";
  enabled?: boolean;
  scrapeIntervalSeconds?: number;
  includeBranches?: Array<string>;
  excludeBranches?: Array<string>;
  lastScrapeAt?: string;
  lastScrapeError?: string;
}

export interface PlanetScaleWebhookConfig {
  object?: "planetscale_integration.webhook_config";
  configured?: boolean;
  url?: string;
  secret?: string;
}

export interface Preferences {
  object?: "preferences";
  theme?: "system" | "light" | "dark";
  stackTrace?: "pretty" | "raw";
  updatedAt?: string;
  timeZone?: string;
}

export interface PreviewAlertRuleRequest {
  rule?: CreateAlertRuleRequest;
  startTime?: string;
  endTime?: string;
}

export interface PreviewDashboardTemplateRequest {
  templateId?: string;
  parameters?: Record<string, string>;
}

export interface PreviewDashboardWidgetRequest {
  widget?: Widget;
  timeRange?: TimeRange;
  variables?: Array<DashboardVariable>;
  variableValues?: Record<string, string>;
  source?: "primary" | "sparkline";
  maxDataPoints?: number;
  emptyRangeFallback?: boolean;
}

export interface PreviewInvitationRequest {
  token?: string;
}

export interface ProbeScrapeTargetRequest {
  id?: string;
}

export interface ProductEvent {
  object?: "product_event";
  timestamp?: string;
  name?: string;
  kind?: "custom" | "screen" | "navigation";
  source?: "browser" | "server" | "mobile" | "span";
  userId?: string;
  visitorId?: string;
  groupId?: string;
  sessionId?: string;
  serviceName?: string;
  url?: string;
  host?: string;
  pagePath?: string;
  attributes?: Record<string, string>;
  resourceAttributes?: Record<string, string>;
}

export interface ProductEventBreakdown {
  object?: "product_event_breakdown";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  groupBy?: string;
  data?: Array<TelemetryGroup>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface ProductEventFilters {
  names?: Array<string>;
  kind?: "custom" | "screen" | "navigation";
  source?: "browser" | "server" | "mobile" | "span";
  search?: string;
  userId?: string;
  visitorId?: string;
  groupId?: string;
  sessionId?: string;
  serviceName?: string;
  host?: string;
  pagePath?: string;
  attributes?: Array<AttributeFilter>;
  resourceAttributes?: Array<AttributeFilter>;
}

export interface ProductEventFunnel {
  object?: "product_event_funnel";
  startTime?: string;
  endTime?: string;
  keyBy?: "person" | "visitor" | "user" | "session";
  windowSeconds?: number;
  steps?: Array<ProductEventFunnelStep>;
  conversionRate?: number;
  breakdownBy?: string;
  groups?: Array<ProductEventFunnelGroup>;
  warnings?: Array<string>;
}

export interface ProductEventFunnelGroup {
  group?: string;
  steps?: Array<ProductEventFunnelStep>;
  conversionRate?: number;
}

export interface ProductEventFunnelStep {
  step?: number;
  name?: string;
  count?: number;
  ofFirst?: number;
  ofPrevious?: number;
  dropOff?: number;
  p50Ms?: number;
  p90Ms?: number;
  leavers?: Array<ProductEventLeaver>;
}

export interface ProductEventLeaver {
  name?: string;
  count?: number;
}

export interface ProductEventName {
  object?: "product_event_name";
  name?: string;
  kind?: "custom" | "screen" | "navigation";
  count?: number;
  sessions?: number;
  persons?: number;
  uniqueUsers?: number;
  visitors?: number;
  firstSeen?: string;
  lastSeen?: string;
}

export interface ProductEventPathLink {
  hop?: number;
  fromNode?: string;
  toNode?: string;
  count?: number;
}

export interface ProductEventPaths {
  object?: "product_event_paths";
  startTime?: string;
  endTime?: string;
  direction?: "after" | "before";
  keyBy?: "person" | "visitor" | "user" | "session";
  count?: number;
  data?: Array<ProductEventPathLink>;
}

export interface ProductEventStep {
  kind?: "event" | "page" | "session";
  eventName?: string;
  attributeEquals?: Record<string, string>;
  pagePath?: string;
  host?: string;
  dimension?: "referrer_host" | "utm_source" | "utm_medium" | "utm_campaign" | "country" | "host";
  value?: string;
}

export interface ProductEventTimeseries {
  object?: "product_event_timeseries";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  groupBy?: string;
  series?: Array<TelemetrySeries>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface ProductFilters {
  host?: string;
  pagePath?: string;
  referrerHost?: string;
  country?: string;
  deviceType?: string;
  browserName?: string;
  osName?: string;
  language?: string;
  utmSource?: string;
  utmMedium?: string;
  utmCampaign?: string;
  visitorType?: "new" | "returning";
}

export interface ProposeErrorIssueFixRequest {
  id?: string;
  patchSummary?: string;
  prUrl?: string;
  artifacts?: Array<string>;
}

export interface QueryAddOns {
  groupBy?: boolean;
  having?: boolean;
  orderBy?: boolean;
  limit?: boolean;
  legend?: boolean;
}

export interface QueryBreakdownRequest {
  startTime?: string;
  endTime?: string;
  queries?: Array<QuerySpec>;
  formulas?: Array<QueryFormulaSpec>;
  comparison?: QueryComparison;
}

export interface QueryBreakdownResponse {
  object?: "query_breakdown";
  startTime?: string;
  endTime?: string;
  columns?: Array<QueryColumn>;
  data?: Array<QueryRow>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface QueryCell {
  value?: number;
  previous?: number;
  percentChange?: number;
}

export interface QueryColumn {
  query?: string;
  name?: string;
  unit?: string;
}

export interface QueryComparison {
  mode?: "none" | "previous_period";
  includePercentChange?: boolean;
}

export interface QueryDraft {
  id?: string;
  name?: string;
  enabled?: boolean;
  hidden?: boolean;
  whereClause?: string;
  aggregation?: string;
  stepInterval?: string;
  orderByDirection?: "desc" | "asc";
  addOns?: QueryAddOns;
  groupBy?: Array<string>;
  having?: string;
  orderBy?: string;
  limit?: string;
  seriesLimit?: string;
  legend?: string;
  dataSource?: "traces" | "logs" | "metrics" | "product_events";
  valueField?: string;
  signalSource?: "default" | "meter";
  metricName?: string;
  metricType?: "sum" | "gauge" | "histogram" | "exponential_histogram";
  isMonotonic?: boolean;
}

export interface QueryFilter {
  all?: Array<QueryFilter>;
  any?: Array<QueryFilter>;
  not?: QueryFilter;
  field?: string;
  operator?: "=" | "!=" | ">" | "<" | ">=" | "<=" | "contains" | "!contains" | "exists" | "!exists" | "in" | "!in";
  value?: unknown;
  values?: Array<unknown>;
}

export interface QueryFormula {
  id?: string;
  name?: string;
  expression?: string;
  legend?: string;
  hidden?: boolean;
}

export interface QueryFormulaSpec {
  name?: string;
  expression?: string;
  legend?: string;
  hidden?: boolean;
}

export interface QueryHaving {
  operator?: "=" | "!=" | ">" | "<" | ">=" | "<=";
  value?: number;
}

export interface QueryLogBreakdownRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count";
  groupBy?: "service" | "severity";
  filters?: LogFilters;
  limit?: number;
  where?: string;
}

export interface QueryLogTimeseriesRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count";
  filters?: LogFilters;
  groupBy?: "service" | "severity";
  bucketSeconds?: number;
  seriesLimit?: number;
  where?: string;
}

export interface QueryMetric {
  name?: string;
  type?: "sum" | "gauge" | "histogram" | "exponential_histogram" | "summary";
}

export interface QueryMetricBreakdownRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "avg" | "sum" | "min" | "max" | "count" | "rate" | "increase" | "p50" | "p75" | "p90" | "p95" | "p99";
  filters?: MetricFilters;
  groupBy?: "service" | "attribute" | "resource_attribute";
  groupByAttributeKey?: string;
  groupByResourceAttributeKey?: string;
  limit?: number;
  where?: string;
}

export interface QueryMetricsTimeseriesRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "avg" | "sum" | "min" | "max" | "count" | "rate" | "increase" | "p50" | "p75" | "p90" | "p95" | "p99";
  filters?: MetricFilters;
  groupBy?: "service" | "attribute" | "resource_attribute";
  groupByAttributeKey?: string;
  groupByResourceAttributeKey?: string;
  bucketSeconds?: number;
  seriesLimit?: number;
  where?: string;
}

export interface QueryOrder {
  by?: "value" | "group";
  direction?: "asc" | "desc";
}

export interface QueryPlanetScaleQueryInsightsRequest {
  database?: string;
  branch?: string;
  startTime?: string;
  endTime?: string;
  limit?: number;
}

export interface QueryPlanetScaleQueryInsightsResponse {
  object?: "planetscale_integration.query_insight_list";
  branch?: string;
  data?: Array<PlanetScaleQueryInsight>;
  unavailableReason?: string;
}

export interface QueryProductEventBreakdownRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count" | "rate" | "sessions" | "persons" | "users" | "visitors";
  eventNames?: Array<string>;
  where?: string;
  groupBy?: "event_name" | "kind" | "source" | "host" | "page_path" | "service" | "group" | "attribute";
  groupByAttributeKey?: string;
  limit?: number;
}

export interface QueryProductEventTimeseriesRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count" | "rate" | "sessions" | "persons" | "users" | "visitors";
  eventNames?: Array<string>;
  where?: string;
  groupBy?: "event_name" | "kind" | "source" | "host" | "page_path" | "service" | "group" | "attribute";
  groupByAttributeKey?: string;
  bucketSeconds?: number;
  seriesLimit?: number;
}

export interface QueryRow {
  name?: string;
  group?: Array<string>;
  other?: boolean;
  values?: Array<QueryCell>;
}

export interface QuerySeries {
  query?: string;
  name?: string;
  group?: Array<string>;
  other?: boolean;
  points?: Array<TelemetryPoint>;
  previousPoints?: Array<TelemetryPoint>;
  percentChangePoints?: Array<TelemetryPoint>;
  unit?: string;
}

export interface QuerySpec {
  name?: string;
  source?: "traces" | "logs" | "metrics" | "product_events";
  aggregation?: string;
  valueField?: string;
  apdexThresholdMs?: number;
  metric?: QueryMetric;
  where?: string;
  filter?: QueryFilter;
  groupBy?: Array<string>;
  having?: Array<QueryHaving>;
  order?: QueryOrder;
  limit?: number;
  seriesLimit?: number;
  legend?: string;
  hidden?: boolean;
}

export interface QueryTimeseriesRequest {
  startTime?: string;
  endTime?: string;
  queries?: Array<QuerySpec>;
  formulas?: Array<QueryFormulaSpec>;
  comparison?: QueryComparison;
  bucketSeconds?: number;
}

export interface QueryTimeseriesResponse {
  object?: "query_timeseries";
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  series?: Array<QuerySeries>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface QueryTraceBreakdownRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count" | "avg_duration" | "p50_duration" | "p95_duration" | "p99_duration" | "error_rate" | "apdex";
  groupBy?: "service" | "span_name" | "status_code" | "http_method" | "attribute" | "resource_attribute";
  groupByAttributeKey?: string;
  filters?: TraceFilters;
  limit?: number;
  apdexThresholdMs?: number;
  where?: string;
}

export interface QueryTraceDistributionRequest {
  startTime?: string;
  endTime?: string;
  filters?: TraceFilters;
  bucketSeconds?: number;
  where?: string;
}

export interface QueryTraceTimeseriesRequest {
  startTime?: string;
  endTime?: string;
  aggregation?: "count" | "avg_duration" | "p50_duration" | "p95_duration" | "p99_duration" | "error_rate" | "apdex";
  filters?: TraceFilters;
  groupBy?: "service" | "span_name" | "status_code" | "http_method" | "attribute" | "resource_attribute";
  groupByAttributeKey?: string;
  bucketSeconds?: number;
  seriesLimit?: number;
  apdexThresholdMs?: number;
  where?: string;
}

export interface ReadSourceFileRequest {
  id?: string;
  path?: string;
  ref?: string;
  startLine?: number;
  endLine?: number;
}

export interface Recommendation {
  id?: string;
  object?: "recommendation";
  number?: number;
  recommendationKey?: string;
  kind?: "rename" | "double-emission" | "naming";
  sourceKey?: string;
  canonicalKey?: string;
  status?: "open" | "dismissed" | "applied" | "resolved";
  usageCount?: number;
  openedAt?: string;
  updatedAt?: string;
  resolvedAt?: string;
  services?: Array<RecommendationService>;
}

export interface RecommendationService {
  name?: string;
  spans?: number;
  both?: number;
}

export interface RedeemCliLoginRequest {
  deviceCode?: string;
}

export interface ReduceToValue {
  field?: string;
  aggregate?: "first" | "sum" | "count" | "avg" | "max" | "min";
}

export interface RegisterErrorIssueAgentRequest {
  name?: string;
  model?: string;
  capabilities?: Array<string>;
}

export interface RelatedError {
  fingerprintHash?: string;
  errorLabel?: string;
  serviceName?: string;
  tracesCount?: number;
}

export interface Release {
  serviceName?: string;
  deploymentEnvironment?: string;
  version?: string;
  commitSha?: string;
  firstSeen?: string;
  lastSeen?: string;
  state?: "current" | "replaced" | "rolled_back";
  estimatedSpanCount?: number;
  errorRate?: number;
  p95LatencyMs?: number;
  previous?: ReleaseBefore;
}

export interface ReleaseBefore {
  version?: string;
  estimatedSpanCount?: number;
  errorRate?: number;
  p95LatencyMs?: number;
}

export interface ReleaseErrorIssueRequest {
  id?: string;
  transitionTo?: "triage" | "todo" | "in_review" | "done" | "cancelled" | "wontfix";
  note?: string;
}

export interface ReleaseList {
  object?: "list";
  data?: Array<Release>;
  hasMore?: boolean;
  startTime?: string;
  endTime?: string;
}

export interface RemoveMemberRequest {
  id?: string;
}

export interface RemovedMember {
  id?: string;
  object?: "organization_member";
  deleted?: boolean;
}

export interface ReopenInstrumentationRecommendationRequest {
  id?: string;
}

export interface RepeatedOperation {
  serviceName?: string;
  spanName?: string;
  count?: number;
  totalMs?: number;
}

export interface ReplaceErrorEscalationPolicyRequest {
  enabled?: boolean;
  rules?: Array<ErrorEscalationRule>;
}

export interface ReplaceErrorNotificationPolicyRequest {
  enabled?: boolean;
  destinationIds?: Array<string>;
  notifyOnFirstSeen?: boolean;
  notifyOnRegression?: boolean;
  notifyOnResolve?: boolean;
  notifyOnTransitionInReview?: boolean;
  notifyOnTransitionDone?: boolean;
  notifyOnClaim?: boolean;
  minOccurrenceCount?: number;
  severity?: "warning" | "critical";
}

export interface ResolveAlertChartRequest {
  chartId?: string;
}

export interface ResolveChatChartRequest {
  chartId?: string;
}

export interface ResolveShareOgCardRequest {
  ogId?: string;
}

export interface ResolveShareOgMetaRequest {
  token?: string;
}

export interface ResolveShareRequest {
  token?: string;
}

export interface ResolveShareWidgetDataRequest {
  token?: string;
  requests?: Array<ShareWidgetRequest>;
  timeRange?: ShareTimeRange;
  variableValues?: Record<string, string>;
}

export interface ResolvedShare {
  mode?: "public" | "org";
  scope?: "dashboard" | "widget";
  dashboard?: SharedDashboard;
  limits?: ShareLimits;
  embeddable?: boolean;
}

export interface RestoreDashboardVersionRequest {
  id?: string;
  versionId?: string;
}

export interface RevokeApiKeyRequest {
  id?: string;
}

export interface RevokeDashboardShareRequest {
  id?: string;
}

export interface RevokeDashboardWidgetShareRequest {
  id?: string;
  widgetId?: string;
}

export interface RevokeInvitationRequest {
  id?: string;
}

export interface RollApiKeyRequest {
  id?: string;
}

export interface RollCustomIngestKeyRequest {
  id?: string;
}

export interface RollPrivateIngestKeyRequest {
}

export interface RollPublicIngestKeyRequest {
}

export interface RotateDashboardShareRequest {
  id?: string;
}

export interface RotateDashboardWidgetShareRequest {
  id?: string;
  widgetId?: string;
}

export interface RotateLogpushConnectorRequest {
  id?: string;
}

export interface RunSqlRequest {
  sql?: string;
  startTime?: string;
  endTime?: string;
  granularitySeconds?: number;
  maxRows?: number;
}

export interface SamplingPolicy {
  object?: "sampling_policy";
  traceSampleRatio?: number;
  alwaysKeepErrorSpans?: boolean;
  alwaysKeepSlowSpansMs?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface SavedView {
  id?: string;
  object?: "saved_view";
  page?: "services" | "map" | "traces" | "logs" | "errors" | "metrics" | "incidents" | "replays" | "events" | "agents" | "sql";
  name?: string;
  description?: string;
  state?: string;
  visibility?: "private" | "shared";
  owner?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface ScrapeCheck {
  object?: "scrape_target.check";
  timestamp?: string;
  success?: boolean;
  subTargetKey?: string;
  durationSeconds?: number;
  samplesScraped?: string;
  samplesPostMetricRelabeling?: string;
  message?: string;
}

export interface ScrapeTarget {
  id?: string;
  object?: "scrape_target";
  name?: string;
  serviceName?: string;
  url?: string;
  targetType?: "prometheus" | "planetscale";
  organization?: string;
  includeBranches?: Array<string>;
  excludeBranches?: Array<string>;
  scrapeIntervalSeconds?: number;
  labelsJson?: string;
  authType?: "none" | "bearer" | "basic" | "token";
  hasCredentials?: boolean;
  managedBy?: string;
  enabled?: boolean;
  lastScrapeAt?: string;
  lastScrapeError?: string;
  createdAt?: string;
  updatedAt?: string;
}

export interface ScrapeTargetProbeResult {
  object?: "scrape_target.probe_result";
  success?: boolean;
  lastScrapeAt?: string;
  lastScrapeError?: string;
}

export interface SearchAgentSessionsRequest {
  startTime?: string;
  endTime?: string;
  filters?: AgentFilters;
  search?: string;
  hasErrors?: boolean;
  excludeTraceSessions?: boolean;
  ranges?: Array<AgentRange>;
  sortBy?: "" | "start_time" | "duration_ms" | "cost" | "total_tokens" | "error_span_count" | "llm_calls" | "tool_calls";
  ascending?: boolean;
  offset?: number;
  limit?: number;
}

export interface SearchAgentSessionsResponse {
  sessions?: Array<AgentSessionSummary>;
  hasMore?: boolean;
  totalCount?: number;
  errorCount?: number;
}

export interface SearchDashboardVariableOptionsRequest {
  id?: string;
  variable?: string;
  timeRange?: TimeRange;
  search?: string;
}

export interface SearchDashboardVariableOptionsResponse {
  object?: "list";
  data?: Array<VariableOption>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface SearchDashboardWidgetDataRequest {
  id?: string;
  widgetId?: string;
  timeRange?: TimeRange;
  variableValues?: Record<string, string>;
  source?: "primary" | "sparkline";
  maxDataPoints?: number;
  emptyRangeFallback?: boolean;
}

export interface SearchDashboardWidgetInspectionRequest {
  id?: string;
  widgetId?: string;
  timeRange?: TimeRange;
  variableValues?: Record<string, string>;
}

export interface SearchErrorEventsRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  filters?: ErrorEventFilters;
  orderBy?: "count" | "estimated_count" | "last_seen" | "first_seen";
  where?: string;
}

export interface SearchErrorEventsResponse {
  object?: "list";
  data?: Array<ErrorEvent>;
  hasMore?: boolean;
  nextCursor?: string;
  totals?: ErrorEventTotals;
  warnings?: Array<string>;
}

export interface SearchIncidentsRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
}

export interface SearchLogFacetsRequest {
  startTime?: string;
  endTime?: string;
  filters?: LogFilters;
  where?: string;
}

export interface SearchLogPatternsRequest {
  startTime?: string;
  endTime?: string;
  filters?: LogFilters;
  sampleSize?: number;
  maxPatterns?: number;
  baseline?: "previous" | "none";
  where?: string;
}

export interface SearchLogsRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  filters?: LogFilters;
  where?: string;
  order?: "asc" | "desc";
}

export interface SearchLogsResponse {
  object?: "list";
  data?: Array<Log>;
  hasMore?: boolean;
  nextCursor?: string;
  warnings?: Array<string>;
}

export interface SearchProductEventFunnelRequest {
  startTime?: string;
  endTime?: string;
  steps?: Array<ProductEventStep>;
  keyBy?: "person" | "visitor" | "user" | "session";
  windowSeconds?: number;
  breakdownBy?: string;
  breakdownLimit?: number;
  filters?: ProductFilters;
  leavers?: boolean;
}

export interface SearchProductEventPathsRequest {
  startTime?: string;
  endTime?: string;
  anchor?: ProductEventStep;
  direction?: "after" | "before";
  depth?: number;
  branches?: number;
  keyBy?: "person" | "visitor" | "user" | "session";
  windowSeconds?: number;
  include?: "all" | "events" | "pages";
  exclude?: Array<string>;
  filters?: ProductFilters;
}

export interface SearchProductEventsRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  filters?: ProductEventFilters;
}

export interface SearchProductEventsResponse {
  object?: "list";
  data?: Array<ProductEvent>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface SearchReleasesRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  limit?: number;
}

export interface SearchSessionReplayFacetsRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  browser?: string;
  country?: string;
  deviceType?: string;
  userId?: string;
  userSearch?: string;
  groupName?: string;
  visitorId?: string;
  hasErrors?: boolean;
  search?: string;
  pagePath?: string;
  tags?: Array<"bot" | "bounce" | "idle" | "glance" | "engaged" | "signed_in" | "new_visitor">;
  durationMinMs?: number;
  durationMaxMs?: number;
  activeTimeMinMs?: number;
  activeTimeMaxMs?: number;
  events?: SessionEventFilters;
}

export interface SearchSessionReplaysRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  serviceName?: string;
  browser?: string;
  country?: string;
  deviceType?: string;
  userId?: string;
  userSearch?: string;
  groupName?: string;
  visitorId?: string;
  hasErrors?: boolean;
  search?: string;
  pagePath?: string;
  tags?: Array<"bot" | "bounce" | "idle" | "glance" | "engaged" | "signed_in" | "new_visitor">;
  durationMinMs?: number;
  durationMaxMs?: number;
  activeTimeMinMs?: number;
  activeTimeMaxMs?: number;
  events?: SessionEventFilters;
}

export interface SearchSessionReplaysResponse {
  object?: "list";
  data?: Array<SessionReplaySummary>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface SearchSlowerOperationsRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
}

export interface SearchSourceCodeRequest {
  id?: string;
  query?: string;
  path?: string;
  ref?: string;
  limit?: number;
}

export interface SearchSpansRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  filters?: TraceFilters;
  where?: string;
  fields?: Array<string>;
  orderBy?: "start_time" | "duration";
}

export interface SearchSpansResponse {
  object?: "list";
  data?: Array<SpanSummary>;
  hasMore?: boolean;
  nextCursor?: string;
  warnings?: Array<string>;
}

export interface SearchTraceFacetsRequest {
  startTime?: string;
  endTime?: string;
  filters?: TraceFilters;
  where?: string;
}

export interface SearchTracesRequest {
  startTime?: string;
  endTime?: string;
  limit?: number;
  cursor?: string;
  filters?: TraceFilters;
  where?: string;
}

export interface SearchTracesResponse {
  object?: "list";
  data?: Array<TraceSummary>;
  hasMore?: boolean;
  nextCursor?: string;
  warnings?: Array<string>;
}

export interface SelectPlanetScaleOrganizationRequest {
  organization?: string;
  includeBranches?: Array<string>;
  excludeBranches?: Array<string>;
}

export interface Service {
  object?: "service";
  name?: string;
  serviceNamespaces?: Array<string>;
  deploymentEnvironments?: Array<string>;
  throughput?: number;
  tracedThroughput?: number;
  spanCount?: number;
  errorCount?: number;
  errorRate?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
  hasSampling?: boolean;
  samplingWeight?: number;
  baselineP95LatencyMs?: number;
  baselineSpanCount?: number;
}

export interface ServiceApdex {
  object?: "service_apdex";
  service?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  apdexThresholdMs?: number;
  apdexScore?: number;
  points?: Array<ServiceApdexPoint>;
}

export interface ServiceApdexPoint {
  timestamp?: string;
  totalCount?: number;
  satisfiedCount?: number;
  toleratingCount?: number;
  apdexScore?: number;
}

export interface ServiceDiagnosis {
  object?: "service_diagnosis";
  name?: string;
  startTime?: string;
  endTime?: string;
  health?: ServiceHealth;
  previous?: PeriodFigures;
  causes?: Array<Cause>;
  topErrors?: Array<DiagnosedError>;
  previousIsThin?: boolean;
  dataStartTime?: string;
  dataEndTime?: string;
  previousDataStartTime?: string;
  previousDataEndTime?: string;
  deploymentEnvironments?: Array<string>;
}

export interface ServiceHealth {
  throughput?: number;
  errorRate?: number;
  errorCount?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
  apdexScore?: number;
}

export interface ServiceMap {
  object?: "service_map";
  startTime?: string;
  endTime?: string;
  edges?: Array<ServiceMapEdge>;
  peerEdges?: Array<ServiceMapPeerEdge>;
  nodes?: Array<ServiceMapNode>;
  truncated?: boolean;
}

export interface ServiceMapEdge {
  object?: "service_map.edge";
  sourceService?: string;
  targetService?: string;
  callCount?: number;
  estimatedCallCount?: number;
  errorCount?: number;
  errorRate?: number;
  avgDurationMs?: number;
  maxDurationMs?: number;
  hasSampling?: boolean;
  samplingWeight?: number;
}

export interface ServiceMapNode {
  object?: "service_map.node";
  id?: string;
  kind?: "service" | "database" | "queue" | "external";
  name?: string;
  system?: string;
  estimatedSpanCount?: number;
  errorRate?: number;
  p95LatencyMs?: number;
}

export interface ServiceMapPeerEdge {
  object?: "service_map.peer_edge";
  source?: string;
  target?: string;
  peerKind?: "database" | "queue" | "external";
  direction?: "outbound" | "inbound";
  callCount?: number;
  estimatedCallCount?: number;
  errorCount?: number;
  errorRate?: number;
  avgDurationMs?: number;
  maxDurationMs?: number;
  hasSampling?: boolean;
  samplingWeight?: number;
}

export interface ServiceOperation {
  name?: string;
  spanCount?: number;
  estimatedSpanCount?: number;
  errorCount?: number;
  errorRate?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
}

export interface ServiceOperationDetail {
  object?: "service_operation";
  name?: string;
  spanCount?: number;
  estimatedSpanCount?: number;
  throughput?: number;
  errorCount?: number;
  errorRate?: number;
  avgLatencyMs?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
  apdex?: number;
  lastSeen?: string;
}

export interface ServiceOverview {
  object?: "service_overview";
  service?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  points?: Array<ServiceOverviewPoint>;
  operations?: Array<ServiceOperation>;
}

export interface ServiceOverviewPoint {
  timestamp?: string;
  spanCount?: number;
  estimatedSpanCount?: number;
  errorRate?: number;
  p50LatencyMs?: number;
  p95LatencyMs?: number;
  p99LatencyMs?: number;
}

export interface ServiceRelease {
  version?: string;
  firstSeen?: string;
  lastSeen?: string;
  spanCount?: number;
  estimatedSpanCount?: number;
  errorRate?: number;
  p95LatencyMs?: number;
  points?: Array<ServiceReleasePoint>;
}

export interface ServiceReleasePoint {
  timestamp?: string;
  count?: number;
}

export interface ServiceReleases {
  object?: "service_releases";
  service?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  data?: Array<ServiceRelease>;
}

export interface ServiceSignals {
  object?: "service_telemetry_signals";
  name?: string;
  signals?: Array<TelemetrySignal>;
}

export interface Session {
  object?: "session";
  credential?: "session" | "api_key" | "mcp_key" | "oauth";
  keyId?: string;
  user?: User;
  organization?: SessionOrganization;
  organizations?: Array<SessionOrganization>;
  scopes?: Array<string>;
  expiresAt?: string;
}

export interface SessionEventFilters {
  type?: "navigation" | "click" | "input" | "console" | "network" | "error" | "custom";
  level?: string;
  minStatus?: number;
  urlSearch?: string;
  messageSearch?: string;
  traceId?: string;
}

export interface SessionOrganization {
  id?: string;
  object?: "organization";
  name?: string;
  slug?: string;
  role?: "org:admin" | "org:member" | "root";
}

export interface SessionReplay {
  id?: string;
  object?: "session_replay";
  startTime?: string;
  endTime?: string;
  durationMs?: number;
  status?: "active" | "ended";
  lastActivityAt?: string;
  userId?: string;
  userName?: string;
  userEmail?: string;
  groupId?: string;
  groupName?: string;
  visitorId?: string;
  utmSource?: string;
  entryPath?: string;
  urlInitial?: string;
  browserName?: string;
  osName?: string;
  deviceType?: string;
  country?: string;
  serviceName?: string;
  pageViews?: number;
  clickCount?: number;
  errorCount?: number;
  traceCount?: number;
  visitorIsNew?: boolean;
  userTraits?: string;
  referrer?: string;
  referrerHost?: string;
  utmMedium?: string;
  utmCampaign?: string;
  utmTerm?: string;
  utmContent?: string;
  host?: string;
  exitPath?: string;
  language?: string;
  userAgent?: string;
  traceIds?: Array<string>;
  resourceAttributes?: string;
  activeTimeMs?: number;
  idleTimeMs?: number;
}

export interface SessionReplayChunk {
  chunkSeq?: number;
  timestamp?: string;
  durationMs?: number;
  eventCount?: number;
  byteSize?: number;
  isCheckpoint?: boolean;
}

export interface SessionReplayEventChunk {
  object?: "session_replay.event_chunk";
  chunkSeq?: number;
  timestamp?: string;
  durationMs?: number;
  eventCount?: number;
  byteSize?: number;
  isCheckpoint?: boolean;
  events?: string;
}

export interface SessionReplayFacetValue {
  name?: string;
  count?: number;
}

export interface SessionReplayFacets {
  object?: "session_replay.facets";
  sessionCount?: number;
  errorCount?: number;
  services?: Array<SessionReplayFacetValue>;
  browsers?: Array<SessionReplayFacetValue>;
  countries?: Array<SessionReplayFacetValue>;
  devices?: Array<SessionReplayFacetValue>;
}

export interface SessionReplayManifest {
  object?: "session_replay.manifest";
  sessionId?: string;
  chunks?: Array<SessionReplayChunk>;
  chunkCount?: number;
  totalByteSize?: number;
  maxChunksPerRequest?: number;
  maxBytesPerRequest?: number;
  truncated?: boolean;
}

export interface SessionReplayMatch {
  timestamp?: string;
  url?: string;
}

export interface SessionReplayRef {
  object?: "session_replay.ref";
  id?: string;
  startTime?: string;
  durationMs?: number;
}

export interface SessionReplaySummary {
  id?: string;
  object?: "session_replay";
  startTime?: string;
  endTime?: string;
  durationMs?: number;
  status?: "active" | "ended";
  lastActivityAt?: string;
  userId?: string;
  userName?: string;
  userEmail?: string;
  groupId?: string;
  groupName?: string;
  visitorId?: string;
  utmSource?: string;
  entryPath?: string;
  urlInitial?: string;
  browserName?: string;
  osName?: string;
  deviceType?: string;
  country?: string;
  serviceName?: string;
  pageViews?: number;
  clickCount?: number;
  errorCount?: number;
  traceCount?: number;
  recorded?: boolean;
  tags?: Array<"bot" | "bounce" | "idle" | "glance" | "engaged" | "signed_in" | "new_visitor">;
  matchCount?: number;
  firstMatch?: SessionReplayMatch;
}

export interface SessionReplayTrace {
  object?: "session_replay.trace";
  traceId?: string;
  startTime?: string;
  durationMs?: number;
  rootSpanName?: string;
  rootServiceName?: string;
  rootSpanKind?: string;
  spanCount?: number;
  hasError?: boolean;
}

export interface SessionReplayTranscriptEvent {
  object?: "session_replay.transcript_event";
  timestamp?: string;
  seq?: number;
  type?: "navigation" | "click" | "input" | "console" | "network" | "error" | "custom";
  url?: string;
  traceId?: string;
  level?: string;
  message?: string;
  targetSelector?: string;
  targetText?: string;
  netMethod?: string;
  netUrl?: string;
  netStatus?: number;
  netDurationMs?: number;
  attributes?: string;
  errorStack?: string;
}

export interface SessionWithToken {
  object?: "session";
  credential?: "session";
  user?: User;
  organization?: SessionOrganization;
  organizations?: Array<SessionOrganization>;
  expiresAt?: string;
  token?: string;
}

export interface SetErrorIssueSeverityRequest {
  id?: string;
  severity?: "critical" | "high" | "medium" | "low";
  note?: string;
}

export interface SetPlanetScaleMetricsTokenRequest {
  tokenId?: string;
  tokenSecret?: string;
}

export interface SetTrackedBranchRequest {
  id?: string;
  trackedBranch?: string;
}

export interface SetupAudit {
  object?: "setup_audit";
  generatedAt?: string;
  dataStatus?: "ok" | "no_data";
  telemetryChecksAvailable?: boolean;
  summary?: SetupAuditSummary;
  checks?: Array<SetupAuditCheck>;
  openRecommendationCount?: number;
}

export interface SetupAuditAffected {
  kind?: "service" | "alert_rule" | "alert_destination" | "attribute_mapping" | "scrape_target" | "repository" | "integration" | "attribute_key" | "ingest_key" | "metric";
  id?: string;
  name?: string;
  note?: string;
}

export interface SetupAuditCheck {
  object?: "setup_audit_check";
  id?: string;
  category?: "alerting" | "notifications" | "ingestion" | "attributes" | "traces" | "integrations" | "data_platform";
  title?: string;
  severity?: "critical" | "warn" | "info";
  status?: "pass" | "fail" | "skip";
  detail?: string;
  affected?: Array<SetupAuditAffected>;
  affectedCount?: number;
  fixHint?: string;
}

export interface SetupAuditSummary {
  critical?: number;
  warn?: number;
  info?: number;
  pass?: number;
  skip?: number;
}

export interface ShareLimits {
  maxRangeSeconds?: number;
  maxListRangeSeconds?: number;
}

export interface ShareOgCard {
  title?: string;
  description?: string;
  org?: ShareOgOrganization;
  widgetCount?: number;
  tiles?: Array<ShareOgTile>;
}

export interface ShareOgMeta {
  title?: string;
  description?: string;
  imagePath?: string;
}

export interface ShareOgOrganization {
  name?: string;
  imageUrl?: string;
}

export interface ShareOgTile {
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  title?: string;
  section?: string;
  visualization?: string;
}

export interface ShareTimeRange {
  startTime?: string;
  endTime?: string;
}

export interface ShareWidgetData {
  results?: Array<ShareWidgetResult>;
  variables?: Record<string, string>;
}

export interface ShareWidgetRequest {
  widgetId?: string;
  source?: "primary" | "sparkline";
  maxDataPoints?: number;
}

export interface ShareWidgetResult {
  widgetId?: string;
  ok?: boolean;
  data?: WidgetData;
  narrowedToSeconds?: number;
  reason?: "unsupported" | "not_found" | "failed";
  message?: string;
}

export interface SharedDashboard {
  name?: string;
  description?: string;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  sections?: Array<DashboardSection>;
  variables?: Array<DashboardVariable>;
  refreshIntervalSeconds?: number;
}

export interface SignInRequest {
  email?: string;
  password?: string;
  orgId?: string;
}

export interface SignOutRequest {
}

export interface SkeletonSpan {
  id?: string;
  parentSpanId?: string;
  name?: number;
  service?: number;
  kind?: "Internal" | "Server" | "Client" | "Producer" | "Consumer" | "Unspecified";
  offsetMs?: number;
  durationMs?: number;
  statusCode?: "Ok" | "Error" | "Unset";
  hasError?: boolean;
}

export interface SlowerOperation {
  serviceName?: string;
  spanName?: string;
  p95LatencyMs?: number;
  previousP95LatencyMs?: number;
  count?: number;
}

export interface SlowerOperationList {
  object?: "list";
  data?: Array<SlowerOperation>;
  previousIsThin?: boolean;
}

export interface SortBy {
  field?: string;
  direction?: "asc" | "desc";
}

export interface SourceCiJob {
  name?: string;
  failedStep?: string;
  htmlUrl?: string;
}

export interface SourceCiRun {
  id?: string;
  name?: string;
  status?: "queued" | "in_progress" | "completed";
  conclusion?: "success" | "failure" | "cancelled" | "skipped" | "timed_out" | "action_required" | "neutral";
  branch?: string;
  commitSha?: string;
  htmlUrl?: string;
  startedAt?: string;
  completedAt?: string;
  failedJobs?: Array<SourceCiJob>;
}

export interface SourceCiRuns {
  object?: "source_ci_runs";
  repository?: string;
  runs?: Array<SourceCiRun>;
}

export interface SourceCommit {
  object?: "source_commit";
  provider?: "github" | "gitlab";
  sha?: string;
  message?: string;
  authorName?: string;
  authorEmail?: string;
  authorLogin?: string;
  authoredAt?: string;
  committedAt?: string;
  htmlUrl?: string;
  repoFullName?: string;
}

export interface SourceComparison {
  object?: "source_comparison";
  repository?: string;
  status?: "identical" | "ahead" | "behind" | "diverged";
  aheadBy?: number;
  behindBy?: number;
  mergeBaseSha?: string;
  commits?: Array<SourceCommit>;
  files?: Array<SourceFileChange>;
  truncated?: boolean;
  htmlUrl?: string;
}

export interface SourceConnection {
  id?: string;
  object?: "source_connection";
  provider?: "github" | "gitlab";
  baseUrl?: string;
  accountLogin?: string;
  accountType?: "organization" | "user";
  repositorySelection?: "all" | "selected";
  limited?: boolean;
  status?: "connected" | "error" | "reconnect_needed" | "disconnected";
  error?: string;
  codeAccess?: "members" | "admins" | "off";
  missingPermissions?: Array<string>;
  settingsUrl?: string;
  connectedBy?: string;
  connectedAt?: string;
  lastSyncAt?: string;
  webhookUrl?: string;
  webhookSecret?: string;
}

export interface SourceFile {
  object?: "source_file";
  repository?: string;
  path?: string;
  ref?: string;
  commitSha?: string;
  sha?: string;
  htmlUrl?: string;
  kind?: "text" | "binary" | "lfs_pointer" | "symlink" | "submodule";
  sizeBytes?: string;
  startLine?: number;
  endLine?: number;
  totalLines?: number;
  truncated?: boolean;
  lines?: Array<string>;
}

export interface SourceFileChange {
  path?: string;
  previousPath?: string;
  status?: "added" | "removed" | "modified" | "renamed" | "copied" | "changed" | "unchanged";
  additions?: number;
  deletions?: number;
  patch?: string;
}

export interface SourceHost {
  object?: "source_host";
  provider?: "github" | "gitlab";
  name?: string;
  available?: boolean;
  state?: "connected" | "disconnected" | "suspended" | "not_connected";
  connections?: Array<SourceConnection>;
}

export interface SourceHostInstall {
  object?: "source_host.install";
  url?: string;
  expiresAt?: string;
}

export interface SourceMatch {
  path?: string;
  sha?: string;
  htmlUrl?: string;
  snippets?: Array<SourceSnippet>;
}

export interface SourceMatches {
  object?: "source_matches";
  repository?: string;
  ref?: string;
  commitSha?: string;
  matches?: Array<SourceMatch>;
  totalFiles?: number;
  incomplete?: boolean;
}

export interface SourceRepository {
  id?: string;
  object?: "source_repository";
  provider?: "github" | "gitlab";
  connectionId?: string;
  fullName?: string;
  htmlUrl?: string;
  isPrivate?: boolean;
  isArchived?: boolean;
  status?: "active" | "removed";
  defaultBranch?: string;
  trackedBranch?: string;
  lastSyncedAt?: string;
  lastSyncError?: string;
}

export interface SourceSnippet {
  startLine?: number;
  line?: number;
  text?: string;
}

export interface Span {
  id?: string;
  object?: "span";
  traceId?: string;
  parentSpanId?: string;
  name?: string;
  serviceName?: string;
  kind?: "Internal" | "Server" | "Client" | "Producer" | "Consumer" | "Unspecified";
  startTime?: string;
  durationMs?: number;
  statusCode?: "Ok" | "Error" | "Unset";
  statusMessage?: string;
  attributes?: Record<string, string>;
  resourceAttributes?: Record<string, string>;
  events?: Array<SpanEvent>;
  links?: Array<SpanLink>;
  traceState?: string;
  scopeName?: string;
  scopeVersion?: string;
}

export interface SpanEvent {
  timestamp?: string;
  name?: string;
  attributes?: Record<string, string>;
}

export interface SpanLink {
  traceId?: string;
  spanId?: string;
  traceState?: string;
  attributes?: Record<string, string>;
}

export interface SpanSummary {
  id?: string;
  object?: "span";
  traceId?: string;
  parentSpanId?: string;
  startTime?: string;
  durationMs?: number;
  name?: string;
  kind?: "Internal" | "Server" | "Client" | "Producer" | "Consumer" | "Unspecified";
  serviceName?: string;
  statusCode?: "Ok" | "Error" | "Unset";
  hasError?: boolean;
  deploymentEnvironment?: string;
  httpMethod?: string;
  httpRoute?: string;
  httpStatusCode?: string;
  fields?: Record<string, string>;
}

export interface Sparkline {
  enabled?: boolean;
  dataSource?: WidgetDataSource;
}

export interface SplitErrorIssueRequest {
  id?: string;
  fingerprintHashes?: Array<string>;
}

export interface SqlResult {
  object?: "sql_result";
  columns?: Array<SqlResultColumn>;
  rows?: Array<Array<unknown>>;
  rowCount?: number;
  truncated?: boolean;
  statistics?: SqlStatistics;
  expandedSql?: string;
  startTime?: string;
  endTime?: string;
  granularitySeconds?: number;
  usesWindow?: boolean;
  warnings?: Array<string>;
}

export interface SqlResultColumn {
  name?: string;
  type?: string;
}

export interface SqlStatistics {
  rowsRead?: number;
  bytesRead?: number;
  elapsedMs?: number;
}

export interface SqlTable {
  object?: "sql_table";
  name?: string;
  description?: string;
  columns?: Array<SqlTableColumn>;
  sortKey?: Array<string>;
  notes?: Array<string>;
  example?: string;
}

export interface SqlTableColumn {
  name?: string;
  type?: string;
}

export interface StartChatIdentityLinkRequest {
  connector?: string;
  returnTo?: string;
}

export interface StartCliLoginRequest {
  clientName?: string;
}

export interface SummarizeAlertRuleChecksRequest {
  id?: string;
  since?: string;
  until?: string;
  groupKey?: string;
}

export interface SummarizeMetricsRequest {
  startTime?: string;
  endTime?: string;
  serviceName?: string;
}

export interface SummarizeMetricsResponse {
  data?: Array<MetricTypeFigures>;
}

export interface SummarizeTracesRequest {
  traceIds?: Array<string>;
  startTime?: string;
  endTime?: string;
}

export interface SummarizeTracesResponse {
  data?: Array<TraceFigures>;
}

export interface SuspectCommit {
  repository?: string;
  sha?: string;
  message?: string;
  authorName?: string;
  authorLogin?: string;
  committedAt?: string;
  htmlUrl?: string;
  path?: string;
  line?: number;
  isNear?: boolean;
  isAssumed?: boolean;
  reason?: string;
}

export interface SyncHostingPlatformRequest {
  platform?: string;
}

export interface SyncSourceConnectionRequest {
  id?: string;
}

export interface TableColumn {
  field?: string;
  header?: string;
  unit?: string;
  width?: number;
  align?: "left" | "center" | "right";
  hidden?: boolean;
  thresholds?: Array<ColumnThreshold>;
}

export interface TelegramChat {
  id?: string;
  title?: string;
  type?: "private" | "group" | "supergroup" | "channel";
}

export interface TelemetryGroup {
  name?: string;
  value?: number;
  other?: boolean;
}

export interface TelemetryPoint {
  timestamp?: string;
  value?: number;
}

export interface TelemetrySeries {
  group?: string;
  points?: Array<TelemetryPoint>;
  other?: boolean;
}

export interface TelemetrySignal {
  object?: "telemetry_signal";
  signal?: "traces" | "logs" | "metrics" | "sessions" | "product_events";
  status?: "present" | "absent" | "unknown";
  count?: number;
  firstSeen?: string;
  lastSeen?: string;
}

export interface TelemetrySignals {
  object?: "telemetry_signals";
  generatedAt?: string;
  windowStart?: string;
  windowEnd?: string;
  warehouseAvailable?: boolean;
  signals?: Array<TelemetrySignal>;
  services?: Array<ServiceSignals>;
  serviceCount?: number;
}

export interface TestAlertDestinationRequest {
  id?: string;
}

export interface TestAlertRuleRequest {
  rule?: CreateAlertRuleRequest;
  sendNotification?: boolean;
}

export interface Threshold {
  value?: number;
  color?: string;
  label?: string;
}

export interface TimeRange {
  type?: "relative" | "absolute";
  value?: string;
  startTime?: string;
  endTime?: string;
}

export interface Trace {
  id?: string;
  object?: "trace";
  startTime?: string;
  endTime?: string;
  durationMs?: number;
  spanCount?: number;
  serviceCount?: number;
  truncated?: boolean;
  spans?: Array<Span>;
}

export interface TraceBreakdown {
  object?: "trace_breakdown";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  groupBy?: string;
  data?: Array<TelemetryGroup>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface TraceCriticalPath {
  object?: "trace_critical_path";
  traceId?: string;
  durationMs?: number;
  steps?: Array<CriticalStep>;
  repeatedOperations?: Array<RepeatedOperation>;
  truncated?: boolean;
}

export interface TraceDistribution {
  object?: "trace_distribution";
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  boundsMs?: Array<number>;
  count?: number;
  errorCount?: number;
  receivedCount?: number;
  data?: Array<TraceDistributionColumn>;
}

export interface TraceDistributionCell {
  row?: number;
  count?: number;
  errorCount?: number;
}

export interface TraceDistributionColumn {
  timestamp?: string;
  cells?: Array<TraceDistributionCell>;
}

export interface TraceFigures {
  id?: string;
  spanCount?: number;
  errorCount?: number;
  services?: Array<string>;
  errorMessage?: string;
}

export interface TraceFilters {
  serviceName?: string;
  spanName?: string;
  statusCode?: "Ok" | "Error" | "Unset";
  hasError?: boolean;
  minDurationMs?: number;
  maxDurationMs?: number;
  httpMethod?: string;
  httpRoute?: string;
  httpStatusCode?: string;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
  spanScope?: "root";
  attributes?: Array<AttributeFilter>;
  resourceAttributes?: Array<AttributeFilter>;
  spanNameContains?: string;
  traceId?: string;
}

export interface TraceSkeleton {
  id?: string;
  object?: "trace_skeleton";
  startTime?: string;
  endTime?: string;
  durationMs?: number;
  spanCount?: number;
  serviceCount?: number;
  errorCount?: number;
  services?: Array<string>;
  names?: Array<string>;
  spans?: Array<SkeletonSpan>;
  hasMore?: boolean;
  nextCursor?: string;
}

export interface TraceSummary {
  id?: string;
  object?: "trace";
  startTime?: string;
  durationMs?: number;
  rootSpanName?: string;
  rootSpanKind?: "Internal" | "Server" | "Client" | "Producer" | "Consumer" | "Unspecified";
  rootServiceName?: string;
  rootStatusCode?: "Ok" | "Error" | "Unset";
  rootHasError?: boolean;
  deploymentEnvironment?: string;
  serviceNamespace?: string;
  httpMethod?: string;
  httpRoute?: string;
  httpStatusCode?: string;
}

export interface TraceTimeseries {
  object?: "trace_timeseries";
  aggregation?: string;
  startTime?: string;
  endTime?: string;
  bucketSeconds?: number;
  groupBy?: string;
  series?: Array<TelemetrySeries>;
  truncated?: boolean;
  warnings?: Array<string>;
}

export interface TransitionErrorIssueRequest {
  id?: string;
  toState?: "triage" | "todo" | "in_progress" | "in_review" | "verifying" | "done" | "regressed" | "cancelled" | "wontfix";
  note?: string;
  snoozeUntil?: string;
  fixedInVersion?: string;
  fixedInCommit?: string;
}

export interface UnlinkErrorIssuePullRequestRequest {
  id?: string;
  pullRequestId?: string;
}

export interface UpdateAlertDestinationRequest {
  id?: string;
  type?: "pagerduty" | "webhook" | "hazel-oauth" | "discord" | "telegram" | "email" | "chat";
  name?: string;
  enabled?: boolean;
  integrationKey?: string;
  url?: string;
  signingSecret?: string;
  hazelOrganizationId?: string;
  hazelOrganizationName?: string;
  hazelOrganizationLogoUrl?: string;
  hazelChannelId?: string;
  hazelChannelName?: string;
  webhookUrl?: string;
  botToken?: string;
  chatId?: string;
  memberUserIds?: Array<string>;
  workspaceId?: string;
  channelId?: string;
  updateMask?: string;
}

export interface UpdateAlertRuleRequest {
  id?: string;
  name?: string;
  notes?: string;
  notificationTemplate?: AlertNotificationTemplate;
  enabled?: boolean;
  severity?: "warning" | "critical";
  serviceNames?: Array<string>;
  excludeServiceNames?: Array<string>;
  environments?: Array<string>;
  tags?: Array<string>;
  groupBy?: Array<string>;
  signalType?: "error_rate" | "p95_latency" | "p99_latency" | "apdex" | "throughput" | "builder_query" | "raw_query";
  comparator?: "gt" | "gte" | "lt" | "lte" | "eq" | "neq" | "between" | "not_between";
  threshold?: number;
  thresholdUpper?: number;
  windowMinutes?: number;
  minimumSampleCount?: string;
  consecutiveBreachesRequired?: number;
  consecutiveHealthyRequired?: number;
  renotifyIntervalMinutes?: number;
  apdexThresholdMs?: number;
  queryBuilderDraft?: Record<string, unknown>;
  rawQuerySql?: string;
  rawQueryReducer?: "identity" | "sum" | "avg" | "min" | "max";
  destinationIds?: Array<string>;
  resolveThreshold?: number;
  alertOnNoData?: boolean;
  burn?: AlertBurn;
  baseline?: AlertBaseline;
  updateMask?: string;
}

export interface UpdateAttributeMappingRequest {
  id?: string;
  name?: string;
  sourceContext?: "span" | "resource";
  sourceKey?: string;
  targetKey?: string;
  operation?: "copy" | "move";
  enabled?: boolean;
  updateMask?: string;
}

export interface UpdateChatWorkspaceRequest {
  id?: string;
  settings?: Record<string, string>;
  updateMask?: string;
}

export interface UpdateCustomIngestKeyRequest {
  id?: string;
  name?: string;
  description?: string;
  enabled?: boolean;
  allowedSignals?: Array<"traces" | "logs" | "metrics" | "sessions" | "events">;
  rateLimitPerSecond?: number;
  resourceAttributes?: Array<IngestKeyAttribute>;
  expiresAt?: string;
  updateMask?: string;
}

export interface UpdateDashboardRequest {
  id?: string;
  name?: string;
  description?: string;
  tags?: Array<string>;
  timeRange?: TimeRange;
  widgets?: Array<Widget>;
  sections?: Array<DashboardSection>;
  variables?: Array<DashboardVariable>;
  refreshIntervalSeconds?: number;
  expectedUpdatedAt?: string;
  updateMask?: string;
}

export interface UpdateInvestigationRequest {
  id?: string;
  title?: string;
  status?: "investigating" | "diagnosed" | "resolved" | "failed";
  conclusion?: string;
  assignee?: string;
  updateMask?: string;
}

export interface UpdateLogpushConnectorRequest {
  id?: string;
  name?: string;
  zoneName?: string;
  serviceName?: string;
  enabled?: boolean;
  updateMask?: string;
}

export interface UpdateMarkerRequest {
  id?: string;
  kind?: "deploy" | "flag" | "configuration" | "note";
  title?: string;
  description?: string;
  occurredAt?: string;
  endedAt?: string;
  serviceName?: string;
  deploymentEnvironment?: string;
  url?: string;
  updateMask?: string;
}

export interface UpdateMemberRequest {
  id?: string;
  role?: "org:admin" | "org:member";
  updateMask?: string;
}

export interface UpdateOrganizationRequest {
  name?: string;
  slug?: string;
  updateMask?: string;
}

export interface UpdatePreferencesRequest {
  theme?: "system" | "light" | "dark";
  stackTrace?: "pretty" | "raw";
  timeZone?: string;
  updateMask?: string;
}

export interface UpdateSamplingPolicyRequest {
  traceSampleRatio?: number;
  alwaysKeepErrorSpans?: boolean;
  alwaysKeepSlowSpansMs?: string;
  updateMask?: string;
}

export interface UpdateSavedViewRequest {
  id?: string;
  name?: string;
  description?: string;
  state?: string;
  visibility?: "private" | "shared";
  updateMask?: string;
}

export interface UpdateScrapeTargetRequest {
  id?: string;
  name?: string;
  serviceName?: string;
  url?: string;
  organization?: string;
  includeBranches?: Array<string>;
  excludeBranches?: Array<string>;
  scrapeIntervalSeconds?: number;
  labelsJson?: string;
  authType?: "none" | "bearer" | "basic" | "token";
  authCredentials?: string;
  enabled?: boolean;
  updateMask?: string;
}

export interface UpdateSourceConnectionRequest {
  id?: string;
  codeAccess?: "members" | "admins" | "off";
}

export interface UpsertDashboardShareRequest {
  id?: string;
  mode?: "public" | "org";
}

export interface UpsertDashboardWidgetShareRequest {
  id?: string;
  widgetId?: string;
  mode?: "public" | "org";
}

export interface User {
  id?: string;
  object?: "user";
  email?: string;
  name?: string;
}

export interface VariableOption {
  value?: string;
  label?: string;
}

export interface VariableSource {
  kind?: "facet" | "attribute";
  facet?: "service" | "environment" | "span_name" | "http_method" | "http_status_code" | "log_severity";
  scope?: "span" | "resource";
  attributeKey?: string;
}

export interface Widget {
  id?: string;
  visualization?: "chart" | "hbar" | "stat" | "gauge" | "table" | "list" | "pie" | "histogram" | "heatmap" | "funnel" | "paths" | "markdown";
  dataSource?: WidgetDataSource;
  display?: WidgetDisplay;
  layout?: WidgetLayout;
  timeRange?: TimeRange;
  sectionId?: string;
  tabId?: string;
}

export interface WidgetBreakdown {
  columns?: Array<QueryColumn>;
  rows?: Array<QueryRow>;
}

export interface WidgetData {
  object?: "widget_data";
  widgetId?: string;
  kind?: "timeseries" | "breakdown" | "table" | "value" | "histogram" | "heatmap" | "funnel" | "paths" | "none";
  startTime?: string;
  endTime?: string;
  rangeSource?: "override" | "widget" | "dashboard" | "fallback";
  narrowedToSeconds?: number;
  timeseries?: WidgetTimeseries;
  breakdown?: WidgetBreakdown;
  table?: WidgetTable;
  value?: WidgetValue;
  histogram?: WidgetHistogram;
  heatmap?: WidgetHeatmap;
  funnel?: WidgetFunnel;
  paths?: WidgetPaths;
  truncated?: boolean;
  warnings?: Array<string>;
  unit?: string;
}

export interface WidgetDataSource {
  kind?: "query" | "raw_sql" | "route" | "static";
  resultShape?: "timeseries" | "breakdown" | "list";
  queries?: Array<QueryDraft>;
  formulas?: Array<QueryFormula>;
  comparison?: QueryComparison;
  defaultLimit?: number;
  limit?: number;
  columns?: Array<string>;
  sql?: string;
  displayType?: "line" | "area" | "bar" | "hbar" | "table" | "stat" | "gauge" | "pie" | "histogram" | "heatmap" | "funnel";
  granularitySeconds?: number;
  endpoint?: "raw_sql_chart";
  params?: Record<string, unknown>;
  transform?: DataTransform;
}

export interface WidgetDisplay {
  title?: string;
  description?: string;
  chartId?: string;
  prefix?: string;
  suffix?: string;
  unit?: string;
  chartPresentation?: ChartPresentation;
  xAxis?: XAxis;
  yAxis?: YAxis;
  seriesMapping?: Record<string, string>;
  colorOverrides?: Record<string, string>;
  stacked?: boolean;
  curveType?: "linear" | "monotone";
  thresholds?: Array<Threshold>;
  sparkline?: Sparkline;
  columns?: Array<TableColumn>;
  listDataSource?: "traces" | "logs";
  listWhereClause?: string;
  listLimit?: number;
  listRootOnly?: boolean;
  pie?: PieDisplay;
  funnel?: FunnelDisplay;
  paths?: PathsDisplay;
  histogram?: HistogramDisplay;
  heatmap?: HeatmapDisplay;
  gauge?: GaugeDisplay;
  markdown?: MarkdownDisplay;
}

export interface WidgetFunnel {
  rows?: Array<WidgetFunnelRow>;
}

export interface WidgetFunnelRow {
  name?: string;
  value?: number;
  group?: string;
  p50Ms?: number;
  p90Ms?: number;
  leavers?: Array<ProductEventLeaver>;
}

export interface WidgetHeatmap {
  cells?: Array<WidgetHeatmapCell>;
}

export interface WidgetHeatmapCell {
  x?: string;
  y?: string;
  value?: number;
}

export interface WidgetHistogram {
  buckets?: Array<WidgetHistogramBucket>;
}

export interface WidgetHistogramBucket {
  start?: number;
  end?: number;
  count?: number;
}

export interface WidgetInspection {
  object?: "widget_inspection";
  outcome?: "inspected" | "raw_sql" | "unsupported";
  dashboardId?: string;
  dashboardName?: string;
  widgetId?: string;
  title?: string;
  visualization?: string;
  unit?: string;
  verdict?: "broken" | "suspicious" | "looks_healthy";
  flags?: Array<"EMPTY" | "ALL_NULLS" | "BROKEN_BREAKDOWN" | "EMPTY_GROUPING" | "METRIC_NOT_FOUND" | "UNIT_MISMATCH" | "ALL_ZEROS" | "SINGLE_POINT" | "FLAT_LINE" | "NEGATIVE_VALUES" | "UNREALISTIC_MAGNITUDE" | "SINGLE_SERIES_DOMINATES" | "CARDINALITY_EXPLOSION" | "BUILDER_WARNINGS" | "SUSPICIOUS_GAP">;
  notes?: Array<string>;
  startTime?: string;
  endTime?: string;
  rangeSource?: "override" | "widget" | "dashboard" | "fallback";
  series?: Array<WidgetSeriesFigures>;
  rawSql?: string;
  queries?: Array<WidgetQueryInspection>;
  refusal?: string;
  reshaped?: boolean;
}

export interface WidgetLayout {
  x?: number;
  y?: number;
  w?: number;
  h?: number;
  minW?: number;
  minH?: number;
  maxW?: number;
  maxH?: number;
}

export interface WidgetPaths {
  rows?: Array<ProductEventPathLink>;
}

export interface WidgetQueryInspection {
  id?: string;
  name?: string;
  status?: "ok" | "error" | "skipped";
  error?: string;
  rows?: number;
  seriesCount?: number;
  firstBucket?: string;
  lastBucket?: string;
  reducedValue?: number;
  flags?: Array<string>;
  warnings?: Array<string>;
}

export interface WidgetSample {
  bucket?: string;
  value?: number;
}

export interface WidgetSeriesFigures {
  name?: string;
  points?: number;
  min?: number;
  max?: number;
  avg?: number;
  query?: string;
  nulls?: number;
  zeros?: number;
  negatives?: number;
  samples?: Array<WidgetSample>;
}

export interface WidgetTable {
  columns?: Array<SqlResultColumn>;
  rows?: Array<Array<unknown>>;
}

export interface WidgetTimeseries {
  bucketSeconds?: number;
  series?: Array<QuerySeries>;
}

export interface WidgetValue {
  value?: number;
  previous?: number;
  percentChange?: number;
}

export interface XAxis {
  label?: string;
  unit?: string;
  visible?: boolean;
}

export interface YAxis {
  label?: string;
  unit?: string;
  visible?: boolean;
  min?: number;
  max?: number;
  softMin?: number;
  softMax?: number;
  logScale?: boolean;
  fitYAxisToData?: boolean;
}
