package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// export is one OTLP request on the path that all doors share.
type export struct {
	receipt
	signal  otlp.Signal
	door    door
	key     Key
	discard bool
	// body is the body as received: protobuf or JSON, possibly gzip.
	body []byte
	// held is the buffer that body lies in.
	held *buffer
	gzip bool
	json bool
	// push is set when the body holds lines of a log push.
	push *push
}

// packFrom is the size from which a body that arrived uncompressed is compressed for the queue. For a smaller record the sync
// costs more than the writing.
const packFrom = 256 << 10

// store takes a body from validation to the durable queue.
func (g *Gateway) store(ctx context.Context, e *export) (result otlp.Result, fail *apierr.Error) {
	var set *blocks.Set
	var permit *decodePermit
	defer func() { permit.release() }()
	defer func() {
		if p := recover(); p != nil {
			// The set may be half-filled, so it is not returned to the pool.
			set = nil
			result, fail = otlp.Result{}, g.panicked(ctx, e.signal, p)
			return
		}
		g.sets.Put(set)
		set = nil
	}()

	header := RecordHeader{Signal: e.signal, Encoding: EncodingNone, Origin: e.key.Origin, ReceivedUnixNano: g.now().UnixNano()}
	header.NoProductEvents = e.key.Signals != nil && !slices.Contains(e.key.Signals, activity.ProductEvents.String())
	// A request takes memory for decoding only after it has a slot.
	e.gzip = e.gzip && (len(e.body) > 0 || e.door == doorGRPC) // over HTTP an empty body is empty in any encoding
	if permit, fail = g.acquireDecoder(ctx, e.key.Org, len(e.body), e.expected(g.limits.Decompressed)); fail != nil {
		return otlp.Result{}, fail
	}
	set = g.sets.Get(purposeOf(e.signal))
	work := g.buffers.get(e.key.Org)
	defer g.release(work)
	e.sent = len(e.body)
	payload, result, fail := g.decode(ctx, e, &header, work, set, permit)
	if fail != nil {
		if fail.Tag == apierr.IngestPayloadTooLarge {
			// The set is empty again, but may hold memory up to the bound, so it is not returned to the pool.
			set, permit.grown = nil, true
		}
		return otlp.Result{}, fail
	}
	g.metrics.walked(e, result)
	e.accepted, e.rejected, e.sampled, e.events = result.Accepted, result.Rejected, result.Sampled, result.ProductEvents
	e.reason, e.cut = firstNote(result.Reasons, result.Warnings), result.Cut
	if e.push != nil {
		e.reason = cmp.Or(firstNote(e.push.lines.Reasons, e.push.lines.Warnings), e.reason)
	}
	if e.discard {
		return result, nil
	}
	// A request without items succeeds under any plan, as OTLP requires, because it uses nothing.
	if result.Accepted+result.Rejected+result.Sampled > 0 {
		if fail := g.entitled(ctx, e.key.Org, e.signalName); fail != nil {
			return otlp.Result{}, fail
		}
	}
	if set.Rows() == 0 {
		e.cut = 0 // the cut value may belong to a resource without stored items
		return result, nil
	}
	taken, fail := g.enqueue(ctx, &header, payload, set, work, e.held)
	if taken || fail == nil {
		set = nil
	}
	if fail != nil {
		if taken {
			g.metrics.undecided[e.signal].Add(float64(result.Accepted))
		}
		return otlp.Result{}, fail
	}
	g.metrics.accepted[e.signal].Add(float64(result.Accepted))
	g.metrics.cut[e.signal].Add(float64(result.Cut))
	g.metrics.activity[activity.ProductEvents.String()].accepted.Add(float64(result.ProductEvents))
	return result, nil
}

func purposeOf(s otlp.Signal) blocks.Purpose {
	switch s {
	case otlp.Traces:
		return blocks.ForTraces
	case otlp.Logs:
		return blocks.ForLogs
	default:
		return blocks.ForMetrics
	}
}

