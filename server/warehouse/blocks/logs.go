package blocks

import "github.com/svc-observability/svc/server/warehouse/native"

// Logs are the columns of the table logs.
type Logs struct {
	native.Block

	OrgID              *native.LowCardinality
	Timestamp          *native.Int64
	ObservedTimestamp  *native.Int64
	TraceID            *native.String
	SpanID             *native.String
	Flags              *native.UInt32
	SeverityText       *native.LowCardinality
	SeverityNumber     *native.UInt8
	ServiceName        *native.LowCardinality
	ServiceNamespace   *native.LowCardinality
	ServiceVersion     *native.LowCardinality
	Environment        *native.LowCardinality
	EventName          *native.LowCardinality
	Body               *native.String
	ScopeName          *native.LowCardinality
	ScopeVersion       *native.LowCardinality
	ScopeAttributes    *native.Map
	ResourceAttributes *native.Map
	LogAttributes      *native.Map
}

func newLogs() *Logs {
	t := &Logs{
		OrgID:              native.NewLowCardinality(),
		Timestamp:          native.NewDateTime64(),
		ObservedTimestamp:  native.NewDateTime64(),
		TraceID:            native.NewString(),
		SpanID:             native.NewString(),
		Flags:              native.NewUInt32(),
		SeverityText:       native.NewLowCardinality(),
		SeverityNumber:     native.NewUInt8(),
		ServiceName:        native.NewLowCardinality(),
		ServiceNamespace:   native.NewLowCardinality(),
		ServiceVersion:     native.NewLowCardinality(),
		Environment:        native.NewLowCardinality(),
		EventName:          native.NewLowCardinality(),
		Body:               native.NewString(),
		ScopeName:          native.NewLowCardinality(),
		ScopeVersion:       native.NewLowCardinality(),
		ScopeAttributes:    native.NewMap(),
		ResourceAttributes: native.NewMap(),
		LogAttributes:      native.NewMap(),
	}
	t.Fields = []native.Field{
		{Name: "OrgId", Column: t.OrgID},
		{Name: "Timestamp", Column: t.Timestamp},
		{Name: "ObservedTimestamp", Column: t.ObservedTimestamp},
		{Name: "TraceId", Column: t.TraceID},
		{Name: "SpanId", Column: t.SpanID},
		{Name: "Flags", Column: t.Flags},
		{Name: "SeverityText", Column: t.SeverityText},
		{Name: "SeverityNumber", Column: t.SeverityNumber},
		{Name: "ServiceName", Column: t.ServiceName},
		{Name: "ServiceNamespace", Column: t.ServiceNamespace},
		{Name: "ServiceVersion", Column: t.ServiceVersion},
		{Name: "Environment", Column: t.Environment},
		{Name: "EventName", Column: t.EventName},
		{Name: "Body", Column: t.Body},
		{Name: "ScopeName", Column: t.ScopeName},
		{Name: "ScopeVersion", Column: t.ScopeVersion},
		{Name: "ScopeAttributes", Column: t.ScopeAttributes},
		{Name: "ResourceAttributes", Column: t.ResourceAttributes},
		{Name: "LogAttributes", Column: t.LogAttributes},
	}
	return t
}
