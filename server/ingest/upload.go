package ingest

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// storeUpload takes the body of an activity endpoint from validation to the durable queue.
func (g *Gateway) storeUpload(ctx context.Context, u *upload) (result activity.Result, fail *apierr.Error) {
	var set *blocks.Set
	defer func() {
		if p := recover(); p != nil {
			// The set may be half-filled: it is not put back.
			result, fail = activity.Result{}, g.panicked(ctx, u.kind, p)
			return
		}
		g.sets.Put(set)
	}()

	header := RecordHeader{
		Kind: u.kind, Encoding: EncodingNone, Org: u.key.Org, KeyType: u.key.Type, KeyID: u.key.ID,
		ReceivedUnixNano: g.now().UnixNano(), Attributes: u.key.Attributes,
	}
	if fail := g.toDecoder(ctx, u.key.Org, len(u.body)); fail != nil {
		return activity.Result{}, fail
	}
	set = g.sets.Get(blocks.ForSessions)
	work := g.buffers.get(u.key.Org)
	defer g.release(work)
	u.sent = len(u.body)
	var payload []byte
	if u.kind == activity.SessionReplayEvents {
		payload, result, fail = g.decodeChunk(ctx, u, &header, set)
	} else {
		payload, result, fail = g.decodeLines(ctx, u, &header, work, set)
	}
	if fail != nil {
		return activity.Result{}, fail
	}
	series := g.metrics.activity[u.kind.String()]
	series.rejected.Add(float64(result.Rejected))
	if u.discard {
		series.discarded.Add(float64(result.Accepted))
		return result, nil
	}
	u.accepted, u.rejected, u.reason = result.Accepted, result.Rejected, firstNote(result.Reasons, result.Warnings)
	if fail := g.entitled(ctx, u.key.Org, u.signalName); fail != nil {
		return activity.Result{}, fail
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
	return result, nil
}

// decodeLines fills set from NDJSON and returns the payload to queue, which lies in the body or in work. It holds a decoder slot
// meanwhile.
func (g *Gateway) decodeLines(ctx context.Context, u *upload, header *RecordHeader, work *buffer, set *blocks.Set) (payload []byte, result activity.Result, fail *apierr.Error) {
	defer g.decoders.leave(u.key.Org)
	raw := u.body
	if u.gzip {
		inflated := g.buffers.get(u.key.Org)
		defer g.release(inflated)
		if fail := g.gunzip(inflated, u.body); fail != nil {
			return nil, result, fail
		}
		raw = inflated.b
	}
	g.countBytes(u, len(raw))
	if len(raw) > g.limits.Decompressed {
		return nil, result, g.expandsTooFar()
	}
	stamp := header.stamp(g.limits.Columns)
	result, err := activity.Walk(u.kind, raw, &stamp, set)
	if err != nil {
		return nil, activity.Result{}, invalidUpload(err)
	}
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

// decodeChunk checks a chunk of a recording and fills set with it as it came.
func (g *Gateway) decodeChunk(ctx context.Context, u *upload, header *RecordHeader, set *blocks.Set) (payload []byte, result activity.Result, fail *apierr.Error) {
	defer g.decoders.leave(u.key.Org)
	chunk, err := activity.ParseChunk(u.headers)
	if err != nil {
		return nil, result, invalidUpload(err)
	}
	size, fail := g.inflatedSize(ctx, u.body)
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

// inflatedSize reads a gzip file through to its checksum without keeping any of it, and checks that it holds a JSON array, from its
// first and last character.
func (g *Gateway) inflatedSize(ctx context.Context, compressed []byte) (size int, _ *apierr.Error) {
	zr, _ := g.gunzips.Get().(*gunzipper)
	if zr == nil {
		zr = &gunzipper{}
	}
	zr.src.Reset(compressed)
	defer func() {
		zr.src.Reset(nil)
		g.gunzips.Put(zr)
	}()
	if err := zr.reader.Reset(&zr.src); err != nil {
		return 0, chunkNotGzip(err)
	}
	window := g.buffers.get("") // not charged
	defer g.release(window)
	if cap(window.b) < firstBuffer {
		window.b = make([]byte, 0, firstBuffer)
	}
	b := window.b[:firstBuffer]
	var first, last byte
	for {
		n, err := zr.reader.Read(b)
		if size += n; size > g.limits.Recording {
			return 0, apierr.New(apierr.IngestPayloadTooLarge, "The chunk is larger than "+mebibytes(g.limits.Recording)+" after decompression. Cut the recording into smaller chunks.")
		}
		if t := bytes.TrimSpace(b[:n]); len(t) > 0 {
			if first == 0 {
				first = t[0]
			}
			last = t[len(t)-1]
		}
		switch {
		case err == io.EOF: //nolint:errorlint // io.Reader promises the bare value.
			if first != '[' || last != ']' {
				return 0, apierr.New(apierr.IngestBadRequest, "The chunk does not hold a JSON array: it must be a gzip file of an array of rrweb events.")
			}
			return size, nil
		case err != nil:
			return 0, chunkNotGzip(err)
		case ctx.Err() != nil:
			return 0, g.interrupted(ctx)
		}
	}
}

func chunkNotGzip(err error) *apierr.Error {
	return apierr.New(apierr.IngestReplayBodyNotGzip, "The body is not a gzip stream: "+gzipReason(err)+".", apierr.Cause(err))
}

// invalidUpload is the answer to lines or headers that cannot be read. Errors of activity name the field and are written for the
// sender.
func invalidUpload(err error) *apierr.Error {
	if errors.Is(err, otlp.ErrTooLarge) {
		return apierr.New(apierr.IngestPayloadTooLarge, "The rows of this request are too large. Send fewer lines in a request.", apierr.Cause(err))
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
