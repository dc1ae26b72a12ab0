package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/query"
)

// aggregations returns choices.ts: the aggregations of each source of the query language, and those that need a field of spans, log
// records or product events. Metrics have no fields.
func aggregations() []byte {
	var b bytes.Buffer
	b.WriteString("// Written by server/web/gentypes. Do not edit.\n\nexport const aggregations = {\n")
	for _, s := range []query.Source{query.Traces, query.Logs, query.Metrics, query.ProductEvents} {
		fmt.Fprintf(&b, "  %s: [%s],\n", s, quoted(query.Aggregations(s)))
	}
	fmt.Fprintf(&b, "};\n\nexport const aggregationsOfField = new Set([%s]);\n", quoted(query.AggregationsOfField()))
	return b.Bytes()
}

func quoted(words []string) string { return `"` + strings.Join(words, `", "`) + `"` }
