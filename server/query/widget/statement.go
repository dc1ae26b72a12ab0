package widget

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query/rawsql"
	"github.com/svc-observability/svc/server/query/read"
)

// exact is the largest integer that a JSON number holds exactly in every reader.
const exact = 1 << 53

// statement runs the SELECT of the data source.
func (j *job) statement(ctx context.Context) error {
	sql, display, seconds := j.source.GetSql(), j.source.GetDisplayType(), j.source.GetGranularitySeconds()
	if j.source.GetKind() == SourceRoute {
		params := j.source.GetParams().GetFields()
		sql, display, seconds = params["sql"].GetStringValue(), params["display_type"].GetStringValue(),
			params["granularity_seconds"].GetNumberValue()
	}
	variables, err := j.lists(ctx, sql)
	if err != nil {
		return err
	}
	result, err := rawsql.Run(ctx, j.warehouse, j.org, rawsql.Request{
		SQL:       sql,
		Window:    j.window,
		Interval:  time.Duration(min(seconds, limits.TimeseriesWindow.Seconds())) * time.Second,
		Variables: variables,
		MaxRows:   limits.SQLRows,
	})
	if err != nil {
		return err
	}
	f := frame{}
	for _, c := range result.Columns {
		f.columns = append(f.columns, column{c.Name, kindOf(c.Type)})
	}
	for _, text := range result.Rows {
		var row []any
		if err := json.Unmarshal(text, &row); err != nil {
			return read.Unreadable(err)
		}
		if len(row) != len(f.columns) {
			return read.Unreadable(fmt.Errorf("a row of %d values under %d columns", len(row), len(f.columns)))
		}
		for i, c := range f.columns {
			if text, ok := row[i].(string); ok && c.isNumber() {
				if n, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(n) <= exact {
					row[i] = n
				}
			}
		}
		f.add(row...)
	}
	j.out.Truncated = result.Truncated
	return j.shape(f, display, result)
}

// kindOf is the kind of a column with a ClickHouse type.
func kindOf(t string) string {
	for _, wrap := range []string{"LowCardinality(", "Nullable("} {
		if rest, ok := strings.CutPrefix(t, wrap); ok {
			t = strings.TrimSuffix(rest, ")")
		}
	}
	switch {
	case strings.HasPrefix(t, "Date"):
		return moment
	case strings.HasPrefix(t, "UInt"),
		strings.HasPrefix(t, "Int"),
		strings.HasPrefix(t, "Float"),
		strings.HasPrefix(t, "Decimal"),
		strings.HasPrefix(t, "BFloat"):
		return number
	case t == "Bool":
		return truth
	case t == "String", strings.HasPrefix(t, "FixedString"), strings.HasPrefix(t, "Enum"), t == "UUID", strings.HasPrefix(t, "IPv"):
		return text
	default:
		return t
	}
}

// shape gives the rows of a statement the shape that the widget draws. The visualization decides, and for a chart its display
// type.
func (j *job) shape(f frame, display string, result *rawsql.Result) error {
	shape := j.visual
	if shape == "chart" {
		if shape = display; shape == "" {
			shape = "line"
		}
	}
	f.hide(j.source.GetTransform())
	f, reduced := f.transformed(j, j.source.GetTransform())
	switch {
	case shape == "stat", shape == "gauge":
		if reduced == nil && len(f.rows) > 0 {
			reduced = f.reduce(&svcv2.ReduceToValue{Field: valueColumn})
		}
		j.out.Kind, j.out.Value = "value", &svcv2.WidgetValue{}
		if reduced != nil {
			j.out.Value.Value = finite(*reduced)
		}
	case reduced != nil:
		j.out.Kind, j.out.Value = "value", &svcv2.WidgetValue{Value: finite(*reduced)}
	case shape == "histogram":
		all := f
		if at := f.valueIndex(valueColumn); at >= 0 {
			all = frame{columns: []column{f.columns[at]}}
			for _, row := range f.rows {
				all.add(row[at])
			}
		}
		j.histogram(all.numbers())
	case shape == "heatmap":
		j.heatOfRows(f)
	case shape == "funnel":
		j.steps(f)
	case shape == "pie", shape == "hbar":
		j.rowsAsGroups(f)
	case slices.Contains([]string{"line", "area", "bar"}, shape) && f.timeIndex() >= 0:
		j.rowsAsSeries(f, result.Interval)
	case shape == "bar":
		j.rowsAsGroups(f)
	default:
		j.out.Kind, j.out.Table = "table", f.proto()
	}
	return nil
}

