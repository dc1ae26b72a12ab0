package corpus

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// compression returns bodies that do not match Content-Encoding.
func (m maker) compression() []Case {
	var all []Case
	for _, signal := range signals() {
		plain := request(m.item(signal, "packed"))
		good := zipped(plain)
		change := func(at int, b byte) []byte {
			c := bytes.Clone(good)
			c[(at+len(c))%len(c)] ^= b
			return c
		}
		for name, c := range map[string]struct {
			body    []byte
			want    Outcome
			message string
			stored  []string
		}{
			"right":                 {good, OK, "", []string{"packed"}},
			"of two members":        {join(good, good), OK, "", []string{"packed", "packed"}},
			"of nothing":            {zipped(nil), OK, "", nil},
			"empty":                 {nil, BadRequest, "The body is declared as gzip", nil},
			"absent":                {plain, BadRequest, "no gzip header", nil},
			"header only":           {good[:10], BadRequest, "it ends too early", nil},
			"cut in the header":     {good[:5], BadRequest, "it ends too early", nil},
			"cut in the data":       {good[:len(good)-12], BadRequest, "it ends too early", nil},
			"cut in the trailer":    {good[:len(good)-3], BadRequest, "it ends too early", nil},
			"with another magic":    {change(0, 0xff), BadRequest, "no gzip header", nil},
			"with another method":   {change(2, 0xff), BadRequest, "no gzip header", nil},
			"with a wrong checksum": {change(-5, 0xff), BadRequest, "its checksum does not match", nil},
			"with a wrong length":   {change(-1, 0xff), BadRequest, "its checksum does not match", nil},
			"with a reserved block": {change(10, 0x06), BadRequest, "gzip", nil},
			"and rubbish after": {
				join(good, []byte("rubbish of more than ten bytes")), BadRequest,
				"bytes that are not gzip follow its end", nil,
			},
			"and a byte after":             {join(good, []byte("x")), BadRequest, "bytes that are not gzip follow its end", nil},
			"second member cut":            {join(good, good[:len(good)-9]), BadRequest, "it ends too early", nil},
			"second member wrong OTLP":     {join(good, zipped([]byte{0x0a, 0x05})), BadRequest, "is longer than the message", nil},
			"gzip within gzip":             {zipped(good), BadRequest, "The body is not valid OTLP", nil},
			"zlib":                         {join([]byte{0x78, 0x9c}, good[10:]), BadRequest, "no gzip header", nil},
			"of wrong OTLP":                {zipped([]byte("not OTLP")), BadRequest, "The body is not valid OTLP", nil},
			"with a length of 2 GiB":       {claiming(good, 2<<30), BadRequest, "its checksum does not match", nil},
			"bomb of many small members":   {bytes.Repeat(zipped(make([]byte, 1<<20)), 256), TooLarge, "after decompression", nil},
			"bomb that claims to be small": {bomb(make([]byte, 1<<20), 1<<20, 100), TooLarge, "after decompression", nil},
			"bomb that claims 30 MiB":      {bomb(make([]byte, 1<<20), 1<<20, 30<<20), TooLarge, "after decompression", nil},
		} {
			h := Case{
				Name: signal.String() + " gzip " + name, Signal: signal, Header: http.Header{"Content-Encoding": {"gzip"}}, Body: c.body, Want: c.want,
				Message: c.message, Stored: c.stored,
			}
			g := h
			g.Name, g.Door, g.Header, g.Encoding, g.Compressed = h.Name+" over gRPC", GRPC, nil, "gzip", true
			if name == "absent" || name == "empty" || strings.Contains(name, "magic") || name == "zlib" {
				g.Message = "The body is declared as gzip"
			}
			all = append(all, h, g)
		}
	}
	return all
}

// claiming returns a gzip file whose trailer states a wrong length.
func claiming(b []byte, n uint32) []byte {
	b = bytes.Clone(b)
	for i := range 4 {
		b[len(b)-4+i] = byte(n >> (8 * i))
	}
	return b
}

// headers returns wrong, repeated and contradictory headers, methods and paths.
func (m maker) headers() []Case {
	span := request(m.item(otlp.Traces, "headed"))
	post := func(name string, want Outcome, message string, pairs ...string) Case {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
		}
		c := Case{Name: "header: " + name, Header: h, Body: span, Want: want, Message: message}
		if want == OK {
			c.Stored = []string{"headed"}
		}
		return c
	}
	var all []Case
	for _, media := range []string{
		"text/plain", "text/html; charset=utf-8", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/grpc",
		"application/x-google-protobuf", "application/x-protobuf2", "protobuf", "*/*", "application/", ";",
		"application/x-protobuf, application/x-protobuf",
	} {
		all = append(all, post("Content-Type "+media, UnsupportedType, "This Content-Type is not supported", "Content-Type", media))
	}
	for _, encoding := range []string{
		"zstd", "deflate", "br", "compress", "x-gzip", "gzip, gzip", "gzip, identity", "identity, gzip",
		"GZIP;q=1", "none", "gzip gzip",
	} {
		all = append(all, post("Content-Encoding "+encoding, UnsupportedType, "This Content-Encoding is not supported", "Content-Encoding",
			encoding))
	}
	all = append(all,
		post("Content-Encoding twice", UnsupportedType, "Content-Encoding", "Content-Encoding", "gzip", "Content-Encoding", "gzip"),
		post("Content-Type twice, protobuf and plain", UnsupportedType, "Content-Type", "Content-Type", "application/x-protobuf", "Content-Type",
			"text/plain"),
		post("Content-Type twice, one of them JSON", BadRequest, "The body is not valid OTLP", "Content-Type", "application/x-protobuf",
			"Content-Type", "application/json"),
		post("JSON declared, protobuf sent", BadRequest, "The body is not valid OTLP", "Content-Type", "application/json"),
		post("identity", OK, "", "Content-Encoding", "identity"),
		post("Content-Type in capitals", OK, "", "Content-Type", "APPLICATION/X-PROTOBUF"),
		post("Content-Type with a parameter", OK, "", "Content-Type", "application/x-protobuf; messageType=x"),
		post("many others", OK, "", manyHeaders()...),
		post("headers of 128 KiB", below(431, 0), "", "X-Large", strings.Repeat("x", 128<<10)),
	)
	all = append(all, m.credentials(span)...)
	for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "post"} {
		c := Case{Name: "method " + method, Method: method, Body: span, Want: NoMethod, Message: "POST"}
		if method == "HEAD" {
			c.Want.Code, c.Want.Tag, c.Message = "", "", "" // no body
		}
		all = append(all, c)
	}
	for _, path := range []string{
		"/", "/v1", "/v1/", "/v1/trace", "/v1/traces/", "//v1/traces", "/v1//traces", "/V1/traces",
		"/v1/traces/v1/traces", "/v1/spans", "/v1/../v1/traces", "/v1/traces%2f", "/v1/traces;x=1", "/" + strings.Repeat("x", 8000),
	} {
		all = append(all, Case{
			Name: fmt.Sprintf("path %.40s", path), Path: path, Body: span, Want: NoRoute,
			Message: "There is no such endpoint",
		})
	}
	return append(all,
		Case{Name: "path without key", Path: "/v1/nowhere", NoKey: true, Want: NoRoute, Message: "There is no such endpoint"},
		Case{Name: "path with a query", Path: "/v1/traces?x=1&x=2", Body: span, Want: OK, Stored: []string{"headed"}},
		Case{
			Name: "path of another signal", Path: "/v1/logs", Body: nest([]byte{0xff}, 1, 2, 2, 12), Want: BadRequest,
			Message: "log_records[0].event_name",
		},
	)
}

func manyHeaders() []string {
	var all []string
	for i := range 300 {
		all = append(all, fmt.Sprintf("X-Header-%d", i), "value")
	}
	return all
}

