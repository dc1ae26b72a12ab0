package chdb

import (
	"regexp"
	"strings"
)

// firstWord is a statement's first keyword in upper case, past comments, blanks and parentheses.
func firstWord(sql string) string {
	for {
		sql = strings.TrimLeft(sql, " \t\r\n;(")
		switch {
		case strings.HasPrefix(sql, "--"), strings.HasPrefix(sql, "#"):
			_, sql, _ = strings.Cut(sql, "\n")
		case strings.HasPrefix(sql, "/*"):
			_, sql, _ = strings.Cut(sql, "*/")
		default:
			end := strings.IndexFunc(sql, func(r rune) bool {
				return r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
			})
			if end < 0 {
				end = len(sql)
			}
			return strings.ToUpper(sql[:end])
		}
	}
}

var (
	formatPattern = regexp.MustCompile(`(?is)\s+FORMAT\s+([A-Za-z][A-Za-z0-9]*)\s*;?\s*$`)
	valuesPattern = regexp.MustCompile(`(?is)\)\s*VALUES\s*;?\s*$|\sVALUES\s*;?\s*$`)
	valuesWord    = regexp.MustCompile(`(?is)VALUES\s*;?\s*$`)
)

// splitInsert splits an INSERT whose rows are not in its text into the statement and the format of the rows, as the engine
// expects them. ok is false for a statement that does not name a format.
func splitInsert(sql string) (statement, format string, ok bool) {
	if m := formatPattern.FindStringSubmatchIndex(sql); m != nil {
		return sql[:m[0]], sql[m[2]:m[3]], true
	}
	if valuesPattern.MatchString(sql) {
		return valuesWord.ReplaceAllString(sql, ""), "Values", true
	}
	return sql, "", false
}
