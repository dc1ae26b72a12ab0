package limits

import "time"

// The longest windows of reads.
const (
	// SearchWindow is that of searches of traces and log records, and of their facets.
	SearchWindow = 7 * Day
	// MetricWindow is that of lists of metrics and of reads about one metric.
	MetricWindow = 31 * Day
	// ServiceWindow is that of services, operations, the service map and environments, which are read from counts by minute and hour.
	ServiceWindow = 365 * Day
	// ReleaseWindow is that of a search of releases, which are read by minute.
	ReleaseWindow = 31 * Day
	// TimeseriesWindow is that of charts.
	TimeseriesWindow = 31 * Day
	BreakdownWindow  = 30 * Day
	// UnfilteredBreakdownWindow is that of a breakdown whose filter does not reduce the rows that are read.
	UnfilteredBreakdownWindow = 24 * time.Hour
	// ActivityWindow is that of reads of sessions and product events.
	ActivityWindow = 31 * Day
	// AgentSessionWindow is that of one agent session. Searches of agent sessions and tools have SearchWindow.
	AgentSessionWindow = 31 * Day
	ErrorWindow        = 31 * Day
	// ErrorLookBack is how far back the last occurrence of an error is looked for when a request has no window.
	ErrorLookBack = 30 * Day
	// AttributeWindow is that of lists of attribute keys and values.
	AttributeWindow = 31 * Day
	// PatternWindow is that of patterns of log records.
	PatternWindow = 24 * time.Hour
	// SQLWindow is that of a SQL statement.
	SQLWindow = 366 * Day
	// DefaultDashboardWindow is the window of a dashboard that sets none.
	DefaultDashboardWindow = 12 * time.Hour
	// SignalWindow is how far back the check of an organization's signals looks.
	SignalWindow = 30 * Day
	// SetupWindow is the time that recommendations and the audit of a setup cover. A clock is wrong from SetupClock on.
	SetupWindow = 24 * time.Hour
	SetupClock  = 5 * time.Minute
	// SetupEvidence is how long the audit of a setup uses telemetry that it examined before. An evaluation of alert rules is late after
	// SetupAlertDelay, a scrape target fails after SetupScrapeFailure, and a mapping is idle after SetupMappingIdle.
	SetupEvidence      = 5 * time.Minute
	SetupAlertDelay    = 3 * time.Minute
	SetupScrapeFailure = 10 * time.Minute
	SetupMappingIdle   = 7 * Day
	// ServiceBaseline is the time before a window with which services are compared.
	ServiceBaseline = 7 * Day
	// ErrorContext is the length of the window that ends with the last occurrence of an error, for a request without a window.
	ErrorContext = 24 * time.Hour
	// DefaultFunnelWindow is the time from the first step of a funnel to the last one when the request sets none.
	DefaultFunnelWindow = 24 * time.Hour
	// ThinBaseline is in percent. If the time before a window has data for less than this share of the time for which the window has
	// data, nothing counts as new or as changed.
	ThinBaseline = 10
	// MarkerBefore and MarkerAfter are how long before the start of an incident, and after it, a marker may be that belongs to it.
	// Pipelines report a deployment when they have finished.
	MarkerBefore = 20 * time.Minute
	MarkerAfter  = 4 * time.Minute
	// DefaultToolWindow is the window of an MCP tool when a call does not say when it starts. DefaultProductToolWindow is that of the
	// tools about product events, DefaultAgentToolWindow that of the tools about agents.
	DefaultToolWindow        = 6 * time.Hour
	DefaultProductToolWindow = 7 * Day
	DefaultAgentToolWindow   = 24 * time.Hour
	// AgentIdleGap is the longest pause between two turns that counts as work of the agent. In a longer one, it waited for a person
	// or a queue.
	AgentIdleGap = 5 * time.Second
	// TraceReach is how far before and after the known part of a trace its other spans are searched.
	TraceReach = time.Hour
	// CallReach is how long before a call its caller may begin. A caller can be a long request, or a message that waits.
	CallReach = time.Hour
	// CallClockSkew is how much later than the call its caller may seem to begin, because their clocks differ.
	CallClockSkew = 5 * time.Minute
	// WindowSettled is the time after the end of a window in which most of its telemetry arrives. The result of a read of an older window is
	// kept for ResultKept, that of a SQL statement for SQLResultKept.
	WindowSettled = 2 * time.Minute
	ResultKept    = 5 * time.Minute
	// SQLResultKept is shorter than ResultKept, because a statement can also read a second table without a bound.
	SQLResultKept = 30 * time.Second
	// MapKept is how long the calls of whole hours are kept for the service map.
	MapKept = 10 * time.Minute
	// ReleaseAlive is the longest pause of a release that still sends spans. ReleaseTakeover is the longest time between the end of a
	// release and the first spans of the one that replaced it. Checks of fixes are more careful: see IssueRollbackAfter.
	ReleaseAlive    = 5 * time.Minute
	ReleaseTakeover = 15 * time.Minute
	// MetricLookback is how long before a window the point before the first point of a cumulative series is searched.
	MetricLookback = time.Hour
	// MetricSample is the time before the last point of a metric from which its details are read.
	MetricSample = time.Hour
)

