package demo

import (
	"math"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

// receiver reports metrics every minute: a receiver of a Collector, or a runtime.
type receiver struct {
	// from returns the resource of the metrics. started returns the time at which it began to count.
	from        func(at int64) *resource
	started     func(at int64) int64
	process     uint64
	instruments []*instrument
}

type form uint8

const (
	gauge form = iota
	upDown
	counter
	histogram
	summary
)

// instrument is a metric of a receiver.
type instrument struct {
	name, unit, description string
	form                    form
	fraction                bool // values are fractional
	points                  []*level
}

// level is the course of a series. For a counter it is the rate per second.
type level struct {
	attributes []attribute
	base       float64
	// lean is the dependence on traffic: 0 means none, 1 means proportional. wobble is the random share of base.
	lean, wobble float64
	// fault adds extra while it is active.
	fault string
	extra float64
	// planted is the factor of a fault of the plan.
	planted func(nano int64) float64
	// wave is the period, in minutes, of a sawtooth: a steady rise and a drop.
	wave int64

	series uint64
}

// at returns the value at a time.
func (l *level) at(sh *shop, nano int64) float64 {
	v := l.base * (1 + l.lean*(traffic(nano)-1) + l.wobble*(2*noise(l.series, nano/nanosPerMinute)-1))
	if l.wave > 0 {
		v *= 0.6 + 0.8*float64((nano/nanosPerMinute+int64(l.series%1000))%l.wave)/float64(l.wave)
	}
	if l.fault != "" && sh.faults.on(l.fault, nano) {
		v += l.extra
	}
	if l.planted != nil {
		v *= l.planted(nano)
	}
	return max(v, 0)
}

// counted returns the value of a counter since start. Its random part is smaller than the increase of a minute, so the counter
// never falls.
func (l *level) counted(sh *shop, start, nano int64) float64 {
	n := l.base*(l.lean*trafficSince(start, nano)+(1-l.lean)*seconds(nano-start)) + l.base*20*noise(l.series, nano/nanosPerMinute)
	if l.fault != "" {
		n += l.extra * sh.faults.seconds(l.fault, start, nano)
	}
	return n
}

func newInstrument(name, unit, description string, form form, points ...*level) *instrument {
	return &instrument{name: name, unit: unit, description: description, form: form, points: points}
}

// value returns a series that varies around base.
func value(base, lean, wobble float64, attributes ...attribute) *level {
	return &level{attributes: attributes, base: base, lean: lean, wobble: wobble}
}

func (l *level) during(fault string, extra float64) *level {
	l.fault, l.extra = fault, extra
	return l
}

// times multiplies the series by a factor. It is nil in a shop without a plan.
func (l *level) times(planted func(nano int64) float64) *level {
	l.planted = planted
	return l
}

func (l *level) rising(minutes int64) *level {
	l.wave = minutes
	return l
}

func (i *instrument) fractional() *instrument {
	i.fraction = true
	return i
}

// receiver returns a receiver for a resource that does not change.
func (sh *shop) receiver(scope, version string, attributes []attribute, instruments ...*instrument) *receiver {
	r := &resource{pb: &resourcepb.Resource{Attributes: attributes}, scope: &commonpb.InstrumentationScope{Name: scope, Version: version}}
	process := hash("process", scope, r.pb.String())
	return sh.named(&receiver{
		from: func(int64) *resource { return r }, process: process, instruments: instruments,
		started: func(at int64) int64 { return restart(process, at) },
	})
}

// replicaReceiver returns a receiver for a replica of a service, whose resource changes with releases.
func (sh *shop) replicaReceiver(s *service, environment string, replica int, scope string, instruments ...*instrument) *receiver {
	process := hash("replica", s.name, environment, scope, string(rune('0'+replica)))
	library := &commonpb.InstrumentationScope{Name: scope, Version: s.libraryVersion}
	seen := map[*resource]*resource{}
	return sh.named(&receiver{
		process: process, instruments: instruments,
		from: func(at int64) *resource {
			r := sh.instance(s, environment, replica, at)
			if seen[r] == nil {
				seen[r] = &resource{pb: r.pb, scope: library}
			}
			return seen[r]
		},
		started: func(at int64) int64 {
			if s.name == catalog && environment == production {
				return sh.faults.released(at)
			}
			return restart(process, at)
		},
	})
}

// named gives each series its own random numbers.
func (sh *shop) named(r *receiver) *receiver {
	for _, i := range r.instruments {
		for n, l := range i.points {
			l.series = sh.seed*0x9e3779b97f4a7c15 ^ r.process ^ hash(i.name, string(rune('0'+n)))
		}
	}
	return r
}

// released returns the release time of the running version of catalog.
func (c faultClock) released(nano int64) int64 {
	f := c.at[FaultRelease]
	start := nano - c.shift - (nano-c.shift)%int64(day) + f[0] + c.shift
	switch {
	case nano > start+f[1]:
		return start + f[1]
	case nano > start:
		return start
	default:
		return start + f[1] - int64(day)
	}
}

// metrics reports a minute after its end.
func (g *slot) metrics() {
	end := g.start + nanosPerMinute
	u := &Unit{due: end, metrics: g.takeObserved(g.minute)}
	for _, r := range g.receivers {
		from, start := r.from(end), r.started(end)
		for _, i := range r.instruments {
			u.metrics = append(u.metrics, metricOf{from, i.metric(g.shop, start, end)})
		}
	}
	g.units = append(g.units, u)
}

func (i *instrument) metric(sh *shop, start, end int64) *metricspb.Metric {
	out := &metricspb.Metric{Name: i.name, Unit: i.unit, Description: i.description}
	var numbers []*metricspb.NumberDataPoint
	if i.form <= counter {
		for _, l := range i.points {
			var v float64
			if i.form == counter {
				v = l.counted(sh, start, end)
			} else {
				v = l.at(sh, end)
			}
			p := &metricspb.NumberDataPoint{Attributes: l.attributes, TimeUnixNano: uint64(end)}
			if i.form != gauge {
				p.StartTimeUnixNano = uint64(start)
			}
			if i.fraction {
				p.Value = &metricspb.NumberDataPoint_AsDouble{AsDouble: v}
			} else {
				p.Value = &metricspb.NumberDataPoint_AsInt{AsInt: int64(math.Floor(v))}
			}
			numbers = append(numbers, p)
		}
	}
	const cumulative = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	switch i.form {
	case gauge:
		out.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers}}
	case upDown, counter:
		out.Data = &metricspb.Metric_Sum{
			Sum: &metricspb.Sum{DataPoints: numbers, AggregationTemporality: cumulative, IsMonotonic: i.form == counter},
		}
	case histogram:
		h := &metricspb.Histogram{AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA}
		for _, l := range i.points {
			h.DataPoints = append(h.DataPoints, l.histogram(sh, end))
		}
		out.Data = &metricspb.Metric_Histogram{Histogram: h}
	case summary:
		s := &metricspb.Summary{}
		for _, l := range i.points {
			s.DataPoints = append(s.DataPoints, l.summary(sh, start, end))
		}
		out.Data = &metricspb.Metric_Summary{Summary: s}
	}
	return out
}

