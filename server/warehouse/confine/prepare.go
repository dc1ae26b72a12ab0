package confine

import "strings"

// Prepared is a statement that passed all checks that do not need the engine.
type Prepared struct {
	// SQL is the statement without a final semicolon.
	SQL string
	// at is the offset for table definitions: before SELECT or FROM, after WITH. with says that there is a WITH.
	at   int
	with bool
	// defined are the common table expressions.
	defined map[string]bool
}

// disallowed reports whether a word starts a statement or a clause that a tenant may not write. Such words may also be names of
// columns; see word.
func disallowed(word string) bool {
	switch word {
	case "INSERT", "UPDATE", "DELETE", "DROP", "ALTER", "TRUNCATE", "RENAME", "ATTACH", "DETACH", "CREATE", "GRANT", "REVOKE",
		"OPTIMIZE", "SYSTEM", "KILL",
		"OUTFILE", "SETTINGS", "EXPLAIN", "SHOW", "USE", "SET", "EXECUTE", "BACKUP", "RESTORE", "PREWHERE", "FINAL":
		return true
	}
	return false
}

// Prepare checks a statement without the engine, because its messages can say more than a check of the engine's tree can. The
// protection relies only on the position where Prepare says that the statement begins, and VerifyComposed checks that.
func (g *Guard) Prepare(sql string) (*Prepared, *Refusal) {
	tokens, r := Lex(sql)
	if r != nil {
		return nil, r
	}
	p := &Prepared{SQL: sql, defined: map[string]bool{}}
	code := solid(tokens)
	for len(code) > 0 && code[len(code)-1].Is(";") {
		p.SQL = strings.TrimRight(p.SQL[:code[len(code)-1].At], " \t\r\n")
		code = code[:len(code)-1]
	}
	if len(code) == 0 {
		return nil, refuse(DisallowedStatement, "The statement is empty. Write one SELECT.")
	}
	first := code[0]
	switch {
	case first.Is("SELECT"), first.Is("FROM"):
		p.at = first.At
	case first.Is("WITH"):
		p.at, p.with = first.At+len(first.Text), true
		if len(code) > 1 && code[1].Is("RECURSIVE") {
			p.at = code[1].At + len(code[1].Text)
		}
	case first.Is("("):
		return nil, refuse(
			DisallowedStatement,
			"The statement must begin with SELECT or WITH. Leave the parentheses around the first SELECT out.",
		)
	default:
		return nil, refuse(DisallowedStatement, "The statement must begin with SELECT or WITH.")
	}
	for i, t := range code {
		if t.Is(";") {
			return nil, refuse(MultipleStatements, "Only one statement is allowed; a semicolon at %s ends the first.", position(sql, t.At))
		}
		if r := g.word(p, code, i); r != nil {
			return nil, r
		}
	}
	if n := expansion(code, p.defined); n > maxExpansion {
		return nil, refuse(
			ResourceLimit,
			"The common table expressions of the statement refer to each other too often: it expands to more than %d subqueries.",
			maxExpansion,
		)
	}
	return p, nil
}

// word checks one token, which may be the name of a common table expression or a word that tenants may not write.
func (g *Guard) word(p *Prepared, code []Token, i int) *Refusal {
	t := code[i]
	next := func(n int) Token {
		if i+n < len(code) {
			return code[i+n]
		}
		return Token{}
	}
	switch {
	case t.Kind == Dollar:
		return refuse(DisallowedStatement, "%s at %s is not a known macro or variable.", quote(t.Text), position(p.SQL, t.At))
	case t.Kind != Word && t.Kind != Quoted:
		return nil
	case definesTable(code, i):
		name := t.Name()
		if g.tables[name] {
			return refuse(DisallowedStatement, "The common table expression %s has the name of a table: give it another.", quote(name))
		}
		p.defined[name] = true
		return nil
	case t.Kind == Quoted:
		return nil
	}
	if t.Is("WITH") && next(1).Is("TOTALS") && !next(2).Is("AS") {
		return refuse(
			DisallowedStatement,
			"WITH TOTALS at %s is not allowed: a result cannot hold its row of totals. Use WITH ROLLUP: its total is the row with empty groups.",
			position(p.SQL, t.At),
		)
	}
	word := strings.ToUpper(t.Text)
	if !disallowed(word) || i > 0 && (code[i-1].Is(".") || code[i-1].Is("AS")) {
		return nil
	}
	switch n := next(1); {
	case word == "FINAL":
		if i > 0 && (g.tables[code[i-1].Name()] || i > 1 && g.tables[code[i-2].Name()]) {
			return refuse(DisallowedStatement, "FINAL is not allowed and not needed: every row shows its last version.")
		}
		return nil
	case word == "PREWHERE":
		return refuse(DisallowedStatement, "PREWHERE is not allowed: write WHERE, the engine reads the cheapest columns first by itself.")
	case n.Is("("), n.Is(","), n.Is(")"), n.Is("."), n.Text == "", n.Kind == Symbol:
		return nil // a function or a column with that name
	case n.Kind == Word || n.Kind == Quoted || n.Kind == Text:
		return refuse(DisallowedStatement, "%s at %s is not allowed: a statement may only read, with the settings of the server.", word,
			position(p.SQL, t.At))
	}
	return nil
}

// definesTable reports whether `name AS ( SELECT …` begins at a token.
func definesTable(code []Token, i int) bool {
	return i+3 < len(code) && (code[i].Kind == Quoted || code[i].Kind == Word && namePattern.MatchString(code[i].Text)) &&
		code[i+1].Is("AS") &&
		afterMaterialized(code, i+2) >= 0
}

// afterMaterialized is the index of the token after `(` or `MATERIALIZED (` when a SELECT begins there, -1 otherwise.
func afterMaterialized(code []Token, i int) int {
	if code[i].Is("MATERIALIZED") {
		i++
	}
	if i >= len(code) || !code[i].Is("(") {
		return -1
	}
	for i < len(code) && code[i].Is("(") {
		i++
	}
	if i < len(code) && (code[i].Is("SELECT") || code[i].Is("WITH") || code[i].Is("FROM")) {
		return i
	}
	return -1
}

// expansion counts how often the engine replaces names of common table expressions by their bodies. A chain of n expressions that
// each use the previous one twice becomes 2ⁿ subqueries, in the analysis that the engine's time limit does not bound.
func expansion(code []Token, defined map[string]bool) int {
	type body struct{ from, to int }
	bodies := map[string][]body{}
	inside := func(i int) bool { // at the name in a definition itself
		return definesTable(code, i)
	}
	for i := range code {
		if !definesTable(code, i) {
			continue
		}
		from := i + 2
		if code[from].Is("MATERIALIZED") {
			from++
		}
		depth, to := 0, len(code)
		for j := from; j < len(code); j++ {
			if code[j].Is("(") {
				depth++
			} else if code[j].Is(")") {
				if depth--; depth == 0 {
					to = j
					break
				}
			}
		}
		name := code[i].Name()
		bodies[name] = append(bodies[name], body{from, to})
	}
	memo, open := map[string]int{}, map[string]bool{}
	var count func(from, to int) int
	weight := func(name string) int {
		if w, ok := memo[name]; ok {
			return w
		}
		if open[name] {
			return 1 // a recursive expression
		}
		open[name] = true
		w := 1
		for _, b := range bodies[name] {
			w = min(w+count(b.from, b.to), maxExpansion+1)
		}
		open[name] = false
		memo[name] = w
		return w
	}
	count = func(from, to int) int {
		total := 0
		for i := from; i < to; i++ {
			t := code[i]
			if (t.Kind == Word || t.Kind == Quoted) && defined[t.Name()] && !inside(i) && !(i > 0 && code[i-1].Is(".")) &&
				!(i+1 < len(code) && code[i+1].Is(".")) {
				total = min(total+weight(t.Name()), maxExpansion+1)
			}
		}
		return total
	}
	// The bodies are part of the statement, so their references are counted here too.
	return count(0, len(code))
}
