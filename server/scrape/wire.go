package scrape

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The numbers of the fields of OTLP that this package writes (opentelemetry/proto/metrics/v1/metrics.proto).
const (
	requestResources = 1
	resourceResource = 1
	resourceScopes   = 2
	attributesOf     = 1 // of a Resource
	scopeScope       = 1
	scopeMetrics     = 2
	scopeName        = 1

	metricName        = 1
	metricDescription = 2
	metricUnit        = 3
	metricGauge       = 5
	metricSum         = 7
	metricHistogram   = 9
	metricExponential = 10
	metricSummary     = 11

	dataPoints      = 1
	dataTemporality = 2
	dataMonotonic   = 3
	cumulative      = 2

	numberStart      = 2
	numberTime       = 3
	numberDouble     = 4
	numberExemplars  = 5
	numberAttributes = 7
	numberFlags      = 8

	histogramStart      = 2
	histogramTime       = 3
	histogramCount      = 4
	histogramSum        = 5
	histogramBuckets    = 6
	histogramBounds     = 7
	histogramExemplars  = 8
	histogramAttributes = 9
	histogramFlags      = 10

	exponentialAttributes = 1
	exponentialStart      = 2
	exponentialTime       = 3
	exponentialCount      = 4
	exponentialSum        = 5
	exponentialScale      = 6
	exponentialZeroCount  = 7
	exponentialPositive   = 8
	exponentialNegative   = 9
	exponentialFlags      = 10
	exponentialExemplars  = 11
	exponentialThreshold  = 14
	bucketsOffset         = 1
	bucketsCounts         = 2

	summaryStart      = 2
	summaryTime       = 3
	summaryCount      = 4
	summarySum        = 5
	summaryQuantiles  = 6
	summaryAttributes = 7
	summaryFlags      = 8
	quantileQuantile  = 1
	quantileValue     = 2

	exemplarTime       = 2
	exemplarDouble     = 3
	exemplarSpan       = 4
	exemplarTrace      = 5
	exemplarAttributes = 7

	keyValueKey   = 1
	keyValueValue = 2
	anyString     = 1

	// noRecordedValue is the flag of a point that marks the end of a series.
	noRecordedValue = 1
)

func appendFixed(b []byte, field protowire.Number, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(protowire.AppendTag(b, field, protowire.Fixed64Type), v)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	return appendFixed(b, field, math.Float64bits(v))
}

func appendVarint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendText(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

// appendKeyValue appends an attribute whose value is a text, as a field of the message that has it.
func appendKeyValue(b []byte, field protowire.Number, key, value string) []byte {
	text := protowire.SizeTag(anyString) + protowire.SizeBytes(len(value))
	size := protowire.SizeTag(keyValueKey) + protowire.SizeBytes(len(key)) + protowire.SizeTag(keyValueValue) + protowire.SizeBytes(text)
	b = protowire.AppendVarint(protowire.AppendTag(b, field, protowire.BytesType), uint64(size))
	b = appendText(b, keyValueKey, key)
	b = protowire.AppendVarint(protowire.AppendTag(b, keyValueValue, protowire.BytesType), uint64(text))
	return appendText(b, anyString, value)
}
