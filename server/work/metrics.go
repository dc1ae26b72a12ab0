package work

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/limits"
)

type metrics struct {
	shards  *prometheus.GaugeVec
	runs    *prometheus.CounterVec
	seconds *prometheus.HistogramVec
	lost    prometheus.Counter
	fenced  prometheus.Counter

	clockSteps prometheus.Counter
	kinds      []string
}

func newMetrics(reg prometheus.Registerer, kinds []Kind) *metrics {
	m := &metrics{
		shards: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "svc_work_shards", Help: "Shards of background work whose lease this process has.",
		}, []string{"kind"}),
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "svc_work_runs_total", Help: "Runs of background work: ok, failed, stopped, panicked, or fenced (the lease was over).",
		}, []string{"kind", "result"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "svc_work_run_seconds", Help: "Duration of a run of background work.",
			Buckets: []float64{.001, .005, .02, .1, .5, 2, 10, 60},
		}, []string{"kind"}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_work_lease_lost_total", Help: "Leases of shards that ended while this process did their work.",
		}),
		fenced: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_work_fenced_total", Help: "Transactions of background work that met a newer lease and wrote nothing.",
		}),
		clockSteps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "svc_work_clock_steps_total", Help: "Steps of the wall clock of at least " + limits.Lasts(limits.WorkClockStep) + ".",
		}),
	}
	reg.MustRegister(m.shards, m.runs, m.seconds, m.lost, m.fenced, m.clockSteps)
	for _, k := range kinds {
		m.kinds = append(m.kinds, k.Name)
		m.shards.WithLabelValues(k.Name)
		if k.Lag != nil {
			reg.MustRegister(lag(k.Name, k.Lag))
		}
	}
	return m
}

func lag(kind string, of func() time.Duration) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "svc_work_lag_seconds", Help: "Age of the oldest thing that is due in the shards of this process.",
		ConstLabels: prometheus.Labels{"kind": kind},
	}, func() float64 { return of().Seconds() })
}

// hold counts the shards of each kind.
func (m *metrics) hold(running map[string]*run) {
	counts := map[string]int{}
	for _, r := range running {
		counts[r.fence.Kind]++
	}
	for _, kind := range m.kinds {
		m.shards.WithLabelValues(kind).Set(float64(counts[kind]))
	}
}
