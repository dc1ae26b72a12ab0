package limits

import "time"

// Values of requests and of calls of tools that leave one out.
const (
	// CallTime is for a request of a page or of the command line to the API.
	CallTime = 30 * time.Second
	// These numbers of buckets apply when a request gives no length of a bucket. DefaultServiceBuckets is for a chart of one service.
	// DefaultErrorBuckets is for the occurrences of one error. DefaultSQLIntervals is for the macros of SQL.
	DefaultBuckets        = 30
	DefaultServiceBuckets = 40
	DefaultErrorBuckets   = 48
	DefaultSQLIntervals   = 30
	// LeastSQLInterval is the shortest interval of a statement whose request gives none.
	LeastSQLInterval = 5 * time.Minute
	// DefaultDistributionColumns is for a distribution of durations.
	DefaultDistributionColumns = 60
	DefaultApdex               = 500 * time.Millisecond
	// LeastBucket is the shortest bucket of a chart of one service or error.
	LeastBucket             = time.Minute
	DefaultSkeletonSpans    = 5000
	DefaultPatternSample    = 10_000
	LeastPatternSample      = 100
	DefaultPatterns         = 50
	DefaultLogContext       = 10
	DefaultErrorSamples     = 5
	DefaultToolErrorSamples = 10
	DefaultFunnelBreakdown  = 10
	DefaultPathHops         = 3
	DefaultPathBranches     = 4

	// DefaultToolLogs, DefaultToolTraces, DefaultToolSpans and DefaultToolSessions are for tools that search. Others have DefaultPage.
	DefaultToolLogs     = 30
	DefaultToolTraces   = 10
	DefaultToolSpans    = 60
	DefaultToolSessions = 25
	// DefaultToolNames is for lists of names, of product events and of the traces of a session.
	DefaultToolNames         = 50
	DefaultSessionEvents     = 100
	DefaultTranscriptLines   = 120
	DefaultSpanValue         = 2000
	LeastSpanValue           = 100
	DefaultToolErrorPayload  = 800
	DefaultTranscriptPayload = 300
	// LeastPayload is the smallest number of characters to which a tool of agent sessions cuts a value.
	LeastPayload = 20
)

func defaults() []Limit {
	return []Limit{
		lasts("CallTime", CallTime, "A page and the command line wait %s for an answer of the API."),
		count("DefaultBuckets", DefaultBuckets, "A chart has about %s buckets when a request does not say how long they are."),
		count("DefaultServiceBuckets", DefaultServiceBuckets, "A chart of one service then has about %s buckets."),
		count("DefaultErrorBuckets", DefaultErrorBuckets, "The occurrences of one error then have at most %s buckets."),
		count("DefaultDistributionColumns", DefaultDistributionColumns, "A distribution of durations then has about %s columns."),
		count("DefaultSQLIntervals", DefaultSQLIntervals, "The window of a SQL statement has about %s intervals when a request does not say "+
			"how long they are."),
		lasts("LeastSQLInterval", LeastSQLInterval, "Such an interval lasts at least %s."),
		lasts("DefaultApdex", DefaultApdex, "The threshold of an Apdex is %s when a request has none."),
		lasts("LeastBucket", LeastBucket, "A bucket in a chart of one service or error lasts at least %s."),
		count("DefaultSkeletonSpans", DefaultSkeletonSpans,
			"The skeleton of a trace has %s spans in one answer when a request does not say how many."),
		count("DefaultPatternSample", DefaultPatternSample,
			"Patterns are found in a sample of %s log records when a request does not say how many."),
		count("LeastPatternSample", LeastPatternSample, "Such a sample has at least %s log records."),
		count("DefaultLogContext", DefaultLogContext,
			"The context of a log record has %s records on each side when a request does not say how many."),
		count("DefaultPatterns", DefaultPatterns, "A list of patterns has %s of them when a request does not say how many."),
		count("DefaultErrorSamples", DefaultErrorSamples, "The details of an error show %s occurrences when a request does not say how many."),
		count("DefaultToolErrorSamples", DefaultToolErrorSamples,
			"The details of a tool error show %s examples when a request does not say how many."),
		count("DefaultFunnelBreakdown", DefaultFunnelBreakdown, "A funnel is broken down by %s values when a request does not say by how many."),
		count("DefaultPathHops", DefaultPathHops, "A diagram of paths shows %s hops when a request does not say how many."),
		count("DefaultPathBranches", DefaultPathBranches, "A hop of a path has %s branches when a request does not say how many."),
		count("DefaultToolLogs", DefaultToolLogs, "The tool search_logs gives %s records when a call does not say how many."),
		count("DefaultToolTraces", DefaultToolTraces, "The tool find_slow_traces gives %s traces when a call does not say how many."),
		count("DefaultToolSpans", DefaultToolSpans, "The tool inspect_trace gives %s spans when a call does not say how many."),
		count("DefaultToolSessions", DefaultToolSessions, "A tool that searches sessions gives %s of them when a call does not say how many."),
		count("DefaultToolNames", DefaultToolNames,
			"A tool that lists names, product events or the traces of a session gives %s of them when a call does not say how many."),
		count("DefaultSessionEvents", DefaultSessionEvents, "A tool gives %s events of a recorded session when a call does not say how many."),
		count("DefaultTranscriptLines", DefaultTranscriptLines,
			"A tool gives %s lines of the transcript of an agent session when a call does not say how many."),
		characters("DefaultSpanValue", DefaultSpanValue, "The tool inspect_span cuts a value to %s when a call does not say to how many."),
		characters("LeastSpanValue", LeastSpanValue, "It never cuts a value to less than %s."),
		characters("DefaultToolErrorPayload", DefaultToolErrorPayload,
			"A tool cuts the values of a tool error to %s when a call does not say to how many."),
		characters("DefaultTranscriptPayload", DefaultTranscriptPayload,
			"A tool cuts the values in a transcript of an agent session to %s when a call does not say to how many."),
		characters("LeastPayload", LeastPayload, "A tool never cuts a value of these two kinds to less than %s."),
	}
}
