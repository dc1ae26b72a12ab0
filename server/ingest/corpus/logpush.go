package corpus

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

const logpushPath = "/v1/logpush/cloudflare/http_requests/"

// logpush returns pushes of a CDN. They also carry the target's key as a header, which must have no effect.
func (m maker) logpush() []Case {
	line := func(path string) string {
		return fmt.Sprintf(`{"RayID":"1","ClientRequestURI":%q,"EdgeStartTimestamp":%d}`+"\n", path, m.now)
	}
	push := func(name string, body string, want Outcome, message string, stored ...string) Case {
		return Case{
			Name: "logpush: " + name, Path: logpushPath + "{connector}", NoKey: true, Body: []byte(body), Want: want, Message: message,
			Stored: stored,
		}
	}
	rejected := func(c Case) Case {
		c.Rejected = 1
		return c
	}
	with := func(c Case, pairs ...string) Case {
		c.Header = http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			c.Header.Add(pairs[i], pairs[i+1])
		}
		return c
	}
	good := line("/pushed")
	packed := string(zipped([]byte(good)))
	const gzipped, encoding = "gzip", "Content-Encoding"
	all := []Case{
		push("right", good, OK, "", "/pushed"),
		push("right, gzip", packed, OK, "", "/pushed"), // The CDN's file, with any headers.
		with(push("right, declared gzip", packed, OK, "", "/pushed"), encoding, gzipped),
		push("ping", `{"content":"tests"}`, OK, ""),
		with(push("ping, gzip", string(zipped([]byte(`{"content":"tests"}`))), OK, ""), encoding, gzipped),
		push("empty", "", BadRequest, "The body is empty"),
		push("empty, gzip", string(zipped(nil)), BadRequest, "The body is empty"),
		push("only blank lines", "\n\r\n", BadRequest, "The body is empty"),
		push("blank lines", "\n\r\n"+good+"\n", OK, "", "/pushed"),
		with(push("declared gzip, is not", good, BadRequest, "no gzip header"), encoding, gzipped),
		push("gzip, cut", packed[:len(packed)-9], BadRequest, "it ends too early"),
		push("gzip, cut after the magic", packed[:2], BadRequest, "it ends too early"),
		push("gzip, wrong checksum", withWrongChecksum(packed), BadRequest, "its checksum does not match"),
		push("gzip within gzip", string(zipped([]byte(packed))), BadRequest, "line 1: must be a JSON object"),
		push("array", "["+strings.TrimSpace(good)+"]", BadRequest, "line 1: must be a JSON object"),
		push("CSV", "1,/pushed,200\n", BadRequest, "line 1: must be a JSON object"),
		push("second line cut", good+good[:len(good)-5], BadRequest, "line 2: is not valid JSON"),
		push("two objects on a line", strings.TrimSpace(good)+good, BadRequest, "line 1: is not valid JSON"),
		push("NUL", good+"\x00", BadRequest, "line 2: must be a JSON object"),
		push("nested 20,000 deep", `{"RayID":`+strings.Repeat("[", 20_000)+strings.Repeat("]", 20_000)+"}", BadRequest,
			"line 1: is not valid JSON"),
		rejected(push("another dataset", `{"Action":"block","Datetime":"x"}`+"\n"+good, OK, "none of the fields of an http_requests record",
			"/pushed")),
		rejected(push("no time", good+`{"RayID":"1","EdgeStartTimestamp":"now"}`, OK, "line 2: EdgeStartTimestamp must be a time", "/pushed")),
		rejected(push("time long ago", good+`{"RayID":"1","EdgeStartTimestamp":1}`, OK, "more than 30 days back", "/pushed")),
		rejected(push("time far ahead", good+`{"RayID":"1","EdgeEndTimestamp":"2200-01-01T00:00:00Z"}`, OK, "more than 24 hours ahead",
			"/pushed")),
		rejected(push("no status", good+fmt.Sprintf(`{"EdgeStartTimestamp":%d,"EdgeResponseStatus":"OK"}`, m.now), OK,
			"line 2: EdgeResponseStatus must be an HTTP status", "/pushed")),
		push("invalid UTF-8", strings.Replace(line("/bytes"), "bytes", "\xff\xfe", 1), OK, "", "/\uFFFD\uFFFD"),
		with(push("Content-Type form", good, UnsupportedType, "This Content-Type is not supported"), "Content-Type",
			"application/x-www-form-urlencoded"),
		with(push("Content-Type protobuf", good, UnsupportedType, "This Content-Type is not supported"), "Content-Type",
			"application/x-protobuf"),
		with(push("Content-Type plain", good, OK, "", "/pushed"), "Content-Type", "text/plain"),
		with(push("Content-Type gzip", packed, OK, "", "/pushed"), "Content-Type", "application/gzip"),
		with(push("Content-Encoding zstd", good, UnsupportedType, "This Content-Encoding is not supported"), encoding, "zstd"),
		with(push("bomb of many members", string(bytes.Repeat(zipped(make([]byte, 1<<20)), 256)), TooLarge, "after decompression"), encoding,
			gzipped),
		push("one line of many fields", `{"RayID":"1"`+strings.Repeat(`,"x":0`, 200_000)+"}", OK, "more than 1024 attributes", ""),
		push("long value", `{"RayID":"1","ClientRequestUserAgent":"`+strings.Repeat("x", 70_000)+`"}`, OK, "longer than 65536 bytes", ""),
	}
	for name, path := range map[string]string{
		"no secret":          "cfp_2YKfqZvXTfnB",
		"unknown id":         "cfp_2YKfqZvXTfnB?secret=svc_cf_unknown",
		"not an id":          "hello?secret=svc_cf_unknown",
		"id of another kind": "ingk_2YKfqZvXTfnB?secret=svc_cf_unknown",
		"secret cut":         "{connector}x",
		"secret empty":       "cfp_2YKfqZvXTfnB?secret=",
	} {
		all = append(all, Case{Name: "logpush: " + name, Path: logpushPath + path, Body: []byte(good), Want: Unauthorized})
	}
	for name, path := range map[string]string{
		"no id": logpushPath, "more path": logpushPath + "cfp_1/x", "another dataset's path": "/v1/logpush/cloudflare/firewall_events/cfp_1",
		"no dataset": "/v1/logpush/cloudflare/cfp_1",
	} {
		all = append(all, Case{Name: "logpush: " + name, Path: path, Body: []byte(good), Want: NoRoute, Message: "There is no such endpoint"})
	}
	return append(all,
		Case{Name: "logpush: GET", Method: http.MethodGet, Path: logpushPath + "{connector}", Want: NoMethod, Message: "POST"},
		Case{Name: "logpush: test key", Path: logpushPath + "cfp_any?secret=SVC_TEST", NoKey: true, Body: []byte(good), Want: OK},
		Case{
			Name: "logpush: test key, wrong body", Path: logpushPath + "cfp_any?secret=SVC_TEST", NoKey: true, Body: []byte("{"), Want: OK,
			Message: "400 ingest_bad_request: line 1",
		},
	)
}
