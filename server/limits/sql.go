package limits

import "time"

// Bounds of a SQL statement. The analysis in the engine has no time limit, so the length of the text is bounded.
const (
	SQLText = 32 << 10
	// SQLNodes, SQLDepth and SQLSelects bound the parsed statement. SQLExpansion bounds the SELECTs after every reference to a common table
	// expression was replaced by its body, as the engine does.
	SQLNodes     = 5000
	SQLDepth     = 200
	SQLSelects   = 100
	SQLExpansion = 300
	// SQLName is the length of a quoted name in bytes.
	SQLName        = 256
	SQLTime        = 10 * time.Second
	SQLMemory      = 1 << 30
	SQLRowsRead    = 500_000_000
	DefaultSQLRows = 1000
	SQLRows        = 10_000
	SQLResult      = 8 << 20
	// SQLStatementsOfOrganization and SQLStatements bound the statements that run at once, of one organization and of all.
	SQLStatementsOfOrganization = 3
	SQLStatements               = 12
	// SQLPause is how long an organization may not use SQL after a cancelled statement that did not end.
	SQLPause = 5 * time.Minute
	// SQLWait is how long a statement waits for other statements.
	SQLWait = 5 * time.Second
	// SQLSearch and SQLSearchAnyCase bound the text that a function searches for, with and without regard to case. The work of such a
	// function grows with this length times that of the text in which it searches.
	SQLSearch        = 1000
	SQLSearchAnyCase = 64
	// DefaultSQLWindow is the window when a request has none.
	DefaultSQLWindow = 6 * time.Hour
)

func sql() []Limit {
	return []Limit{
		size("SQLText", SQLText, "A SQL statement has at most %s."),
		count("SQLNodes", SQLNodes, "A SQL statement has at most %s parts, such as names, literals and calls."),
		count("SQLDepth", SQLDepth, "The parts of a SQL statement are nested at most %s levels deep."),
		count("SQLSelects", SQLSelects, "A SQL statement has at most %s SELECTs."),
		count("SQLExpansion", SQLExpansion,
			"A SQL statement has at most %s SELECTs after the references to common table expressions are replaced by their bodies."),
		size("SQLName", SQLName, "A quoted name in a SQL statement has at most %s."),
		lasts("SQLTime", SQLTime, "A SQL statement takes at most %s."),
		size("SQLMemory", SQLMemory, "A SQL statement takes at most %s of the engine's memory."),
		count("SQLRowsRead", SQLRowsRead, "A SQL statement reads at most %s rows."),
		count("DefaultSQLRows", DefaultSQLRows, "A SQL statement gives %s rows when a request does not say how many."),
		count("SQLRows", SQLRows, "A SQL statement gives at most %s rows."),
		size("SQLResult", SQLResult, "The result of a SQL statement has at most %s as JSON."),
		count("SQLStatementsOfOrganization", SQLStatementsOfOrganization, "An organization has at most %s SQL statements at once."),
		count("SQLStatements", SQLStatements, "All organizations together have at most %s SQL statements at once."),
		lasts("SQLWait", SQLWait, "A SQL statement waits at most %s for others to end, and then gets 429."),
		size("SQLSearch", SQLSearch, "A function of SQL searches for a literal of at most %s."),
		size("SQLSearchAnyCase", SQLSearchAnyCase, "A function of SQL that ignores case searches for a literal of at most %s."),
		lasts("SQLPause", SQLPause, "After a SQL statement that does not end when it is cancelled, the organization uses no SQL for %s."),
		lasts("DefaultSQLWindow", DefaultSQLWindow, "A SQL statement without a window reads the last %s."),
	}
}
