package rawsql

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

// These are the codes of refusals that concern macros.
const (
	invalidMacro    confine.Code = "InvalidMacro"
	unresolvedMacro confine.Code = "UnresolvedMacro"
)

func refuse(code confine.Code, format string, args ...any) *confine.Refusal {
	return &confine.Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// macroNames lists all macros.
func macroNames() []string {
	return []string{"$__timeFilter", "$__timeGroup", "$__startTime", "$__endTime", "$__interval_s", "$__orgFilter"}
}

// intervals are the lengths that AutoInterval can choose.
func intervals() []time.Duration {
	const minute, hour, day = time.Minute, time.Hour, 24 * time.Hour
	return []time.Duration{
		limits.LeastSQLInterval, 10 * minute, 15 * minute, 30 * minute, hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day, 7 * day,
	}
}

// AutoInterval is a length of buckets that divides a window into about limits.DefaultSQLIntervals.
func AutoInterval(w query.Window) time.Duration {
	all := intervals()
	for _, d := range all {
		if w.Length() <= limits.DefaultSQLIntervals*d {
			return d
		}
	}
	return all[len(all)-1]
}

// column matches the argument of a time macro: the name of a column, which may be qualified with a table or an alias.
var column = regexp.MustCompile("^(?:[A-Za-z_][A-Za-z0-9_]*|`[^`\\\\]+`|\"[^\"\\\\]+\")(?:\\.(?:[A-Za-z_][A-Za-z0-9_]*|`[^`\\\\]+`|\"[^\"\\\\]+\"))?$")

// expand replaces the macros and variables of a statement, except within quotes and comments. This function writes all values
// itself, from times, numbers and quoted texts. The result is then checked like any statement of a user.
func expand(req Request) (string, error) {
	tokens, refusal := confine.Lex(req.SQL)
	if refusal != nil {
		return "", refusal
	}
	var out strings.Builder
	written := map[string]int{} // bytes of the values of each variable
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if t.Kind != confine.Dollar {
			out.WriteString(t.Text)
			continue
		}
		name, used := t.Text, 1
		switch {
		case name == "$" && i+3 < len(tokens) && tokens[i+1].Is("{") && tokens[i+2].Kind == confine.Word && tokens[i+3].Is("}"):
			name, used = "$"+tokens[i+2].Text, 4
		case name == "$":
			return "", refuse(unresolvedMacro, "The statement has a $ that begins no macro. Macros: %s.", strings.Join(macroNames(), ", "))
		}
		if !strings.HasPrefix(name, "$__") {
			values, ok := req.Variables[name[1:]]
			if !ok {
				return "", refuse(unresolvedMacro, "The variable %s has no value here.", name)
			}
			text := list(values)
			written[name] += len(text)
			out.WriteString(text)
			i += used - 1
			continue
		}
		text, more, refusal := macro(name, tokens[i+1:], req)
		if refusal != nil {
			return "", refusal
		}
		out.WriteString(text)
		i += more + used - 1
	}
	if refusal := tooLong(out.Len(), written); refusal != nil {
		return "", refusal
	}
	return out.String(), nil
}

// tooLong refuses a statement that only the values of its variables make too long. It names the variable with the longest values.
func tooLong(length int, written map[string]int) *confine.Refusal {
	var longest string
	own := length
	for _, name := range slices.Sorted(maps.Keys(written)) {
		own -= written[name]
		if longest == "" || written[name] > written[longest] {
			longest = name
		}
	}
	if longest == "" || length <= limits.SQLText || own > limits.SQLText {
		return nil // the check of the whole statement bounds its length
	}
	return refuse(confine.ResourceLimit,
		"The statement has %s bytes with the values of its variables; at most %s are allowed. Choose fewer values of %s, which have %s bytes.",
		limits.Number(length), limits.Number(limits.SQLText), longest, limits.Number(written[longest]))
}

// ExpandedBytes is the length of a statement with its longest macros. Variables count with an empty value, because a caller chooses
// their values later. The length is 0 if the statement cannot be expanded.
func ExpandedBytes(sql string) int {
	tokens, refusal := confine.Lex(sql)
	if refusal != nil {
		return 0
	}
	empty := map[string][]string{}
	for i, t := range tokens {
		if t.Kind == confine.Dollar {
			empty[t.Text[1:]] = nil
			if i+2 < len(tokens) {
				empty[tokens[i+2].Text] = nil // the name in ${name}
			}
		}
	}
	all := intervals()
	text, err := expand(Request{SQL: sql, Interval: all[len(all)-1], Variables: empty})
	if err != nil {
		return 0
	}
	return len(text)
}

// macro expands one macro and returns how many of the tokens after it belong to it.
func macro(name string, after []confine.Token, req Request) (text string, used int, _ *confine.Refusal) {
	seconds := int64(req.Interval / time.Second)
	switch name {
	case "$__orgFilter":
		// The tables hold only the organization's rows, so there is nothing left to filter, in joins and subqueries too.
		return "(1 = 1)", 0, nil
	case "$__startTime":
		return literal(req.Window.Start), 0, nil
	case "$__endTime":
		return literal(req.Window.End), 0, nil
	case "$__interval_s":
		return strconv.FormatInt(seconds, 10), 0, nil
	case "$__timeFilter", "$__timeGroup":
		arg, used := argument(after)
		if !column.MatchString(arg) {
			return "", 0, refuse(invalidMacro, "%s takes the name of one column in parentheses, for example %s(Timestamp).", name, name)
		}
		if name == "$__timeGroup" {
			return fmt.Sprintf("toStartOfInterval(%s, toIntervalSecond(%d))", arg, seconds), used, nil
		}
		return fmt.Sprintf("(%s >= %s AND %s <= %s)", arg, literal(req.Window.Start), arg, literal(req.Window.End)), used, nil
	}
	known := macroNames()
	slices.Sort(known)
	return "", 0, refuse(unresolvedMacro, "There is no macro %s.%s Macros: %s.", name, confine.DidYouMean(name, known),
		strings.Join(known, ", "))
}

// argument reads a parenthesis up to the first closing one.
func argument(tokens []confine.Token) (text string, used int) {
	var b strings.Builder
	open := false
	for i, t := range tokens {
		switch {
		case t.Kind == confine.Space:
		case !open && t.Is("("):
			open = true
		case !open:
			return "", 0
		case t.Is(")"):
			return b.String(), i + 1
		default:
			b.WriteString(t.Text)
		}
	}
	return "", 0
}

func literal(t time.Time) string {
	return "toDateTime64('" + t.UTC().Format("2006-01-02 15:04:05.000000000") + "', 9, 'UTC')"
}

// list writes texts as literals with commas between them. An empty list becomes one empty text, because a text fits wherever a
// list does.
func list(values []string) string {
	if len(values) == 0 {
		values = []string{""}
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`).
			Replace(strings.ToValidUTF8(v, "�")) + "'"
	}
	return strings.Join(quoted, ", ")
}
