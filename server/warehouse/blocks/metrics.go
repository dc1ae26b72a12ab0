package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Gauge is the columns of the table metrics_gauge.
type Gauge struct {
	native.Block `table:"metrics_gauge"`
	Point
	Exemplars

	Value *native.Float64 `ch:"Value"`
}

// Sum is the columns of the table metrics_sum.
type Sum struct {
	native.Block `table:"metrics_sum"`
	Point
	Exemplars

	Value                  *native.Float64        `ch:"Value"`
	AggregationTemporality *native.LowCardinality `ch:"AggregationTemporality" values:"Unspecified,Delta,Cumulative"`
	IsMonotonic            *native.UInt8          `ch:"IsMonotonic" type:"Bool"`
}

// Histogram is the columns of the table metrics_histogram.
type Histogram struct {
	native.Block `table:"metrics_histogram"`
	Point
	Exemplars

	Count                  *native.UInt64                 `ch:"Count"`
	Sum                    *native.NullableFloat64        `ch:"Sum"`
	Min                    *native.NullableFloat64        `ch:"Min"`
	Max                    *native.NullableFloat64        `ch:"Max"`
	BucketCounts           *native.Array[*native.UInt64]  `ch:"BucketCounts"`
	ExplicitBounds         *native.Array[*native.Float64] `ch:"ExplicitBounds"`
	AggregationTemporality *native.LowCardinality         `ch:"AggregationTemporality" values:"Unspecified,Delta,Cumulative"`
}

// ExponentialHistogram is the columns of the table metrics_exponential_histogram.
type ExponentialHistogram struct {
	native.Block `table:"metrics_exponential_histogram"`
	Point
	Exemplars

	Count                  *native.UInt64                `ch:"Count"`
	Sum                    *native.NullableFloat64       `ch:"Sum"`
	Min                    *native.NullableFloat64       `ch:"Min"`
	Max                    *native.NullableFloat64       `ch:"Max"`
	Scale                  *native.Int32                 `ch:"Scale"`
	ZeroCount              *native.UInt64                `ch:"ZeroCount"`
	ZeroThreshold          *native.Float64               `ch:"ZeroThreshold"`
	PositiveOffset         *native.Int32                 `ch:"PositiveOffset"`
	PositiveBucketCounts   *native.Array[*native.UInt64] `ch:"PositiveBucketCounts"`
	NegativeOffset         *native.Int32                 `ch:"NegativeOffset"`
	NegativeBucketCounts   *native.Array[*native.UInt64] `ch:"NegativeBucketCounts"`
	AggregationTemporality *native.LowCardinality        `ch:"AggregationTemporality" values:"Unspecified,Delta,Cumulative"`
}

// Summary is the columns of the table metrics_summary.
type Summary struct {
	native.Block `table:"metrics_summary"`
	Point

	Count             *native.UInt64                 `ch:"Count"`
	Sum               *native.Float64                `ch:"Sum"`
	QuantilesQuantile *native.Array[*native.Float64] `ch:"QuantilesQuantile"`
	QuantilesValue    *native.Array[*native.Float64] `ch:"QuantilesValue"`
}
