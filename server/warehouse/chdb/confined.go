package chdb

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// TenantUser is the user name that comes with a tenant's statement to the embedded engine. The engine has only one user, and runs such
// a statement with RunConfined.
const TenantUser = "svc_tenant"

// maxConfinedBytes bounds the result of a tenant's statement, in addition to max_result_bytes. The result is held in memory so
// that a failure never follows half a result.
const maxConfinedBytes = 32 << 20

const codeReadonly = 164

// RunConfined runs a tenant's SELECT on a connection that serves no other statement, before or after. It does not
// rely on earlier checks: it refuses everything harmful that readonly allows in libchdb: several statements, INTO OUTFILE, KILL, USE, the
// function that reads files, and table functions that bypass the row policies.
func (e *Engine) RunConfined(ctx context.Context, st Statement) ([]byte, Summary, error) {
	tenant, ok := strings.CutPrefix(st.Database, TenantPrefix)
	if !ok || tenant == "" {
		return nil, Summary{}, exceptionf(codeReadonly, "A confined statement needs a tenant's database. (READONLY)")
	}
	if !isSelect(st.SQL) {
		return nil, Summary{}, exceptionf(codeReadonly, "A confined statement must be a SELECT. (READONLY)")
	}
	settings := maps.Clone(st.Settings)
	if settings == nil {
		settings = map[string]string{}
	}
	settings["readonly"] = "1"
	st.Settings = settings
	before, done, err := e.places.take(ctx, tenant, true, placePatience)
	if err != nil {
		return nil, Summary{}, err
	}
	defer done()
	st = ranked(st, before)
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, Summary{}, ctx.Err()
	}
	defer func() { <-e.slots }()
	c, err := e.connect(st)
	if err != nil {
		return nil, Summary{}, err
	}
	defer func() { c.close() }()
	class, statements, err := c.classify(st.SQL)
	switch {
	case err != nil:
		return nil, Summary{}, err
	case statements > 1:
		return nil, Summary{}, exceptionf(codeSyntaxError, "Syntax error (Multi-statements are not allowed). (SYNTAX_ERROR)")
	case class != ClassReadOnly && class != ClassUnknown: // the engine itself reports why it cannot parse a statement
		return nil, Summary{}, exceptionf(codeReadonly, "A confined statement may only read. (READONLY)")
	}
	if err := c.refuseReach(st); err != nil {
		return nil, Summary{}, err
	}
	guard := e.guard(ctx, c, read{tenant, true})
	// Not as a stream: each part of a stream repeats the names and types of the columns. The connection is closed afterwards, so
	// leftovers of a failed statement do no harm.
	summary, out, err := c.exec(st.SQL, st.Format, st.params())
	if guard() && err != nil {
		return nil, Summary{}, context.Cause(ctx)
	}
	if err != nil {
		return nil, Summary{}, err
	}
	if len(out) > maxConfinedBytes {
		return nil, Summary{}, exceptionf(396, "The result is larger than %d bytes. (TOO_MANY_ROWS_OR_BYTES)", maxConfinedBytes)
	}
	return out, summary, nil
}

// refuseReach searches the engine's own tree of the statement for constructs that need no right in libchdb and yet read files or
// bypass the row policies. These are functions that read files, every table function that is not known to make its rows only from
// its arguments, and APPLY, which hides a function's name. It also refuses bytes that would become the state of an aggregate
// function: with them a tenant could crash this process.
func (c *connection) refuseReach(st Statement) error {
	_, tree, err := c.exec("EXPLAIN AST "+st.SQL, "TSV", st.params())
	if err != nil {
		return err
	}
	var above []string // the path of nodes to this one, as printed
	var place []int    // the position of each of them among its siblings
	for line := range strings.Lines(string(tree)) {
		node := strings.TrimLeft(strings.TrimRight(line, "\n"), " ")
		depth := len(strings.TrimRight(line, "\n")) - len(node)
		above = append(above[:min(depth, len(above))], node)
		if depth < len(place) {
			place = place[:depth+1]
			place[depth]++
		} else {
			place = append(place, 0)
		}
		parent := func(n int) string { return above[max(0, len(above)-1-n)] }
		kind, text, _ := strings.Cut(node, " ")
		name, _, _ := strings.Cut(text, " ")
		name = strings.ToLower(name)
		reads := name == "file" || name == "catboostevaluate"
		switch {
		case kind == "ColumnsApplyTransformer", kind == "Function" && reads,
			kind == "Identifier" && reads && strings.HasPrefix(parent(2), "Function "), // arrayMap(file, names)
			kind == "Function" && strings.HasPrefix(parent(1), "TableExpression") && !makesRows(name):
			return exceptionf(497, "Not enough privileges: a tenant may not use %s. (ACCESS_DENIED)", name)
		case castsTo(parent(2)) &&
			(kind == "Literal" && strings.Contains(text, "AggregateFunction") || kind != "Literal" && place[len(place)-1] == 1):
			return exceptionf(497, "Not enough privileges: a tenant may not make states of bytes. (ACCESS_DENIED)")
		}
	}
	return nil
}

// castsTo reports whether a node is a function that converts its first argument to the type that its second argument names.
func castsTo(node string) bool {
	name, isFunction := strings.CutPrefix(node, "Function ")
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	return isFunction && slices.Contains([]string{
		"cast", "_cast", "accuratecast", "accuratecastornull", "accuratecastordefault", "reinterpret",
	}, name)
}

// makesRows reports whether a table function reads nothing but its arguments.
func makesRows(name string) bool {
	return slices.Contains([]string{"numbers", "zeros", "values", "generate_series", "generateseries", "view"}, name)
}
