// Package corpus is a table of requests that are wrong in one way each, with what the gateway has to answer and what it has to store:
// nothing, or exactly the valid rest. It is sent over real connections, to a gateway in a test or to a whole server.
package corpus

import (
	"net/http"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Door is the way that a request goes.
type Door int

// Doors.
const (
	HTTP Door = iota
	GRPC
)

// Case is one request and what becomes of it.
type Case struct {
	Name   string
	Door   Door
	Signal otlp.Signal

	// Method and Path are POST and the signal's path when empty. {connector} in a path is the target's connector with its secret.
	Method, Path string
	// Header is sent besides the key, Host and Content-Length. {key} in a value is the target's key.
	Header http.Header
	// NoKey leaves the header with the key out.
	NoKey bool
	Body  []byte
	// Make makes the body when it is large, so that one is in memory at a time.
	Make func() []byte
	// Raw is sent in place of everything else over HTTP. Shut closes the writing end after it.
	Raw  string
	Shut bool
	// Chunked sends the body without Content-Length, Declared with another one than it has, Frame as it is over gRPC: with a prefix of its own.
	Chunked  bool
	Declared int
	Frame    bool
	// Encoding is grpc-encoding, Compressed the flag of the gRPC message.
	Encoding   string
	Compressed bool

	Want Outcome
	// Message is a part of the error message, or of the partial success.
	Message  string
	Rejected int64
	// Stored are the names of the items stored: of spans and metrics their name, of log records their body.
	Stored []string
}

// Outcome is an answer: status and code of HTTP, status of gRPC and the tag that both have. Answers that net/http or gRPC itself gives, before
// or below the gateway, have no code and no tag.
type Outcome struct {
	Status int
	Code   string
	GRPC   codes.Code
	Tag    string
}

// Outcomes of requests, by the error tags of the contract (`@svc/ingest/…` in errors.proto).
var (
	OK              = Outcome{200, "", codes.OK, ""}
	Unauthorized    = Outcome{401, "ingest_unauthorized", codes.Unauthenticated, "@svc/ingest/Unauthorized"}
	TooLarge        = Outcome{413, "ingest_payload_too_large", codes.ResourceExhausted, "@svc/ingest/PayloadTooLarge"}
	UnsupportedType = Outcome{415, "ingest_unsupported_media_type", codes.Unimplemented, "@svc/ingest/UnsupportedMediaType"}
	BadRequest      = Outcome{400, "ingest_bad_request", codes.InvalidArgument, "@svc/ingest/BadRequest"}
	NoRoute         = Outcome{404, "ingest_route_not_found", codes.Unimplemented, "@svc/ingest/RouteNotFound"}
	NoMethod        = Outcome{405, "ingest_method_not_allowed", codes.Unimplemented, "@svc/ingest/MethodNotAllowed"}
)

// below is an answer of net/http or gRPC itself.
func below(status int, code codes.Code) Outcome { return Outcome{Status: status, GRPC: code} }

// Cases is the whole corpus. The items that are to be stored are of about now.
func Cases(now time.Time) []Case {
	m := maker{now: uint64(now.UnixNano())}
	return slices.Concat(m.utf8(), m.wire(), m.json(), m.compression(), m.lengths(), m.headers(), m.calls(), m.partial(), m.logpush(), m.activity(), m.huge())
}

// Load makes a large body; the caller drops it by setting Body to nil.
func (c *Case) Load() {
	if c.Make != nil {
		c.Body = c.Make()
	}
}

// maker makes cases.
type maker struct{ now uint64 }

func signals() []otlp.Signal { return []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} }

// both is a case for each door; the body is protobuf.
func both(c Case) []Case {
	c.Name = c.Signal.String() + " " + c.Name
	g := c
	g.Door, g.Name = GRPC, g.Name+" over gRPC"
	return []Case{c, g}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }
