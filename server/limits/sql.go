package limits

import "time"

// Bounds of a SQL statement. The analysis in the engine has no time limit, so the length of the text is bounded.
const (
	SQLText        = 32 << 10
	SQLTime        = 10 * time.Second
	SQLMemory      = 1 << 30
	SQLRowsRead    = 500_000_000
	DefaultSQLRows = 1000
	SQLRows        = 10_000
	SQLResult      = 8 << 20
	// DefaultSQLWindow is the window when a request has none.
	DefaultSQLWindow = 6 * time.Hour
)

func sql() []Limit {
	return []Limit{
		size("SQLText", SQLText, "A SQL statement has at most %s."),
		lasts("SQLTime", SQLTime, "A SQL statement takes at most %s."),
		size("SQLMemory", SQLMemory, "A SQL statement takes at most %s of the engine's memory."),
		count("SQLRowsRead", SQLRowsRead, "A SQL statement reads at most %s rows."),
		count("DefaultSQLRows", DefaultSQLRows, "A SQL statement gives %s rows when a request does not say how many."),
		count("SQLRows", SQLRows, "A SQL statement gives at most %s rows."),
		size("SQLResult", SQLResult, "The result of a SQL statement has at most %s as JSON."),
		lasts("DefaultSQLWindow", DefaultSQLWindow, "A SQL statement without a window reads the last %s."),
	}
}