// pauseBounds returns the bounds for histograms of pauses, in seconds.
func pauseBounds() []float64 { return []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1} }

// histogram holds the events of the last minute: about twelve, with values around the level.
func (l *level) histogram(sh *shop, end int64) *metricspb.HistogramDataPoint {
	r := newRandom(l.series, "histogram", end/nanosPerMinute)
	o := &observation{low: math.Inf(1), high: math.Inf(-1), buckets: make([]uint64, len(pauseBounds())+1)}
	m := measure{shape: explicitHistogram, bounds: pauseBounds()}
	for range 4 + r.arrivals(8*traffic(end)) {
		o.add(m, l.at(sh, end)*math.Exp(r.NormFloat64()*0.6), 1)
	}
	return &metricspb.HistogramDataPoint{
		Attributes: l.attributes, StartTimeUnixNano: uint64(end - nanosPerMinute), TimeUnixNano: uint64(end), Count: o.count, Sum: &o.sum,
		Min: &o.low, Max: &o.high, BucketCounts: o.buckets, ExplicitBounds: m.bounds,
	}
}

// summary has the count and sum since start, and recent quantiles.
func (l *level) summary(sh *shop, start, end int64) *metricspb.SummaryDataPoint {
	v := l.at(sh, end)
	const perSecond = 0.2
	n := math.Floor(perSecond * trafficSince(start, end))
	p := &metricspb.SummaryDataPoint{
		Attributes: l.attributes, StartTimeUnixNano: uint64(start), TimeUnixNano: uint64(end), Count: uint64(n), Sum: n * l.base,
	}
	for _, q := range []struct{ at, times float64 }{{0, 0.4}, {0.5, 1}, {0.9, 1.8}, {0.99, 3}, {1, 4.5}} {
		p.QuantileValues = append(p.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{Quantile: q.at, Value: v * q.times})
	}
	return p
}
