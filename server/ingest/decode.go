package ingest

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// decode fills set from the body. It returns the payload for the queue, which lies in the body or in work. It returns a decoder
// slot at the end of the decoding. It keeps a place in the queue for large bodies until the columns are released too.
func (g *Gateway) decode(
	ctx context.Context, e *export, header *RecordHeader, work *buffer, set *blocks.Set, permit *decodePermit,
) (payload []byte, fail *apierr.Error) {
	defer permit.releaseSlot()
	if e.kind == activity.SessionReplayEvents {
		return g.decodeChunk(ctx, e, header, set, permit)
	}
	raw := e.body
	if e.gzip {
		inflated := g.buffers.get(e.key.share())
		defer g.release(inflated)
		if fail := g.gunzip(ctx, inflated, e.body, permit); fail != nil {
			return nil, fail
		}
		raw = inflated.b
	}
	g.inflated(e, len(raw))
	if len(raw) > g.limits.Decompressed {
		return nil, g.expandsTooFar()
	}
	permit.grown = len(raw) > freeFrom
	request, fail := g.walk(ctx, e, header, raw, set, permit.bound(smallColumns, g.limits.Columns))
	if fail != nil && fail.Tag == apierr.IngestPayloadTooLarge && !permit.large && g.limits.Columns > smallColumns {
		if fail := permit.promote(ctx, len(raw)); fail != nil {
			return nil, fail
		}
		request, fail = g.walk(ctx, e, header, raw, set, g.limits.Columns)
	}
	if fail != nil {
		return nil, fail
	}
	permit.grown = permit.grown || set.Bytes() > freeFrom
	switch {
	case e.gzip && !e.json && e.push == nil:
		header.Encoding, payload = EncodingGzip, e.body
	case len(request) >= packFrom && !e.discard:
		work.b = g.packer.EncodeAll(request, work.b[:0])
		header.Encoding, payload = EncodingZstd, work.b
	default:
		payload = request
	}
	return payload, nil
}

// walk fills set from a decompressed body, up to the given bytes of columns. It returns the body in the form for the queue: lines as they
// came, everything else as an OTLP request in protobuf.
func (g *Gateway) walk(
	ctx context.Context, e *export, header *RecordHeader, raw []byte, set *blocks.Set, columns int,
) (request []byte, fail *apierr.Error) {
	stamp := header.stamp(columns)
	var err error
	if (e.kind != 0 || e.push != nil) && len(bytes.TrimSpace(raw)) == 0 {
		return nil, apierr.New(apierr.IngestBadRequest, "The body is empty. Send NDJSON: one JSON object to a line.")
	}
	if e.kind != 0 {
		e.lines, err = activity.Walk(ctx, e.kind, raw, &stamp, set)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil, g.interrupted(ctx)
		case err != nil:
			return nil, g.invalid(err, "lines")
		}
		return raw, nil
	}
	if e.json { // an empty body is an empty request in protobuf, but not in JSON
		if raw, err = otlp.FromJSON(e.signal, raw); err != nil {
			return nil, g.invalid(err, "items")
		}
	}
	if e.push != nil {
		if raw, fail = g.convert(e, raw, header.ReceivedUnixNano, columns); fail != nil {
			return nil, fail
		}
	}
	if e.result, err = otlp.Walk(e.signal, raw, &stamp, set); err != nil {
		return nil, g.invalid(err, "items")
	}
	if e.push != nil {
		e.result.Rejected += e.lines.Rejected
	}
	return raw, nil
}

// decodeChunk checks a chunk of a recording and fills set with the unchanged chunk.
func (g *Gateway) decodeChunk(
	ctx context.Context, e *export, header *RecordHeader, set *blocks.Set, permit *decodePermit,
) (payload []byte, _ *apierr.Error) {
	chunk, err := activity.ParseChunk(e.headers)
	if err != nil {
		return nil, g.invalid(err, "lines")
	}
	size, fail := g.inflatedSize(ctx, e.body, permit)
	if fail != nil {
		return nil, fail
	}
	g.inflated(e, size)
	chunk.ByteSize = uint64(size)
	header.Chunk = chunk
	stamp := header.stamp(g.limits.Columns)
	chunk.Append(e.body, &stamp, set)
	e.lines = activity.Result{Accepted: 1}
	return e.body, nil
}

// inflated counts the bytes of a body.
func (g *Gateway) inflated(e *export, size int) {
	e.decoded = size
	series := g.metrics.of(e)
	series.received.Add(float64(len(e.body)))
	series.inflated.Add(float64(size))
}

// invalid is the answer to a body that is not OTLP, and to lines or headers that cannot be read. Errors of otlp and activity name the
// field and are written for the sender. The unit is "items" or "lines".
func (g *Gateway) invalid(err error, unit string) *apierr.Error {
	var request *otlp.Error
	var line *activity.Error
	switch {
	case errors.Is(err, otlp.ErrTooLarge):
		hint := ""
		if unit == "items" {
			hint = ", where the attributes of resource and scope count with each item"
		}
		return apierr.New(apierr.IngestPayloadTooLarge, "The "+unit+" of this request take more than "+limits.Size(g.limits.Columns)+
			" in storage"+hint+". Send fewer "+unit+" in a request.", apierr.Cause(err))
	case errors.As(err, &request):
		return badField("The body is not valid OTLP: "+request.Error(), request.Path, request.Reason, err)
	case errors.As(err, &line):
		return badField(line.Error(), line.Field, line.Reason, err)
	default:
		return apierr.New(apierr.IngestInternal, "The request failed on our side. It was not stored.", apierr.Cause(err))
	}
}

func badField(message, field, reason string, cause error) *apierr.Error {
	fail := apierr.New(apierr.IngestBadRequest, sentence(message), apierr.Cause(cause))
	fail.Param = field
	fail.Violations = []apierr.Violation{{Field: field, Message: reason}}
	return fail
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
