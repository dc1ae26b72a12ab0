package limits

import "time"

// Limits of queries and of their answers.
const (
	// Queries is how many queries run for one request or widget, and how many formulas are computed from them.
	Queries = 10
	// GroupBy is the number of fields of a group.
	GroupBy = 5
	// Buckets is the number of points of a series.
	Buckets = 1500
	// DistributionColumns is the number of columns of a distribution of durations, DistributionRows that of its rows.
	DistributionColumns = 200
	DistributionRows    = 122
	// BreakdownRows and Series are the largest a request may ask for. DefaultSignalBreakdownRows is for the methods about one signal,
	// DefaultBreakdownRows for QueryBreakdown and dashboards.
	DefaultBreakdownRows       = 10
	DefaultSignalBreakdownRows = 20
	BreakdownRows              = 100
	DefaultSeries              = 50
	Series                     = 100

	// WhereText is the length of the text of a filter. FilterValue is the length of one value in it.
	WhereText        = 8192
	FilterConditions = 50
	FilterDepth      = 16
	FilterValues     = 100
	FilterValue      = 1024
	// SearchText is the length of a text that a search or a filter on sessions compares with.
	SearchText       = 1000
	AttributeFilters = 20
	FieldKey         = 256
	FormulaText      = 1024
	FormulaDepth     = 64

	FunnelSteps  = 10
	PathHops     = 5
	PathBranches = 10

	TraceSpans = 5000
	// SkeletonSpans is how many spans of a trace without attributes one answer holds, when a request asks for that many.
	SkeletonSpans = 20_000
	// TraceSummaries is how many traces one request can summarize.
	TraceSummaries = 200
	// SearchOffset is how far into a ranked list a page may begin.
	SearchOffset = 10_000
	// PatternRecords is the highest number of log records in a window for which patterns are counted exactly. PatternSample bounds
	// the sample of a larger window. Patterns is the highest number of patterns in one answer.
	PatternRecords = 1_000_000
	PatternSample  = 50_000
	Patterns       = 200
	// PatternsRead is the number of log records from which a sample is drawn. Of a larger window, only parts are read.
	PatternsRead = 2_000_000
	// PatternShapes is how many kinds of log records are counted exactly. PatternBody is the length of the part of a body that is read,
	// PatternWords the number of its words that are compared, and PatternsFound that of the patterns of one window.
	PatternShapes = 50_000
	PatternBody   = 1024
	PatternWords  = 128
	PatternsFound = 5000
	// KnownNames is the number of names of a kind from which on nothing is said about a name that nobody sent.
	KnownNames = 2000
	// Incidents is how many incidents one answer holds, IncidentSymptoms how many symptoms each of them. IncidentSeries is how many services,
	// dependencies, groups of errors and log series each are searched, IncidentMetrics how many metrics with at most IncidentPoints points.
	Incidents        = 20
	IncidentSymptoms = 12
	IncidentSeries   = 1000
	IncidentMetrics  = 50
	IncidentPoints   = 10_000_000
	// Differences is how many values explain a difference. DifferenceRows is how many rows of each side are read, DifferenceValues how
	// many values are compared.
	Differences      = 20
	DifferenceRows   = 20_000
	DifferenceValues = 1000
	// IncidentOperations is how many operations of a service are compared.
	IncidentOperations = 200
	// ReleasesCompared is how many releases of a window are compared with each other.
	ReleasesCompared = 1000
	// IncidentMarkers is how many markers an incident lists.
	IncidentMarkers = 10
	// AffectedTraces is how many traces of an incident are counted.
	AffectedTraces = 10_000
	// ErrorSamples is how many occurrences of an error one answer holds. ErrorFingerprints is how many errors a filter can name.
	ErrorSamples      = 20
	ErrorFingerprints = 100
	// FilterNames is how many names one field of a filter can hold.
	FilterNames = 50
	// FacetValues is how many values the largest facets give, of services and severities. FewFacetValues is for the others.
	FacetValues    = 50
	FewFacetValues = 20
	// SearchRanges is how many ranges of numbers a search of agent sessions can hold.
	SearchRanges = 10
	// FieldName is the length of a field of a query, which is a key of FieldKey with the prefix of its scope.
	FieldName = 280
	// LogContext is how many records the context of a log record has on each side, LogContextReach how far away they are.
	LogContext      = 100
	LogContextReach = time.Hour
	// SpanFields is how many further fields a search of spans returns. SpanFieldValue is the length of a value of one of them.
	SpanFields     = 20
	SpanFieldValue = 1000
	// Having is how many conditions on values a query has. Legend is the length of the name of a series.
	Having = 5
	Legend = 256
	// ListSearch is the length of a text that a list of names is searched for.
	ListSearch = 256
	// FunnelBreakdown is how many values a funnel is broken down by.
	FunnelBreakdown = 20
	// SessionPayload and ToolErrorPayload bound the texts of spans in the answers about agents.
	SessionPayload   = 20_000
	ToolErrorPayload = 10_000
	// Apdex is the largest threshold.
	Apdex = 24 * time.Hour
	// MapEdges is for each kind of edge of the service map.
	MapEdges = 200
	// SignalServices is for the list of signals of each service.
	SignalServices = 500
)

