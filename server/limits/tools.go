package limits

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
	}
}
