package corpus

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// NotGzip is the response to a recording chunk that is not a gzip file.
var NotGzip = Outcome{Status: 400, Code: "ingest_replay_body_not_gzip", Tag: "@svc/ingest/ReplayBodyNotGzip"}

// lineEndpoint is an endpoint that takes NDJSON.
type lineEndpoint struct {
	path string
	// line returns a valid line whose item has the name.
	line func(name string) string
	// field is a text field as a JSON member with an invalid value.
	field string
	// refuses says that an unreadable field refuses the request. Otherwise it drops the line.
	refuses bool
}

const blobPath = "/v1/sessionReplays/blob"

func (m maker) lineEndpoints() []lineEndpoint {
	now := time.Unix(0, int64(m.now)).UTC().Format(time.RFC3339Nano)
	return []lineEndpoint{
		{path: "/v1/events", field: "name", line: func(name string) string { return fmt.Sprintf(`{"name":%q,"timestamp":%q}`, name, now) }},
		{path: "/v1/sessionReplays/meta", field: "session_id", refuses: true, line: func(name string) string {
			return fmt.Sprintf(`{"session_id":%q,"start_time":%q}`, name, now)
		}},
		{path: "/v1/sessionEvents", field: "session_id", refuses: true, line: func(name string) string {
			return fmt.Sprintf(`{"session_id":%q,"type":"click","timestamp":%q}`, name, now)
		}},
	}
}

// with returns the case with these headers.
func (c Case) with(pairs ...string) Case {
	c.Header = c.Header.Clone()
	if c.Header == nil {
		c.Header = http.Header{}
	}
	for i := 0; i < len(pairs); i += 2 {
		c.Header[http.CanonicalHeaderKey(pairs[i])] = []string{pairs[i+1]}
	}
	return c
}

// activity returns cases for product events, sessions, their events, and the chunks of their recordings.
func (m maker) activity() []Case {
	var all []Case
	for _, e := range m.lineEndpoints() {
		all = append(all, m.lines(e)...)
	}
	return append(append(append(all, m.events()...), m.sessions()...), m.chunks()...)
}

