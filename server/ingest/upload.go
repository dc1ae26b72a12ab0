package ingest

import (
	"context"
	"errors"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// storeUpload takes the body of an activity endpoint from validation to the durable queue.
func (g *Gateway) storeUpload(ctx context.Context, u *upload) (result activity.Result, fail *apierr.Error) {
	var set *blocks.Set
	var permit *decodePermit
	defer func() { permit.release() }()
	defer func() {
		if p := recover(); p != nil {
			// The set may be half-filled, so it is not returned to the pool.
			set = nil
			result, fail = activity.Result{}, g.panicked(ctx, u.kind, p)
			return
		}
		g.sets.Put(set)
		set = nil
	}()

	header := RecordHeader{Kind: u.kind, Encoding: EncodingNone, Origin: u.key.Origin, ReceivedUnixNano: g.now().UnixNano()}
	u.gzip = u.gzip && len(u.body) > 0 // an empty body is empty in any encoding
	if permit, fail = g.acquireDecoder(ctx, u.key.Org, len(u.body), u.expected(&g.limits)); fail != nil {
		return activity.Result{}, fail
	}
	set = g.sets.Get(blocks.ForSessions)
	work := g.buffers.get(u.key.Org)
	defer g.release(work)
	u.sent = len(u.body)
	var payload []byte
	if u.kind == activity.SessionReplayEvents {
		payload, result, fail = g.decodeChunk(ctx, u, &header, set, permit)
	} else {
		payload, result, fail = g.decodeLines(ctx, u, &header, work, set, permit)
	}
	if fail != nil {
		if fail.Tag == apierr.IngestPayloadTooLarge {
			set, permit.grown = nil, u.kind != activity.SessionReplayEvents // as in store
		}
		return activity.Result{}, fail
	}
	series := g.metrics.activity[u.kind.String()]
	if u.discard {
		series.discarded.Add(float64(result.Accepted + result.Rejected))
		return result, nil
	}
	series.rejected.Add(float64(result.Rejected))
	u.accepted, u.rejected, u.cut, u.reason = result.Accepted, result.Rejected, result.Cut, firstNote(result.Reasons, result.Warnings)
	if result.Accepted+result.Rejected > 0 { // as in store
		if fail := g.entitled(ctx, u.key.Org, u.signalName); fail != nil {
			return activity.Result{}, fail
		}
	}
	if result.Accepted == 0 {
		return result, nil
	}
	taken, fail := g.enqueue(ctx, &header, payload, set, work, u.held)
	if taken || fail == nil {
		set = nil
	}
	if fail != nil {
		if taken {
			series.undecided.Add(float64(result.Accepted))
		}
		return activity.Result{}, fail
	}
	series.accepted.Add(float64(result.Accepted))
	series.cut.Add(float64(result.Cut))
	return result, nil
}

// expected returns the size of the body after decompression, if its trailer is correct.
func (u *upload) expected(l *Limits) int {
	switch {
	case u.kind == activity.SessionReplayEvents:
		return expanded(u.body, l.Recording)
	case u.gzip:
		return expanded(u.body, l.Decompressed)
	default:
		return len(u.body)
	}
}

// decodeLines fills set from NDJSON and returns the payload for the queue, which lies in the body or in work.
func (g *Gateway) decodeLines(ctx context.Context, u *upload, header *RecordHeader, work *buffer, set *blocks.Set, permit *decodePermit) (payload []byte, result activity.Result, fail *apierr.Error) {
	defer permit.releaseSlot()
	raw := u.body
	if u.gzip {
		inflated := g.buffers.get(u.key.Org)
		defer g.release(inflated)
		if fail := g.gunzip(ctx, inflated, u.body, permit); fail != nil {
			return nil, result, fail
		}
		raw = inflated.b
	}
	g.countBytes(u, len(raw))
	if len(raw) > g.limits.Decompressed {
		return nil, result, g.expandsTooFar()
	}
	permit.grown = len(raw) > freeFrom
	stamp := header.stamp(permit.bound(smallColumns, g.limits.Columns))
	result, err := activity.Walk(ctx, u.kind, raw, &stamp, set)
	if errors.Is(err, otlp.ErrTooLarge) && !permit.large && g.limits.Columns > smallColumns {
		if fail := permit.promote(ctx, len(raw)); fail != nil {
			return nil, activity.Result{}, fail
		}
		stamp = header.stamp(g.limits.Columns)
		result, err = activity.Walk(ctx, u.kind, raw, &stamp, set)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, activity.Result{}, g.interrupted(ctx)
	case err != nil:
		return nil, activity.Result{}, g.invalidUpload(err)
	}
	permit.grown = permit.grown || set.Bytes() > freeFrom
	switch {
	case u.gzip:
		header.Encoding, payload = EncodingGzip, u.body
	case len(raw) >= packFrom && !u.discard:
		work.b = g.packer.EncodeAll(raw, work.b[:0])
		header.Encoding, payload = EncodingZstd, work.b
	default:
		payload = raw
	}
	return payload, result, nil
}

// decodeChunk checks a chunk of a recording and fills set with the unchanged chunk.
func (g *Gateway) decodeChunk(ctx context.Context, u *upload, header *RecordHeader, set *blocks.Set, permit *decodePermit) (payload []byte, result activity.Result, fail *apierr.Error) {
	defer permit.releaseSlot()
	chunk, err := activity.ParseChunk(u.headers)
	if err != nil {
		return nil, result, g.invalidUpload(err)
	}
	size, fail := g.inflatedSize(ctx, u.body, permit)
	if fail != nil {
		return nil, result, fail
	}
	g.countBytes(u, size)
	chunk.ByteSize = uint64(size)
	header.Chunk = chunk
	stamp := header.stamp(g.limits.Columns)
	chunk.Append(u.body, &stamp, set)
	return u.body, activity.Result{Accepted: 1}, nil
}

func (g *Gateway) countBytes(u *upload, inflated int) {
	u.decoded = inflated
	series := g.metrics.activity[u.kind.String()]
	series.received.Add(float64(len(u.body)))
	series.inflated.Add(float64(inflated))
}

// invalidUpload returns the answer to lines or headers that cannot be read. Errors of activity name the field and are written for
// the sender.
func (g *Gateway) invalidUpload(err error) *apierr.Error {
	if errors.Is(err, otlp.ErrTooLarge) {
		return apierr.New(apierr.IngestPayloadTooLarge, "The lines of this request take more than "+limits.Size(g.limits.Columns)+" in storage. Send fewer lines in a request.", apierr.Cause(err))
	}
	var bad *activity.Error
	if !errors.As(err, &bad) {
		return apierr.New(apierr.IngestInternal, "The request failed on our side. It was not stored.", apierr.Cause(err))
	}
	fail := apierr.New(apierr.IngestBadRequest, sentence(bad.Error()), apierr.Cause(err))
	fail.Param = bad.Field
	fail.Violations = []apierr.Violation{{Field: bad.Field, Message: bad.Reason}}
	return fail
}
