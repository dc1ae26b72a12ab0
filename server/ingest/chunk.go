package ingest

import (
	"context"
	"errors"
	"io"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/limits"
)

// inflatedSize reads a gzip file to its checksum without keeping any of it, and checks that it holds a JSON array of objects.
func (g *Gateway) inflatedSize(ctx context.Context, compressed []byte, permit *decodePermit) (size int, _ *apierr.Error) {
	zr, _ := g.gunzips.Get().(*gunzipper)
	if zr == nil {
		zr = &gunzipper{}
	}
	defer func() {
		zr.src.Reset(nil)
		g.gunzips.Put(zr)
	}()
	if err := zr.reset(compressed); err != nil {
		return 0, chunkNotGzip(compressed, err)
	}
	window := g.buffers.get(share{}) // not charged
	defer g.release(window)
	if cap(window.b) < firstBuffer {
		window.b = make([]byte, 0, firstBuffer)
	}
	b := window.b[:firstBuffer]
	var events activity.ArrayCheck
	for {
		n, err := zr.Read(b)
		if size += n; size > g.limits.Recording {
			return 0, apierr.New(
				apierr.IngestPayloadTooLarge,
				"The chunk is larger than "+limits.Size(g.limits.Recording)+" after decompression. Cut the recording into smaller chunks.",
			)
		}
		if size >= largeFrom {
			if fail := permit.promote(ctx, g.limits.Recording); fail != nil {
				return 0, fail
			}
		}
		if err := events.Next(b[:n]); err != nil {
			return 0, noRecording(err)
		}
		switch {
		case errors.Is(err, io.EOF):
			if err := events.End(); err != nil {
				return 0, noRecording(err)
			}
			return size, nil
		case err != nil:
			return 0, chunkNotGzip(compressed, err)
		case ctx.Err() != nil:
			return 0, g.interrupted(ctx)
		}
	}
}

func noRecording(err error) *apierr.Error {
	return apierr.New(apierr.IngestBadRequest, "The chunk does not hold a JSON array of rrweb events: "+err.Error()+".", apierr.Cause(err))
}

func chunkNotGzip(compressed []byte, err error) *apierr.Error {
	return apierr.New(apierr.IngestReplayBodyNotGzip, "The body is not a gzip stream: "+gzipReason(compressed, err)+".", apierr.Cause(err))
}
