package reads

import (
	"fmt"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// RowList asks for the latest rows of a window, in the form that a list on a dashboard shows.
type RowList struct {
	Source query.Source // Traces or Logs
	Window query.Window
	Filter query.Filter
	// Columns are additional fields. Every row has the standard fields.
	Columns []query.Field
	Limit   int
}

// ListedSpan is a row of ListRows for Traces: the latest matching span of a trace.
type ListedSpan struct {
	Timestamp   time.Time `ch:"Timestamp"`
	TraceID     string    `ch:"TraceId"`
	SpanID      string    `ch:"SpanId"`
	ServiceName string    `ch:"ServiceName"`
	SpanName    string    `ch:"SpanName"`
	DurationMs  float64   `ch:"DurationMs"`
	StatusCode  string    `ch:"StatusCode"`
	HasError    bool      `ch:"HasError"`
	// Extra has one text for each of the Columns. It is empty if the row has no value for the column.
	Extra []string `ch:"Extra"`
}

// ListedRecord is a row of ListRows for Logs.
type ListedRecord struct {
	Timestamp   time.Time `ch:"Timestamp"`
	Severity    string    `ch:"SeverityText"`
	ServiceName string    `ch:"ServiceName"`
	Body        string    `ch:"Body"`
	TraceID     string    `ch:"TraceId"`
	SpanID      string    `ch:"SpanId"`
	Extra       []string  `ch:"Extra"`
}

// ListRows gives ListedSpan or ListedRecord rows, latest first. Each trace has at most one row.
func ListRows(l RowList) sqlbuild.Statement {
	b := &sqlbuild.Builder{}
	c := sqlbuild.OfOrganization().With("Timestamp >= "+b.Time("start", l.Window.Start), "Timestamp <= "+b.Time("end", l.Window.End))
	c = c.With(query.FilterSQL(b, l.Source, l.Filter)...)
	extra := []string{}
	for _, f := range l.Columns {
		text, _ := query.TextSQL(b, l.Source, f)
		extra = append(extra, "toString("+text+")")
	}
	list := "CAST([], 'Array(String)')"
	if len(extra) > 0 {
		list = "[" + strings.Join(extra, ", ") + "]"
	}
	limit := b.Bind("limit", "UInt32", int64(l.Limit))
	if l.Source == query.Logs {
		return b.Statement(fmt.Sprintf(`SELECT Timestamp, SeverityText, ServiceName, Body, TraceId, SpanId, %s AS Extra
FROM logs
WHERE %s
ORDER BY %s, ServiceName, TraceId, SpanId, Body
LIMIT %s`, list, c.Join(4), latestFirst, limit))
	}
	return b.Statement(
		fmt.Sprintf(`SELECT Timestamp, TraceId, SpanId, ServiceName, SpanName, DurationNano / 1e6 AS DurationMs, StatusCode, HasError, %s AS Extra
FROM spans
WHERE %s
ORDER BY %s, TraceId, SpanId
LIMIT 1 BY TraceId
LIMIT %s`, list, c.Join(4), latestFirst, limit),
	)
}