func (m maker) credentials(span []byte) []Case {
	var all []Case
	for _, c := range []struct {
		name    string
		want    Outcome
		message string
		pairs   []string
	}{
		{"none", Unauthorized, "No ingest key was sent", nil},
		{"empty", Unauthorized, "No ingest key was sent", []string{"Authorization", ""}},
		{"word only", Unauthorized, "No ingest key was sent", []string{"Authorization", "Bearer"}},
		{
			"without the word", Unauthorized, "The Authorization header holds a key without the word `Bearer ` before it",
			[]string{"Authorization", "{key}"},
		},
		{
			"the word where it does not belong", Unauthorized, "The word Bearer is too many: the header `x-svc-ingest-key` takes the key alone",
			[]string{"x-svc-ingest-key", "Bearer {key}"},
		},
		{"the word twice", Unauthorized, "The word Bearer is too many", []string{"Authorization", "Bearer bearer {key}"}},
		{"basic", Unauthorized, "No ingest key was sent", []string{"Authorization", "Basic c3ZjOnN2Yw=="}},
		{"no key at all", Unauthorized, "This is not an ingest key", []string{"Authorization", "Bearer hello"}},
		{"API key", Unauthorized, "This is an API key", []string{"Authorization", "Bearer svc_ak_0123456789"}},
		{"unknown", Unauthorized, "ingest key", []string{"Authorization", "Bearer svc_sk_unknown"}},
		{"unknown in the key header", Unauthorized, "ingest key", []string{"X-Svc-Ingest-Key", "svc_pk_unknown"}},
		{"prefix only", Unauthorized, "ingest key", []string{"Authorization", "Bearer svc_sk_"}},
		{"too long", Unauthorized, "This is not an ingest key", []string{"Authorization", "Bearer svc_sk_" + strings.Repeat("x", 4000)}},
		{"with more behind", Unauthorized, "ingest key", []string{"Authorization", "Bearer {key}x"}},
		{"two in one", Unauthorized, "ingest key", []string{"Authorization", "Bearer {key},{key}"}},
		{"test key in small letters", Unauthorized, "This is not an ingest key", []string{"Authorization", "Bearer svc_test"}},
		{"not UTF-8", Unauthorized, "This is not an ingest key", []string{"Authorization", "Bearer \xff\xfe"}},
		{
			"wrong bearer, right key header", Unauthorized, "ingest key",
			[]string{"Authorization", "Bearer svc_sk_unknown", "X-Svc-Ingest-Key", "{key}"},
		},
		{"wrong first, right second", Unauthorized, "ingest key", []string{
			"Authorization", "Bearer svc_sk_unknown", "Authorization",
			"Bearer {key}",
		}},
		{"right first, wrong second", OK, "", []string{"Authorization", "Bearer {key}", "Authorization", "Bearer svc_sk_unknown"}},
		{"other scheme, right key header", OK, "", []string{"Authorization", "Basic c3ZjOnN2Yw==", "X-Svc-Ingest-Key", "{key}"}},
	} {
		h := http.Header{}
		for i := 0; i < len(c.pairs); i += 2 {
			h[c.pairs[i]] = append(h[c.pairs[i]], c.pairs[i+1])
		}
		for _, door := range []Door{HTTP, GRPC} {
			if door == GRPC && strings.Contains(c.name, "UTF-8") {
				continue // HTTP/2 does not allow such a header value.
			}
			one := Case{
				Name: fmt.Sprintf("key %s, door %d", c.name, door), Door: door, NoKey: true, Header: h, Body: span, Want: c.want,
				Message: c.message,
			}
			if c.want == OK {
				one.Stored = []string{"headed"}
			}
			all = append(all, one)
		}
	}
	return append(all,
		Case{Name: "test key", NoKey: true, Header: http.Header{"Authorization": {"Bearer SVC_TEST"}}, Body: span, Want: OK},
		Case{
			Name: "test key, wrong body", NoKey: true, Header: http.Header{"Authorization": {"Bearer SVC_TEST"}}, Body: []byte{0xff}, Want: OK,
			Message: "With an ingest key this request is refused: 400 ingest_bad_request: The body is not valid OTLP",
		},
		Case{
			Name: "test key, wrong body, over gRPC", Door: GRPC, NoKey: true, Header: http.Header{"Authorization": {"Bearer SVC_TEST"}},
			Body: []byte{0xff}, Want: OK, Message: "400 ingest_bad_request: The body is not valid OTLP",
		},
		Case{Name: "test key, wrong JSON", NoKey: true, Header: http.Header{
			"Authorization": {"Bearer SVC_TEST"},
			"Content-Type":  {"application/json"},
		}, Body: []byte("{"), Want: OK, Message: "400 ingest_bad_request"},
		Case{
			Name: "test key, wrong type", NoKey: true, Header: http.Header{"Authorization": {"Bearer SVC_TEST"}, "Content-Type": {"text/html"}},
			Body: span, Want: OK, Message: "415 ingest_unsupported_media_type",
		},
		Case{
			Name: "test key, 20 MiB and a byte", NoKey: true, Header: http.Header{
				"Authorization": {"Bearer SVC_TEST"},
				"Content-Type":  {"application/json"},
			},
			Make: func() []byte { return noise(20<<20 + 1) }, Want: OK, Message: "413 ingest_payload_too_large",
		},
	)
}

