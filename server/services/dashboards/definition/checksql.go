package definition

import (
	"regexp"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/rawsql"
)

// sqlTokens splits a statement into comments, quoted texts, words, macros and single other characters.
var sqlTokens = regexp.MustCompile("(?s)" +
	`--[^\n]*|#[ !][^\n]*|/\*.*?\*/|` + // comments
	`'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.|"")*"|` + "`(?:[^`\\\\]|\\\\.|``)*`|" + // texts and quoted names
	`\$__[A-Za-z0-9_]*|[A-Za-z_][A-Za-z0-9_]*|\s+|.`)

// sqlStatements are words that a reading statement never contains as a bare name.
func sqlStatements() []string {
	return []string{
		"INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "TRUNCATE", "RENAME", "ATTACH", "DETACH", "CREATE", "GRANT", "REVOKE", "OPTIMIZE",
		"SYSTEM", "KILL", "OUTFILE", "SETTINGS",
	}
}

// heredoc is a text between two tags. Its content looks like a part of the statement.
var heredoc = regexp.MustCompile(`\$[A-Za-z0-9_]*\$`)

func sqlMacros() []string {
	return []string{"$__orgFilter", "$__timeFilter", "$__timeGroup", "$__startTime", "$__endTime", "$__interval_s"}
}

// CheckStatement returns the reason why a widget cannot have a statement, as in "must be one statement". The reason is empty if the
// widget can have it.
func CheckStatement(sql string) string {
	c := newChecker(nil)
	c.sql("sql", sql)
	if len(c.violations) == 0 {
		return ""
	}
	return c.violations[0].Message
}

// sql makes the checks that need no engine: the text must be one SELECT that names the organization and sets nothing. The engine
// decides later which data the statement may read.
func (c *checker) sql(path, text string) {
	if n := max(len(text), rawsql.ExpandedBytes(text)); n > limits.SQLText {
		written := ""
		if n > len(text) {
			written = " when its macros are replaced"
		}
		c.unreadable(path, "sql "+text, "has %s bytes%s; at most %s bytes are allowed. Shorten the statement",
			limits.Number(n), written, limits.Number(limits.SQLText))
		if !c.stored["sql "+text] {
			return
		}
	}
	var words []string // without comments and texts
	filtered, ended := false, false
	if heredoc.MatchString(text) {
		c.fail(path, "must not hold text between $ signs; use quotes")
		return
	}
	for _, token := range sqlTokens.FindAllString(text, -1) {
		switch first := token[0]; {
		case strings.TrimSpace(token) == "", strings.HasPrefix(token, "--"), strings.HasPrefix(token, "/*") && len(token) > 1,
			first == '#' && len(token) > 1:
			continue
		case ended:
			c.fail(path, "must be one statement")
			return
		case first == ';':
			ended = true
			continue
		case len(token) == 1 && strings.Contains("'\"`", token):
			c.fail(path, "has a quote that is never closed")
			return
		case strings.HasPrefix(token, "$__"):
			if !slices.Contains(sqlMacros(), token) {
				c.fail(path, "has the unknown macro %s; known are %s", token, strings.Join(sqlMacros(), ", "))
				return
			}
			filtered = filtered || token == "$__orgFilter"
		case len(token) > 1 && strings.ContainsRune("'\"`", rune(first)):
			token = "''" // whatever it says
		}
		words = append(words, strings.ToUpper(token))
	}
	if len(words) == 0 || words[0] != "SELECT" && words[0] != "WITH" && words[0] != "(" {
		c.fail(path, "must be a SELECT")
		return
	}
	for i, word := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		if i > 0 && words[i-1] == "." {
			continue // the name of a column
		}
		// A function can have the name of a statement: truncate(x).
		if slices.Contains(sqlStatements(), word) && next != "(" {
			c.fail(path, "must not hold %s: it may only read, with the settings of the server", word)
			return
		}
		if word == "FORMAT" && next != "(" && next != "" && next[0] >= 'A' && next[0] <= 'Z' {
			c.fail(path, "must not choose a FORMAT")
			return
		}
	}
	if !filtered {
		c.fail(path, "must contain $__orgFilter, for example in WHERE $__orgFilter; it is always true here")
	}
}
