package confine

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestLexRebuilds(t *testing.T) {
	for _, sql := range []string{"SELECT 1", "select 'it''s \\' ', \"a\"\"b\", `c` -- x\n/* y */ FROM t # z", "a.b[1]::Int8 <= $__x"} {
		tokens, r := Lex(sql)
		if r != nil {
			t.Errorf("%s: %v", sql, r)
		}
		var b strings.Builder
		for _, token := range tokens {
			b.WriteString(token.Text)
		}
		if b.String() != sql {
			t.Errorf("%s became %s", sql, b.String())
		}
	}
}

func TestParseTreeRefusesWhatDoesNotAddUp(t *testing.T) {
	if n, err := ParseTree([]string{"A (children 2)", " B x (alias y)", " C"}); err != nil || len(n.Nodes) != 2 ||
		n.Nodes[0].Alias != "y" || n.Nodes[0].Text != "x" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, lines := range [][]string{
		{},
		{"A (children 1)"},
		{"A", "B"},
		{"A (children 1)", "B"},
		{"A (children 1)", "  B"},
		{" A"},
		{"A (children 99999999999999999999)"},
	} {
		if n, err := ParseTree(lines); err == nil {
			t.Errorf("%q: %+v", lines, n)
		}
	}
}

func TestFunctionsOfTheList(t *testing.T) {
	set := allowedFunctions()
	for _, name := range []string{
		"count", "COUNT", "countIf", "quantilesTDigestMerge", "sumMapIf", "uniqExactArrayIf", "arrayMap", "now64",
		"dateDiff", "DATE_TRUNC",
	} {
		if !set.has(name) {
			t.Errorf("%s is not allowed", name)
		}
	}
	for _, name := range []string{
		"file", "FILE", "fileIf", "url", "s3", "sleep", "sleepEachRow", "throwIf", "dictGet", "dictGetString", "joinGet", "getSetting",
		"currentDatabase", "hostName",
		"catboostEvaluate", "mergeTreeIndex", "addressToLine", "__getScalar", "reverseDNSQuery", "aiGenerate", "showCertificate", "getMacro",
		"hasColumnInTable", "", "aggThrow",
		"getServerSetting", "chdb", "formatRow", "multiMatchAny", "timeSeriesStoreTags", "flameGraph", "evalMLMethod",
		// minutes for one value
		"JSON_QUERY", "JSON_VALUE", "JSON_EXISTS", "editDistance", "levenshteinDistanceUTF8", "jaroSimilarity", "arrayLevenshteinDistance",
	} {
		if set.has(name) {
			t.Errorf("%s is allowed", name)
		}
	}
}

// FuzzPrepare: whatever a tenant writes, Prepare returns without a panic, and an accepted statement begins at the position that
// Prepare reports.
func FuzzPrepare(f *testing.F) {
	for _, path := range []string{"../testdata/escapes.sql", "../testdata/useful.sql"} {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, sql := range strings.Split(string(text), "\n;;\n") {
			f.Add(sql)
		}
	}
	g := NewGuard([]string{"logs", "spans"}, []string{"file", "count"})
	f.Fuzz(func(t *testing.T, sql string) {
		p, r := g.Prepare(sql)
		if r != nil {
			if r.Code == "" || r.Message == "" || !errors.As(error(r), new(*Refusal)) {
				t.Errorf("refused without a reason: %+v", r)
			}
			return
		}
		composed := Compose(p, []Table{{Name: "logs", Source: "svc.logs", Select: "SELECT 1 FROM svc.logs WHERE OrgId = 'x'"}})
		if !strings.HasPrefix(composed, p.SQL[:p.at]) || !strings.HasSuffix(composed, p.SQL[p.at:]) {
			t.Errorf("composed %q of %q", composed, sql)
		}
		for _, t2 := range []string{";"} {
			if tokens, _ := Lex(p.SQL); len(solid(tokens)) > 0 && solid(tokens)[len(solid(tokens))-1].Is(t2) {
				t.Errorf("%q keeps its semicolon", p.SQL)
			}
		}
	})
}

// FuzzParseTree: ParseTree never panics and returns only consistent trees.
func FuzzParseTree(f *testing.F) {
	f.Add("SelectWithUnionQuery (children 1)\n ExpressionList (children 1)\n  SelectQuery (children 1)\n   ExpressionList (children 1)\n    " +
		"Literal UInt64_1 (alias x)")
	f.Add("A (children 2)\n B (alias (children 3))\n C (alias x)")
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		n, err := ParseTree(lines)
		if err != nil {
			return
		}
		nodes := 0
		_ = n.walk(func(*Node, []*Node) *Refusal { nodes++; return nil })
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
		if nodes != len(lines) {
			t.Errorf("%d nodes of %d lines", nodes, len(lines))
		}
	})
}

// TestDidYouMean: the suggested names look like the written name or begin with it.
func TestDidYouMean(t *testing.T) {
	known := []string{"count", "countIf", "globalNotNullInIgnoreSet", "inIgnoreSet", "DurationNano", "round"}
	for name, want := range map[string]string{
		"coutn": " Did you mean `count`?", "ignore": "", "Duration": " Did you mean `DurationNano`?",
		"nano": "", "rond": " Did you mean `round`?",
	} {
		if got := DidYouMean(name, known); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestTotals: a row of totals would be lost, so WITH TOTALS is refused, also in a subquery. A table with that name is allowed.
func TestTotals(t *testing.T) {
	g := NewGuard([]string{"logs"}, nil)
	for sql, refused := range map[string]bool{
		"SELECT Body, count() FROM logs GROUP BY Body WITH TOTALS":                              true,
		"SELECT * FROM (SELECT Body, count() FROM logs GROUP BY Body with\n totals ORDER BY 2)": true,
		"WITH totals AS (SELECT 1 AS x) SELECT x FROM totals":                                   false,
		"SELECT Body, count() FROM logs GROUP BY Body WITH ROLLUP":                              false,
		"SELECT 'WITH TOTALS' AS totals FROM logs":                                              false,
	} {
		if _, r := g.Prepare(sql); (r != nil) != refused || refused && !strings.Contains(r.Message, "WITH TOTALS at line ") {
			t.Errorf("%s: %v", sql, r)
		}
	}
}
