package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Point is the columns that every metrics table begins with.
type Point struct {
	OrgID              *native.LowCardinality
	MetricName         *native.LowCardinality
	MetricDescription  *native.LowCardinality
	MetricUnit         *native.LowCardinality
	ServiceName        *native.LowCardinality
	ServiceNamespace   *native.LowCardinality
	Environment        *native.LowCardinality
	SeriesHash         *native.UInt64
	StartTimestamp     *native.Int64
	Timestamp          *native.Int64
	Flags              *native.UInt32
	ScopeName          *native.LowCardinality
	ScopeVersion       *native.LowCardinality
	ScopeAttributes    *native.Map
	ResourceAttributes *native.Map
	Attributes         *native.Map
}

func newPoint() Point {
	return Point{
		OrgID:              native.NewLowCardinality(),
		MetricName:         native.NewLowCardinality(),
		MetricDescription:  native.NewLowCardinality(),
		MetricUnit:         native.NewLowCardinality(),
		ServiceName:        native.NewLowCardinality(),
		ServiceNamespace:   native.NewLowCardinality(),
		Environment:        native.NewLowCardinality(),
		SeriesHash:         native.NewUInt64(),
		StartTimestamp:     native.NewDateTime64(),
		Timestamp:          native.NewDateTime64(),
		Flags:              native.NewUInt32(),
		ScopeName:          native.NewLowCardinality(),
		ScopeVersion:       native.NewLowCardinality(),
		ScopeAttributes:    native.NewMap(),
		ResourceAttributes: native.NewMap(),
		Attributes:         native.NewMap(),
	}
}

func (c *Point) fields() []native.Field {
	return []native.Field{
		{Name: "OrgId", Column: c.OrgID},
		{Name: "MetricName", Column: c.MetricName},
		{Name: "MetricDescription", Column: c.MetricDescription},
		{Name: "MetricUnit", Column: c.MetricUnit},
		{Name: "ServiceName", Column: c.ServiceName},
		{Name: "ServiceNamespace", Column: c.ServiceNamespace},
		{Name: "Environment", Column: c.Environment},
		{Name: "SeriesHash", Column: c.SeriesHash},
		{Name: "StartTimestamp", Column: c.StartTimestamp},
		{Name: "Timestamp", Column: c.Timestamp},
		{Name: "Flags", Column: c.Flags},
		{Name: "ScopeName", Column: c.ScopeName},
		{Name: "ScopeVersion", Column: c.ScopeVersion},
		{Name: "ScopeAttributes", Column: c.ScopeAttributes},
		{Name: "ResourceAttributes", Column: c.ResourceAttributes},
		{Name: "Attributes", Column: c.Attributes},
	}
}

// Exemplars are the exemplar columns, which all metrics tables but metrics_summary have.
type Exemplars struct {
	ExemplarsTimestamp  *native.Array[*native.Int64]
	ExemplarsValue      *native.Array[*native.Float64]
	ExemplarsTraceID    *native.Array[*native.String]
	ExemplarsSpanID     *native.Array[*native.String]
	ExemplarsAttributes *native.Array[*native.Map]
}

func newExemplars() Exemplars {
	return Exemplars{
		ExemplarsTimestamp:  native.NewArray(native.NewDateTime64()),
		ExemplarsValue:      native.NewArray(native.NewFloat64()),
		ExemplarsTraceID:    native.NewArray(native.NewString()),
		ExemplarsSpanID:     native.NewArray(native.NewString()),
		ExemplarsAttributes: native.NewArray(native.NewMap()),
	}
}

func (c *Exemplars) fields() []native.Field {
	return []native.Field{
		{Name: "ExemplarsTimestamp", Column: c.ExemplarsTimestamp},
		{Name: "ExemplarsValue", Column: c.ExemplarsValue},
		{Name: "ExemplarsTraceId", Column: c.ExemplarsTraceID},
		{Name: "ExemplarsSpanId", Column: c.ExemplarsSpanID},
		{Name: "ExemplarsAttributes", Column: c.ExemplarsAttributes},
	}
}

// temporalities are numbered like the OTLP enum.
func temporalities() []string { return []string{"Unspecified", "Delta", "Cumulative"} }
