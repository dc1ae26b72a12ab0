// Package corpus is a table of requests with one fault each. Each case has the response that the gateway must give and the items
// that it must store: none, or exactly the valid rest. The cases are sent over real connections, to a gateway in a test or to a
// whole server.
package corpus

import (
	"net/http"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Door is the protocol of a request.
type Door int

// The doors.
const (
	HTTP Door = iota
	GRPC
)

// Case is a request and its expected result.
type Case struct {
	Name   string
	Door   Door
	Signal otlp.Signal

	// Method and Path default to POST and the signal's path. {connector} in a path stands for the target's connector with its
	// secret.
	Method, Path string
	// Header is sent in addition to the key, Host and Content-Length. {key} in a value stands for the target's key.
	Header http.Header
	// NoKey omits the header with the key.
	NoKey bool
	Body  []byte
	// Make makes a large body when it is needed, so that only one is in memory at a time.
	Make func() []byte
	// Raw replaces the whole request over HTTP. Shut closes the writing end after it.
	Raw  string
	Shut bool
	// Chunked sends the body without Content-Length. Declared sends it with another Content-Length. Frame sends it unchanged over
	// gRPC, including its own prefix.
	Chunked  bool
	Declared int
	Frame    bool
	// Encoding is the grpc-encoding header. Compressed is the flag of the gRPC message.
	Encoding   string
	Compressed bool

	Want Outcome
	// Message is a part of the error message or of the partial success.
	Message  string
	Rejected int64
	// Stored lists the stored items: spans and metrics by name, log records by body.
	Stored []string
}

// Outcome is a response: status and code of HTTP, status of gRPC, and the tag that both have. Responses that net/http or gRPC
// gives before the gateway have no code and no tag.
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

// below returns the outcome of a response that net/http or gRPC gives by itself.
func below(status int, code codes.Code) Outcome { return Outcome{Status: status, GRPC: code} }

// Cases returns the whole corpus. The items to store have a time close to now.
func Cases(now time.Time) []Case {
	m := maker{now: uint64(now.UnixNano())}
	return slices.Concat(m.utf8(), m.wire(), m.json(), m.compression(), m.lengths(), m.headers(), m.calls(), m.partial(), m.logpush(),
		m.activity(), m.huge())
}

// Load makes a large body. The caller drops it by setting Body to nil.
func (c *Case) Load() {
	if c.Make != nil {
		c.Body = c.Make()
	}
}

// maker makes the cases.
type maker struct{ now uint64 }

func signals() []otlp.Signal { return []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} }

// both returns a case for each door. The body is protobuf.
func both(c Case) []Case {
	c.Name = c.Signal.String() + " " + c.Name
	g := c
	g.Door, g.Name = GRPC, g.Name+" over gRPC"
	return []Case{c, g}
}

func jsonHeader() http.Header { return http.Header{"Content-Type": {"application/json"}} }
