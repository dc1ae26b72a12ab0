package corpus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// noise returns bytes that do not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	// ChaCha8.Read never fails.
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// huge returns bodies at and above the limits, and bodies that would grow to many times their size.
func (m maker) huge() []Case {
	const body, decompressed = 20 << 20, 128 << 20
	gzipHeader := http.Header{"Content-Encoding": {"gzip"}}
	gzipJSON := http.Header{"Content-Encoding": {"gzip"}, "Content-Type": {"application/json"}}
	// Every second one goes over gRPC.
	overGRPC := false
	gzip := func(signal otlp.Signal, name string, make func() []byte, want Outcome, message string) []Case {
		c := Case{
			Name: "huge: " + name, Signal: signal, Header: gzipHeader, Make: func() []byte { return zipped(make()) }, Want: want,
			Message: message,
		}
		if overGRPC = !overGRPC; overGRPC {
			c.Name, c.Door, c.Header, c.Encoding, c.Compressed = c.Name+" over gRPC", GRPC, nil, "gzip", true
		}
		return []Case{c}
	}
	asJSON := func(signal otlp.Signal, name string, make func() string, want Outcome, message string) Case {
		return Case{
			Name: "huge JSON: " + name, Signal: signal, Header: gzipJSON, Make: func() []byte { return zipped([]byte(make())) },
			Want: want, Message: message,
		}
	}
	repeat := func(n int, b ...byte) []byte { return bytes.Repeat(b, n) }
	const elements = "there are more than 1024 on one item: those after them were left out (41942016 times in this request)"
	const items = "The items of this request take more than 256 MiB in storage"
	padding := func(n int) []byte { return text(999, string(make([]byte, n))) }
	random := func(n int) func() []byte { return func() []byte { return noise(n) } }

	all := []Case{
		{Name: "huge: body of 20 MiB", Make: random(body), Want: BadRequest, Message: "The body is not valid OTLP"},
		{Name: "huge: body of 20 MiB and a byte", Make: random(body + 1), Want: TooLarge, Message: "larger than 20 MiB"},
		{Name: "huge: chunks of 20 MiB and a byte", Make: random(body + 1), Chunked: true, Want: TooLarge, Message: "larger than 20 MiB"},
		{
			Name: "huge: chunks of a type unknown", Make: random(body + 1), Chunked: true, Header: http.Header{"Content-Type": {"text/plain"}},
			Want: TooLarge, Message: "larger than 20 MiB",
		},
		{Name: "huge: message of 64 MiB and a byte", Door: GRPC, Make: random(64<<20 + 1), Want: TooLarge},
		{Name: "huge: message of 60 MiB", Door: GRPC, Make: random(60 << 20), Want: BadRequest, Message: "The body is not valid OTLP"},
		{Name: "huge: span name of 10 MiB", Make: func() []byte {
			return request(m.span("x", fixed64(7, 1), text(5, strings.Repeat("n", 10<<20))))
		}, Want: OK, Rejected: 1, Message: "further back"},
	}
	for _, c := range []struct {
		claim  uint32
		signal otlp.Signal
	}{{0, otlp.Traces}, {1, otlp.Logs}, {100 << 20, otlp.Metrics}, {1 << 31, otlp.Traces}} {
		bombed := Case{
			Name: fmt.Sprintf("huge: %s gzip bomb of 20 MiB claiming %d", c.signal, c.claim), Signal: c.signal, Header: gzipHeader,
			Make: func() []byte { return bomb(make([]byte, 1<<20), body, c.claim) }, Want: TooLarge,
			Message: "larger than 128 MiB after decompression",
		}
		switch c.signal {
		case otlp.Logs:
			bombed.Door, bombed.Header, bombed.Encoding, bombed.Compressed = GRPC, nil, "gzip", true
		case otlp.Metrics:
			bombed.Header = gzipJSON
		}
		all = append(all, bombed)
	}
	many := gzip(otlp.Traces, "a byte above 128 MiB", func() []byte { return padding(decompressed - 5) }, TooLarge, "after decompression")
	many = append(many, gzip(otlp.Logs, "128 MiB of an unknown field", func() []byte { return padding(decompressed - 6) }, OK, "")...)
	many = append(many, gzip(otlp.Metrics, "100 MiB of zeros", func() []byte { return make([]byte, 100<<20) }, BadRequest,
		"not valid OTLP")...)
	many = append(many, gzip(otlp.Traces, "50 million empty resources", func() []byte { return repeat(50<<20, 0x0a, 0) }, TooLarge, items)...)
	many = append(many, gzip(otlp.Logs, "50 million empty scopes", func() []byte { return nest(repeat(50<<20, 0x12, 0), 1) }, TooLarge,
		items)...)
	many = append(many, gzip(otlp.Metrics, "50 million groups", func() []byte { return repeat(50<<20, 0x93, 0x3f) }, BadRequest,
		"not valid OTLP")...)
	many = append(many, gzip(otlp.Traces, "40 million empty spans", func() []byte { return nest(repeat(40<<20, 0x12, 0), 1, 2) }, TooLarge,
		items)...)
	// An uncompressed body of 20 MiB holds one and a half million spans that have only ids.
	many = append(many, Case{
		Name: "huge: 1.4 million spans of a letter each",
		Make: func() []byte { return nest(bytes.Repeat(nest(text(5, "x"), 2), 1_400_000), 1, 2) },
		Want: OK, Message: "must be 16 bytes", Rejected: 1_400_000,
	}, Case{
		Name: "huge: 1.4 million records of a letter each", Signal: otlp.Logs,
		Make: func() []byte { return nest(bytes.Repeat(nest(nest(text(1, "x"), 5), 2), 1_400_000), 1, 2) },
		Want: TooLarge, Message: items,
	})
	many = append(many, gzip(otlp.Logs, "40 million empty records", func() []byte { return nest(repeat(40<<20, 0x12, 0), 1, 2) }, TooLarge,
		items)...)
	many = append(many, gzip(otlp.Metrics, "40 million empty points", func() []byte { return nest(repeat(40<<20, 0x0a, 0), 1, 2, 2, 5) },
		TooLarge, items)...)
	for _, c := range slices.Concat(
		gzip(otlp.Traces, "40 million events in a span", func() []byte { return request(m.span("x", repeat(40<<20, 0x5a, 0))) }, OK, elements),
		gzip(otlp.Traces, "40 million links in a span", func() []byte { return request(m.span("x", repeat(40<<20, 0x6a, 0))) }, OK, elements),
		gzip(otlp.Metrics, "40 million exemplars in a point", func() []byte { return request(gauge("x", m.point(repeat(40<<20, 0x2a, 0)))) }, OK,
			elements),
	) {
		c.Stored = []string{"x"}
		many = append(many, c)
	}
	nulls := "[" + strings.Repeat("null,", 1<<18)
	nulls = nulls[:1<<20-len("…[cut]")] + "…[cut]"
	const cut = "body: is longer than 1048576 bytes as text and was cut"
	for _, c := range gzip(otlp.Logs, "body of 40 million nulls", func() []byte { return nest(nest(repeat(40<<20, 0x0a, 0), 5), 1, 2, 2, 5) },
		OK, cut) {
		c.Stored = []string{nulls}
		many = append(many, c)
	}
	many = append(many, gzip(otlp.Metrics, "a hundred million bucket counts",
		func() []byte { return nest(repeat(100<<20, 1), 1, 2, 2, 10, 1, 8, 2) }, TooLarge, items)...)
	many = append(many, gzip(otlp.Logs, "millions of distinct keys", func() []byte { return nest(distinctKeys(3_000_000), 1, 2) }, TooLarge,
		items)...)
	many = append(many, gzip(otlp.Logs, "a resource of a mebibyte on every record", func() []byte {
		return join(nest(bigResource(), 1, 1), nest(join(nest(bigResource(), 1), nest(repeat(2000, 0x12, 0), 2)), 1))
	}, TooLarge, items)...)
	all = append(all, many...)

	value := jsonRequest(otlp.Logs, `"body":{"arrayValue":{"values":[%s]}}`)
	buckets := jsonRequest(otlp.Metrics, `"histogram":{"dataPoints":[{"bucketCounts":[%s]}]}`)
	list := func(outer, element string, n int) string {
		return strings.Replace(outer, "%s", strings.Repeat(element+",", n)+element, 1)
	}
	moving := func() string {
		inner := `{"stringValue":"` + strings.Repeat("x", 20<<20) + `"}`
		return strings.Repeat(`{"kvlistValue":{"values":[{"key":"a","value":`, 150) + inner + strings.Repeat(`,"key":"b"}]}}`, 150)
	}
	values := asJSON(otlp.Logs, "30 million empty values in a body", func() string { return list(value, "{}", 30<<20) }, OK, cut)
	values.Stored = []string{nulls}
	return append(all,
		values,
		asJSON(otlp.Traces, "white space", func() string { return "{" + strings.Repeat(" ", decompressed-2) + "}" }, OK, ""),
		asJSON(otlp.Traces, "white space above 128 MiB", func() string { return "{" + strings.Repeat(" ", decompressed-1) + "}" }, TooLarge,
			"after decompression"),
		asJSON(otlp.Metrics, "a number of 60 million digits", func() string {
			return jsonRequest(otlp.Metrics, `"gauge":{"dataPoints":[{"asDouble":`+strings.Repeat("9", 60<<20)+`}]}`)
		}, BadRequest, "asDouble: must be a number"),
		asJSON(otlp.Traces, "20 million empty spans", func() string {
			return list(`{"resourceSpans":[{"scopeSpans":[{"spans":[%s]}]}]}`, "{}",
				20<<20)
		}, TooLarge, items),
		asJSON(otlp.Metrics, "50 million bucket counts", func() string { return list(buckets, "1", 50<<20) }, TooLarge, items),
		asJSON(otlp.Logs, "a body that moves 150 times", func() string { return jsonRequest(otlp.Logs, `"body":`+moving()) }, BadRequest,
			"given again too often"),
		asJSON(otlp.Logs, "an ignored text of 100 MiB", func() string { return `{"x":"` + strings.Repeat(`\n`, 50<<20) + `"}` }, OK, ""),
		asJSON(otlp.Logs, "a name of 100 MiB", func() string { return `{"` + strings.Repeat(`n`, 100<<20) + `":tru}` }, BadRequest,
			"not valid OTLP"),
	)
}

// distinctKeys returns records with a thousand attributes each, all with different keys.
func distinctKeys(n int) []byte {
	var all, record, key []byte
	for i := range n {
		key = strconv.AppendInt(key[:0], int64(i), 16)
		// An attribute is field 6 of a record, and its key is field 1. No length takes more than a byte.
		record = append(record, 6<<3|2, byte(2+len(key)), 1<<3|2, byte(len(key)))
		record = append(record, key...)
		if i%1000 == 999 {
			all = append(all, nest(record, 2)...)
			record = record[:0]
		}
	}
	return all
}

// bigResource returns a resource with 16 values of 60 KiB.
func bigResource() []byte {
	var all []byte
	for i := range 16 {
		all = append(all, nest(keyValue(fmt.Sprint(i), text(1, strings.Repeat("x", 60<<10))), 1)...)
	}
	return all
}
