package limits

// Parts of an answer that a caller cannot ask more of.
const (
	// AgentSpans is how many spans of an agent session one answer holds.
	AgentSpans = 10_000
	// AgentTools is how many tools of agents are listed, AgentFailures how many kinds of failures of a tool, and how many values each count
	// of one failure gives. AgentMessages is how many different messages a failure shows.
	AgentTools    = 200
	AgentFailures = 20
	AgentMessages = 10
	// ServiceOperations and ServiceReleases are for one service, SummaryServices is for one trace.
	ServiceOperations = 25
	ServiceReleases   = 100
	SummaryServices   = 50
	// RelatedErrors are other errors in the traces of an error, ErrorNames its services, and its environments.
	RelatedErrors = 10
	ErrorNames    = 20
	// MetricAttributeValues is how many values of an attribute the details of a metric show.
	MetricAttributeValues = 10
	// VariableValues is how many values a variable of a dashboard offers, AttributeValues through how many values of an attribute a caller
	// can page. AttributeRows is how many of the newest rows are searched for them.
	VariableValues  = 100
	AttributeValues = 1000
	AttributeRows   = 200_000
	// MapServices is how many services a service map has besides those at its edges, MapCalls how many kinds of calls of an hour it reads.
	MapServices = 1000
	MapCalls    = 10_000
	// OAuthGrants is how many connected programs a list shows.
	OAuthGrants = 200
	// DiagnosedCauses and DiagnosedErrors are for the diagnosis of a service, ComparedCauses is for a comparison of two periods.
	DiagnosedCauses = 8
	DiagnosedErrors = 10
	ComparedCauses  = 10
	// SlowerOperations is how many operations that became slower are listed. Each has SlowerSpans spans in both periods.
	SlowerOperations = 5
	SlowerSpans      = 5
	// PathSpans is how many spans of a critical path are shown, RepeatedOperations how many operations that ran RepeatedRuns times or more
	// often under one span.
	PathSpans          = 8
	RepeatedOperations = 3
	RepeatedRuns       = 5
	// RecommendationServices is how many services a recommendation names, AffectedObjects how many objects a check of the setup names.
	RecommendationServices = 20
	AffectedObjects        = 20
	// MetricKeys is for the attribute keys in the details of a metric, MetricSampleSeries for the series that are read to find them.
	MetricKeys         = 1000
	MetricSampleSeries = 10_000
	// SessionFacetValues is for each facet of recorded sessions.
	SessionFacetValues = 50
	// FunnelLeavers is how many next events are listed for the people that left a funnel at a step.
	FunnelLeavers = 5
	// DrawnFunnelGroups is how many groups the picture of a funnel compares.
	DrawnFunnelGroups = 6
	// ErrorParts is for the environments of an error, and for its versions.
	ErrorParts   = 50
	Environments = 10_000
	// AgentNames is for the services of an agent session, for its models and for its agents. AgentVendors is for its providers of models.
	// AgentLinks is how many spans are read to find the parents of its spans.
	AgentNames   = 20
	AgentVendors = 10
	AgentLinks   = 100_000
	// AgentFailureText is for a message that the counts of a failure show, SummaryError for the message in the summary of a trace.
	AgentFailureText = 500
	SummaryError     = 300
	// AgentFailureTimes is how many occurrences the trend of a failure of a tool counts.
	AgentFailureTimes = 5000
	// DiagnosedServices is how many services of a period are compared, DiagnosedRows how many errors, patterns of log records and operations
	// of a service. ComparedOperations is how many operations a search for slower ones compares.
	DiagnosedServices  = 500
	DiagnosedRows      = 50
	ComparedOperations = 100
	// ExaminedServices is how many services a comparison of two periods searches for causes.
	ExaminedServices = 6
	// DifferenceValue is for a value that can explain a difference.
	DifferenceValue = 200
)