// hide leaves out columns.
func (f *frame) hide(t *svcv2.DataTransform) {
	for i := len(f.columns) - 1; i >= 0; i-- {
		if !hidden(t, f.columns[i].name) {
			continue
		}
		f.columns = slices.Delete(slices.Clone(f.columns), i, i+1)
		for k, row := range f.rows {
			f.rows[k] = slices.Delete(row, i, i+1)
		}
	}
	if at := f.index(nameColumn); at >= 0 && t.GetHideSeries() != nil {
		kept := frame{columns: f.columns}
		for _, row := range f.rows {
			if !hidden(t, label(row[at])) {
				kept.add(row...)
			}
		}
		*f = kept
	}
}

func (f *frame) timeIndex() int {
	return slices.IndexFunc(f.columns, func(c column) bool { return c.kind == moment })
}

// label is a value as text.
func label(v any) string {
	switch v := v.(type) {
	case nil:
		return "(none)"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}

// rowsAsSeries makes a series of each number column, for each combination of the text columns.
func (j *job) rowsAsSeries(f frame, interval time.Duration) {
	at := f.timeIndex()
	numbers := 0
	for _, c := range f.columns {
		if c.isNumber() {
			numbers++
		}
	}
	byName := map[string]*svcv2.QuerySeries{}
	out := &svcv2.WidgetTimeseries{BucketSeconds: int32(interval.Seconds())}
	for _, row := range f.rows {
		when, ok := parseTime(row[at])
		if !ok {
			continue
		}
		var group []string
		for i, c := range f.columns {
			if i != at && !c.isNumber() {
				group = append(group, label(row[i]))
			}
		}
		for i, c := range f.columns {
			v := real(row[i])
			if !c.isNumber() || math.IsNaN(v) {
				continue
			}
			name := c.name
			if len(group) > 0 {
				if name = strings.Join(group, " · "); numbers > 1 {
					name = c.name + ": " + name
				}
			}
			s := byName[name]
			if s == nil {
				s = &svcv2.QuerySeries{Query: c.name, Name: name, Group: group}
				byName[name] = s
				out.Series = append(out.Series, s)
			}
			s.Points = append(s.Points, &svcv2.TelemetryPoint{Timestamp: timestamppb.New(when), Value: v})
		}
	}
	for _, s := range out.Series {
		slices.SortStableFunc(s.Points, func(a, b *svcv2.TelemetryPoint) int {
			return a.GetTimestamp().AsTime().Compare(b.GetTimestamp().AsTime())
		})
	}
	slices.SortStableFunc(out.Series, func(a, b *svcv2.QuerySeries) int { return cmp.Compare(a.GetName(), b.GetName()) })
	j.out.Kind, j.out.Timeseries = "timeseries", out
}

func parseTime(v any) (time.Time, bool) {
	switch v := v.(type) {
	case time.Time:
		return v, true
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02"} {
			if t, err := time.Parse(layout, v); err == nil {
				return t.UTC(), true
			}
		}
	}
	return time.Time{}, false
}

// rowsAsGroups names the groups by the column name, or else by the first text column. The number columns give their values.
func (j *job) rowsAsGroups(f frame) {
	name := f.index(nameColumn)
	if name < 0 {
		name = slices.IndexFunc(f.columns, func(c column) bool { return !c.isNumber() })
	}
	out := &svcv2.WidgetBreakdown{}
	for i, c := range f.columns {
		if i != name && c.isNumber() {
			out.Columns = append(out.Columns, &svcv2.QueryColumn{Query: c.name, Name: c.name})
		}
	}
	for _, row := range f.rows {
		r := &svcv2.QueryRow{Name: "all"}
		if name >= 0 {
			r.Name = label(row[name])
			r.Group = []string{r.GetName()}
		}
		for i, c := range f.columns {
			if i != name && c.isNumber() {
				r.Values = append(r.Values, &svcv2.QueryCell{Value: finite(real(row[i]))})
			}
		}
		out.Rows = append(out.Rows, r)
	}
	j.out.Kind, j.out.Breakdown = "breakdown", out
}
