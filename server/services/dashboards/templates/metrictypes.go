package templates

import (
	"slices"

	language "github.com/svc-observability/svc/server/query"
)

// valueTypes are the types of metrics whose points have the values that the templates show. The points of a summary have quantiles only.
func valueTypes() []string {
	return slices.DeleteFunc(language.MetricTypes(), func(t string) bool { return t == language.SummaryMetric })
}

// observes reports whether a point of a type of metrics has many observations.
func observes(metricType string) bool {
	return metricType == language.HistogramMetric || metricType == language.ExponentialMetric
}
