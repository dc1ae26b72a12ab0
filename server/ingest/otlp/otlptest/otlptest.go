// Package otlptest makes OTLP requests for tests, benchmarks and load. The same seed, number and time give the same request. The
// data resembles a web shop under semantic conventions, with 8 to 10 attributes on a resource and 8 to 12 on an item.
package otlptest

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
)

type generator struct {
	*rand.Rand
	at time.Time
}

func newGenerator(seed uint64, at time.Time) *generator {
	return &generator{rand.New(rand.NewPCG(seed, 0x07e1)), at}
}

func pick[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

func (g *generator) bytes(n int) []byte {
	b := make([]byte, 0, n+8)
	for len(b) < n {
		b = binary.LittleEndian.AppendUint64(b, g.Uint64()|1)
	}
	return b[:n]
}

func services() []string {
	return []string{"checkout", "cart", "catalog", "payment", "shipping", "frontend"}
}

func routes() []string {
	return []string{"/", "/products/{id}", "/cart", "/cart/items", "/checkout", "/orders/{id}", "/orders/{id}/payment", "/health"}
}

// resource returns the resource of one of the services.
func (g *generator) resource() (*resourcepb.Resource, string) {
	service := pick(g, services()...)
	pod := fmt.Sprintf("%s-%08x-%05x", service, g.Uint32(), g.Uint32()&0xfffff)
	attributes := []*commonpb.KeyValue{
		Text("service.name", service),
		Text("service.namespace", "shop"),
		Text("service.version", pick(g, "1.14.2", "1.14.3", "1.15.0-rc.1")),
		Text("service.instance.id", pod),
		Text("deployment.environment.name", pick(g, "production", "staging")),
		Text("telemetry.sdk.name", "opentelemetry"),
		Text("telemetry.sdk.language", pick(g, "go", "java", "python", "nodejs")),
		Text("k8s.pod.name", pod),
		Text("k8s.namespace.name", "shop"),
	}
	if g.IntN(2) == 0 {
		attributes = append(attributes, Int("process.pid", int64(g.IntN(60000))))
	}
	return &resourcepb.Resource{Attributes: attributes}, service
}

func (g *generator) scope() *commonpb.InstrumentationScope {
	return &commonpb.InstrumentationScope{
		Name:       pick(g, "io.opentelemetry.http", "go.opentelemetry.io/contrib/otelhttp", "shop/orders"),
		Version:    pick(g, "0.61.0", "2.9.0"),
		Attributes: []*commonpb.KeyValue{Text("otel.scope.kind", "library")},
	}
}

// Text returns a text attribute.
func Text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: textValue(value)}
}

// Int returns a whole-number attribute.
func Int(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

// Double returns a floating-point attribute.
func Double(key string, value float64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: value}}}
}

// Bool returns a boolean attribute.
func Bool(key string, value bool) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: value}}}
}

// Bytes returns a binary attribute.
func Bytes(key string, value []byte) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: value}}}
}

// Texts returns an attribute with an array of texts.
func Texts(key string, values ...string) *commonpb.KeyValue {
	list := &commonpb.ArrayValue{}
	for _, v := range values {
		list.Values = append(list.Values, textValue(v))
	}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}}
}

// List returns an attribute that contains attributes.
func List(key string, members ...*commonpb.KeyValue) *commonpb.KeyValue {
	list := &commonpb.KeyValueList{Values: members}
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: list}}}
}

func textValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

func nanos(t time.Time) uint64 { return uint64(t.UnixNano()) }

// itemsPerResource spreads n items over a few resources.
func itemsPerResource(n int) int { return max(1, (n+3)/4) }