// panicked logs a panic, which is a defect of this server, and returns the answer.
func (g *Gateway) panicked(ctx context.Context, signal fmt.Stringer, p any) *apierr.Error {
	g.logger.ErrorContext(ctx, "ingest panicked", "signal", signal.String(), "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return apierr.New(apierr.IngestInternal, "The request failed on our side. It was not stored.")
}

// expected returns the size of the body after decompression, if its trailer is correct.
func (e *export) expected(limit int) int {
	if e.gzip {
		return expanded(e.body, limit)
	}
	return len(e.body)
}

// decode fills set from the body. It returns the payload for the queue, which lies in the body or in work. It returns a decoder
// slot at the end of the decoding. It keeps a place in the queue for large bodies until the columns are released too.
func (g *Gateway) decode(ctx context.Context, e *export, header *RecordHeader, work *buffer, set *blocks.Set, permit *decodePermit) (payload []byte, result otlp.Result, fail *apierr.Error) {
	defer permit.releaseSlot()
	raw := e.body
	if e.gzip {
		inflated := g.buffers.get(e.key.Org)
		defer g.release(inflated)
		if fail := g.gunzip(ctx, inflated, e.body, permit); fail != nil {
			return nil, result, fail
		}
		raw = inflated.b
	}
	e.decoded = len(raw)
	g.metrics.bytes(e, len(e.body), len(raw))
	if len(raw) > g.limits.Decompressed {
		return nil, result, g.expandsTooFar()
	}
	permit.grown = len(raw) > freeFrom
	request, result, fail := g.walk(e, header, raw, set, permit.bound(smallColumns, g.limits.Columns))
	if fail != nil && fail.Tag == apierr.IngestPayloadTooLarge && !permit.large && g.limits.Columns > smallColumns {
		if fail := permit.promote(ctx, len(raw)); fail != nil {
			return nil, otlp.Result{}, fail
		}
		request, result, fail = g.walk(e, header, raw, set, g.limits.Columns)
	}
	if fail != nil {
		return nil, otlp.Result{}, fail
	}
	permit.grown = permit.grown || set.Bytes() > freeFrom
	raw = request
	if e.push != nil {
		result.Rejected += e.push.lines.Rejected
	}
	switch {
	case e.gzip && !e.json && e.push == nil:
		header.Encoding, payload = EncodingGzip, e.body
	case len(raw) >= packFrom && !e.discard:
		work.b = g.packer.EncodeAll(raw, work.b[:0])
		header.Encoding, payload = EncodingZstd, work.b
	default:
		payload = raw
	}
	return payload, result, nil
}

// walk fills set from a decompressed body, up to the given bytes of columns, and returns the body as an OTLP request in protobuf.
func (g *Gateway) walk(e *export, header *RecordHeader, raw []byte, set *blocks.Set, columns int) (request []byte, result otlp.Result, fail *apierr.Error) {
	if e.json && len(raw) > 0 { // an empty body is an empty request, as in protobuf
		b, err := otlp.FromJSON(e.signal, raw)
		if err != nil {
			return nil, result, g.invalid(err)
		}
		raw = b
	}
	if e.push != nil {
		if raw, fail = g.convert(e.push, raw, header.ReceivedUnixNano, columns); fail != nil {
			return nil, result, fail
		}
	}
	stamp := header.stamp(columns)
	result, err := otlp.Walk(e.signal, raw, &stamp, set)
	if err != nil {
		return nil, result, g.invalid(err)
	}
	return raw, result, nil
}

// invalid is the answer to a body that is not OTLP. Errors of otlp name the field and are written for the sender.
func (g *Gateway) invalid(err error) *apierr.Error {
	if errors.Is(err, otlp.ErrTooLarge) {
		return apierr.New(apierr.IngestPayloadTooLarge, "The items of this request take more than "+limits.Size(g.limits.Columns)+" in storage, where the attributes "+
			"of resource and scope count with each item. Send fewer items in a request.", apierr.Cause(err))
	}
	var bad *otlp.Error
	if !errors.As(err, &bad) {
		return apierr.New(apierr.IngestInternal, "The request failed on our side. It was not stored.", apierr.Cause(err))
	}
	fail := apierr.New(apierr.IngestBadRequest, sentence("The body is not valid OTLP: "+bad.Error()), apierr.Cause(err))
	fail.Param = bad.Path
	fail.Violations = []apierr.Violation{{Field: bad.Path, Message: bad.Reason}}
	return fail
}

func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
