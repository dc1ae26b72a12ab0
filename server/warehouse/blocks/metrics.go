package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Gauge is the columns of the table metrics_gauge.
type Gauge struct {
	native.Block
	Point
	Exemplars

	Value *native.Float64
}

func newGauge() *Gauge {
	t := &Gauge{
		Point:     newPoint(),
		Exemplars: newExemplars(),
		Value:     native.NewFloat64(),
	}
	t.Fields = t.Point.fields()
	t.Fields = append(t.Fields, t.Exemplars.fields()...)
	t.Fields = append(t.Fields,
		native.Field{Name: "Value", Column: t.Value},
	)
	return t
}

// Sum is the columns of the table metrics_sum.
type Sum struct {
	native.Block
	Point
	Exemplars

	Value                  *native.Float64
	AggregationTemporality *native.LowCardinality
	IsMonotonic            *native.UInt8
}

func newSum() *Sum {
	t := &Sum{
		Point:                  newPoint(),
		Exemplars:              newExemplars(),
		Value:                  native.NewFloat64(),
		AggregationTemporality: native.NewLowCardinality(temporalities()...),
		IsMonotonic:            native.NewBool(),
	}
	t.Fields = t.Point.fields()
	t.Fields = append(t.Fields, t.Exemplars.fields()...)
	t.Fields = append(t.Fields,
		native.Field{Name: "Value", Column: t.Value},
		native.Field{Name: "AggregationTemporality", Column: t.AggregationTemporality},
		native.Field{Name: "IsMonotonic", Column: t.IsMonotonic},
	)
	return t
}

// Histogram is the columns of the table metrics_histogram.
type Histogram struct {
	native.Block
	Point
	Exemplars

	Count                  *native.UInt64
	Sum                    *native.NullableFloat64
	Min                    *native.NullableFloat64
	Max                    *native.NullableFloat64
	BucketCounts           *native.Array[*native.UInt64]
	ExplicitBounds         *native.Array[*native.Float64]
	AggregationTemporality *native.LowCardinality
}

func newHistogram() *Histogram {
	t := &Histogram{
		Point:                  newPoint(),
		Exemplars:              newExemplars(),
		Count:                  native.NewUInt64(),
		Sum:                    native.NewNullableFloat64(),
		Min:                    native.NewNullableFloat64(),
		Max:                    native.NewNullableFloat64(),
		BucketCounts:           native.NewArray(native.NewUInt64()),
		ExplicitBounds:         native.NewArray(native.NewFloat64()),
		AggregationTemporality: native.NewLowCardinality(temporalities()...),
	}
	t.Fields = t.Point.fields()
	t.Fields = append(t.Fields, t.Exemplars.fields()...)
	t.Fields = append(t.Fields,
		native.Field{Name: "Count", Column: t.Count},
		native.Field{Name: "Sum", Column: t.Sum},
		native.Field{Name: "Min", Column: t.Min},
		native.Field{Name: "Max", Column: t.Max},
		native.Field{Name: "BucketCounts", Column: t.BucketCounts},
		native.Field{Name: "ExplicitBounds", Column: t.ExplicitBounds},
		native.Field{Name: "AggregationTemporality", Column: t.AggregationTemporality},
	)
	return t
}

// ExponentialHistogram is the columns of the table metrics_exponential_histogram.
type ExponentialHistogram struct {
	native.Block
	Point
	Exemplars

	Count                  *native.UInt64
	Sum                    *native.NullableFloat64
	Min                    *native.NullableFloat64
	Max                    *native.NullableFloat64
	Scale                  *native.Int32
	ZeroCount              *native.UInt64
	ZeroThreshold          *native.Float64
	PositiveOffset         *native.Int32
	PositiveBucketCounts   *native.Array[*native.UInt64]
	NegativeOffset         *native.Int32
	NegativeBucketCounts   *native.Array[*native.UInt64]
	AggregationTemporality *native.LowCardinality
}

func newExponentialHistogram() *ExponentialHistogram {
	t := &ExponentialHistogram{
		Point:                  newPoint(),
		Exemplars:              newExemplars(),
		Count:                  native.NewUInt64(),
		Sum:                    native.NewNullableFloat64(),
		Min:                    native.NewNullableFloat64(),
		Max:                    native.NewNullableFloat64(),
		Scale:                  native.NewInt32(),
		ZeroCount:              native.NewUInt64(),
		ZeroThreshold:          native.NewFloat64(),
		PositiveOffset:         native.NewInt32(),
		PositiveBucketCounts:   native.NewArray(native.NewUInt64()),
		NegativeOffset:         native.NewInt32(),
		NegativeBucketCounts:   native.NewArray(native.NewUInt64()),
		AggregationTemporality: native.NewLowCardinality(temporalities()...),
	}
	t.Fields = t.Point.fields()
	t.Fields = append(t.Fields, t.Exemplars.fields()...)
	t.Fields = append(t.Fields,
		native.Field{Name: "Count", Column: t.Count},
		native.Field{Name: "Sum", Column: t.Sum},
		native.Field{Name: "Min", Column: t.Min},
		native.Field{Name: "Max", Column: t.Max},
		native.Field{Name: "Scale", Column: t.Scale},
		native.Field{Name: "ZeroCount", Column: t.ZeroCount},
		native.Field{Name: "ZeroThreshold", Column: t.ZeroThreshold},
		native.Field{Name: "PositiveOffset", Column: t.PositiveOffset},
		native.Field{Name: "PositiveBucketCounts", Column: t.PositiveBucketCounts},
		native.Field{Name: "NegativeOffset", Column: t.NegativeOffset},
		native.Field{Name: "NegativeBucketCounts", Column: t.NegativeBucketCounts},
		native.Field{Name: "AggregationTemporality", Column: t.AggregationTemporality},
	)
	return t
}

// Summary is the columns of the table metrics_summary.
type Summary struct {
	native.Block
	Point

	Count             *native.UInt64
	Sum               *native.Float64
	QuantilesQuantile *native.Array[*native.Float64]
	QuantilesValue    *native.Array[*native.Float64]
}

func newSummary() *Summary {
	t := &Summary{
		Point:             newPoint(),
		Count:             native.NewUInt64(),
		Sum:               native.NewFloat64(),
		QuantilesQuantile: native.NewArray(native.NewFloat64()),
		QuantilesValue:    native.NewArray(native.NewFloat64()),
	}
	t.Fields = t.Point.fields()
	t.Fields = append(t.Fields,
		native.Field{Name: "Count", Column: t.Count},
		native.Field{Name: "Sum", Column: t.Sum},
		native.Field{Name: "QuantilesQuantile", Column: t.QuantilesQuantile},
		native.Field{Name: "QuantilesValue", Column: t.QuantilesValue},
	)
	return t
}