func answers() []Limit {
	return []Limit{
		count("AgentSpans", AgentSpans, "An agent session is read with at most %s spans."),
		count("AgentTools", AgentTools, "At most %s tools of agents are listed."),
		count("AgentFailures", AgentFailures, "A tool of agents is shown with at most %[1]s kinds of failures, and a failure with at most "+
			"%[1]s sessions."),
		count("AgentMessages", AgentMessages, "A failure is shown with at most %s different messages."),
		count("ServiceOperations", ServiceOperations, "The overview of a service shows its %s busiest operations."),
		count("ServiceReleases", ServiceReleases, "A service is shown with at most %s versions."),
		count("SummaryServices", SummaryServices, "The summary of a trace names at most %s services."),
		count("RelatedErrors", RelatedErrors, "An error is shown with at most %s other errors of its traces."),
		count("ErrorNames", ErrorNames, "An error is shown with at most %[1]s services and %[1]s environments."),
		count("MetricAttributeValues", MetricAttributeValues, "An attribute of a metric is shown with at most %s values."),
		count("VariableValues", VariableValues, "A variable of a dashboard offers at most %s values of the telemetry."),
		count("AttributeValues", AttributeValues, "A caller can page through at most %s values of an attribute."),
		count("AttributeRows", AttributeRows, "The values of an attribute that has no rollup come from the newest %s rows."),
		count("MapServices", MapServices, "A service map has at most %s services besides those at its edges."),
		count("MapCalls", MapCalls, "A service map reads at most %s pairs of services for each hour, the busiest first."),
		count("OAuthGrants", OAuthGrants, "The list of connected programs shows the %s newest."),
		count("DiagnosedCauses", DiagnosedCauses, "The diagnosis of a service names at most %s causes."),
		count("DiagnosedErrors", DiagnosedErrors, "It names the %s most frequent errors."),
		count("ComparedCauses", ComparedCauses, "A comparison of two periods names at most %s causes."),
		count("SlowerOperations", SlowerOperations, "A search for slower operations returns at most %s."),
		count("SlowerSpans", SlowerSpans, "It compares operations that have at least %s spans in both periods."),
		count("PathSpans", PathSpans, "A critical path shows at most %s spans."),
		count("RepeatedOperations", RepeatedOperations, "It names at most %s repeated operations."),
		count("RepeatedRuns", RepeatedRuns, "An operation is repeated when it ran at least %s times under one span."),
		count("RecommendationServices", RecommendationServices, "A recommendation names at most %s services."),
		count("AffectedObjects", AffectedObjects, "A check of the setup names at most %s affected objects."),
		count("MetricKeys", MetricKeys, "The details of a metric list at most %s attribute keys."),
		count("MetricSampleSeries", MetricSampleSeries, "They come from at most %s series of the metric."),
		count("SessionFacetValues", SessionFacetValues, "A facet of recorded sessions has at most %s values."),
		count("FunnelLeavers", FunnelLeavers, "A step of a funnel lists at most %s next events of the people who left there."),
		count("DrawnFunnelGroups", DrawnFunnelGroups, "A funnel in a dashboard compares at most %s groups."),
		count("ErrorParts", ErrorParts, "An error is counted by at most %[1]s environments and %[1]s versions."),
		count("Environments", Environments, "A list of environments has at most %s of them."),
		count("AgentNames", AgentNames, "An agent session in a list names at most %[1]s services, %[1]s models and %[1]s agents."),
		count("AgentVendors", AgentVendors, "It names at most %s providers of models."),
		count("AgentLinks", AgentLinks, "The parents of its spans are searched among at most %s spans."),
		characters("AgentFailureText", AgentFailureText,
			"The message of a failure of a tool is shown with at most %s where failures are counted."),
		characters("SummaryError", SummaryError, "The message of an error in the summary of a trace has at most %s."),
		count("AgentFailureTimes", AgentFailureTimes, "The trend of a failure of a tool counts at most %s occurrences."),
		count("DiagnosedServices", DiagnosedServices, "A comparison of two periods reads at most %s services."),
		count("ExaminedServices", ExaminedServices, "It searches at most %s of them for causes."),
		count("DiagnosedRows", DiagnosedRows,
			"A diagnosis compares at most %[1]s errors, %[1]s patterns of log records and %[1]s operations of a service."),
		count("ComparedOperations", ComparedOperations, "A search for slower operations compares the %s busiest."),
		characters("DifferenceValue", DifferenceValue, "A value that explains a difference has at most %s."),
	}
}
