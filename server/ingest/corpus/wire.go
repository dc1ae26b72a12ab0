package corpus

import (
	"bytes"
	"slices"

	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

func descriptor(signal otlp.Signal) protoreflect.MessageDescriptor {
	m := map[otlp.Signal]proto.Message{
		otlp.Traces: &coltrace.ExportTraceServiceRequest{}, otlp.Logs: &collogs.ExportLogsServiceRequest{},
		otlp.Metrics: &colmetrics.ExportMetricsServiceRequest{},
	}[signal]
	return m.ProtoReflect().Descriptor()
}

// fieldPosition is a field of a request, as field numbers from the outside in, with its path in messages.
type fieldPosition struct {
	fields []number
	path   string
	kind   protoreflect.Kind
}

// places lists every field that holds bytes, in every position. It enters a message that contains itself only once.
func places(d protoreflect.MessageDescriptor, above []protoreflect.FullName, at fieldPosition) []fieldPosition {
	var all []fieldPosition
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.Kind() != protoreflect.StringKind && f.Kind() != protoreflect.BytesKind && f.Kind() != protoreflect.MessageKind {
			continue
		}
		p := fieldPosition{fields: append(slices.Clone(at.fields), f.Number()), path: string(f.Name()), kind: f.Kind()}
		if f.IsList() {
			p.path += "[0]"
		}
		if at.path != "" {
			p.path = at.path + "." + p.path
		}
		all = append(all, p)
		if f.Kind() == protoreflect.MessageKind && !slices.Contains(above, f.Message().FullName()) {
			all = append(all, places(f.Message(), append(slices.Clone(above), f.Message().FullName()), p)...)
		}
	}
	return all
}

// utf8 returns invalid UTF-8 in every string field. A valid item precedes it, and must not be stored either.
func (m maker) utf8() []Case {
	var all []Case
	for _, signal := range signals() {
		for i, p := range places(descriptor(signal), nil, fieldPosition{}) {
			if p.kind != protoreflect.StringKind {
				continue
			}
			c := Case{
				Name: signal.String() + " invalid UTF-8 in " + p.path, Signal: signal, Want: BadRequest, Message: "is not valid UTF-8",
				Body: join(nest(badText(i), p.fields...), request(m.item(signal, "dropped with the rest"))),
			}
			if len(p.path) < 400 {
				c.Message = p.path + ": is not valid UTF-8"
			}
			if i%3 == 2 {
				c.Door, c.Name = GRPC, c.Name+" over gRPC"
			}
			all = append(all, c)
		}
	}
	return all
}

// badText returns invalid UTF-8 of one of several kinds: a single byte, an overlong form, a surrogate, a text cut within a
// character, a code point beyond Unicode.
func badText(i int) []byte {
	return [][]byte{
		{0xff},
		{'a', 'b', 0xc0, 0xaf},
		{0xed, 0xa0, 0x80},
		[]byte("eight bytes and a half \xe2\x82"),
		{0xf4, 0x90, 0x80, 0x80},
	}[i%5]
}

// wire returns malformed protobuf. Every field with a length gets a length beyond its holder. Every other fault appears once for
// each signal.
func (m maker) wire() []Case {
	var all []Case
	for _, signal := range signals() {
		for i, p := range places(descriptor(signal), nil, fieldPosition{}) {
			last := len(p.fields) - 1
			cut := join(protowireTag(p.fields[last]), []byte{0x7f, 'x'})
			c := Case{
				Name: signal.String() + " too long: " + p.path, Signal: signal, Body: nest(cut, p.fields[:last]...), Want: BadRequest,
				Message: p.path + ": is longer than the message that holds it",
			}
			if i%3 == 1 {
				c.Door, c.Name = GRPC, c.Name+" over gRPC"
			}
			all = append(all, c)
		}
		good := request(m.item(signal, "cut"))
		for name, body := range map[string][]byte{
			"not protobuf":                  []byte("hello, this is not protobuf at all"),
			"JSON sent as protobuf":         []byte(`{"resourceSpans":[]}`),
			"one byte":                      {0x0a},
			"cut in the middle":             good[:len(good)/2],
			"cut at the last byte":          good[:len(good)-1],
			"cut at the first length":       good[:1],
			"rubbish after a right request": join(good, []byte{0xff, 0xff, 0xff}),
			"field number zero":             join(good, []byte{0x00, 0x00}),
			"field number beyond the last":  join(good, []byte{0xf8, 0xff, 0xff, 0xff, 0xff, 0x7f, 0x00}),
			"end of a group never begun":    join(good, []byte{0x0c}),
			"group never ended":             join(good, []byte{0x93, 0x3f}),
			"group ended by another":        join(good, []byte{0x93, 0x3f, 0x9c, 0x3f}),
			"groups 20,000 deep":            join(good, bytes.Repeat([]byte{0x93, 0x3f}, 20_000), bytes.Repeat([]byte{0x94, 0x3f}, 20_000)),
			"wire type 6":                   join(good, []byte{0x0e, 0x00}),
			"wire type 7":                   join(good, []byte{0x0f, 0x00}),
			"tag of eleven bytes":           join(good, bytes.Repeat([]byte{0x80}, 10), []byte{0x01}),
			"number beyond 64 bits":         join(good, []byte{0x78}, bytes.Repeat([]byte{0xff}, 9), []byte{0x02}),
			"length beyond 63 bits":         join([]byte{0x0a}, bytes.Repeat([]byte{0xff}, 9), []byte{0x01}),
			"length of 4 GiB":               {0x0a, 0x80, 0x80, 0x80, 0x80, 0x10, 0x00},
			"number cut in the item":        nest([]byte{0x30, 0x80}, 1, 2, 2),
			"fixed number cut in the item":  nest([]byte{0x39, 1, 2, 3}, 1, 2, 2),
			"value nested 12,000 deep":      nest(deepValue(12_000), 1, 1, 1, 2),
			"value nested 200,000 deep":     nest(deepValue(200_000), 1, 1, 1, 2),
		} {
			all = append(all, both(Case{Name: name, Signal: signal, Body: body, Want: BadRequest, Message: "The body is not valid OTLP"})...)
		}
	}
	for name, body := range map[string][]byte{
		"packed buckets cut":         nest([]byte{1, 2, 3}, 1, 2, 2, 9, 1, 6),
		"packed bounds cut":          nest([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, 1, 2, 2, 9, 1, 7),
		"packed exponential counts":  nest([]byte{0x80}, 1, 2, 2, 10, 1, 8, 2),
		"data replaced, first wrong": nest(join(nest([]byte{0x0a, 0x05}, 5), nest(m.point(), 7, 1)), 1, 2, 2),
	} {
		all = append(all, both(Case{
			Name: name, Signal: otlp.Metrics, Body: body, Want: BadRequest,
			Message: "resource_metrics[0].scope_metrics[0].metrics[0].",
		})...)
	}
	return all
}

func protowireTag(f number) []byte { return nest(nil, f)[:len(nest(nil, f))-1] }

// deepValue returns the content of an AnyValue with nested arrays. It builds them from the inside out without copying.
func deepValue(levels int) []byte {
	const room = 10
	b := make([]byte, 2*levels*room)
	at := len(b)
	for i := range 2 * levels {
		f := number(1)
		if i%2 == 1 {
			f = 5
		}
		head := nest(nil, f)[:1]
		size := len(b) - at
		var length []byte
		for length = nil; size >= 0x80; size >>= 7 {
			length = append(length, byte(size)|0x80)
		}
		length = append(length, byte(size))
		at -= len(length)
		copy(b[at:], length)
		at--
		b[at] = head[0]
	}
	return b[at:]
}
