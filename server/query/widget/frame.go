package widget

import (
	"math"
	"strconv"
	"time"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/query"
)

// These are the kinds of columns, named after the ClickHouse types that they are shown with.
const (
	moment = "DateTime64(9, 'UTC')"
	text   = "String"
	number = "Float64"
	truth  = "Bool"
)

// bucketColumn is the time column of rows that come from series.
const (
	bucketColumn = "bucket"
	nameColumn   = "name"
	valueColumn  = "value"
)

type column struct{ name, kind string }

// frame holds rows for transforms. A value is nil, a string, a float64, a bool, a time.Time, or another JSON value.
type frame struct {
	columns []column
	rows    [][]any
	// origins are the positions of the rows before any transform.
	origins []int
}

func (f *frame) add(row ...any) {
	f.origins = append(f.origins, len(f.rows))
	f.rows = append(f.rows, row)
}

func (f *frame) index(name string) int {
	for i, c := range f.columns {
		if c.name == name {
			return i
		}
	}
	return -1
}

// real is a value as a number, or NaN if it is not a number. Large integers arrive as text.
func real(v any) float64 {
	switch v := v.(type) {
	case float64:
		return v
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if n, err := strconv.ParseFloat(v, 64); err == nil && !math.IsInf(n, 0) {
			return n
		}
	}
	return math.NaN()
}

// isNumber reports whether a column holds numbers.
func (c column) isNumber() bool { return c.kind == number }

// numbers returns all values of the number columns.
func (f *frame) numbers() (out []float64) {
	for _, row := range f.rows {
		for i, c := range f.columns {
			if v := real(row[i]); c.isNumber() && !math.IsNaN(v) {
				out = append(out, v)
			}
		}
	}
	return out
}

func value(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return v
}

// seriesFrame has a row for each bucket and a column for each series.
func seriesFrame(t *query.Timeseries, previous bool) frame {
	f := frame{columns: []column{{bucketColumn, moment}}}
	for _, s := range t.Series {
		f.columns = append(f.columns, column{s.Name, number})
	}
	for i, at := range t.Buckets {
		row := []any{at}
		for _, s := range t.Series {
			values := s.Values
			if previous {
				values = s.Previous
			}
			if values == nil {
				row = append(row, nil)
				continue
			}
			row = append(row, value(values[i]))
		}
		f.add(row...)
	}
	return f
}

// groupFrame has a row for each group, with its name and the value of the first column. With several columns it has each of them
// under the name of its query.
func groupFrame(b *query.Breakdown, previous bool) frame {
	f := frame{columns: []column{{nameColumn, text}}}
	if len(b.Columns) > 0 {
		f.columns = append(f.columns, column{valueColumn, number})
	}
	if len(b.Columns) > 1 {
		for _, c := range b.Columns {
			f.columns = append(f.columns, column{c.Query, number})
		}
	}
	for _, g := range b.Groups {
		values := g.Values
		if previous {
			values = g.Previous
		}
		row := []any{g.Name}
		for i := 1; i < len(f.columns); i++ {
			at := max(0, i-2)
			if at < len(values) {
				row = append(row, value(values[at]))
			} else {
				row = append(row, nil)
			}
		}
		f.add(row...)
	}
	return f
}

// table shows rows, or the number that the transform makes of them.
func (j *job) table(f frame, t *svcv2.DataTransform) {
	f, reduced := f.transformed(j, t)
	if reduced != nil {
		j.out.Kind, j.out.Value = "value", &svcv2.WidgetValue{Value: finite(*reduced)}
		return
	}
	j.out.Kind, j.out.Table = "table", f.proto()
}

func (f *frame) proto() *svcv2.WidgetTable {
	out := &svcv2.WidgetTable{}
	for _, c := range f.columns {
		out.Columns = append(out.Columns, &svcv2.SqlResultColumn{Name: c.name, Type: c.kind})
	}
	for _, row := range f.rows {
		list := &structpb.ListValue{}
		for _, v := range row {
			list.Values = append(list.Values, protoValue(v))
		}
		out.Rows = append(out.Rows, list)
	}
	return out
}

func protoValue(v any) *structpb.Value {
	if at, ok := v.(time.Time); ok {
		v = at.UTC().Format(time.RFC3339Nano)
	}
	if n, ok := v.(float64); ok && (math.IsNaN(n) || math.IsInf(n, 0)) {
		v = nil
	}
	out, err := structpb.NewValue(v)
	if err != nil {
		return structpb.NewNullValue()
	}
	return out
}
