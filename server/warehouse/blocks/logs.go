package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Logs are the columns of the table logs.
type Logs struct {
	native.Block `table:"logs"`

	OrgID              *native.LowCardinality `ch:"OrgId"`
	Timestamp          *native.Int64          `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	ObservedTimestamp  *native.Int64          `ch:"ObservedTimestamp" type:"DateTime64(9, 'UTC')"`
	TraceID            *native.String         `ch:"TraceId"`
	SpanID             *native.String         `ch:"SpanId"`
	Flags              *native.UInt32         `ch:"Flags"`
	SeverityText       *native.LowCardinality `ch:"SeverityText"`
	SeverityNumber     *native.UInt8          `ch:"SeverityNumber"`
	ServiceName        *native.LowCardinality `ch:"ServiceName"`
	ServiceNamespace   *native.LowCardinality `ch:"ServiceNamespace"`
	ServiceVersion     *native.LowCardinality `ch:"ServiceVersion"`
	Environment        *native.LowCardinality `ch:"Environment"`
	EventName          *native.LowCardinality `ch:"EventName"`
	Body               *native.String         `ch:"Body"`
	ScopeName          *native.LowCardinality `ch:"ScopeName"`
	ScopeVersion       *native.LowCardinality `ch:"ScopeVersion"`
	ScopeAttributes    *native.Map            `ch:"ScopeAttributes"`
	ResourceAttributes *native.Map            `ch:"ResourceAttributes"`
	LogAttributes      *native.Map            `ch:"LogAttributes"`
	ErrorFingerprint   *native.UInt64         `ch:"ErrorFingerprint"`
	ErrorFrame         *native.String         `ch:"ErrorFrame"`
	ErrorLabel         *native.String         `ch:"ErrorLabel"`
	ErrorVariant       *native.LowCardinality `ch:"ErrorVariant" values:",app,stack,message,operation"`
}
