package dashboards

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/wording"
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
	ValidCount    uint32        `json:"validCount"`
	NullCount     uint32        `json:"nullCount"`
	ZeroCount     uint32        `json:"zeroCount"`
	NegativeCount uint32        `json:"negativeCount"`
	Samples       []chartSample `json:"samples"`
}

type chartSample struct {
	Bucket string   `json:"bucket,omitempty"`
	Value  *float64 `json:"value"`
}

// statedSeries is the number of series of a query that get figures.
const statedSeries = limits.ToolSeries

// statsOf describes the figures of a query, which come from its own series.
func statsOf(q *svcv2.WidgetQueryInspection, series []*svcv2.WidgetSeriesFigures) *chartStats {
	s := &chartStats{
		RowCount:    int(q.GetRows()),
		SeriesCount: int(q.GetSeriesCount()),
		FirstBucket: clockOf(q.GetFirstBucket()),
		LastBucket:  clockOf(q.GetLastBucket()),
		SeriesStats: []chartLine{},
	}
	for _, f := range series[:min(len(series), statedSeries)] {
		l := chartLine{
			Name: wording.Clip(
				f.GetName(),
				300,
			),
			Min:           f.Min,
			Max:           f.Max,
			Avg:           f.Avg,
			ValidCount:    f.GetPoints(),
			NullCount:     f.GetNulls(),
			ZeroCount:     f.GetZeros(),
			NegativeCount: f.GetNegatives(),
			Samples:       []chartSample{},
		}
		for _, v := range f.GetSamples() {
			l.Samples = append(l.Samples, chartSample{clockOf(v.GetBucket()), v.Value})
		}
		s.SeriesStats = append(s.SeriesStats, l)
	}
	return s
}

// clockOf is empty if there is no time.
func clockOf(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return wording.Clock(t.AsTime())
}
