package limits

import "time"

// The command line.
const (
	// CommandRows is for the rows that one use of a command shows, or skips. It reads them page by page.
	CommandRows = 10_000
	// CommandWindow is the window of a command without one.
	CommandWindow = 6 * time.Hour
	// CompareAround is how much before and after a change svc compare reads without another length.
	CompareAround = 30 * time.Minute
	// FollowRecords bounds the log records that a follower reads in a second.
	FollowRecords = 500
	// FollowLate is how late a record may arrive and still be shown.
	FollowLate = 15 * time.Second
	// FollowBack is how far back a follower begins.
	FollowBack = 5 * time.Second
	// BridgeRequests is for the requests of one agent that svc mcp forwards at once.
	BridgeRequests = 16
	// BridgeMessage is the longest message that svc mcp forwards. The server has a bound of its own, which a setting changes.
	BridgeMessage = 64 << 20
	// BridgeWait is how long svc mcp tries to reach a server that does not answer, as while it restarts.
	BridgeWait = 20 * time.Second
	// CompletedNames is for the services that a shell offers.
	CompletedNames = 1000
	// DemoRate is the highest rate of svc demo, in requests of its shop a second.
	DemoRate = 10_000
	// CompletionKept is how long names for a shell are kept.
	CompletionKept = time.Minute
	// CompletionWait is how long a shell waits for names of the server.
	CompletionWait = 2 * time.Second
	// SlowTraces is how many of the latest slow traces are read, of which the slowest are shown.
	SlowTraces = 500
	// TreeDepth is the depth to which the tree of a trace is indented.
	TreeDepth = 30
)

func commandLine() []Limit {
	return []Limit{
		count("CommandRows", CommandRows, "A command that reads shows at most %s rows, and skips at most as many."),
		lasts("CommandWindow", CommandWindow, "A command that reads looks %s back when no flag gives a window."),
		lasts("CompareAround", CompareAround, "svc compare --around compares %s before and after a change when no flag gives a length."),
		count("FollowRecords", FollowRecords, "svc logs --follow shows about %s log records a second at most, and says how many it left out."),
		lasts("FollowLate", FollowLate, "svc logs --follow shows a log record that arrives up to %s late."),
		lasts("FollowBack", FollowBack, "svc logs --follow begins %s before now."),
		count("BridgeRequests", BridgeRequests, "svc mcp forwards %s requests at once."),
		size("BridgeMessage", BridgeMessage, "svc mcp forwards messages of at most %s. The server may refuse shorter ones."),
		lasts("BridgeWait", BridgeWait, "svc mcp tries for %s to reach a server that does not answer."),
		count("CompletedNames", CompletedNames, "A shell completes the names of the %s busiest services."),
		count("DemoRate", DemoRate, "svc demo sends at most %s requests of its shop a second."),
		lasts("CompletionKept", CompletionKept, "Names that a shell completes are kept for %s."),
		lasts("CompletionWait", CompletionWait, "A shell waits for %s at most for names of the server."),
		count("SlowTraces", SlowTraces, "svc slow-traces shows the slowest of the latest %s slow traces."),
		count("TreeDepth", TreeDepth, "The tree of a trace is indented to a depth of %s."),
	}
}
