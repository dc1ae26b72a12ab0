// Package metricname names the Prometheus series of the ingest endpoints.
package metricname

import "github.com/prometheus/client_golang/prometheus"

// Prefix begins the name of each series.
const Prefix = "svc_ingest_"

// Desc describes a series whose values a collector computes at each scrape.
func Desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(Prefix+name, help, labels, nil)
}
