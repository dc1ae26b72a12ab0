// Package logpush turns what a CDN pushes, NDJSON with one request of the CDN's clients to a line, into an OTLP logs request. From there
// on it is what any exporter might have sent: the walk, its limits and the durable queue are those of OTLP logs. A record that waits in
// the queue is therefore not touched by a change of the mapping here.
//
// Fields that OpenTelemetry has names for get them; all others are kept as cloudflare.<name in snake case>. Null and empty texts, which
// the CDN writes where it has no value, are left out.
package logpush

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
)

// Source is where lines come from.
type Source struct {
	// ServiceName is service.name of every record, ZoneName the zone (the domain) at the CDN.
	ServiceName, ZoneName string
}

// dataset is the one dataset that is read.
const dataset = "http_requests"

// Lines is what became of a body.
type Lines struct {
	// Request is an OTLP logs request with the accepted lines, in their order.
	Request []byte
	// Result counts them, and says what is wrong with the others.
	Result activity.Result
}

// Ping is what the CDN sends to find out whether it may push here. There is nothing to store.
const Ping = `{"content":"tests"}`

// Convert reads a body. The result depends on nothing but the arguments; received, in nanoseconds since 1970, is the time of records
// that have none. Errors are *activity.Error, which refuse the request, and otlp.ErrTooLarge when the OTLP request would be larger than
// limit. Lines that are well-formed and cannot be stored are counted in the result.
func Convert(body []byte, source Source, received int64, limit int) (Lines, error) {
	if isPing(body) {
		return Lines{}, nil
	}
	c := &converter{received: received, limit: limit, names: map[string]string{}}
	c.out = make([]byte, 0, min(len(body)+len(body)/2+1024, limit))
	resource, scope := c.begin(source)
	for line := 1; len(body) > 0; line++ {
		text, rest, _ := bytes.Cut(body, []byte("\n"))
		body = rest
		if text = bytes.TrimSpace(text); len(text) == 0 {
			continue
		}
		if reason := malformed(text); reason != "" {
			return Lines{}, &activity.Error{Line: line, Reason: reason}
		}
		c.line, c.bad = line, nil
		c.record(text)
		if len(c.out) > limit {
			return Lines{}, otlp.ErrTooLarge
		}
	}
	if c.result.Accepted == 0 {
		return Lines{Result: c.result}, nil
	}
	setLength(c.out, scope)
	setLength(c.out, resource)
	return Lines{Request: c.out, Result: c.result}, nil
}

func isPing(body []byte) bool {
	var b bytes.Buffer
	return len(body) < 64 && json.Compact(&b, body) == nil && b.String() == Ping
}

// malformed is why a line refuses the request; empty when it is a JSON object. Bytes that are not UTF-8 are replaced later instead: they
// are chosen by whoever calls the customer's site, who must not be able to have its log refused.
func malformed(line []byte) string {
	if line[0] != '{' {
		return "must be a JSON object: the body is NDJSON, one object to a line"
	}
	if json.Valid(line) {
		return ""
	}
	var v json.RawMessage
	if err := json.Unmarshal(line, &v); err != nil {
		return "is not valid JSON: " + strings.TrimPrefix(err.Error(), "json: ")
	}
	return "is not valid JSON"
}

// converter writes the request. Its memory is that of one body.
type converter struct {
	received int64
	limit    int
	out      []byte
	result   activity.Result

	line int
	// bad is the first field of the line that cannot be read.
	bad *activity.Error
	// names are the attributes of fields met before.
	names map[string]string
}

// begin writes the resource and the scope that all records share, and returns where the lengths of the messages around the records are
// to be written.
func (c *converter) begin(source Source) (resource, scope int) {
	c.out, resource = keepLength(appendTag(c.out, 1))
	var at int
	c.out, at = open(c.out, 1)
	for _, a := range [][2]string{
		{"service.name", source.ServiceName},
		{"cloud.provider", "cloudflare"},
		{"cloudflare.zone_name", source.ZoneName},
		{"cloudflare.dataset", dataset},
	} {
		if a[1] != "" {
			var kv, value int
			c.out, kv = open(c.out, 1)
			c.out = appendText(c.out, 1, a[0])
			c.out, value = open(c.out, 2)
			c.out = shut(shut(appendText(c.out, 1, a[1]), value), kv)
		}
	}
	c.out = shut(c.out, at)
	c.out, scope = keepLength(appendTag(c.out, 2))
	c.out, at = open(c.out, 1)
	c.out = shut(appendText(c.out, 1, "cloudflare."+dataset), at)
	return resource, scope
}

// reject drops the line, which is well-formed, and says why in the result.
func (c *converter) reject(e *activity.Error) {
	c.result.Rejected++
	note(&c.result.Reasons, e)
}

func note(notes *[]activity.Note, e *activity.Error) {
	for i := range *notes {
		if n := &(*notes)[i]; n.Field == e.Field && n.Problem == e.Reason {
			n.Count++
			return
		}
	}
	*notes = append(*notes, activity.Note{Line: e.Line, Field: e.Field, Problem: e.Reason, Count: 1})
}

const (
	retention = limits.LogRetention
	maxAhead  = limits.ClockAhead
)

// storable is why a time cannot be stored, empty when it can.
func (c *converter) storable(nano int64) string {
	switch {
	case nano < c.received-int64(retention):
		return "is more than " + limits.Days(retention) + " back, which is the retention"
	case nano > c.received+int64(maxAhead):
		return "is more than " + limits.Lasts(maxAhead) + " ahead"
	default:
		return ""
	}
}
