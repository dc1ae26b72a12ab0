package ingest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// export is one request on the path that all doors share. It is one type, not an interface with a type for each format, so that a
// request stays on the stack.
type export struct {
	receipt
	door door
	// signal is the signal of an OTLP request. kind is the kind of another request, and zero for OTLP.
	signal  otlp.Signal
	kind    activity.Kind
	key     Key
	discard bool
	// headers describe a chunk of a recording.
	headers http.Header
	// body is the body as received: protobuf, JSON, lines or a chunk, possibly gzip. A chunk is always gzip.
	body []byte
	// held is the buffer that body lies in.
	held *buffer
	gzip bool
	json bool
	// push is set when the body holds lines of a log push.
	push *push
	// result is the result of the walk over an OTLP request. lines is the result of lines and chunks.
	result otlp.Result
	lines  activity.Result
}

// packFrom is the size from which a body that arrived uncompressed is compressed for the queue. For a smaller record the sync
// costs more than the writing.
const packFrom = 256 << 10

// store takes a body from validation to the durable queue.
func (g *Gateway) store(ctx context.Context, e *export) (fail *apierr.Error) {
	var set *blocks.Set
	var permit *decodePermit
	defer func() { permit.release() }()
	defer func() {
		if p := recover(); p != nil {
			// The set may be half-filled, so it is not returned to the pool.
			set = nil
			fail = g.panicked(ctx, e.signalName, p)
			return
		}
		g.sets.Put(set)
		set = nil
	}()

	header := RecordHeader{Signal: e.signal, Kind: e.kind, Encoding: EncodingNone, Origin: e.key.Origin, ReceivedUnixNano: g.now().UnixNano()}
	header.NoProductEvents = e.key.Signals != nil && !slices.Contains(e.key.Signals, activity.ProductEvents.String())
	// A request takes memory for decoding only after it has a slot.
	if permit, fail = g.acquireDecoder(ctx, e.key.share(), len(e.body), e.expected(&g.limits)); fail != nil {
		return fail
	}
	set = g.sets.Get(e.purpose())
	work := g.buffers.get(e.key.share())
	defer g.release(work)
	e.sent = len(e.body)
	payload, fail := g.decode(ctx, e, &header, work, set, permit)
	if fail != nil {
		if fail.Tag == apierr.IngestPayloadTooLarge {
			// The set is empty again, but may hold memory up to the bound, so it is not returned to the pool. A chunk takes none.
			set, permit.grown = nil, e.kind != activity.SessionReplayEvents
		}
		return fail
	}
	e.count()
	series := g.metrics.of(e)
	if e.discard {
		series.discarded.Add(float64(e.accepted + e.rejected))
		return nil
	}
	series.rejected.Add(float64(e.rejected))
	g.metrics.sampled.Add(float64(e.sampled))
	// A request without items succeeds under any plan, as OTLP requires, because it uses nothing.
	if e.accepted+e.rejected+e.sampled > 0 {
		if fail := g.entitled(ctx, e.key.Org, e.signalName); fail != nil {
			return fail
		}
	}
	if set.Rows() == 0 {
		e.cut = 0 // the cut value may belong to a resource without stored items
		return nil
	}
	taken, fail := g.enqueue(ctx, &header, payload, set, work, e.held)
	if taken || fail == nil {
		set = nil
	}
	if fail != nil {
		if taken {
			series.undecided.Add(float64(e.accepted))
		}
		return fail
	}
	series.accepted.Add(float64(e.accepted))
	series.cut.Add(float64(e.cut))
	g.metrics.productEvents.accepted.Add(float64(e.events))
	return nil
}

func (e *export) purpose() blocks.Purpose {
	switch {
	case e.kind != 0:
		return blocks.ForSessions
	case e.signal == otlp.Traces:
		return blocks.ForTraces
	case e.signal == otlp.Logs:
		return blocks.ForLogs
	default:
		return blocks.ForMetrics
	}
}

// count records the result of the walk.
func (e *export) count() {
	if e.kind != 0 {
		e.accepted, e.rejected, e.cut, e.reason = e.lines.Accepted, e.lines.Rejected, e.lines.Cut, firstNote(e.lines.Reasons, e.lines.Warnings)
		return
	}
	e.accepted, e.rejected, e.sampled, e.events = e.result.Accepted, e.result.Rejected, e.result.Sampled, e.result.ProductEvents
	e.reason, e.cut = firstNote(e.result.Reasons, e.result.Warnings), e.result.Cut
	if e.push != nil {
		e.reason = cmp.Or(firstNote(e.lines.Reasons, e.lines.Warnings), e.reason)
	}
}

// panicked logs a panic, which is a defect of this server, and returns the answer.
func (g *Gateway) panicked(ctx context.Context, signal string, p any) *apierr.Error {
	g.logger.ErrorContext(ctx, "ingest panicked", "signal", signal, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return apierr.New(apierr.IngestInternal, "The request failed on our side. It was not stored.")
}

// expected returns the size of the body after decompression, if its trailer is correct.
func (e *export) expected(l *Limits) int {
	switch {
	case e.kind == activity.SessionReplayEvents:
		return expanded(e.body, l.Recording)
	case e.gzip:
		return expanded(e.body, l.Decompressed)
	default:
		return len(e.body)
	}
}
