package corpus

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// lengths returns bodies whose length differs from the length that the request states, and requests whose framing two programs could
// read in two ways. The listener refuses these.
func (m maker) lengths() []Case {
	span := request(m.item(otlp.Traces, "measured"))
	const head = "POST /v1/traces HTTP/1.1\r\nHost: ingest\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n"
	declared := fmt.Sprintf("Content-Length: %d\r\n", len(span))
	raw := func(name, request string, want Outcome, message string) Case {
		return Case{Name: "length: " + name, Raw: request, Shut: strings.Contains(message, "to its end"), Want: want, Message: message}
	}
	stored := func(c Case) Case {
		c.Stored = []string{"measured"}
		return c
	}
	chunked := fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(span), span)
	return []Case{
		{
			Name: "Content-Length above the body", Body: span, Declared: len(span) + 50, Want: BadRequest,
			Message: fmt.Sprintf("The body ended after %d bytes, but Content-Length declared %d", len(span), len(span)+50),
		},
		{Name: "Content-Length below the body", Body: span, Declared: len(span) - 5, Want: BadRequest, Message: "The body is not valid OTLP"},
		{Name: "Content-Length of 20 MiB and a byte, nothing sent", Declared: 20<<20 + 1, Want: TooLarge, Message: "larger than 20 MiB"},
		{Name: "Content-Length of an exabyte", Body: span, Declared: 1 << 60, Want: TooLarge, Message: "larger than 20 MiB"},
		{Name: "Content-Length of 20 MiB, few sent", Body: span, Declared: 20 << 20, Want: BadRequest, Message: "Content-Length declared"},
		raw("none, no body", head+"\r\n", OK, ""),
		raw("twice the same", head+declared+declared+"\r\n"+string(span), below(400, 0), ""),
		raw("twice, different", head+declared+"Content-Length: 5\r\n\r\n"+string(span), below(400, 0), ""),
		raw("negative", head+"Content-Length: -1\r\n\r\n"+string(span), below(400, 0), ""),
		raw("in words", head+"Content-Length: ten\r\n\r\n"+string(span), below(400, 0), ""),
		raw("beyond 64 bits", head+"Content-Length: 99999999999999999999\r\n\r\n"+string(span), below(400, 0), ""),
		raw("and chunked", head+"Content-Length: 5\r\n"+chunked, below(400, 0), ""),
		stored(raw("chunked", head+chunked, OK, "")),
		raw("transfer encoding unknown", head+"Transfer-Encoding: gzip\r\n\r\n"+string(span), below(501, 0), ""),
		raw("chunk cut", head+"Transfer-Encoding: chunked\r\n\r\n40\r\nabc", BadRequest, "could not be read to its end"),
		raw("chunk without its length", head+"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", BadRequest, "could not be read to its end"),
		raw("chunk of 16 EiB", head+"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nabc", BadRequest, "could not be read to its end"),
		raw("last chunk missing", head+fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", len(span), span), BadRequest,
			"could not be read to its end"),
		raw("header without colon", head+"Nonsense\r\n\r\n", below(400, 0), ""),
		raw("header folded", head+"X-A: b\r\n c\r\n"+declared+"\r\n"+string(span), below(400, 0), ""),
		raw("no Host", strings.Replace(head, "Host: ingest\r\n", "", 1)+declared+"\r\n"+string(span), below(400, 0), ""),
		raw("HTTP/3.0", strings.Replace(head, "HTTP/1.1", "HTTP/3.0", 1)+declared+"\r\n"+string(span), below(400, 0), ""),
		raw("no HTTP", "hello\r\n\r\n", below(400, 0), ""),
		raw("binary", "\x16\x03\x01\x00\xf4\x01\x00\x00\xf0\r\n\r\n", below(400, 0), ""),
	}
}
