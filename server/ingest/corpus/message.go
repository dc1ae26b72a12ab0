package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

type number = protowire.Number

// nest wraps b in nested messages. The fields are listed from the outside in.
func nest(b []byte, fields ...number) []byte {
	for _, f := range slices.Backward(fields) {
		b = protowire.AppendBytes(protowire.AppendTag(make([]byte, 0, len(b)+12), f, protowire.BytesType), b)
	}
	return b
}

func join(parts ...[]byte) []byte { return slices.Concat(parts...) }

func text(f number, s string) []byte { return nest([]byte(s), f) }

func fixed64(f number, v uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(nil, f, protowire.Fixed64Type), v)
}

func varint(f number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, f, protowire.VarintType), v)
}

// keyValue returns an attribute. The value is the content of an AnyValue.
func keyValue(key string, value []byte) []byte { return join(text(1, key), nest(value, 2)) }

func traceID() []byte { return []byte("0123456789abcdef") }
func spanID() []byte  { return []byte("01234567") }

// span returns the content of a valid span, followed by more. Of a repeated field the last value counts, so more can spoil the
// span.
func (m maker) span(name string, more ...[]byte) []byte {
	return join(nest(traceID(), 1), nest(spanID(), 2), text(5, name), fixed64(7, m.now), fixed64(8, m.now+1000), join(more...))
}

func (m maker) record(body string, more ...[]byte) []byte {
	return join(fixed64(1, m.now), nest(text(1, body), 5), join(more...))
}

// point returns the content of a NumberDataPoint.
func (m maker) point(more ...[]byte) []byte {
	return join(fixed64(3, m.now), fixed64(6, 3), join(more...))
}

func gauge(name string, points ...[]byte) []byte {
	var all []byte
	for _, p := range points {
		all = append(all, nest(p, 1)...)
	}
	return join(text(1, name), nest(all, 5))
}

// aggregated returns a metric of a kind that has a temporality, with one current point.
func (m maker) aggregated(name string, kind number, temporality uint64, point []byte) []byte {
	return join(text(1, name), nest(join(nest(join(fixed64(3, m.now), point), 1), varint(2, temporality)), kind))
}

// histogram returns the buckets of a HistogramDataPoint.
func histogram(counts, bounds []uint64) []byte {
	var all []byte
	for _, c := range counts {
		all = append(all, fixed64(6, c)...)
	}
	for _, b := range bounds {
		all = append(all, fixed64(7, math.Float64bits(float64(b)))...)
	}
	return all
}

// item returns one valid item of a signal.
func (m maker) item(signal otlp.Signal, name string) []byte {
	switch signal {
	case otlp.Traces:
		return m.span(name)
	case otlp.Logs:
		return m.record(name)
	default:
		return gauge(name, m.point())
	}
}

// request puts items into one scope of one resource.
func request(items ...[]byte) []byte {
	var scope []byte
	for _, i := range items {
		scope = append(scope, nest(i, 2)...)
	}
	return nest(scope, 1, 2)
}

// resourceRequest does the same below a resource with the given content.
func resourceRequest(resource []byte, items ...[]byte) []byte {
	var scope []byte
	for _, i := range items {
		scope = append(scope, nest(i, 2)...)
	}
	return nest(join(nest(resource, 1), nest(scope, 2)), 1)
}

// zipChunk is a multiple of every short period, so that the chunks of a repeating text are equal.
const zipChunk = 16_000 * 60

// zipped returns b as one gzip member. It compresses a part that repeats for many megabytes only once, because compression takes
// minutes under the race detector.
func zipped(b []byte) []byte {
	// The header of gzip: deflate, no name, no time, system unknown.
	out := bytes.NewBuffer([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255})
	// Only a wrong level causes an error, and a buffer accepts everything.
	w, _ := flate.NewWriter(out, flate.DefaultCompression)
	var again []byte // the output for the previous chunk
	rest := b
	for i := 0; len(rest) > zipChunk; i++ {
		chunk := rest[:zipChunk]
		rest = rest[zipChunk:]
		// Deflate refers to earlier bytes. The output can be reused only if the two previous chunks were the same.
		if i > 1 && again != nil && bytes.Equal(chunk, b[(i-1)*zipChunk:i*zipChunk]) {
			out.Write(again)
			continue
		}
		from := out.Len()
		_, _ = w.Write(chunk)
		_ = w.Flush()
		again = nil
		if i > 0 && bytes.Equal(chunk, b[(i-1)*zipChunk:i*zipChunk]) {
			again = bytes.Clone(out.Bytes()[from:])
		}
	}
	_, _ = w.Write(rest)
	_ = w.Close()
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out.Bytes(), crc32.ChecksumIEEE(b)), uint32(len(b)))
}

// withWrongChecksum returns a gzip member with another checksum. A fixed byte would be the right one in one of 256 cases.
func withWrongChecksum(packed string) string {
	b := []byte(packed)
	b[len(b)-5] ^= 0xff
	return string(b)
}

// bomb returns one gzip member of about size bytes with endless repetitions of the unit, which is compressed only once. The
// trailer states the length claim.
func bomb(unit []byte, size int, claim uint32) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	flushed := func() int {
		_, _ = w.Write(unit)
		_ = w.Flush()
		return out.Len()
	}
	flushed()
	from := flushed() // From here on the window is full, and each flush gives the same bytes.
	to := flushed()
	again := bytes.Clone(out.Bytes()[from:to])
	for out.Len() < size-len(again)-16 {
		out.Write(again)
	}
	_ = w.Close()
	b := out.Bytes()
	binary.LittleEndian.PutUint32(b[len(b)-4:], claim)
	return b
}

// names returns the field names of a signal's levels, for messages.
func names(signal otlp.Signal) [3]string {
	return [...][3]string{
		otlp.Traces: {"resource_spans", "scope_spans", "spans"}, otlp.Logs: {"resource_logs", "scope_logs", "log_records"},
		otlp.Metrics: {"resource_metrics", "scope_metrics", "metrics"},
	}[signal]
}

func itemPath(signal otlp.Signal, index int) string {
	n := names(signal)
	return fmt.Sprintf("%s[0].%s[0].%s[%d]", n[0], n[1], n[2], index)
}
