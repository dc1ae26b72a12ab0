package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Spans are the columns of the table spans. SpanKind and StatusCode are numbered like their OTLP enums.
type Spans struct {
	native.Block `table:"spans"`

	OrgID              *native.LowCardinality                `ch:"OrgId"`
	Timestamp          *native.Int64                         `ch:"Timestamp" type:"DateTime64(9, 'UTC')"`
	TraceID            *native.String                        `ch:"TraceId"`
	SpanID             *native.String                        `ch:"SpanId"`
	ParentSpanID       *native.String                        `ch:"ParentSpanId"`
	TraceState         *native.String                        `ch:"TraceState"`
	Flags              *native.UInt32                        `ch:"Flags"`
	SpanName           *native.LowCardinality                `ch:"SpanName"`
	SpanKind           *native.LowCardinality                `ch:"SpanKind" values:"Unspecified,Internal,Server,Client,Producer,Consumer"`
	ServiceName        *native.LowCardinality                `ch:"ServiceName"`
	ServiceNamespace   *native.LowCardinality                `ch:"ServiceNamespace"`
	ServiceVersion     *native.LowCardinality                `ch:"ServiceVersion"`
	Environment        *native.LowCardinality                `ch:"Environment"`
	DurationNano       *native.UInt64                        `ch:"DurationNano"`
	StatusCode         *native.LowCardinality                `ch:"StatusCode" values:"Unset,Ok,Error"`
	StatusMessage      *native.String                        `ch:"StatusMessage"`
	HasError           *native.UInt8                         `ch:"HasError" type:"Bool"`
	IsEntry            *native.UInt8                         `ch:"IsEntry" type:"Bool"`
	HTTPMethod         *native.LowCardinality                `ch:"HttpMethod"`
	HTTPRoute          *native.LowCardinality                `ch:"HttpRoute"`
	HTTPStatusCode     *native.UInt16                        `ch:"HttpStatusCode"`
	SampleRate         *native.Float64                       `ch:"SampleRate"`
	ScopeName          *native.LowCardinality                `ch:"ScopeName"`
	ScopeVersion       *native.LowCardinality                `ch:"ScopeVersion"`
	ScopeAttributes    *native.Map                           `ch:"ScopeAttributes"`
	ResourceAttributes *native.Map                           `ch:"ResourceAttributes"`
	SpanAttributes     *native.Map                           `ch:"SpanAttributes"`
	EventsTimestamp    *native.Array[*native.Int64]          `ch:"EventsTimestamp" type:"Array(DateTime64(9, 'UTC'))"`
	EventsName         *native.Array[*native.LowCardinality] `ch:"EventsName"`
	EventsAttributes   *native.Array[*native.Map]            `ch:"EventsAttributes"`
	LinksTraceID       *native.Array[*native.String]         `ch:"LinksTraceId"`
	LinksSpanID        *native.Array[*native.String]         `ch:"LinksSpanId"`
	LinksTraceState    *native.Array[*native.String]         `ch:"LinksTraceState"`
	LinksAttributes    *native.Array[*native.Map]            `ch:"LinksAttributes"`
	ErrorFingerprint   *native.UInt64                        `ch:"ErrorFingerprint"`
	ErrorFrame         *native.String                        `ch:"ErrorFrame"`
	ErrorLabel         *native.String                        `ch:"ErrorLabel"`
	ErrorVariant       *native.LowCardinality                `ch:"ErrorVariant" values:",app,stack,message,operation"`
}
