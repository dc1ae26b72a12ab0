package confine

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// position describes an offset of a statement for people.
func position(sql string, at int) string {
	before := sql[:min(max(at, 0), len(sql))]
	line := strings.Count(before, "\n") + 1
	column := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}

// SyntaxError is the refusal of a statement that the engine cannot parse. at is the offset of the error; a negative offset means
// unknown.
func SyntaxError(sql string, at int) *Refusal {
	if at < 0 || at > len(sql) {
		return refuse(Syntax, "The statement cannot be parsed.")
	}
	rest := strings.ToValidUTF8(sql[at:], "")
	if line, _, more := strings.Cut(rest, "\n"); more {
		rest = line
	}
	if r := []rune(rest); len(r) > 40 {
		rest = string(r[:40]) + "…"
	}
	if strings.TrimSpace(rest) == "" {
		return refuse(Syntax, "The statement cannot be parsed: something is missing at %s.", position(sql, at))
	}
	return refuse(Syntax, "The statement cannot be parsed at %s: `%s`", position(sql, at), rest)
}