func windows() []Limit {
	return []Limit{
		lasts(
			"SearchWindow",
			SearchWindow,
			"A search of traces, log records, agent sessions or agent tools, and a list of a dashboard, reads a window of at most %s.",
		),
		lasts("MetricWindow", MetricWindow, "A list of metrics reads a window of at most %s."),
		lasts("ServiceWindow", ServiceWindow, "Services, operations, the service map and environments are read over at most %s."),
		lasts("ReleaseWindow", ReleaseWindow, "A search of releases reads a window of at most %s."),
		lasts("TimeseriesWindow", TimeseriesWindow, "A chart spans at most %s."),
		lasts("BreakdownWindow", BreakdownWindow, "A breakdown reads a window of at most %s."),
		lasts("UnfilteredBreakdownWindow", UnfilteredBreakdownWindow, "A breakdown of more than %s needs a filter that narrows the read."),
		lasts("ActivityWindow", ActivityWindow, "Sessions, product events, funnels and paths are read over at most %s."),
		lasts("AgentSessionWindow", AgentSessionWindow, "One agent session is read over at most %s."),
		lasts("ErrorWindow", ErrorWindow, "Errors are read over at most %s."),
		lasts("ErrorLookBack", ErrorLookBack, "The last occurrence of an error is looked for in the last %s when the request has no window."),
		lasts("AttributeWindow", AttributeWindow, "Attribute keys and values are read over at most %s."),
		lasts("PatternWindow", PatternWindow, "Patterns of log records are found in a window of at most %s."),
		lasts("SQLWindow", SQLWindow, "A SQL statement reads a window of at most %s."),
		lasts("DefaultDashboardWindow", DefaultDashboardWindow, "A dashboard that sets no window shows the last %s."),
		lasts("SignalWindow", SignalWindow, "The check of an organization's signals looks %s back."),
		lasts("SetupWindow", SetupWindow, "The audit of a setup and its recommendations read the last %s."),
		lasts("SetupClock", SetupClock,
			"It reports a service whose log records have times that differ by more than %s from their observed times."),
		lasts("SetupEvidence", SetupEvidence, "The audit of a setup uses telemetry that was examined at most %s ago."),
		lasts("SetupAlertDelay", SetupAlertDelay, "It fails when the evaluation of alert rules is more than %s late."),
		lasts("SetupScrapeFailure", SetupScrapeFailure, "It names scrape targets that fail for more than %s."),
		lasts("SetupMappingIdle", SetupMappingIdle, "It names attribute mappings whose attribute nobody sent for %s."),
		lasts("ServiceBaseline", ServiceBaseline, "A service is compared with the %s before the window."),
		lasts("ErrorContext", ErrorContext, "A request about an error that has no window reads the %s before its last occurrence."),
		lasts("DefaultFunnelWindow", DefaultFunnelWindow, "A person has %s from the first step of a funnel to the last one when the request "+
			"sets no time."),
		count("ThinBaseline", ThinBaseline, "Nothing counts as new or changed when the time with data before the window is less than %s percent "+
			"of that in the window."),
		lasts("MarkerBefore", MarkerBefore, "An incident shows the markers of the %s before its start."),
		lasts("MarkerAfter", MarkerAfter, "It also shows those of the %s after its start."),
		lasts("DefaultToolWindow", DefaultToolWindow, "An MCP tool reads %s when a call does not say when the window starts."),
		lasts(
			"DefaultProductToolWindow",
			DefaultProductToolWindow,
			"An MCP tool about product events reads %s when a call does not say when the window starts.",
		),
		lasts(
			"DefaultAgentToolWindow",
			DefaultAgentToolWindow,
			"An MCP tool about agents reads %s when a call does not say when the window starts.",
		),
		lasts("AgentIdleGap", AgentIdleGap, "A pause of more than %s between turns of an agent is a gap."),
		lasts("TraceReach", TraceReach, "The spans and the errors of a trace are searched up to %s before and after its known part."),
		lasts("CallReach", CallReach, "The service map finds the caller of a call if it began at most %s before the call."),
		lasts("CallClockSkew", CallClockSkew, "It also finds a caller that seems to begin up to %s after the call, because clocks differ."),
		lasts("MapKept", MapKept, "It keeps the calls of whole hours for %s. A call that arrives late appears after that."),
		lasts("WindowSettled", WindowSettled, "A read may return a kept result if its window ended at least %s ago."),
		lasts("ResultKept", ResultKept, "Such a result is kept for %s. Telemetry that arrives late appears after that."),
		lasts("SQLResultKept", SQLResultKept, "The result of a SQL statement over a window that ended that long ago is kept for %s."),
		lasts("ReleaseAlive", ReleaseAlive,
			"A release has ended when another version of its service sent spans more than %s after its last span. An older version means a rollback."),
		lasts("ReleaseTakeover", ReleaseTakeover, "The release was replaced, not rolled back, if a later version began at most %s after its end."),
		lasts("MetricLookback", MetricLookback,
			"The first point of a cumulative series in a window is compared with a point that is at most %s older than the window."),
		lasts("MetricSample", MetricSample, "The details of a metric come from data points that are at most %s older than its last one."),
	}
}
