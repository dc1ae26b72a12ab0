package chdb

import (
	"context"
	"maps"
	"slices"
	"strings"
)

// TenantUser is the name under which a statement of a tenant comes: the server of a cluster has a user of that name with few rights, the
// embedded engine has one user only and runs such a statement in its own way, see RunConfined.
const TenantUser = "svc_tenant"

// maxConfinedBytes bounds what a tenant's statement gives, on top of max_result_bytes. It is held in memory so that a failure never
// follows half a result.
const maxConfinedBytes = 32 << 20

const codeReadonly = 164

// RunConfined runs a tenant's SELECT, with a connection that serves no other statement, before or after. It refuses everything that
// readonly lets through in libchdb, whatever was checked before: several statements, INTO OUTFILE, KILL, USE, the function that reads
// files, and table functions that read around the row policies.
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
	done, err := e.confined.take(ctx, tenant, confinedPatience)
	if err != nil {
		return nil, Summary{}, err
	}
	defer done()
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
	case class != ClassReadOnly && class != ClassUnknown: // of what cannot be parsed the engine says why
		return nil, Summary{}, exceptionf(codeReadonly, "A confined statement may only read. (READONLY)")
	}
	if err := c.refuseReach(st); err != nil {
		return nil, Summary{}, err
	}
	guard := e.guard(ctx, c)
	// Not as a stream: each part of one repeats the names and types of the columns. What a failed statement leaves on the connection ends
	// with it.
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

// refuseReach reads the engine's own tree of the statement for what reads files or around row policies and needs no right in libchdb:
// functions that read files, every table function that is not known to make its rows of its arguments, and APPLY, which hides a
// function's name; and for bytes that would become the state of an aggregate function, by which a tenant could end this process.
func (c *connection) refuseReach(st Statement) error {
	_, tree, err := c.exec("EXPLAIN AST "+st.SQL, "TSV", st.params())
	if err != nil {
		return err
	}
	var above []string // the nodes on the way to this one, as they are printed
	var place []int    // which child of its parent each of them is
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
		case castsTo(parent(2)) && (kind == "Literal" && strings.Contains(text, "AggregateFunction") || kind != "Literal" && place[len(place)-1] == 1):
			return exceptionf(497, "Not enough privileges: a tenant may not make states of bytes. (ACCESS_DENIED)")
		}
	}
	return nil
}

// castsTo reports whether a node is a function whose second argument names the type that the first one becomes.
func castsTo(node string) bool {
	name, isFunction := strings.CutPrefix(node, "Function ")
	name, _, _ = strings.Cut(strings.ToLower(name), " ")
	return isFunction && slices.Contains([]string{"cast", "_cast", "accuratecast", "accuratecastornull", "accuratecastordefault", "reinterpret"}, name)
}

// makesRows names table functions that read nothing but their arguments.
func makesRows(name string) bool {
	return slices.Contains([]string{"numbers", "zeros", "values", "generate_series", "generateseries", "view"}, name)
}
