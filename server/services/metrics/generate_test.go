package metrics

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

// The generator simulates events inside programs and sends data points about them as exporters do. For each point it keeps what
// really happened since the point before. The tests compare results with that and never compute with the values that were sent.

// tester is *testing.T or *rapid.T.
type tester interface {
	Helper()
	Context() context.Context
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// happened is the event that a data point reports. The points before it determine how much of that a reader can know.
type happened struct {
	series *series
	at     time.Time
	// epoch numbers the beginnings of the series. begun is the beginning of this epoch, and known says whether the point states
	// it.
	epoch int
	begun time.Time
	known bool
	// grown is the growth of the counter and seen the new observations, since the previous point of the epoch or its beginning.
	grown float64
	seen  []float64
	// alone is true for the first point of an epoch.
	alone bool
	// level is the value of a gauge, total the value of a cumulative counter, and all the contents of a cumulative histogram.
	level, total float64
	all          []float64
}

type series struct {
	hash                 uint64
	service, environment string
	attributes, resource map[string]string
	delta                bool
	points               []happened
}

type play struct {
	r          *rand.Rand
	start, end time.Time // the window
	series     []*series
}

// newPlay makes up to six series that begin and end in and around a window.
func newPlay(seed uint64, start, end time.Time) *play {
	p := &play{r: rand.New(rand.NewPCG(seed, 1)), start: start, end: end}
	for range 1 + p.r.IntN(6) {
		s := &series{
			hash: p.r.Uint64(), service: pick(p.r, "web", "db"), environment: pick(p.r, "prod", "test", ""), delta: p.r.IntN(3) == 0,
			attributes: map[string]string{}, resource: map[string]string{},
		}
		if v := pick(p.r, "", "GET", "POST", "7", "12.5"); v != "" {
			s.attributes["kind"] = v
		}
		s.resource["host.name"] = pick(p.r, "a", "b")
		p.series = append(p.series, s)
		p.run(s)
	}
	return p
}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// run plays one series: it counts, pauses and restarts, with or without a new start time.
func (p *play) run(s *series) {
	r := p.r
	every := time.Duration(5+r.IntN(80)) * time.Second
	at := p.start.Add(time.Duration(r.IntN(2400)-1800) * time.Second)
	epoch, begun, known := 0, at, r.IntN(4) != 0
	if r.IntN(3) == 0 {
		begun = p.start.Add(-30 * time.Hour) // a program that has run for long
	}
	alone, grown, total, last := true, 0.0, 0.0, 0.0
	var seen, all []float64
	if !known || begun.Before(p.start.Add(-time.Hour)) {
		grown, seen = float64(r.IntN(1000)), observe(r, r.IntN(40)) // from before the first point was sent
	}
	must := false
	for at = at.Add(time.Duration(r.IntN(5000)) * time.Millisecond); at.Before(p.end.Add(5 * time.Minute)); at = at.Add(every +
		time.Duration(r.IntN(2000))*time.Millisecond) {
		grown += float64(r.IntN(100))
		seen = append(seen, observe(r, r.IntN(6))...)
		switch n := r.IntN(100); {
		case must:
		case n < 10:
			continue // the export failed
		case n < 13 && last > 200 && len(all) > 20:
			// The series begins at zero again without a new start time, and unsent observations are lost. Its next point is lower
			// than the one before.
			grown, seen, total, all, must = 0, nil, 0, nil, true
			continue
		case n < 17:
			begun, epoch, known = at, epoch+1, true
			grown, seen, total, all, alone, last = 0, nil, 0, nil, true, 0
			continue
		case n < 20:
			at = at.Add(time.Duration(r.IntN(1200)) * time.Second) // a long silence
		}
		must = false
		total, all = total+grown, append(all[:len(all):len(all)], seen...)
		s.points = append(s.points, happened{
			series: s, at: at, epoch: epoch, begun: begun, known: known, grown: grown, seen: seen, alone: alone,
			level: math.Round(r.NormFloat64()*1000) / 8, total: total, all: all,
		})
		alone, grown, seen, last = false, 0, nil, total
	}
}

// observe makes a number of observations.
func observe(r *rand.Rand, n int) (seen []float64) {
	for range n {
		v := math.Exp(r.NormFloat64()*2 + 1)
		if r.IntN(20) == 0 {
			v = 0
		}
		seen = append(seen, v)
	}
	return seen
}

// visible is the part of a point that a reader from a time on can know.
func (h happened) visible(from time.Time) (grown float64, seen []float64) {
	if h.series.delta {
		return h.grown, h.seen
	}
	if h.alone {
		if h.known && !h.begun.Before(from) {
			return h.grown, h.seen
		}
		return 0, nil
	}
	for _, other := range h.series.points {
		if other.epoch == h.epoch && other.at.Before(h.at) && !other.at.Before(from) {
			return h.grown, h.seen
		}
	}
	return 0, nil
}

// sent gives the start time of a point. An exporter that does not know it sends none, or the time of its first point.
func (h happened) sent() time.Time {
	if h.known {
		return h.begun
	}
	if h.series.hash%2 == 0 {
		return time.Unix(0, 0)
	}
	for _, other := range h.series.points {
		if other.epoch == h.epoch {
			return other.at
		}
	}
	return h.at
}

func (s *series) temporality() string {
	if s.delta {
		return "Delta"
	}
	return "Cumulative"
}

const pointColumns = "OrgId MetricName ServiceName Environment SeriesHash StartTimestamp Timestamp Flags Attributes ResourceAttributes "

func (h happened) row(org, name string, flags uint32, more ...any) []any {
	s := h.series
	return append([]any{org, name, s.service, s.environment, s.hash, h.sent(), h.at, flags, s.attributes, s.resource}, more...)
}

// insert stores rows in random order.
func insert(t tester, w *warehouse.Warehouse, r *rand.Rand, table, columns string, rows [][]any) {
	t.Helper()
	r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	if len(rows) == 0 {
		return
	}
	if err := w.InsertRows(t.Context(), table, strings.Fields(pointColumns+columns), rows, ""); err != nil {
		t.Fatal(err)
	}
}

// sums sends the counters of a play, and gauges the measured values. Each adds a row that marks a gap.
func (p *play) sums(t tester, w *warehouse.Warehouse, org string) {
	var sums, gauges [][]any
	for _, s := range p.series {
		for i, h := range s.points {
			v := h.total
			if s.delta {
				v = h.grown
			}
			sums = append(sums, h.row(org, "counter", 0, v, s.temporality(), true))
			gauges = append(gauges, h.row(org, "level", 0, h.level))
			if i%7 == 3 {
				gap := h
				gap.at = gap.at.Add(time.Millisecond)
				sums = append(sums, gap.row(org, "counter", 1, 0.0, s.temporality(), true))
				gauges = append(gauges, gap.row(org, "level", 1, 0.0))
			}
		}
	}
	insert(t, w, p.r, "metrics_sum", "Value AggregationTemporality IsMonotonic", sums)
	insert(t, w, p.r, "metrics_gauge", "Value", gauges)
}

// bucketOf is the start of the bucket of a time, in seconds.
func bucketOf(at time.Time, bucket time.Duration) uint32 {
	if bucket == 0 {
		return 0
	}
	seconds := int64(bucket / time.Second)
	return uint32(at.Unix() / seconds * seconds)
}

// value is the value of a field in a series.
func (s *series) value(f query.Field) string {
	switch {
	case f.Scope == query.OwnAttribute:
		return s.attributes[f.Key]
	case f.Scope == query.ResourceAttribute:
		return s.resource[f.Key]
	case f.Key == "service.name":
		return s.service
	default:
		return s.environment
	}
}

func (s *series) labels(groups []query.Field) string {
	var all []string
	for _, g := range groups {
		all = append(all, s.value(g))
	}
	return strings.Join(all, " · ")
}

// cell is a group in a bucket.
type cell struct {
	bucket uint32
	group  string
}

func (c cell) String() string {
	return fmt.Sprintf("%s of %q", time.Unix(int64(c.bucket), 0).UTC().Format(time.TimeOnly), c.group)
}

// each calls a function for every point in the window that matches a filter.
func (p *play) each(groups []query.Field, bucket time.Duration, do func(cell, happened)) {
	for _, s := range p.series {
		for _, h := range s.points {
			if h.at.Before(p.start) || h.at.After(p.end) {
				continue
			}
			do(cell{bucketOf(h.at, bucket), s.labels(groups)}, h)
		}
	}
}

func sorted(values []float64) []float64 {
	slices.Sort(values)
	return values
}
