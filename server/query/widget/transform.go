package widget

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// transformed applies the steps of a transform in their order. Hidden series are already gone. The number is not nil if the last
// step made one.
func (f frame) transformed(j *job, t *svcv2.DataTransform) (frame, *float64) {
	if t == nil {
		return f, nil
	}
	f.copyFields(j, t.GetFieldMap())
	if s := t.GetSortBy(); s != nil {
		f.sort(j, s)
	}
	if t.Limit != nil {
		f.cut(int(min(*t.Limit, math.MaxInt32)))
	}
	if s := t.GetFlattenSeries(); s != nil {
		f = f.flatten(s.GetValueField())
	}
	if s := t.GetComputeRatio(); s != nil {
		f = f.ratio(s)
	}
	if s := t.GetReduceToValue(); s != nil {
		return f, f.reduce(s)
	}
	return f, nil
}

func (f *frame) copyFields(j *job, fields map[string]string) {
	before := slices.Clone(f.columns)
	rows := make([][]any, len(f.rows))
	for i, row := range f.rows {
		rows[i] = slices.Clone(row)
	}
	for _, target := range slices.Sorted(maps.Keys(fields)) {
		from := slices.IndexFunc(before, func(c column) bool { return c.name == fields[target] })
		if from < 0 {
			j.warn(fmt.Sprintf("The field_map of the transform copies %q, which the data does not have.", fields[target]))
			continue
		}
		to := f.index(target)
		if to < 0 {
			to = len(f.columns)
			f.columns = append(slices.Clone(f.columns), column{name: target})
			for i := range rows {
				rows[i] = append(rows[i], nil)
			}
		}
		f.columns = slices.Clone(f.columns)
		f.columns[to].kind = before[from].kind
		for i := range rows {
			rows[i][to] = f.rows[i][from]
		}
	}
	f.rows = rows
}

func (f *frame) sort(j *job, s *svcv2.SortBy) {
	at := f.index(s.GetField())
	if at < 0 {
		j.warn(fmt.Sprintf("The transform sorts by %q, which the data does not have.", s.GetField()))
		return
	}
	order := make([]int, len(f.rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := f.rows[a][at], f.rows[b][at]
		switch {
		case x == nil || y == nil: // last in both directions
			return cmp.Compare(btoi(x == nil), btoi(y == nil))
		case s.GetDirection() == "desc":
			return compare(f.columns[at], y, x)
		default:
			return compare(f.columns[at], x, y)
		}
	})
	rows, origins := make([][]any, len(order)), make([]int, len(order))
	for i, from := range order {
		rows[i], origins[i] = f.rows[from], f.origins[from]
	}
	f.rows, f.origins = rows, origins
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func compare(c column, x, y any) int {
	if a, ok := x.(time.Time); ok {
		if b, ok := y.(time.Time); ok {
			return a.Compare(b)
		}
	}
	if a, b := real(x), real(y); c.isNumber() && !math.IsNaN(a) && !math.IsNaN(b) {
		return cmp.Compare(a, b)
	}
	return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y))
}

func (f *frame) cut(n int) {
	if n < len(f.rows) {
		f.rows, f.origins = f.rows[:n], f.origins[:n]
	}
}

// flatten makes a row of each number: the time or name of its row, the name of its column, and the number.
func (f frame) flatten(field string) frame {
	at := f.index(bucketColumn)
	name := f.index(nameColumn)
	out := frame{}
	if at >= 0 {
		out.columns = append(out.columns, column{bucketColumn, f.columns[at].kind})
	}
	out.columns = append(out.columns, column{nameColumn, text}, column{field, number})
	numbers := 0
	for _, c := range f.columns {
		if c.isNumber() {
			numbers++
		}
	}
	for _, row := range f.rows {
		for i, c := range f.columns {
			if !c.isNumber() || row[i] == nil {
				continue
			}
			label := any(c.name)
			if name >= 0 && numbers == 1 {
				label = row[name]
			}
			if at >= 0 {
				out.add(row[at], label, row[i])
			} else {
				out.add(label, row[i])
			}
		}
	}
	return out
}

// ratio divides the rows with one name by the rows with others. If the names are those of columns, it divides within each row.
// Division by 0 gives 0.
func (f frame) ratio(r *svcv2.ComputeRatio) frame {
	divide := func(above, below float64) float64 {
		if below == 0 {
			return 0
		}
		return above / below
	}
	if name := f.index(nameColumn); name >= 0 {
		at := f.valueIndex(valueColumn)
		above, below := 0.0, 0.0
		for _, row := range f.rows {
			v := 0.0
			if at >= 0 {
				v = real(row[at])
			}
			if math.IsNaN(v) {
				continue
			}
			if row[name] == r.GetNumeratorName() {
				above += v
			}
			if label, ok := row[name].(string); ok && slices.Contains(r.GetDenominatorNames(), label) {
				below += v
			}
		}
		out := frame{columns: []column{{nameColumn, text}, {valueColumn, number}}}
		out.add("ratio", divide(above, below))
		return out
	}
	out := frame{columns: []column{{valueColumn, number}}}
	at := f.index(bucketColumn)
	if at >= 0 {
		out.columns = []column{f.columns[at], {valueColumn, number}}
	}
	sum := func(row []any, names ...string) (total float64) {
		for i, c := range f.columns {
			if v := real(row[i]); slices.Contains(names, c.name) && !math.IsNaN(v) {
				total += v
			}
		}
		return total
	}
	for _, row := range f.rows {
		v := divide(sum(row, r.GetNumeratorName()), sum(row, r.GetDenominatorNames()...))
		if at >= 0 {
			out.add(row[at], v)
		} else {
			out.add(v)
		}
	}
	return out
}

// valueIndex is the column with the name, or else the first number column.
func (f *frame) valueIndex(name string) int {
	if at := f.index(name); at >= 0 {
		return at
	}
	return slices.IndexFunc(f.columns, column.isNumber)
}

// reduce makes one number of a column. It is 0 if there are no rows.
func (f *frame) reduce(r *svcv2.ReduceToValue) *float64 {
	at := f.valueIndex(r.GetField())
	var all []float64
	if at >= 0 {
		for _, row := range f.rows {
			if v := real(row[at]); !math.IsNaN(v) {
				all = append(all, v)
			}
		}
	}
	out := 0.0
	switch {
	case r.GetAggregate() == "count":
		out = float64(len(f.rows))
	case len(all) == 0:
	case r.GetAggregate() == "sum", r.GetAggregate() == "avg":
		for _, v := range all {
			out += v
		}
		if r.GetAggregate() == "avg" {
			out /= float64(len(all))
		}
	case r.GetAggregate() == "max":
		out = slices.Max(all)
	case r.GetAggregate() == "min":
		out = slices.Min(all)
	default:
		out = all[0]
	}
	return &out
}
