package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Spans are the columns of the table spans. SpanKind and StatusCode are numbered like their OTLP enums.
type Spans struct {
	native.Block

	OrgID              *native.LowCardinality
	Timestamp          *native.Int64
	TraceID            *native.String
	SpanID             *native.String
	ParentSpanID       *native.String
	TraceState         *native.String
	Flags              *native.UInt32
	SpanName           *native.LowCardinality
	SpanKind           *native.LowCardinality
	ServiceName        *native.LowCardinality
	ServiceNamespace   *native.LowCardinality
	ServiceVersion     *native.LowCardinality
	Environment        *native.LowCardinality
	DurationNano       *native.UInt64
	StatusCode         *native.LowCardinality
	StatusMessage      *native.String
	HasError           *native.UInt8
	IsEntry            *native.UInt8
	HTTPMethod         *native.LowCardinality
	HTTPRoute          *native.LowCardinality
	HTTPStatusCode     *native.UInt16
	SampleRate         *native.Float64
	ScopeName          *native.LowCardinality
	ScopeVersion       *native.LowCardinality
	ScopeAttributes    *native.Map
	ResourceAttributes *native.Map
	SpanAttributes     *native.Map
	EventsTimestamp    *native.Array[*native.Int64]
	EventsName         *native.Array[*native.LowCardinality]
	EventsAttributes   *native.Array[*native.Map]
	LinksTraceID       *native.Array[*native.String]
	LinksSpanID        *native.Array[*native.String]
	LinksTraceState    *native.Array[*native.String]
	LinksAttributes    *native.Array[*native.Map]
}

func newSpans() *Spans {
	t := &Spans{
		OrgID:              native.NewLowCardinality(),
		Timestamp:          native.NewDateTime64(),
		TraceID:            native.NewString(),
		SpanID:             native.NewString(),
		ParentSpanID:       native.NewString(),
		TraceState:         native.NewString(),
		Flags:              native.NewUInt32(),
		SpanName:           native.NewLowCardinality(),
		SpanKind:           native.NewLowCardinality(spanKinds()...),
		ServiceName:        native.NewLowCardinality(),
		ServiceNamespace:   native.NewLowCardinality(),
		ServiceVersion:     native.NewLowCardinality(),
		Environment:        native.NewLowCardinality(),
		DurationNano:       native.NewUInt64(),
		StatusCode:         native.NewLowCardinality(statusCodes()...),
		StatusMessage:      native.NewString(),
		HasError:           native.NewBool(),
		IsEntry:            native.NewBool(),
		HTTPMethod:         native.NewLowCardinality(),
		HTTPRoute:          native.NewLowCardinality(),
		HTTPStatusCode:     native.NewUInt16(),
		SampleRate:         native.NewFloat64(),
		ScopeName:          native.NewLowCardinality(),
		ScopeVersion:       native.NewLowCardinality(),
		ScopeAttributes:    native.NewMap(),
		ResourceAttributes: native.NewMap(),
		SpanAttributes:     native.NewMap(),
		EventsTimestamp:    native.NewArray(native.NewDateTime64()),
		EventsName:         native.NewArray(native.NewLowCardinality()),
		EventsAttributes:   native.NewArray(native.NewMap()),
		LinksTraceID:       native.NewArray(native.NewString()),
		LinksSpanID:        native.NewArray(native.NewString()),
		LinksTraceState:    native.NewArray(native.NewString()),
		LinksAttributes:    native.NewArray(native.NewMap()),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "Timestamp", Column: t.Timestamp},
		{Name: "TraceId", Column: t.TraceID},
		{Name: "SpanId", Column: t.SpanID},
		{Name: "ParentSpanId", Column: t.ParentSpanID},
		{Name: "TraceState", Column: t.TraceState},
		{Name: "Flags", Column: t.Flags},
		{Name: "SpanName", Column: t.SpanName},
		{Name: "SpanKind", Column: t.SpanKind},
		{Name: "ServiceName", Column: t.ServiceName},
		{Name: "ServiceNamespace", Column: t.ServiceNamespace},
		{Name: "ServiceVersion", Column: t.ServiceVersion},
		{Name: "Environment", Column: t.Environment},
		{Name: "DurationNano", Column: t.DurationNano},
		{Name: "StatusCode", Column: t.StatusCode},
		{Name: "StatusMessage", Column: t.StatusMessage},
		{Name: "HasError", Column: t.HasError},
		{Name: "IsEntry", Column: t.IsEntry},
		{Name: "HttpMethod", Column: t.HTTPMethod},
		{Name: "HttpRoute", Column: t.HTTPRoute},
		{Name: "HttpStatusCode", Column: t.HTTPStatusCode},
		{Name: "SampleRate", Column: t.SampleRate},
		{Name: "ScopeName", Column: t.ScopeName},
		{Name: "ScopeVersion", Column: t.ScopeVersion},
		{Name: "ScopeAttributes", Column: t.ScopeAttributes},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
		{Name: "SpanAttributes", Column: t.SpanAttributes},
		{Name: "EventsTimestamp", Column: t.EventsTimestamp},
		{Name: "EventsName", Column: t.EventsName},
		{Name: "EventsAttributes", Column: t.EventsAttributes},
		{Name: "LinksTraceId", Column: t.LinksTraceID},
		{Name: "LinksSpanId", Column: t.LinksSpanID},
		{Name: "LinksTraceState", Column: t.LinksTraceState},
		{Name: "LinksAttributes", Column: t.LinksAttributes},
	}
	return t
}

func spanKinds() []string {
	return []string{"Unspecified", "Internal", "Server", "Client", "Producer", "Consumer"}
}

func statusCodes() []string { return []string{"Unset", "Ok", "Error"} }