// lines returns the cases that all NDJSON endpoints share.
func (m maker) lines(e lineEndpoint) []Case {
	post := func(name, body string, want Outcome, message string, stored ...string) Case {
		return Case{Name: e.path + ": " + name, Path: e.path, Body: []byte(body), Want: want, Message: message, Stored: stored}
	}
	good := e.line("line")
	packed := string(zipped([]byte(good)))
	gzipped := func(c Case) Case { return c.with("Content-Encoding", "gzip") }
	all := []Case{
		post("right", good, OK, "", "line"),
		post("right, CR LF and blank lines", "\r\n"+good+"\r\n\n"+good, OK, "", "line", "line"),
		post("right, unknown fields", `{"color":[{"x":null}],`+good[1:], OK, "", "line"),
		post("nothing", "", BadRequest, "The body is empty"),
		post("nothing, as JSON", "", BadRequest, "The body is empty").with("Content-Type", "application/json"),
		gzipped(post("nothing, said to be gzip", "", BadRequest, "")),
		post("blank lines", "\n \r\n", BadRequest, "The body is empty"),
		post("cut", good[:len(good)-1], BadRequest, "line 1: is not valid JSON"),
		post("second line cut", good+"\n"+good[:len(good)/2], BadRequest, "line 2: is not valid JSON"),
		post("rubbish after", good+"x", BadRequest, "line 1: is not valid JSON: invalid character 'x' after top-level value"),
		post("two on a line", good+good, BadRequest, "line 1: is not valid JSON"),
		post("array", "["+good+"]", BadRequest, "line 1: must be a JSON object"),
		post("text", `"hello"`, BadRequest, "line 1: must be a JSON object"),
		post("number", "7", BadRequest, "line 1: must be a JSON object"),
		post("null", "null", BadRequest, "line 1: must be a JSON object"),
		post("byte order mark", "\ufeff"+good, BadRequest, "line 1: must be a JSON object"),
		post("protobuf", string(m.span("x")), BadRequest, "must be a JSON object"),
		post("comma at the end", strings.TrimSuffix(good, "}")+",}", BadRequest, "line 1: is not valid JSON"),
		post("comment", "{/* none */}", BadRequest, "line 1: is not valid JSON"),
		post("single quotes", "{'a':1}", BadRequest, "line 1: is not valid JSON"),
		post("NaN", `{"a":NaN}`, BadRequest, "line 1: is not valid JSON"),
		post("line break in a text", "{\"a\":\"b\nc\"}", BadRequest, "line 1: is not valid JSON"),
		post("invalid UTF-8", good[:len(good)-1]+",\"a\":\"\xff\"}", BadRequest, "line 1: is not valid UTF-8"),
		post("invalid UTF-8 in the second line", good+"\n{\"a\":\"\xc0\xaf\"}", BadRequest, "line 2: is not valid UTF-8"),
		post("zero byte", "{\x00}", BadRequest, "line 1: is not valid JSON"),
		post("objects 20,000 deep", strings.Repeat(`{"a":`, 20_000)+"1"+strings.Repeat("}", 20_000), BadRequest, "exceeded max depth"),
		post("arrays a million deep", `{"a":`+strings.Repeat("[", 1_000_000), BadRequest, "line 1: is not valid JSON"),
		gzipped(post("gzip", packed, OK, "", "line")),
		gzipped(post("gzip of two members", packed+string(zipped([]byte("\n"+good))), OK, "", "line", "line")),
		gzipped(post("gzip, is not", good, BadRequest, "no gzip header")),
		gzipped(post("gzip, cut", packed[:len(packed)-9], BadRequest, "it ends too early")),
		gzipped(post("gzip, second member cut", packed+packed[:20], BadRequest, "it ends too early")),
		gzipped(post("gzip, a byte after", packed+"x", BadRequest, "bytes that are not gzip follow its end")),
		gzipped(post("gzip, wrong checksum", withWrongChecksum(packed), BadRequest, "its checksum does not match")),
		gzipped(post("gzip within gzip", string(zipped([]byte(packed))), BadRequest, "line 1: must be a JSON object")),
		gzipped(post("bomb", string(bytes.Repeat(zipped(make([]byte, 1<<20)), 256)), TooLarge, "after decompression")),
		post("zstd", good, UnsupportedType, "This Content-Encoding is not supported").with("Content-Encoding", "zstd"),
		post("OTLP's Content-Type", good, UnsupportedType, "This Content-Type is not supported").with("Content-Type", "application/x-protobuf"),
		post("a form", good, UnsupportedType, "This Content-Type is not supported").with("Content-Type", "application/x-www-form-urlencoded"),
		post("HTML", good, UnsupportedType, "This Content-Type is not supported").with("Content-Type", "text/html"),
		post("unknown key", good, Unauthorized, "ingest key").with("Authorization", "Bearer svc_pk_unknown"),
		post("test key", good, OK, "").with("Authorization", "Bearer SVC_TEST"),
		post("test key, wrong body", "{", OK, "With an ingest key this request is refused: 400 ingest_bad_request: line 1: is not valid JSON").
			with("Authorization", "Bearer SVC_TEST"),
		post("attributes as text", good[:len(good)-1]+`,"attributes":"x","user_traits":"x"}`, BadRequest, "must be an object"),
		// of a repeated name the last value counts
		post("time in another form", strings.Replace(good, `{`, `{"timestamp":0,"start_time":0,`, 1), OK, "", "line"),
		{Name: e.path + ": GET", Method: http.MethodGet, Path: e.path, Want: NoMethod, Message: "POST"},
		{Name: e.path + ": no key", Path: e.path, NoKey: true, Body: []byte(good), Want: Unauthorized, Message: "No ingest key was sent"},
		{
			Name: e.path + ": body cut", Path: e.path, Body: []byte(good), Declared: len(good) + 5, Want: BadRequest,
			Message: "Content-Length declared",
		},
		{
			Name: e.path + ": 20 MiB and a byte", Path: e.path, Make: func() []byte { return noise(20<<20 + 1) }, Want: TooLarge,
			Message: "larger than 20 MiB",
		},
	}
	for i := range all {
		c := &all[i]
		if c.Header.Get("Authorization") != "" {
			c.NoKey = true
		}
		if e.path == "/v1/events" && strings.HasSuffix(c.Name, "attributes as text") {
			c.Want, c.Rejected = OK, 1
		}
	}
	for name, value := range map[string]string{"a number": "7", "a list": `["x"]`, "an object": "{}", "true": "true"} {
		c := post(e.field+" is "+name, good+"\n"+`{"`+e.field+`":`+value+`,"type":"click"}`, BadRequest, "line 2: "+e.field+" must be a text")
		if !e.refuses {
			c.Want, c.Rejected, c.Stored = OK, 1, []string{"line"}
		}
		all = append(all, c)
	}
	return all
}