func queries() []Limit {
	return []Limit{
		count("Queries", Queries, "A request or widget runs at most %[1]s queries and computes at most %[1]s formulas."),
		count("GroupBy", GroupBy, "A query groups by at most %s fields."),
		count("Buckets", Buckets, "A chart has at most %s buckets."),
		count("DistributionColumns", DistributionColumns, "A distribution of durations has at most %s columns of time."),
		count("DistributionRows", DistributionRows, "A column has at most %s rows of durations."),
		count(
			"DefaultBreakdownRows",
			DefaultBreakdownRows,
			"A breakdown of a widget or of several queries has %s rows when a request does not say how many.",
		),
		count("DefaultSignalBreakdownRows", DefaultSignalBreakdownRows,
			"A breakdown by the method of one signal has %s rows when a request does not say how many."),
		count("BreakdownRows", BreakdownRows, "A breakdown has at most %s rows."),
		count(
			"DefaultSeries",
			DefaultSeries,
			"A chart has %s series when a request does not say how many. The others are summed up as one more.",
		),
		count("Series", Series, "A chart has at most %s series."),
		characters("WhereText", WhereText, "The text of a filter has at most %s."),
		count("FilterConditions", FilterConditions, "A filter has at most %s conditions."),
		count("FilterDepth", FilterDepth, "The parts of a filter are nested at most %s levels deep."),
		count("FilterValues", FilterValues, "A condition compares with at most %s values."),
		characters("FilterValue", FilterValue, "A value of a condition has at most %s."),
		count("AttributeFilters", AttributeFilters, "A search has at most %[1]s filters on attributes and %[1]s on attributes of resources."),
		characters("SearchText", SearchText, "A text to search for has at most %s."),
		characters("FieldKey", FieldKey, "The key of an attribute in a query has at most %s."),
		characters("FormulaText", FormulaText, "A formula has at most %s."),
		count("FormulaDepth", FormulaDepth, "The parts of a formula are nested at most %s levels deep."),
		count("FunnelSteps", FunnelSteps, "A funnel has at most %s steps."),
		count("PathHops", PathHops, "A diagram of paths shows at most %s hops from its anchor."),
		count("PathBranches", PathBranches, "A hop of a path has at most %s branches."),
		count("TraceSpans", TraceSpans, "A trace is read with at most %s spans."),
		count("SkeletonSpans", SkeletonSpans, "The skeleton of a trace gives at most %s spans at once."),
		count("TraceSummaries", TraceSummaries, "One request sums up at most %s traces."),
		count("SearchOffset", SearchOffset, "A page of a ranked list begins at most %s items after the first."),
		count("FacetValues", FacetValues, "A facet of services or severities has at most %s values."),
		count("FewFacetValues", FewFacetValues, "Every other facet has at most %s values."),
		count("PatternRecords", PatternRecords, "Log records are counted exactly by pattern in a window that has at most %s of them."),
		count("PatternSample", PatternSample, "In a window with more, patterns of log records are found in a sample of at most %s."),
		count("PatternsRead", PatternsRead,
			"The sample is drawn from all log records of a window that has at most %s of them, and otherwise from equal parts of the window."),
		count("PatternShapes", PatternShapes, "A sample is also drawn when the log records of a window have %s shapes or more."),
		characters("PatternBody", PatternBody, "The pattern of a log record comes from the first %s of its body."),
		count("PatternWords", PatternWords, "The pattern has the first %s words of these characters. One wildcard stands for the others."),
		count("PatternsFound", PatternsFound, "A search finds at most %s patterns of log records. Records of all other kinds are counted under one pattern, a wildcard."),
		count("Patterns", Patterns, "A list of patterns of log records has at most %s patterns."),
		count("KnownNames", KnownNames,
			"A search that finds nothing names services, operations or attributes that nobody sent, if the window has fewer than %s of that kind."),
		count("ErrorSamples", ErrorSamples, "The details of an error show at most %s occurrences."),
		count("ErrorFingerprints", ErrorFingerprints, "A filter names at most %s errors."),
		count("FilterNames", FilterNames, "A field of a filter holds at most %s names."),
		count("SearchRanges", SearchRanges, "A search of agent sessions has at most %s ranges of numbers."),
		count("Incidents", Incidents, "A search for incidents returns at most %s."),
		count("IncidentSymptoms", IncidentSymptoms, "An incident lists at most %s symptoms."),
		count("IncidentSeries", IncidentSeries,
			"A search for incidents reads at most %s services, and as many dependencies, groups of errors and series of log records."),
		count("IncidentMetrics", IncidentMetrics, "It reads at most %s metrics of resources."),
		count("IncidentPoints", IncidentPoints, "These metrics have at most %s data points in all."),
		count("IncidentOperations", IncidentOperations, "It compares at most %s operations of a slow service."),
		count("ReleasesCompared", ReleasesCompared, "A search of releases compares the latest %s at most."),
		count("IncidentMarkers", IncidentMarkers, "An incident lists at most %s markers."),
		count("AffectedTraces", AffectedTraces, "It counts at most %s traces of an incident."),
		count("Differences", Differences, "The explanation of a difference names at most %s values."),
		count("DifferenceRows", DifferenceRows, "It reads at most about %s spans or log records of each side, chosen by trace."),
		count("DifferenceValues", DifferenceValues, "It compares at most %s values."),
		characters("FieldName", FieldName, "A field of a query, with the prefix of its scope, has at most %s."),
		count("LogContext", LogContext, "The context of a log record has at most %s records on each side."),
		lasts("LogContextReach", LogContextReach, "These records are at most %s away from it."),
		count("SpanFields", SpanFields, "A search of spans returns at most %s further fields of a span."),
		characters("SpanFieldValue", SpanFieldValue, "A value of such a field has at most %s. Longer ones are cut."),
		count("Having", Having, "A query has at most %s conditions on its values."),
		characters("Legend", Legend, "The name of a series has at most %s."),
		characters("ListSearch", ListSearch, "A text to search for in a list of names has at most %s."),
		count("FunnelBreakdown", FunnelBreakdown, "A funnel is broken down by at most %s values."),
		characters("SessionPayload", SessionPayload, "An attribute in a transcript of an agent session has at most %s. Longer ones are cut."),
		characters("ToolErrorPayload", ToolErrorPayload, "An attribute of a tool error has at most %s. Longer ones are cut."),
		lasts("Apdex", Apdex, "The threshold of an Apdex is at most %s."),
		count("MapEdges", MapEdges, "The service map shows at most %s edges of each kind."),
		count("SignalServices", SignalServices, "The list of the signals of each service has at most %s services."),
	}
}
