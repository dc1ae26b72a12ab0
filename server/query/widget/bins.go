package widget

import (
	"math"
	"slices"
	"time"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
)

const (
	defaultBins = limits.DefaultHistogramBins
	maxBins     = limits.HistogramBins
)

// histogram counts values in ranges of equal width.
func (j *job) histogram(all []float64) {
	j.out.Kind, j.out.Histogram = "histogram", &svcv2.WidgetHistogram{}
	if len(all) == 0 {
		return
	}
	look := j.req.Widget.GetDisplay().GetHistogram()
	low, high := slices.Min(all), slices.Max(all)
	n := defaultBins
	if c := look.GetBucketCount(); c >= 1 {
		n = int(min(c, maxBins))
	}
	width := (high - low) / float64(n)
	if w := look.GetBucketWidth(); w > 0 {
		low = math.Floor(low/w) * w
		width, n = w, int(min(math.Floor((high-low)/w)+1, maxBins+1))
		if n > maxBins {
			n = maxBins
			width = (high - low) / maxBins
			j.warn("The bucket_width makes more than " + limits.Number(maxBins) + " ranges; they are wider.")
		}
	}
	if !(width > 0) || math.IsInf(width, 0) || low+width == low {
		n, width = 1, 0
	}
	counts := make([]float64, n)
	for _, v := range all {
		at := 0
		if width > 0 {
			at = min(int((v-low)/width), n-1)
		}
		counts[at]++
	}
	for i, c := range counts {
		b := &svcv2.WidgetHistogramBucket{Start: low + float64(i)*width, End: low + float64(i+1)*width, Count: c}
		if width == 0 {
			b.End = high
		}
		j.out.Histogram.Buckets = append(j.out.Histogram.Buckets, b)
	}
}

func (j *job) cell(x, y string, v float64) {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		j.out.Heatmap.Cells = append(j.out.Heatmap.Cells, &svcv2.WidgetHeatmapCell{X: x, Y: y, Value: v})
	}
}

// heat has a column for each bucket and a row for each series.
func (j *job) heat(t *query.Timeseries) {
	j.out.Kind, j.out.Heatmap = "heatmap", &svcv2.WidgetHeatmap{}
	for i, at := range t.Buckets {
		for _, s := range t.Series {
			j.cell(at.UTC().Format(time.RFC3339), s.Name, s.Values[i])
		}
	}
}

// heatOfGroups makes a heat map of groups: a column for each value of the first field, and a row for each value of the second
// field, or for each query.
func (j *job) heatOfGroups(b *query.Breakdown) {
	j.out.Kind, j.out.Heatmap = "heatmap", &svcv2.WidgetHeatmap{}
	named := func(s string) string {
		if s == "" {
			return "(none)"
		}
		return s
	}
	for _, g := range b.Groups {
		for i, v := range g.Values {
			switch {
			case len(g.Group) > 1 && i == 0:
				j.cell(named(g.Group[0]), named(g.Group[1]), v)
			case len(g.Group) <= 1:
				j.cell(g.Name, b.Columns[i].Name, v)
			}
		}
	}
}

// heatOfRows takes the columns x, y and value of a statement.
func (j *job) heatOfRows(f frame) {
	j.out.Kind, j.out.Heatmap = "heatmap", &svcv2.WidgetHeatmap{}
	x, y, at := f.index("x"), f.index("y"), f.valueIndex(valueColumn)
	if x < 0 || y < 0 || at < 0 {
		j.warn("A heatmap needs the columns x, y and value.")
		return
	}
	for _, row := range f.rows {
		j.cell(label(row[x]), label(row[y]), real(row[at]))
	}
}
