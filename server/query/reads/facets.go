package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// FacetRow is a row of TraceFacets and LogFacets.
type FacetRow struct {
	Type  string  `ch:"FacetType"`
	Name  string  `ch:"FacetName"`
	Count float64 `ch:"Items"`
}

// ErrorCountFacet is the facet of the one row of TraceFacets that counts failures. The name in that row is "error".
const ErrorCountFacet = "error_count"

// facetValues holds the highest number of values of each facet.
func facetValues(facet string) int {
	switch facet {
	case "service", "severity":
		return limits.FacetValues
	case ErrorCountFacet:
		return 1
	default:
		return limits.FewFacetValues
	}
}

// CutFacets keeps the most frequent values of each facet. The rows must be in the order of the statement.
func CutFacets(rows []FacetRow) []FacetRow {
	kept := map[string]int{}
	out := rows[:0]
	for _, r := range rows {
		if kept[r.Type]++; kept[r.Type] <= facetValues(r.Type) {
			out = append(out, r)
		}
	}
	return out
}

type facet struct{ name, column, text string }

func facets(facets []facet, count, extra string) string {
	var sets, types, names []string
	for _, f := range facets {
		sets = append(sets, "("+f.column+")")
		types = append(types, fmt.Sprintf("grouping(%s) = 0, '%s'", f.column, f.name))
		names = append(names, fmt.Sprintf("grouping(%s) = 0, %s", f.column, f.text))
	}
	total := "''"
	if extra != "" {
		sets, total = append(sets, "()"), "'"+ErrorCountFacet+"'"
		types, names = append(types, total), append(names, "'error'")
		count = fmt.Sprintf("if(FacetType = %s, %s, %s)", total, extra, count)
	} else {
		types, names = append(types, total), append(names, "''")
	}
	return fmt.Sprintf(`    SELECT
        multiIf(%s) AS FacetType,
        multiIf(%s) AS FacetName,
        %s AS Items
    FROM %%s%%s
    GROUP BY GROUPING SETS (%s)`, strings.Join(types, ", "), strings.Join(names, ", "), count, strings.Join(sets, ", "))
}

const facetOrder = `SELECT FacetType, FacetName, Items
FROM
(
%s
)
WHERE FacetName != '' AND Items > 0
ORDER BY FacetType, Items DESC, FacetName
LIMIT %s BY FacetType`

// TraceFacets gives FacetRow rows: how the matching spans of a window are distributed over the fields that people filter by. The
// rows of one facet stand together, most frequent value first. One pass counts all facets. If the filters allow it, the whole
// hours of the window are read from the rollup, and only the time before and after them from spans.
func TraceFacets(w query.Window, f query.Filter, r query.Rollups) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := query.FilterSQL(b, query.Traces, f)
	count, failed, table := "sum(SampleRate)", "sumIf(SampleRate, HasError)", "spans"
	if r.Coarse.Holds(w) && query.InOperationHours(f) && w.Whole(time.Hour).Start.Before(w.Whole(time.Hour).End) {
		count, failed = "sum(EstimatedSpanCount)", "sum(EstimatedErrorCount)"
		table = query.Layered(b, w, query.OperationRollup(), c)
		c = nil
	} else {
		c = sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End)).With(c...)
	}
	inner := fmt.Sprintf(facets([]facet{
		{"service", "ServiceName", "ServiceName"},
		{"span_name", "SpanName", "SpanName"},
		{"http_method", "HttpMethod", "HttpMethod"},
		{"http_status", "HttpStatusCode", "if(HttpStatusCode = 0, '', toString(HttpStatusCode))"},
		{"deployment_env", "Environment", "Environment"},
		{"service_namespace", "ServiceNamespace", "ServiceNamespace"},
	}, count, failed), table, c.Clause(4))
	return b.Statement(fmt.Sprintf(facetOrder, inner, b.Bind("limit", "UInt32", int64(limits.FacetValues))))
}

// LogFacets is TraceFacets for log records. Their rollup is by minute.
func LogFacets(w query.Window, f query.Filter, r query.Rollups) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := query.FilterSQL(b, query.Logs, f)
	count, table := "toFloat64(count())", "logs"
	if r.Coarse.Holds(w) && query.InLogMinutes(f) && w.Length() >= query.ShortestRolledUp {
		count = "toFloat64(sum(LogCount))"
		table = query.Layered(b, w, query.LogRollup(), c)
		c = nil
	} else {
		c = sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", w.Start), "Timestamp <= "+b.Time("end", w.End)).With(c...)
	}
	inner := fmt.Sprintf(facets([]facet{
		{"severity", "SeverityText", "SeverityText"},
		{"service", "ServiceName", "ServiceName"},
		{"deployment_env", "Environment", "Environment"},
		{"namespace", "ServiceNamespace", "ServiceNamespace"},
	}, count, ""), table, c.Clause(4))
	return b.Statement(fmt.Sprintf(facetOrder, inner, b.Bind("limit", "UInt32", int64(limits.FacetValues))))
}
