package rawsql

import (
	"context"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

// explain describes the fault of a statement that the engine refused with a code. It uses nothing of the engine's own text.
func explain(ctx context.Context, w Warehouse, code int, sql string) (message string, known bool) {
	switch code {
	case 47, 10, 16, 8: // UNKNOWN_IDENTIFIER, NOT_FOUND_COLUMN_IN_BLOCK, NO_SUCH_COLUMN_IN_TABLE, THERE_IS_NO_COLUMN
		return "The statement uses a column that does not exist." + unknownColumns(ctx, w, sql), true
	}
	message, known = messages()[code]
	return message, known
}

func messages() map[int]string {
	const types = "A function or operator got arguments of types that it does not take. toString, toFloat64 or toDateTime convert."
	const value = "A value cannot be read as the type that is asked for. The functions that end in OrNull or OrZero do not fail."
	const argument = "A function got an argument that it does not take."
	const fails = "The engine failed on this statement; write it in another way."
	return map[int]string{
		6:   value,
		27:  value,
		38:  value,
		41:  value,
		72:  value,
		70:  value,
		32:  value,
		33:  value,
		117: value,
		246: value,
		321: value,
		376: value,
		467: value,
		675: value,
		676: value,
		691: value,
		69:  "A value is out of the range that is allowed.",
		53:  types,
		43:  types,
		386: types,
		130: types,
		131: "A text would be too large.",
		190: "The arrays have different lengths.",
		128: "An array would be too large.",
		42:  "A function got more or fewer arguments than it takes.",
		35:  "A function got fewer arguments than it takes.",
		34:  "A function got more arguments than it takes.",
		44:  "A function takes a constant where it got a column.",
		36:  argument,
		432: argument,
		457: argument,
		12:  "A parameter or an argument is out of the range that is allowed.",
		46:  "The statement calls a function that does not exist.",
		60: "The statement reads a table that does not exist here. In a UNION, a SELECT that has a WITH of its own does not see the tables: " +
			"put all WITH at the beginning.",
		62:   "The statement cannot be parsed.",
		153:  "The statement divides by zero. intDivOrZero and nullIf avoid that.",
		179:  "Two expressions or tables of the statement have the same name.",
		184:  "An aggregate function stands within another one, or in WHERE: use a subquery, or HAVING.",
		215:  "A column is neither in GROUP BY nor within an aggregate function.",
		207:  "The name of a column is ambiguous: write the table's name or alias before it.",
		352:  "The name of a column is ambiguous: write the table's name or alias before it.",
		20:   "The two sides of IN, or the SELECTs of a UNION, have different numbers of columns.",
		258:  "The SELECTs of a UNION have different numbers of columns.",
		125:  "A subquery that stands for one value gave more than one row or column.",
		48:   "The statement uses something that the engine does not support.",
		306:  "The statement is nested too deeply.",
		167:  "The statement is nested too deeply.",
		168:  "The statement is too large.",
		162:  "The statement is nested too deeply.",
		407:  "A decimal number is too large.",
		395:  "The statement threw an error of its own.",
		427:  "A regular expression cannot be read: it must be one of RE2.",
		164:  "The statement is not allowed.",
		497:  "The statement is not allowed.",
		446:  "The statement calls a function that is not allowed.",
		344:  "The statement uses something that is not enabled here.",
		403:  "The condition of a JOIN must compare columns of both sides for equality.",
		119:  "A name stands where another is expected.",
		1:    "The statement uses something that the engine does not support.",
		223:  "The statement uses something that the engine does not support.",
		49:   fails,
		1001: fails,
		25:   "A pattern or a text has an escape sequence that cannot be read: a backslash is written as two.",
		50:   "The statement names a type of data that does not exist.",
		170:  types,
		721:  "The statement calls a function that the engine no longer supports. Window functions (lagInFrame, leadInFrame, sum … OVER) replace it.",
		63:   "The statement uses an aggregate function that does not exist.",
		133:  "An aggregate function needs parameters, or got too many.",
		277:  "The statement reads a table without its key.",
		456:  "Parameters in braces are not allowed: write the value.",
		370:  "The clauses of LIMIT contradict each other.",
		440:  "LIMIT takes a number.",
		475:  "WITH FILL needs bounds and a step that fit its column.",
		706:  "The same operation appears twice.",
	}
}

// unknownColumns names the columns of the statement that no table or alias has, with similar columns that exist.
func unknownColumns(ctx context.Context, w Warehouse, sql string) string {
	tables, err := w.SQLSchemas(ctx)
	if err != nil {
		return ""
	}
	tokens, refusal := confine.Lex(sql)
	if refusal != nil {
		return ""
	}
	words := names(tokens)
	known, columns := map[string]bool{}, []string{}
	for _, t := range tables {
		known[t.Name] = true
		if !slices.Contains(words, t.Name) {
			continue
		}
		for _, c := range t.Columns {
			if !known[c.Name] {
				known[c.Name] = true
				columns = append(columns, c.Name)
			}
		}
	}
	for _, f := range confine.Functions() {
		known[f] = true
	}
	var out []string
	for _, word := range suspects(tokens) {
		if known[word] || known[strings.ToLower(word)] || isKeyword(word) {
			continue
		}
		if hint := confine.DidYouMean(word, columns); hint != "" {
			out = append(out, " `"+word+"` is not a column."+hint)
		} else {
			out = append(out, " `"+word+"` is not a column.")
		}
		if len(out) == 3 {
			break
		}
	}
	if len(out) == 0 && len(columns) > 0 {
		return " Columns: " + strings.Join(columns, ", ") + "."
	}
	return strings.Join(out, "")
}

// names returns the words and quoted names of a statement.
func names(tokens []confine.Token) []string {
	var out []string
	for _, t := range tokens {
		if t.Kind == confine.Word || t.Kind == confine.Quoted {
			out = append(out, t.Name())
		}
	}
	return out
}

// suspects returns the names that might be columns. It skips aliases that the statement defines, function calls, and names after
// a point.
func suspects(tokens []confine.Token) []string {
	var code []confine.Token
	for _, t := range tokens {
		if t.Kind != confine.Space {
			code = append(code, t)
		}
	}
	at := func(i int) confine.Token {
		if i < 0 || i >= len(code) {
			return confine.Token{Kind: confine.Symbol}
		}
		return code[i]
	}
	given := map[string]bool{}
	for i, t := range code {
		named := t.Kind == confine.Word || t.Kind == confine.Quoted
		switch {
		case !named:
		case at(i - 1).Is("AS"), at(i+1).Is("AS") && (at(i+2).Is("(") || at(i+2).Is("MATERIALIZED")),
			at(i+1).Is("-") && at(i+2).Is(">"), // x -> …
			at(i + 1).Is("."),                  // an alias of a table
			at(i-1).Kind == confine.Word && (at(i-2).Is("FROM") || at(i-2).Is("JOIN") || at(i-2).Is(",")) && !at(i-1).Is("AS"):
			given[t.Name()] = true
		}
		if t.Is("(") { // (k, v) -> …
			end := i
			for end < len(code) && !code[end].Is(")") {
				end++
			}
			if at(end+1).Is("-") && at(end+2).Is(">") {
				for _, p := range code[i+1 : end] {
					given[p.Name()] = true
				}
			}
		}
	}
	var out []string
	for i, t := range code {
		named := t.Kind == confine.Quoted || t.Kind == confine.Word && (t.Text[0] < '0' || t.Text[0] > '9')
		if !named || given[t.Name()] || at(i+1).Is("(") || at(i-1).Is("FROM") || at(i-1).Is("JOIN") || slices.Contains(out, t.Name()) {
			continue
		}
		out = append(out, t.Name())
	}
	return out
}

func isKeyword(word string) bool {
	return slices.Contains(strings.Fields(keywords), strings.ToUpper(word))
}

const keywords = `SELECT DISTINCT ON FROM WHERE GROUP BY ORDER HAVING QUALIFY WINDOW LIMIT OFFSET TIES WITH AS AND OR NOT IN IS NULL LIKE ILIKE BETWEEN
CASE WHEN THEN ELSE END JOIN INNER LEFT RIGHT FULL OUTER CROSS ASOF SEMI ANTI ANY ALL GLOBAL LOCAL USING ARRAY UNION EXCEPT INTERSECT ASC DESC NULLS FIRST LAST
FILL STEP TO INTERPOLATE OVER PARTITION ROWS RANGE PRECEDING FOLLOWING UNBOUNDED CURRENT ROW INTERVAL SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR
MILLISECOND MICROSECOND NANOSECOND TRUE FALSE CAST EXISTS RECURSIVE MATERIALIZED ROLLUP CUBE TOTALS GROUPING SETS FILTER IGNORE RESPECT DATE TIMESTAMP
REPLACE COLUMNS APPLY COLLATE ESCAPE DIV MOD INF NAN PASTE EXTRACT STALENESS`

var _ Warehouse = (*warehouse.Warehouse)(nil)
