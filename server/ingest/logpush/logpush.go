// Package logpush converts the pushes of a CDN into an OTLP logs request. A push is NDJSON, with one request of the CDN's clients
// on each line. The result passes through the same walk, limits and durable queue as the OTLP logs of any exporter. A change of
// the mapping here therefore does not affect records that wait in the queue.
//
// Fields for which OpenTelemetry has names get these names. All others are kept as cloudflare.<name in snake case>. Null and
// empty texts are left out, because the CDN writes them for missing values.
package logpush

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
)

// Source is the origin of the lines.
type Source struct {
	// ServiceName becomes the attribute service.name of every record. ZoneName is the domain whose requests the CDN logs.
	ServiceName, ZoneName string
}

// dataset is the only dataset that is read.
const dataset = "http_requests"

// Lines is the result for a body.
type Lines struct {
	// Request is an OTLP logs request with the accepted lines, in their order.
	Request []byte
	// Result counts the accepted lines and gives the problems of the others.
	Result activity.Result
}

// Ping is the body that the CDN sends to test whether it may push here. It contains no data to store.
const Ping = `{"content":"tests"}`

// Convert reads a body. The result depends only on the arguments. Records without a time get the time received, in nanoseconds
// since 1970. An error refuses the request. It is an *activity.Error, or otlp.ErrTooLarge if the OTLP request would be larger
// than limit. Well-formed lines that cannot be stored are counted in the result.
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

// malformed returns the reason why a line refuses the request, or an empty text if the line is a JSON object. Bytes that are not
// UTF-8 do not refuse it; they are replaced later. Any client of the customer's site chooses these bytes, and must not be able to
// have the site's log refused.
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

// converter writes the request. It lives for one body.
type converter struct {
	received int64
	limit    int
	out      []byte
	result   activity.Result

	line int
	// bad is the first unreadable field of the line.
	bad *activity.Error
	// names caches the attribute names of fields.
	names map[string]string
}

// begin writes the resource and the scope that all records share. It returns the positions for the lengths of the messages around
// the records.
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
			c.out = appendText(c.out, a[0])
			c.out, value = open(c.out, 2)
			c.out = shut(shut(appendText(c.out, a[1]), value), kv)
		}
	}
	c.out = shut(c.out, at)
	c.out, scope = keepLength(appendTag(c.out, 2))
	c.out, at = open(c.out, 1)
	c.out = shut(appendText(c.out, "cloudflare."+dataset), at)
	return resource, scope
}

// reject drops a well-formed line and adds the reason to the result.
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

// storable returns the reason why a time cannot be stored, or an empty text if it can.
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
