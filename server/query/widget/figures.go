package widget

import (
	"math"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// line is a series, or one column of groups or rows.
type line struct {
	name string
	// query is the name of the line's query. It is empty if the data does not name it.
	query  string
	values []float64
	// times are the times of a series' values. rows are the positions of the values in the data.
	times []time.Time
	rows  []int
	// of is the number of rows or buckets in the data.
	of      int
	samples []*svcv2.WidgetSample
}

// sampled is the number of values given for a line.
const sampled = 5

// linesOf takes the values from data of any shape. A line has null in a bucket or row where it has no value and other lines have
// one.
func linesOf(d *svcv2.WidgetData) []line {
	var lines []line
	buckets := map[int64]int{}
	for _, s := range d.GetTimeseries().GetSeries() {
		for _, p := range s.GetPoints() {
			at := p.GetTimestamp().AsTime().UnixNano()
			if _, ok := buckets[at]; !ok {
				buckets[at] = len(buckets)
			}
		}
	}
	for _, s := range d.GetTimeseries().GetSeries() {
		l := line{name: s.GetName(), query: s.GetQuery(), of: len(buckets)}
		for _, p := range s.GetPoints() {
			at := p.GetTimestamp().AsTime()
			l.values, l.times, l.rows = append(l.values, p.GetValue()), append(l.times, at), append(l.rows, buckets[at.UnixNano()])
		}
		l.samples = spread(len(s.GetPoints()), func(i int) *svcv2.WidgetSample {
			return &svcv2.WidgetSample{Bucket: s.GetPoints()[i].GetTimestamp(), Value: new(s.GetPoints()[i].GetValue())}
		})
		lines = append(lines, l)
	}
	for at, c := range d.GetBreakdown().GetColumns() {
		rows := d.GetBreakdown().GetRows()
		lines = append(lines, columnLine(c.GetName(), c.GetQuery(), len(rows), func(i int) *float64 { return rows[i].GetValues()[at].Value }))
	}
	for at, c := range d.GetTable().GetColumns() {
		if c.GetType() != number {
			continue
		}
		rows := d.GetTable().GetRows()
		lines = append(lines, columnLine(c.GetName(), "", len(rows), func(i int) *float64 {
			if v := real(rows[i].GetValues()[at].AsInterface()); !math.IsNaN(v) {
				return &v
			}
			return nil
		}))
	}
	var all []float64
	if v := d.GetValue(); v != nil && v.Value != nil && d.GetTimeseries() == nil {
		all = append(all, v.GetValue())
	}
	for _, b := range d.GetHistogram().GetBuckets() {
		all = append(all, b.GetCount())
	}
	for _, c := range d.GetHeatmap().GetCells() {
		all = append(all, c.GetValue())
	}
	for _, r := range d.GetFunnel().GetRows() {
		all = append(all, r.GetValue())
	}
	for _, r := range d.GetPaths().GetRows() {
		all = append(all, r.GetCount())
	}
	if all != nil {
		lines = append(lines, columnLine(d.GetKind(), "", len(all), func(i int) *float64 { return &all[i] }))
	}
	return lines
}

// columnLine is the line of a column with the given number of rows.
func columnLine(name, query string, rows int, value func(int) *float64) line {
	l := line{name: name, query: query, of: rows}
	for i := range rows {
		if v := value(i); v != nil {
			l.values, l.rows = append(l.values, *v), append(l.rows, i)
		}
	}
	l.samples = spread(rows, func(i int) *svcv2.WidgetSample { return &svcv2.WidgetSample{Value: value(i)} })
	return l
}

// spread picks some of the rows: the first, the last and others between them.
func spread(rows int, sample func(int) *svcv2.WidgetSample) []*svcv2.WidgetSample {
	var out []*svcv2.WidgetSample
	n := min(rows, sampled)
	for i := range n {
		out = append(out, sample(i*(rows-1)/max(n-1, 1)))
	}
	return out
}

func (l line) figures() *svcv2.WidgetSeriesFigures {
	f := &svcv2.WidgetSeriesFigures{
		Name:    l.name,
		Query:   l.query,
		Points:  uint32(len(l.values)),
		Nulls:   uint32(l.of - len(l.values)),
		Samples: l.samples,
	}
	if len(l.values) == 0 {
		return f
	}
	sum := 0.0
	for _, v := range l.values {
		sum += v
		if v == 0 {
			f.Zeros++
		} else if v < 0 {
			f.Negatives++
		}
	}
	f.Min, f.Max, f.Avg = new(slices.Min(l.values)), new(slices.Max(l.values)), finite(sum/float64(len(l.values)))
	return f
}

// total fills in the figures of all lines of a query together.
func total(q *svcv2.WidgetQueryInspection, lines []line) {
	rows := map[int]bool{}
	var first, last time.Time
	for _, l := range lines {
		for _, r := range l.rows {
			rows[r] = true
		}
		for _, at := range l.times {
			if first.IsZero() || at.Before(first) {
				first = at
			}
			if at.After(last) {
				last = at
			}
		}
	}
	q.Rows, q.SeriesCount = uint32(len(rows)), uint32(len(lines))
	if !first.IsZero() {
		q.FirstBucket, q.LastBucket = timestamppb.New(first), timestamppb.New(last)
	}
}
