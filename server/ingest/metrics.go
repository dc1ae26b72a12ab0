package ingest

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/metricname"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

// door is the protocol of a request.
type door int

const (
	doorHTTP door = iota
	doorGRPC
	// doorLogpush is HTTP with the credentials and the format of a log push connector.
	doorLogpush
	// doorScrape is SubmitMetrics.
	doorScrape
	doors
)

func (d door) String() string {
	switch d {
	case doorGRPC:
		return "grpc"
	case doorLogpush:
		return "logpush"
	case doorScrape:
		return "scrape"
	default:
		return "http"
	}
}

// signalCount is the number of OTLP signals. All otlp.Signal values are below it.
const signalCount = int(otlp.Metrics) + 1

// metrics holds the series that every request touches, so that no request looks up a label.
type metrics struct {
	requests    *prometheus.CounterVec
	open        prometheus.Gauge
	queueAppend prometheus.Observer
	early       prometheus.Counter
	// keyLimited, inFlightLimited and largeLimited are the causes of a RateLimited.
	keyLimited, inFlightLimited, largeLimited prometheus.Counter
	sampled                                   prometheus.Counter
	otlp                                      [signalCount]series
	sessions, productEvents                   series
}

// series are the series of a signal.
type series struct {
	latency                                                           [doors]prometheus.Observer
	accepted, rejected, discarded, undecided, cut, received, inflated prometheus.Counter
}

// of returns the series of a request.
func (m *metrics) of(e *export) *series {
	switch e.kind {
	case 0:
		return &m.otlp[e.signal]
	case activity.ProductEvents:
		return &m.productEvents
	default:
		return &m.sessions
	}
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricname.Prefix + "requests_total", Help: "Ingest requests by signal, door and error tag; the tag of a success is ok.",
	}, []string{"signal", "door", "tag"})
	items := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricname.Prefix + "items_total",
		Help: "Spans, log records, data points, sessions, chunks and events by outcome. accepted: in the durable queue. " +
			"sampled: dropped by the organization's sampling policy. rejected: cannot be stored, and the answer says why. " +
			"discarded: sent with the test key. undecided: the disk did not confirm the write in time.",
	}, []string{"signal", "outcome"})
	cut := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricname.Prefix + "cut_total",
		Help: "Texts of accepted items that were shortened, and attributes, events, links and exemplars that were left out, because of a limit.",
	}, []string{"signal"})
	bytes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricname.Prefix + "bytes_total", Help: "Body bytes as received and after decompression.",
	}, []string{"signal", "form"})
	open := prometheus.NewGauge(prometheus.GaugeOpts{Name: metricname.Prefix + "in_flight_requests", Help: "Requests being served."})
	latency := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: metricname.Prefix + "request_seconds", Help: "Time from the request's header to its answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"signal", "door"})
	queueAppend := prometheus.NewHistogram(prometheus.HistogramOpts{
		Name: metricname.Prefix + "queue_append_seconds", Help: "Time until the durable queue had a record on disk, or refused it.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5},
	})
	early := prometheus.NewCounter(prometheus.CounterOpts{
		Name: metricname.Prefix + "early_refusals_total",
		Help: "Requests that were refused before their body was decoded, because the organization did not wait for Retry-After.",
	})
	limited := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: metricname.Prefix + "rate_limited_total",
		Help: "Requests refused for the rate limit of their key, for the organization's requests in flight, or for large ones that wait.",
	}, []string{"limit"})
	if reg != nil {
		var errs []error
		for _, c := range []prometheus.Collector{early, limited, requests, items, cut, bytes, open, latency, queueAppend} {
			errs = append(errs, reg.Register(c))
		}
		if err := errors.Join(errs...); err != nil {
			return nil, fmt.Errorf("ingest: metrics: %w", err)
		}
	}
	m := &metrics{
		requests:        requests,
		open:            open,
		queueAppend:     queueAppend,
		early:           early,
		keyLimited:      limited.WithLabelValues("key"),
		inFlightLimited: limited.WithLabelValues("in_flight"),
		largeLimited:    limited.WithLabelValues("large"),
	}
	of := func(signal string, served ...door) series {
		s := series{
			accepted:  items.WithLabelValues(signal, "accepted"),
			rejected:  items.WithLabelValues(signal, "rejected"),
			discarded: items.WithLabelValues(signal, "discarded"),
			cut:       cut.WithLabelValues(signal),
			undecided: items.WithLabelValues(signal, "undecided"),
			received:  bytes.WithLabelValues(signal, "received"),
			inflated:  bytes.WithLabelValues(signal, "decompressed"),
		}
		for _, d := range served {
			s.latency[d] = latency.WithLabelValues(signal, d.String())
		}
		return s
	}
	m.otlp[otlp.Traces] = of(otlp.Traces.String(), doorHTTP, doorGRPC)
	m.otlp[otlp.Logs] = of(otlp.Logs.String(), doorHTTP, doorGRPC, doorLogpush)
	m.otlp[otlp.Metrics] = of(otlp.Metrics.String(), doorHTTP, doorGRPC, doorScrape)
	m.sessions = of(activity.SessionReplays.String(), doorHTTP)
	m.productEvents = of(activity.ProductEvents.String(), doorHTTP)
	m.sampled = items.WithLabelValues(otlp.Traces.String(), "sampled")
	return m, nil
}

// answered counts a request that ended. fail is nil for a success.
func (m *metrics) answered(e *export, started time.Time, fail *apierr.Error) {
	tag := "ok"
	if fail != nil {
		tag = apierr.Spec(fail.Tag).GetTag()
	}
	m.requests.WithLabelValues(e.signalName, e.doorName, tag).Inc()
	m.of(e).latency[e.door].Observe(time.Since(started).Seconds())
}