// events returns faulty product events. The line is dropped, and the other lines are kept.
func (m maker) events() []Case {
	good := m.lineEndpoints()[0].line("kept")
	at := func(d time.Duration) string {
		return strconv.Quote(time.Unix(0, int64(m.now)).Add(d).UTC().Format(time.RFC3339))
	}
	var all []Case
	for _, c := range []struct{ name, line, message string }{
		{"no name", `{"user_id":"u"}`, "line 2: name"},
		{"empty name", `{"name":""}`, "line 2: name"},
		{"name of 129 bytes", `{"name":"` + strings.Repeat("x", 129) + `"}`, "line 2: name"},
		{"reserved name", `{"name":"$pageview"}`, "line 2: name"},
		{"unknown source", `{"name":"a","source":"browser"}`, "line 2: source must be server or mobile"},
		{"31 days back", `{"name":"a","timestamp":` + at(-31*24*time.Hour) + `}`, "line 2: timestamp is more than 30 days back"},
		{"25 hours ahead", `{"name":"a","timestamp":` + at(25*time.Hour) + `}`, "line 2: timestamp is more than 24 hours ahead"},
		{"the year 1969", `{"name":"a","timestamp":"1969-12-31T23:59:59Z"}`, "line 2: timestamp must be a time"},
		{"the year 9999", `{"name":"a","timestamp":"9999-01-01T00:00:00Z"}`, "line 2: timestamp must be a time"},
		{"time in words", `{"name":"a","timestamp":"yesterday"}`, "line 2: timestamp must be a time"},
		{"time as number", `{"name":"a","timestamp":1795239384}`, "line 2: timestamp must be a text"},
		{"attributes as list", `{"name":"a","attributes":["b"]}`, "line 2: attributes must be an object"},
		{"user as number", `{"name":"a","user_id":7}`, "line 2: user_id must be a text"},
	} {
		all = append(all, Case{
			Name: "/v1/events: " + c.name, Path: "/v1/events", Body: []byte(good + "\n" + c.line), Want: OK,
			Message: c.message, Rejected: 1, Stored: []string{"kept"},
		})
	}
	long := `{"name":"cut","url":"` + strings.Repeat("x", 3<<10) + `","attributes":{"k":"` + strings.Repeat("y", 2<<10) + `","` +
		strings.Repeat("z", 65) + `":"z"}}`
	return append(all, Case{
		Name: "/v1/events: beyond its limits", Path: "/v1/events", Body: []byte(long), Want: OK, Message: "was cut",
		Stored: []string{"cut"},
	})
}

