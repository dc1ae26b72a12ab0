package scrape

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
)

type metrics struct {
	ok, failed, timedOut, skipped, backedOff prometheus.Counter
	seconds, delay                           prometheus.Histogram
}

func newMetrics(reg prometheus.Registerer, s *Scraper) (*metrics, error) {
	results := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "svc_scrapes_total",
		Help: "Scrapes by result. skipped: the one before still ran, or there was no place for it. backed_off: the target asked for a pause.",
	}, []string{"result"})
	m := &metrics{
		ok: results.WithLabelValues("ok"), failed: results.WithLabelValues("failed"), timedOut: results.WithLabelValues("timed_out"),
		skipped: results.WithLabelValues("skipped"), backedOff: results.WithLabelValues("backed_off"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_scrape_seconds", Help: "Time from the request of a scrape to the end of the answer.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
		delay: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "svc_scrape_start_delay_seconds", Help: "Time from the planned start of a scrape to its request.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}),
	}
	if reg == nil {
		return m, nil
	}
	targets := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_scrape_targets", Help: "Targets that this process scrapes."},
		func() float64 {
			s.mu.Lock()
			defer s.mu.Unlock()
			return float64(len(s.targets))
		})
	flying := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "svc_scrapes_in_flight", Help: "Scrapes that run."}, func() float64 {
		return float64(len(s.slots.all))
	})
	for _, c := range []prometheus.Collector{results, m.seconds, m.delay, targets, flying} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("scrape: metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) result(err error) {
	var timeout *timeoutError
	switch {
	case err == nil:
		m.ok.Inc()
	case errors.As(err, &timeout):
		m.timedOut.Inc()
	default:
		m.failed.Inc()
	}
}
