package limits

import "time"

// Arguments and answers of MCP tools. A tool moves a number outside of its bounds to the nearest bound.
const (
	// ToolRows is for searches of traces, log records and sessions, and for product events. ToolNames is for lists of names, and for
	// the lines of an agent's transcript.
	ToolRows  = 200
	ToolNames = 500
	// ToolServices is how many services list_services shows, ToolServicesCounted how many it counts.
	ToolServices        = 100
	ToolServicesCounted = 1000
	ToolTraces          = 100
	ToolTraceSpans      = 300
	// ToolSessionEvents is for a page of the transcript of a recorded session.
	ToolSessionEvents = 250
	// TranscriptOffset is how far into the transcript of an agent session a page may begin.
	TranscriptOffset = 50_000
	// SpanValue and TranscriptValue bound the texts that inspect_span and the transcript of an agent session show.
	SpanValue       = 20_000
	TranscriptValue = 10_000
	// ToolRules is how many alert rules a tool reads, ToolRepositories how many repositories it lists.
	ToolRules        = 1000
	ToolRepositories = 500
	// ToolValidatedWidgets is how many widgets a tool checks after it has changed them.
	ToolValidatedWidgets = 12
	// ToolText is for the text of an answer, ToolValue for a value in it, and BriefText for a value in a brief answer.
	ToolText  = 25_000
	ToolValue = 4000
	BriefText = 300
	// ToolSQLRows is how many rows of a SQL statement are fetched, ToolSQLShown how many a text shows.
	ToolSQLRows  = 1000
	ToolSQLShown = 100
	// ToolTraceLogsRead is how many log records of a trace are counted, ToolTraceLogs how many are shown.
	ToolTraceLogsRead = 50
	ToolTraceLogs     = 20
	// ToolPreviewPoints is for the points of one group in the preview of an alert rule, ToolSeries for the series of a chart with figures.
	ToolPreviewPoints = 200
	ToolSeries        = 50
	// ToolDiagnosisTraces and ToolDiagnosisLogs are for the diagnosis of a service.
	ToolDiagnosisTraces = 5
	ToolDiagnosisLogs   = 15
	// ToolReleasedServices is how many services have releases in an overview of releases.
	ToolReleasedServices = 20
	// ToolSlowOperations is how many operations find_slow_traces searches when none is named.
	ToolSlowOperations = 5
	// ToolAround is the time before and after a moment that compare_periods compares.
	ToolAround = 30 * time.Minute
	// ToolSymptoms is how many symptoms of an incident a text shows.
	ToolSymptoms = 5
	// ToolErrorTraces is how many traces of an error are shown with log records, each with ToolErrorLogs. ToolSources is how many calls of
	// its stack are shown with their source.
	ToolErrorTraces = 3
	ToolErrorLogs   = 5
	ToolSources     = 4
)

func tools() []Limit {
	return []Limit{
		count("ToolRows", ToolRows, "A tool that searches traces, log records, sessions or product events gives at most %s of them at once."),
		count("ToolNames", ToolNames,
			"A tool that lists metrics, operations or attributes, or lines of the transcript of an agent session, gives at most %s of them at once."),
		count("ToolServices", ToolServices, "The tool list_services shows at most %s services."),
		count("ToolServicesCounted", ToolServicesCounted, "The tool list_services counts at most %s services."),
		count("ToolTraces", ToolTraces, "The tool find_slow_traces gives at most %s traces."),
		count("ToolTraceSpans", ToolTraceSpans, "The tool inspect_trace gives at most %s spans."),
		count("ToolSessionEvents", ToolSessionEvents, "A tool gives at most %s events of a recorded session at once."),
		count("TranscriptOffset", TranscriptOffset, "A page of the transcript of an agent session begins at most %s lines after the first."),
		characters("SpanValue", SpanValue, "A value in the answer of the tool inspect_span has at most %s. Longer ones are cut."),
		characters("TranscriptValue", TranscriptValue,
			"A value that a tool shows in the transcript of an agent session has at most %s. Longer ones are cut."),
		count("ToolRules", ToolRules, "The tools for alert rules read the %s newest rules."),
		count("ToolRepositories", ToolRepositories, "The tool list_source_repositories lists at most %s repositories."),
		count("ToolValidatedWidgets", ToolValidatedWidgets, "After a change of a dashboard, a tool checks the data of at most %s widgets."),
		characters("ToolText", ToolText, "The text of an answer of a tool has at most %s."),
		characters("ToolValue", ToolValue,
			"A value in an answer of a tool has at most %s. Longer ones are cut, unless this list says otherwise."),
		characters("BriefText", BriefText, "A value in a brief answer of a tool has at most %s."),
		count("ToolSQLRows", ToolSQLRows, "A tool fetches at most %s rows of a SQL statement."),
		count("ToolSQLShown", ToolSQLShown, "The text of such an answer shows at most %s rows."),
		count("ToolTraceLogsRead", ToolTraceLogsRead, "The tool inspect_trace counts at most %s log records of a trace."),
		count("ToolTraceLogs", ToolTraceLogs, "It shows at most %s log records of a trace."),
		count("ToolPreviewPoints", ToolPreviewPoints, "A tool that previews an alert rule lists the last %s points of each group."),
		count("ToolSeries", ToolSeries, "A tool gives figures of at most %s series of a chart."),
		count("ToolDiagnosisTraces", ToolDiagnosisTraces, "The tool diagnose_service shows at most %s slow traces."),
		count("ToolDiagnosisLogs", ToolDiagnosisLogs, "It shows at most %s log records."),
		count("ToolReleasedServices", ToolReleasedServices, "The tool explore_releases reads the releases of the %s busiest services."),
		count("ToolSlowOperations", ToolSlowOperations, "The tool find_slow_traces searches the traces of %s slow operations."),
		lasts("ToolAround", ToolAround, "The tool compare_periods compares the %[1]s after a given time with the %[1]s before it."),
		count("ToolSymptoms", ToolSymptoms, "The text of the tool find_incidents shows at most %s symptoms of an incident."),
		count("ToolErrorTraces", ToolErrorTraces, "The details of an error by a tool show the log records of at most %s traces."),
		count("ToolErrorLogs", ToolErrorLogs, "They show at most %s log records of each trace."),
		count("ToolSources", ToolSources, "They show the source of at most %s calls of a stack."),
	}
}