// sessions returns faulty rows about sessions and their events.
func (m maker) sessions() []Case {
	var all []Case
	for _, c := range []struct{ path, name, line, message string }{
		{"meta", "no session", `{}`, "line 2: session_id is required"},
		{"meta", "session with a space", `{"session_id":"a b"}`, "line 2: session_id must be 1 to 128"},
		{"meta", "session of 129 bytes", `{"session_id":"` + strings.Repeat("x", 129) + `"}`, "line 2: session_id must be 1 to 128"},
		{"meta", "unknown status", `{"session_id":"s","status":"paused"}`, "line 2: status must be active or ended"},
		{"meta", "time in words", `{"session_id":"s","start_time":"now"}`, "line 2: start_time must be a time"},
		{"meta", "end as number", `{"session_id":"s","end_time":5}`, "line 2: end_time must be a text"},
		{"meta", "negative duration", `{"session_id":"s","duration_ms":-1}`, "line 2: duration_ms must be a number"},
		{
			"meta", "views beyond 32 bits", `{"session_id":"s","page_views":4294967296}`,
			"line 2: page_views must be a number from 0 to 4294967295",
		},
		{"meta", "flag in words", `{"session_id":"s","visitor_is_new":"yes"}`, "line 2: visitor_is_new must be 0 or 1"},
		{"meta", "traces as text", `{"session_id":"s","trace_ids":"5b8e"}`, "line 2: trace_ids must be a list of texts"},
		{"meta", "number among traces", `{"session_id":"s","trace_ids":[1]}`, "line 2: trace_ids must be a list of texts"},
		{"meta", "traits as list", `{"session_id":"s","user_traits":[]}`, "line 2: user_traits must be an object"},
		{"events", "no session", `{"type":"click"}`, "line 2: session_id is required"},
		{"events", "no type", `{"session_id":"s"}`, "line 2: type must be navigation"},
		{"events", "unknown type", `{"session_id":"s","type":"scroll"}`, "line 2: type must be navigation"},
		{"events", "time in words", `{"session_id":"s","type":"click","timestamp":"now"}`, "line 2: timestamp must be a time"},
		{"events", "number beyond 32 bits", `{"session_id":"s","type":"click","seq":4294967296}`, "line 2: seq must be a number"},
		{"events", "status beyond 16 bits", `{"session_id":"s","type":"network","net_status":65536}`, "line 2: net_status must be a number"},
		{
			"events", "duration in words", `{"session_id":"s","type":"network","net_duration_ms":"long"}`,
			"line 2: net_duration_ms must be a number",
		},
		{"events", "attributes as text", `{"session_id":"s","type":"custom","attributes":"a=b"}`, "line 2: attributes must be an object"},
	} {
		e := m.lineEndpoints()[1]
		if c.path == "events" {
			e = m.lineEndpoints()[2]
		}
		all = append(all, Case{
			Name: e.path + ": " + c.name, Path: e.path, Body: []byte(e.line("lost") + "\n" + c.line), Want: BadRequest,
			Message: c.message,
		})
	}
	old := time.Unix(0, int64(m.now)).AddDate(0, -2, 0).UTC().Format(time.DateTime)
	return append(
		all,
		Case{
			Name: "session of two months ago", Path: "/v1/sessionReplays/meta", Body: []byte(`{"session_id":"s","start_time":"` + old + `"}`),
			Want: OK, Message: "line 1: start_time is more than 30 days back", Rejected: 1,
		},
		Case{
			Name: "session event of two months ago", Path: "/v1/sessionEvents",
			Body: []byte(`{"session_id":"s","type":"click","timestamp":"` + old + `"}`), Want: OK,
			Message: "line 1: timestamp is more than 30 days back", Rejected: 1,
		},
	)
}

