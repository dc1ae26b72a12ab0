package widget

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

// listSlice is the last part of a window, which a list reads first.
const listSlice = time.Hour

// list shows the latest traces or log records.
func (j *job) list(ctx context.Context) error {
	j.narrow(limits.SearchWindow)
	display := j.req.Widget.GetDisplay()
	l := reads.RowList{Source: listSource(j.source, display), Window: j.window, Limit: limits.DefaultListRows}
	var filters []query.Filter
	if queries := j.source.GetQueries(); len(queries) > 0 {
		f, err := j.filter("queries[0].where_clause", l.Source, queries[0].GetWhereClause())
		if err != nil {
			return err
		}
		filters = append(filters, f)
	}
	if l.Source != query.Traces && l.Source != query.Logs {
		return apierr.New(
			apierr.QueryEngineValidation,
			"`queries[0].data_source` of a list must be traces or logs.",
			apierr.Param("queries[0].data_source"),
		)
	}
	if text := display.GetListWhereClause(); text != "" &&
		(len(j.source.GetQueries()) == 0 || text != j.source.GetQueries()[0].GetWhereClause()) {
		f, err := j.filter("display.list_where_clause", l.Source, text)
		if err != nil {
			return err
		}
		filters = append(filters, f)
	}
	if display.GetListRootOnly() && l.Source == query.Traces {
		filters = append(
			filters,
			query.Filter{Match: &query.Match{Field: query.Field{Key: "root_only"}, Op: query.OpEqual, Values: []string{"true"}}},
		)
	}
	l.Filter = query.And(filters...)
	for _, n := range []*float64{j.source.Limit, display.ListLimit, j.source.DefaultLimit} {
		if n != nil && *n >= 1 {
			l.Limit = int(math.Min(*n, limits.ListRows))
			break
		}
	}
	f := frame{columns: listColumns(l.Source)}
	for i, name := range j.source.GetColumns() {
		if f.index(name) >= 0 {
			continue
		}
		field, err := listField(l.Source, name)
		if err != nil {
			return &query.Invalid{Field: fmt.Sprintf("columns[%d]", i), Message: err.Error()}
		}
		l.Columns, f.columns = append(l.Columns, field), append(f.columns, column{name, text})
	}
	rows, err := j.latest(ctx, l)
	if err != nil {
		return err
	}
	for _, row := range rows {
		f.add(row...)
	}
	f.hide(j.source.GetTransform())
	j.table(f, j.source.GetTransform())
	return nil
}

func listField(s query.Source, name string) (query.Field, error) {
	f, err := query.ParseField(s, name)
	if err != nil {
		return f, fmt.Errorf("cannot be read: %w", err)
	}
	return f, nil
}

// CheckColumn returns the error of an additional column that no read of the widget accepts. Only lists have additional columns.
func CheckColumn(w *svcv2.Widget, name string) error {
	if !showsList(w.GetVisualization(), w.GetDataSource()) {
		return nil
	}
	source := listSource(w.GetDataSource(), w.GetDisplay())
	if slices.ContainsFunc(listColumns(source), func(c column) bool { return c.name == name }) {
		return nil
	}
	_, err := listField(source, name)
	return err
}

func showsList(visual string, d *svcv2.WidgetDataSource) bool {
	return visual == "list" || d.GetResultShape() == "list"
}

// listSource is the source of the first query, or else the source that the display names.
func listSource(d *svcv2.WidgetDataSource, display *svcv2.WidgetDisplay) query.Source {
	switch queries := d.GetQueries(); {
	case len(queries) > 0:
		return query.Source(queries[0].GetDataSource())
	case display != nil && display.ListDataSource != nil:
		return query.Source(display.GetListDataSource())
	}
	return query.Traces
}

func listColumns(s query.Source) []column {
	if s == query.Logs {
		return []column{{"timestamp", moment}, {"severity", text}, {"service_name", text}, {"body", text}, {"trace_id", text}, {"span_id", text}}
	}
	return []column{
		{"timestamp", moment},
		{"trace_id", text},
		{"span_id", text},
		{"service_name", text},
		{"span_name", text},
		{"duration_ms", number},
		{"status_code", text},
		{"has_error", truth},
	}
}

// latest reads the end of the window first, because that fills most lists.
func (j *job) latest(ctx context.Context, l reads.RowList) ([][]any, error) {
	whole := l.Window
	if whole.Length() > listSlice {
		l.Window.Start = whole.End.Add(-listSlice)
	}
	rows, err := j.listed(ctx, l)
	if err != nil || len(rows) >= l.Limit || l.Window == whole {
		return rows, err
	}
	l.Window = whole
	return j.listed(ctx, l)
}

func (j *job) listed(ctx context.Context, l reads.RowList) (out [][]any, err error) {
	add := func(extra []string, row ...any) {
		for _, text := range extra {
			row = append(row, text)
		}
		out = append(out, row)
	}
	if l.Source == query.Logs {
		rows, err := read.All[reads.ListedRecord](ctx, j.warehouse, j.org, reads.ListRows(l))
		for _, r := range rows {
			add(r.Extra, r.Timestamp, r.Severity, r.ServiceName, r.Body, r.TraceID, r.SpanID)
		}
		return out, err
	}
	rows, err := read.All[reads.ListedSpan](ctx, j.warehouse, j.org, reads.ListRows(l))
	for _, r := range rows {
		add(r.Extra, r.Timestamp, r.TraceID, r.SpanID, r.ServiceName, r.SpanName, r.DurationMs, r.StatusCode, r.HasError)
	}
	return out, err
}
