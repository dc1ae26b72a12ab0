package ingest

import (
	"context"
	"errors"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// enqueue puts a record into the durable queue. Without an error, the set belongs to the queue. If taken is true on an error, the
// set and the buffers still belong to the queue, because it may still be writing. The payload lies in one of the buffers.
func (g *Gateway) enqueue(
	ctx context.Context,
	header *RecordHeader,
	payload []byte,
	set *blocks.Set,
	buffers ...*buffer,
) (taken bool, _ *apierr.Error) {
	head := g.buffers.get(share{org: header.Org})
	defer g.release(head)
	head.b = header.Append(head.b[:0])
	started := time.Now()
	_, err := g.queue.Append(ctx, queue.Record{
		Header: head.b, Payload: payload, Owner: string(header.Org), Public: header.KeyType == otlp.KeyPublic, Attachment: set,
	})
	g.metrics.queueAppend.Observe(time.Since(started).Seconds())
	if errors.Is(err, queue.ErrUndecided) {
		head.kept = true
		for _, buf := range buffers {
			buf.kept = true
		}
		return true, g.timedOut(err)
	}
	if err != nil {
		fail := g.notQueued(ctx, err)
		if errors.Is(err, queue.ErrOwnerFull) || errors.Is(err, queue.ErrBackedUp) {
			g.backoff.add(header.Org, time.Duration(fail.RetryAfterSeconds())*time.Second)
		}
		return false, fail
	}
	return false, nil
}

// notQueued returns the answer if the queue did not take the record. Nothing is stored then.
func (g *Gateway) notQueued(ctx context.Context, err error) *apierr.Error {
	switch {
	case errors.Is(err, queue.ErrTooLarge):
		return apierr.New(
			apierr.IngestPayloadTooLarge,
			"The body is larger than the queue takes in one record. Send smaller batches.",
			apierr.Cause(err),
		)
	case errors.Is(err, queue.ErrOwnerFull):
		return apierr.New(
			apierr.IngestOrgQueueThrottled,
			"This organization, or its public key, has reached its share of the queue of telemetry that is not stored yet. Nothing of this "+
				"request was stored; send it again later.",
			apierr.Cause(err),
		)
	case errors.Is(err, queue.ErrBackedUp):
		return apierr.New(apierr.IngestExportLaneBackpressure,
			"Telemetry arrives faster than it can be stored. Nothing of this request was stored; send it again later.", apierr.Cause(err))
	case ctx.Err() != nil:
		return g.interrupted(ctx)
	default:
		return apierr.New(apierr.IngestQueueUnavailable,
			"The batch could not be written to the durable queue. Nothing was stored; send the request again.", apierr.Cause(err))
	}
}
