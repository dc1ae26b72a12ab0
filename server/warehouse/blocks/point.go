package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Point is the columns that every metrics table begins with.
type Point struct {
	OrgID              *native.LowCardinality `ch:"OrgId"`
	MetricName         *native.LowCardinality `ch:"MetricName"`
	MetricDescription  *native.LowCardinality `ch:"MetricDescription"`
	MetricUnit         *native.LowCardinality `ch:"MetricUnit"`
	ServiceName        *native.LowCardinality `ch:"ServiceName"`
	ServiceNamespace   *native.LowCardinality `ch:"ServiceNamespace"`
	Environment        *native.LowCardinality `ch:"Environment"`
	SeriesHash         *native.UInt64         `ch:"SeriesHash"`
	StartTimestamp     *native.Int64          `ch:"StartTimestamp" type:"DateTime64(9, 'UTC')"`
	Timestamp          *native.Int64          `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	Flags              *native.UInt32         `ch:"Flags"`
	ScopeName          *native.LowCardinality `ch:"ScopeName"`
	ScopeVersion       *native.LowCardinality `ch:"ScopeVersion"`
	ScopeAttributes    *native.Map            `ch:"ScopeAttributes"`
	ResourceAttributes *native.Map            `ch:"ResourceAttributes"`
	Attributes         *native.Map            `ch:"Attributes"`
}

// Exemplars are the exemplar columns, which all metrics tables but metrics_summary have.
type Exemplars struct {
	ExemplarsTimestamp  *native.Array[*native.Int64]   `ch:"ExemplarsTimestamp" type:"Array(DateTime64(9, 'UTC'))"`
	ExemplarsValue      *native.Array[*native.Float64] `ch:"ExemplarsValue"`
	ExemplarsTraceID    *native.Array[*native.String]  `ch:"ExemplarsTraceId"`
	ExemplarsSpanID     *native.Array[*native.String]  `ch:"ExemplarsSpanId"`
	ExemplarsAttributes *native.Array[*native.Map]     `ch:"ExemplarsAttributes"`
}
