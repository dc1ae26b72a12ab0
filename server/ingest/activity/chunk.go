package activity

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/productevents"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/blocks"
	"github.com/svc-observability/svc/server/warehouse/native"
)

// Headers of a chunk.
const (
	headerSessionID    = "x-svc-session-id"
	headerSeq          = "x-svc-chunk-seq"
	headerIsCheckpoint = "x-svc-is-checkpoint"
	headerEventCount   = "x-svc-event-count"
	headerDuration     = "x-svc-duration-ms"
)

// Chunk holds the metadata of a chunk of a recording.
type Chunk struct {
	SessionID string
	// Seq orders the chunks of a session.
	Seq uint32
	// IsCheckpoint says that the chunk begins with a full snapshot, so that a player can start there.
	IsCheckpoint           bool
	EventCount, DurationMs uint32
	// ByteSize is the length of the JSON that the chunk inflates to. No header contains it.
	ByteSize uint64
}

// ParseChunk reads the headers of a chunk. An error is an *Error that names the header.
func ParseChunk(h http.Header) (Chunk, error) {
	c := Chunk{SessionID: h.Get(headerSessionID)}
	if reason := sessionIDReason(c.SessionID); reason != "" {
		return Chunk{}, &Error{Field: headerSessionID, Reason: reason}
	}
	if h.Get(headerSeq) == "" {
		return Chunk{}, &Error{Field: headerSeq, Reason: "is required: the number of the chunk in its session"}
	}
	for _, f := range []struct {
		name string
		out  *uint32
	}{{headerSeq, &c.Seq}, {headerEventCount, &c.EventCount}, {headerDuration, &c.DurationMs}} {
		s := h.Get(f.name)
		if s == "" {
			continue
		}
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return Chunk{}, &Error{Field: f.name, Reason: "must be a whole number from 0 to 4294967295"}
		}
		*f.out = uint32(n)
	}
	switch strings.ToLower(h.Get(headerIsCheckpoint)) {
	case "1", "true":
		c.IsCheckpoint = true
	case "", "0", "false":
	default:
		return Chunk{}, &Error{Field: headerIsCheckpoint, Reason: "must be 1, true, 0 or false"}
	}
	return c, nil
}

// sessionIDReason returns the problem of a session id, or an empty text if the id is valid.
func sessionIDReason(id string) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
	switch {
	case id == "":
		return "is required"
	case len(id) > limits.RecordedSessionID || strings.Trim(id, letters) != "":
		return "must be 1 to " + limits.Number(limits.RecordedSessionID) + " letters, digits, `_` or `-`"
	}
	return ""
}

// Append adds the chunk to set as a row. The payload is the gzip file as received. It may inflate to a thousand times its size,
// and a player can use it unchanged.
func (c *Chunk) Append(payload []byte, stamp *otlp.Stamp, set *blocks.Set) {
	t := set.SessionReplayEvents()
	t.OrgID.AppendString(string(stamp.Org))
	t.SessionID.AppendString(c.SessionID)
	t.ChunkSeq.Append(c.Seq)
	t.Timestamp.Append(stamp.ReceivedUnixNano)
	t.DurationMs.Append(c.DurationMs)
	t.EventCount.Append(c.EventCount)
	t.ByteSize.Append(c.ByteSize)
	native.AppendBool(t.IsCheckpoint, c.IsCheckpoint)
	t.Payload.Append(payload)
	r := reader{stamp: stamp}
	productevents.AppendMap(t.ResourceAttributes, r.resource(nil))
}