// calls returns gRPC calls other than Export.
func (m maker) calls() []Case {
	span := request(m.item(otlp.Traces, "called"))
	frame := func(flag byte, length int, b []byte) []byte {
		return join([]byte{flag, byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length)}, b)
	}
	one := frame(0, len(span), span)
	return []Case{
		{Name: "call without message", Door: GRPC, Frame: true, Want: BadRequest, Message: "ended without a message"},
		{Name: "call with two messages", Door: GRPC, Frame: true, Body: join(one, one), Want: BadRequest, Message: "a second one came"},
		{Name: "message cut in its prefix", Door: GRPC, Frame: true, Body: one[:3], Want: BadRequest, Message: "in the middle of a message"},
		{
			Name: "message cut in the middle", Door: GRPC, Frame: true, Body: one[:len(one)-3], Want: BadRequest,
			Message: "in the middle of a message",
		},
		{
			Name: "message longer than declared", Door: GRPC, Frame: true, Body: join(one, []byte{1, 2, 3}), Want: BadRequest,
			Message: "a second one came",
		},
		{
			Name: "message declared as 4 GiB", Door: GRPC, Frame: true, Body: frame(0, 0xffffffff, span), Want: TooLarge,
			Message: "larger than 64 MiB",
		},
		{Name: "unknown flag", Door: GRPC, Frame: true, Body: frame(9, len(span), span), Want: BadRequest, Message: "does not begin as"},
		{
			Name: "compressed without encoding", Door: GRPC, Body: zipped(span), Compressed: true, Want: BadRequest,
			Message: "names no grpc-encoding",
		},
		{Name: "encoding without compression", Door: GRPC, Body: span, Encoding: "gzip", Want: OK, Stored: []string{"called"}},
		{
			Name: "encoding zstd", Door: GRPC, Body: zipped(span), Encoding: "zstd", Compressed: true, Want: UnsupportedType,
			Message: "grpc-encoding is not supported",
		},
		{Name: "encoding identity", Door: GRPC, Body: span, Encoding: "identity", Want: OK, Stored: []string{"called"}},
		{
			Name: "unknown service", Door: GRPC, Path: "/opentelemetry.proto.collector.profiles.v1development.ProfilesService/Export", Body: span,
			Want: below(0, codes.Unimplemented),
		},
		{
			Name: "unknown method", Door: GRPC, Path: "/opentelemetry.proto.collector.trace.v1.TraceService/Import", Body: span,
			Want: below(0, codes.Unimplemented), Message: "unknown method Import for service opentelemetry.proto.collector.trace.v1.TraceService",
		},
		{Name: "path without service", Door: GRPC, Path: "/Export", Body: span, Want: below(0, codes.Unimplemented)},
	}
}
