package mcp

import (
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type chartStats struct {
	RowCount    int         `json:"rowCount"`
	SeriesCount int         `json:"seriesCount"`
	FirstBucket string      `json:"firstBucket,omitempty"`
	LastBucket  string      `json:"lastBucket,omitempty"`
	SeriesStats []chartLine `json:"seriesStats"`
}

type chartLine struct {
	Name          string        `json:"name"`
	Min           *float64      `json:"min"`
	Max           *float64      `json:"max"`
	Avg           *float64      `json:"avg"`
	ValidCount    int           `json:"validCount"`
	NullCount     int           `json:"nullCount"`
	ZeroCount     int           `json:"zeroCount"`
	NegativeCount int           `json:"negativeCount"`
	Samples       []chartSample `json:"samples"`
}

type chartSample struct {
	Bucket string   `json:"bucket,omitempty"`
	Value  *float64 `json:"value"`
}

const (
	// statedSeries is of how many series of a query there are figures.
	statedSeries = 50
	// chartSamples is how many values of a series are shown.
	chartSamples = 5
)

// queryLine is a line of figures, and the query that it is of.
type queryLine struct {
	chartLine
	query       string
	rows        []int // of the data, in which it has a value
	first, last time.Time
}

func (l *queryLine) add(row int, v float64) {
	l.rows = append(l.rows, row)
	l.ValidCount++
	switch {
	case v == 0:
		l.ZeroCount++
	case v < 0:
		l.NegativeCount++
	}
	if l.Min == nil || v < *l.Min {
		l.Min = &v
	}
	if l.Max == nil || v > *l.Max {
		l.Max = &v
	}
	if l.Avg == nil {
		l.Avg = num(0)
	}
	*l.Avg += (v - *l.Avg) / float64(l.ValidCount)
}

// chartLines are the series, columns or numbers of data. What has no value in a bucket or row where others of the same data have one is null there.
func chartLines(data *svcv2.WidgetData) []queryLine {
	var lines []queryLine
	buckets := map[int64]int{}
	for _, s := range data.GetTimeseries().GetSeries() {
		for _, p := range s.GetPoints() {
			at := p.GetTimestamp().AsTime().UnixNano()
			if _, ok := buckets[at]; !ok {
				buckets[at] = len(buckets)
			}
		}
	}
	for _, s := range data.GetTimeseries().GetSeries() {
		l := queryLine{chartLine: chartLine{Name: s.GetName()}, query: s.GetQuery()}
		points := s.GetPoints()
		for _, p := range points {
			l.add(buckets[p.GetTimestamp().AsTime().UnixNano()], p.GetValue())
		}
		l.NullCount = len(buckets) - len(points)
		if len(points) > 0 {
			l.first, l.last = points[0].GetTimestamp().AsTime(), points[len(points)-1].GetTimestamp().AsTime()
		}
		l.Samples = spread(points, func(p *svcv2.TelemetryPoint) chartSample {
			v := p.GetValue()
			return chartSample{clock(p.GetTimestamp().AsTime()), &v}
		})
		lines = append(lines, l)
	}
	for at, c := range data.GetBreakdown().GetColumns() {
		l := queryLine{chartLine: chartLine{Name: c.GetName()}, query: c.GetQuery()}
		rows := data.GetBreakdown().GetRows()
		for i, r := range rows {
			if v := r.GetValues()[at].Value; v != nil {
				l.add(i, *v)
			}
		}
		l.NullCount = len(rows) - l.ValidCount
		l.Samples = spread(rows, func(r *svcv2.QueryRow) chartSample { return chartSample{Value: r.GetValues()[at].Value} })
		lines = append(lines, l)
	}
	return append(lines, otherLines(data)...)
}

// otherLines are those of data that does not say which query they are of.
func otherLines(data *svcv2.WidgetData) []queryLine {
	var lines []queryLine
	one := func(name string, values []*float64) {
		l := queryLine{chartLine: chartLine{Name: name, Samples: spread(values, func(v *float64) chartSample { return chartSample{Value: v} })}}
		for i, v := range values {
			if v != nil {
				l.add(i, *v)
			}
		}
		l.NullCount = len(values) - l.ValidCount
		lines = append(lines, l)
	}
	rows := data.GetTable().GetRows()
	for at, c := range data.GetTable().GetColumns() {
		var values []*float64
		found := false
		for _, r := range rows {
			v, ok := r.GetValues()[at].AsInterface().(float64)
			if found = found || ok; ok {
				values = append(values, &v)
			} else {
				values = append(values, nil)
			}
		}
		if found || c.GetType() == "number" {
			one(c.GetName(), values)
		}
	}
	var all []*float64
	for _, b := range data.GetHistogram().GetBuckets() {
		all = append(all, num(b.GetCount()))
	}
	for _, c := range data.GetHeatmap().GetCells() {
		all = append(all, num(c.GetValue()))
	}
	for _, r := range data.GetFunnel().GetRows() {
		all = append(all, num(r.GetValue()))
	}
	if data.GetValue() != nil && data.GetTimeseries() == nil {
		all = append(all, data.GetValue().Value)
	}
	if all != nil {
		one(data.GetKind(), all)
	}
	return lines
}

// spread are some of the rows: the first, the last and others between.
func spread[T any](rows []T, sample func(T) chartSample) []chartSample {
	out := []chartSample{}
	n := min(len(rows), chartSamples)
	for i := range n {
		out = append(out, sample(rows[i*(len(rows)-1)/max(n-1, 1)]))
	}
	return out
}

func statsOf(lines []queryLine, own func(queryLine) bool) *chartStats {
	s := &chartStats{SeriesStats: []chartLine{}}
	rows := map[int]bool{}
	var first, last time.Time
	for _, l := range lines {
		if !own(l) {
			continue
		}
		for _, r := range l.rows {
			rows[r] = true
		}
		if !l.first.IsZero() && (first.IsZero() || l.first.Before(first)) {
			first = l.first
		}
		if l.last.After(last) {
			last = l.last
		}
		if s.SeriesCount++; s.SeriesCount <= statedSeries {
			l.Name = clip(l.Name, 300)
			s.SeriesStats = append(s.SeriesStats, l.chartLine)
		}
	}
	s.RowCount = len(rows)
	if !first.IsZero() {
		s.FirstBucket, s.LastBucket = clock(first), clock(last)
	}
	return s
}

// flags are those that figures alone raise, for one of several queries.
func (s *chartStats) flags() []string {
	valid, zero := 0, 0
	for _, l := range s.SeriesStats {
		valid, zero = valid+l.ValidCount, zero+l.ZeroCount
	}
	var out []string
	switch {
	case s.SeriesCount == 0:
		return []string{"EMPTY"}
	case valid == 0:
		return []string{"ALL_NULLS"}
	case valid == zero:
		out = append(out, "ALL_ZEROS")
	}
	if valid == 1 && s.FirstBucket != "" {
		out = append(out, "SINGLE_POINT")
	}
	return out
}