// chunks returns cases for parts of recordings.
func (m maker) chunks() []Case {
	const events = `[{"type":4,"data":{"href":"https://shop.example"},"timestamp":1},{"type":2,"data":{},"timestamp":2}]`
	packed := string(zipped([]byte(events)))
	post := func(name, body string, want Outcome, message string, pairs ...string) Case {
		c := Case{Name: blobPath + ": " + name, Path: blobPath, Body: []byte(body), Want: want, Message: message}
		return c.with("x-svc-session-id", "recorded", "x-svc-chunk-seq", "0", "Content-Type", "application/octet-stream").with(pairs...)
	}
	holds := func(name, content, message string) Case {
		return post("holds "+name, string(zipped([]byte(content))), BadRequest, "The chunk does not hold a JSON array of rrweb events: "+message)
	}
	right := post("right", packed, OK, "")
	right.Stored = []string{"recorded"}
	without := func(header string) Case {
		c := post("without "+header, packed, BadRequest, header+" is required")
		c.Header.Del(header)
		return c
	}
	return []Case{
		right,
		without("x-svc-session-id"), without("x-svc-chunk-seq"),
		post("session with a space", packed, BadRequest, "x-svc-session-id must be 1 to 128", "x-svc-session-id", "a b"),
		post("session of 129 bytes", packed, BadRequest, "x-svc-session-id must be 1 to 128", "x-svc-session-id", strings.Repeat("x", 129)),
		post("number in words", packed, BadRequest, "x-svc-chunk-seq must be a whole number", "x-svc-chunk-seq", "first"),
		post("negative number", packed, BadRequest, "x-svc-chunk-seq must be a whole number", "x-svc-chunk-seq", "-1"),
		post("number beyond 32 bits", packed, BadRequest, "x-svc-chunk-seq must be a whole number", "x-svc-chunk-seq", "4294967296"),
		post("checkpoint in words", packed, BadRequest, "x-svc-is-checkpoint must be 1, true, 0 or false", "x-svc-is-checkpoint", "maybe"),
		post("count with a fraction", packed, BadRequest, "x-svc-event-count must be a whole number", "x-svc-event-count", "1.5"),
		post("duration in words", packed, BadRequest, "x-svc-duration-ms must be a whole number", "x-svc-duration-ms", "5s"),
		post("nothing", "", NotGzip, "The body is not a gzip stream"),
		post("not packed", events, NotGzip, "no gzip header"),
		post("zlib", "\x78\x9c"+packed[10:], NotGzip, "no gzip header"),
		post("cut", packed[:len(packed)-9], NotGzip, "it ends too early"),
		post("header alone", packed[:10], NotGzip, "it ends too early"),
		post("a byte after", packed+"x", NotGzip, "bytes that are not gzip follow its end"),
		post("rubbish after", packed+"rubbish of more than ten bytes", NotGzip, "bytes that are not gzip follow its end"),
		post("wrong checksum", withWrongChecksum(packed), NotGzip, "its checksum does not match"),
		post("two files", packed+packed, BadRequest, "at byte "+strconv.Itoa(len(events))),
		post("gzip within gzip", string(zipped([]byte(packed))), BadRequest, "The chunk does not hold a JSON array"),
		holds("nothing", "", "it ends before the array does"),
		holds("an object", `{"type":4}`, "at byte 0"),
		holds("a text", `"events"`, "at byte 0"),
		holds("numbers", "[1,2]", "at byte 1"),
		holds("an array within the array", "[[]]", "at byte 1"),
		holds("half an array", events[:len(events)-1], "it ends before the array does"),
		holds("half an event", events[:20], "it ends before the array does"),
		holds("rubbish after the array", events+"x", "at byte "+strconv.Itoa(len(events))),
		holds("a comma at the end", `[{"type":4},]`, "at byte 12"),
		holds("lines", `{"type":4}`+"\n"+`{"type":2}`, "at byte 0"),
		holds("a bad number", `[{"type":04}]`, "at byte 10"),
		holds("a bad escape", `[{"type":"\x"}]`, "at byte 11"),
		holds("what is nested without end", `[{"a":`+strings.Repeat("[", 1_000_000), ""),
		post("JSON", packed, UnsupportedType, "This Content-Type is not supported", "Content-Type", "application/json"),
		post("text", packed, UnsupportedType, "This Content-Type is not supported", "Content-Type", "text/plain"),
		post("zstd", packed, UnsupportedType, "This Content-Encoding is not supported", "Content-Encoding", "zstd"),
		{Name: blobPath + ": GET", Method: http.MethodGet, Path: blobPath, Want: NoMethod, Message: "POST"},
		{Name: blobPath + ": no key", Path: blobPath, NoKey: true, Body: []byte(packed), Want: Unauthorized, Message: "No ingest key was sent"},
		{
			Name: blobPath + ": 20 MiB and a byte", Path: blobPath, Header: http.Header{"X-Svc-Session-Id": {"s"}, "X-Svc-Chunk-Seq": {"0"}},
			Make: func() []byte { return noise(20<<20 + 1) }, Want: TooLarge, Message: "larger than 20 MiB",
		},
		{
			Name: blobPath + ": more than 1 GiB of white space", Path: blobPath,
			Header: http.Header{"X-Svc-Session-Id": {"s"}, "X-Svc-Chunk-Seq": {"0"}},
			Make: func() []byte {
				return join(zipped([]byte("[")), bytes.Repeat(zipped(bytes.Repeat([]byte(" "), 16<<20)), 65))
			}, Want: TooLarge, Message: "after decompression",
		},
	}
}
