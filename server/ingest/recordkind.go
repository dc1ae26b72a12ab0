package ingest

import (
	"encoding/binary"
	"math"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/otlp"
)

func (h *RecordHeader) storedSignal() byte {
	//exhaustive:enforce
	switch h.Kind {
	case activity.SessionReplays:
		return storedSessionReplays
	case activity.SessionReplayEvents:
		return storedSessionReplayEvents
	case activity.SessionEvents:
		return storedSessionEvents
	case activity.ProductEvents:
		return storedProductEvents
	}
	switch h.Signal {
	case otlp.Logs:
		return storedLogs
	case otlp.Metrics:
		return storedMetrics
	default:
		return storedTraces
	}
}

// setStoredSignal reports whether the number is known here.
func (h *RecordHeader) setStoredSignal(stored byte) bool {
	switch stored {
	case storedTraces:
		h.Signal = otlp.Traces
	case storedLogs:
		h.Signal = otlp.Logs
	case storedMetrics:
		h.Signal = otlp.Metrics
	case storedSessionReplays:
		h.Kind = activity.SessionReplays
	case storedSessionReplayEvents:
		h.Kind = activity.SessionReplayEvents
	case storedSessionEvents:
		h.Kind = activity.SessionEvents
	case storedProductEvents:
		h.Kind = activity.ProductEvents
	default:
		return false
	}
	return true
}

const chunkIsCheckpoint = 1

// appendChunk appends: flags u8, session id, number, count of events, duration, inflated length (numbers as uvarint).
func appendChunk(b []byte, c *activity.Chunk) []byte {
	var flags byte
	if c.IsCheckpoint {
		flags = chunkIsCheckpoint
	}
	b = appendText(append(b, flags), c.SessionID)
	b = binary.AppendUvarint(b, uint64(c.Seq))
	b = binary.AppendUvarint(b, uint64(c.EventCount))
	b = binary.AppendUvarint(b, uint64(c.DurationMs))
	return binary.AppendUvarint(b, c.ByteSize)
}

func (r *headerReader) chunk() activity.Chunk {
	if len(r.rest) == 0 || r.rest[0] > chunkIsCheckpoint {
		r.fail()
		return activity.Chunk{}
	}
	c := activity.Chunk{IsCheckpoint: r.rest[0] == chunkIsCheckpoint}
	r.rest = r.rest[1:]
	c.SessionID = r.text()
	c.Seq, c.EventCount, c.DurationMs = r.number32(), r.number32(), r.number32()
	c.ByteSize = r.number()
	return c
}

func (r *headerReader) number32() uint32 {
	n := r.number()
	if n > math.MaxUint32 {
		r.fail()
		return 0
	}
	return uint32(n)
}
