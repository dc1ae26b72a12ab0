package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/warehouse"
)

// warehouseHosts is the metric of a warehouse with several hosts.
type warehouseHosts struct{ of *warehouse.Warehouse }

func (warehouseHosts) desc() *prometheus.Desc {
	return prometheus.NewDesc("svc_warehouse_host_up", "1 while requests go to the host, 0 while it is left out.", []string{"host"}, nil)
}

// Describe implements prometheus.Collector.
func (m warehouseHosts) Describe(out chan<- *prometheus.Desc) { out <- m.desc() }

// Collect implements prometheus.Collector.
func (m warehouseHosts) Collect(out chan<- prometheus.Metric) {
	for _, h := range m.of.Hosts() {
		up := 0.0
		if h.Up {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(m.desc(), prometheus.GaugeValue, up, h.Address)
	}
}
