package logpush

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/svc-observability/svc/server/ingest/activity"
)

// request holds the fields of a line that are read before the record can be written. Missing fields are nil.
type request struct {
	start, end                      []byte
	status                          []byte
	method, host                    []byte
	uri, path, protocol             []byte
	requestHeaders, responseHeaders []byte
	// known is set if the line has any field that identifies the dataset.
	known bool
}

// Fields that responses name.
const (
	fieldStart  = "EdgeStartTimestamp"
	fieldEnd    = "EdgeEndTimestamp"
	fieldStatus = "EdgeResponseStatus"
)

// take keeps a field that is read before the record is written. If it is repeated, the last value counts.
func (r *request) take(name string, value []byte) {
	switch name {
	case fieldEnd:
		r.end = value
	case "RayID":
	default:
		to := r.field(name)
		if to == nil {
			return
		}
		*to = value
	}
	r.known = true
}

// field returns the place for a field that is not an attribute by itself, and nil for all other fields.
func (r *request) field(name string) *[]byte {
	switch name {
	case fieldStart:
		return &r.start
	case fieldStatus:
		return &r.status
	case "ClientRequestMethod":
		return &r.method
	case "ClientRequestHost":
		return &r.host
	case "ClientRequestURI":
		return &r.uri
	case "ClientRequestPath":
		return &r.path
	case "ClientRequestProtocol":
		return &r.protocol
	case "RequestHeaders":
		return &r.requestHeaders
	case "ResponseHeaders":
		return &r.responseHeaders
	default:
		return nil
	}
}

// OTLP severities.
const (
	severityInfo  = 9
	severityWarn  = 13
	severityError = 17
)

// record appends the log record of a line, or rejects the line.
func (c *converter) record(line []byte) {
	var r request
	for name, value := range members(line) {
		if nothing(value) {
			value = nil
		}
		r.take(string(text(name)), value)
	}
	if !r.known {
		c.reject(&activity.Error{Line: c.line, Reason: "has none of the fields of an " + dataset + " record"})
		return
	}
	at, hasTime := c.time(&r)
	severity := c.severity(&r)
	if c.bad != nil {
		c.reject(c.bad)
		return
	}
	c.result.Accepted++
	if !hasTime {
		note(&c.result.Warnings, &activity.Error{Line: c.line, Field: fieldStart, Reason: "is missing: the time of receipt stands for it"})
	}
	b, message := open(c.out, 2)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 1, protowire.Fixed64Type), uint64(at))
	b = protowire.AppendVarint(protowire.AppendTag(b, 2, protowire.VarintType), severity)
	b = r.append(b)
	b = c.appendFields(b, line)
	b = appendHeaders(b, "http.request.header.", "RequestHeaders", r.requestHeaders)
	b = appendHeaders(b, "http.response.header.", "ResponseHeaders", r.responseHeaders)
	if trace, span := r.traceparent(); trace != nil {
		b = protowire.AppendBytes(appendTag(b, 9), trace)
		b = protowire.AppendBytes(appendTag(b, 10), span)
	}
	c.out = shut(b, message)
}

// append appends the record's body, and the attributes that are made from these fields.
func (r *request) append(b []byte) []byte {
	method, status := scalar(r.method), scalar(r.status)
	host, port := splitPort(scalar(r.host))
	path, query := splitURI(scalar(r.uri))
	if p := scalar(r.path); len(p) > 0 {
		path = p
	}
	b, body := open(b, 5)
	b, summary := open(b, 1)
	b = shut(shut(appendSummary(b, method, host, path, status), summary), body)
	b = appendMethod(b, method)
	b = appendTextAttribute(b, "server.address", host)
	b = appendNumberAttribute(b, "server.port", port)
	b = appendTextAttribute(b, "url.path", path)
	b = appendTextAttribute(b, "url.query", query)
	b = appendNumberAttribute(b, "http.response.status_code", status)
	return appendProtocol(b, scalar(r.protocol))
}

// appendSummary appends the text that a reader sees in a list: the request, and the status of the response.
func appendSummary(b, method, host, path, status []byte) []byte {
	from := len(b)
	part := func(texts ...[]byte) {
		if all := bytes.Join(texts, nil); len(all) > 0 {
			if len(b) > from {
				b = append(b, ' ')
			}
			b = append(b, all...)
		}
	}
	part(method)
	part(host, path)
	part(status)
	return b
}

// severity derives the severity from the status: an error from 500 on, a warning from 400 on.
func (c *converter) severity(r *request) uint64 {
	if r.status == nil {
		return severityInfo
	}
	status, err := strconv.ParseUint(string(scalar(r.status)), 10, 16)
	switch {
	case err != nil || status > 999:
		c.refuse(fieldStatus, "must be an HTTP status")
		return 0
	case status >= 500:
		return severityError
	case status >= 400:
		return severityWarn
	default:
		return severityInfo
	}
}

// refuse records that a field cannot be read. The first such field of a line counts.
func (c *converter) refuse(field, reason string) {
	if c.bad == nil {
		c.bad = &activity.Error{Line: c.line, Field: field, Reason: reason}
	}
}

// traceparent reads the header of W3C Trace Context, which links the record to a span of the site itself.
func (r *request) traceparent() (traceID, spanID []byte) {
	if r.requestHeaders == nil || r.requestHeaders[0] != '{' {
		return nil, nil
	}
	for name, value := range members(r.requestHeaders) {
		if !bytes.EqualFold(text(name), []byte("traceparent")) {
			continue
		}
		parts := bytes.Split(scalar(value), []byte("-"))
		if len(parts) < 4 || len(parts[0]) != 2 || string(parts[0]) == "ff" || len(parts[1]) != 32 || len(parts[2]) != 16 {
			return nil, nil
		}
		trace, err := hex.AppendDecode(nil, parts[1])
		span, err2 := hex.AppendDecode(nil, parts[2])
		if err != nil || err2 != nil {
			return nil, nil
		}
		return trace, span
	}
	return nil, nil
}
