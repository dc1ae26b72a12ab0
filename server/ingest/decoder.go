package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/svc-observability/svc/server/ingest/activity"
	"github.com/svc-observability/svc/server/ingest/inflate"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Decoder turns queue records into rows again: after a restart, and for records whose columns were dropped for memory. It is safe for
// concurrent use.
type Decoder struct {
	zstd    *zstd.Decoder
	scratch sync.Pool
}

// NewDecoder makes a decoder.
func NewDecoder() (*Decoder, error) {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxReplay), zstd.WithDecodeAllCapLimit(false))
	if err != nil {
		return nil, fmt.Errorf("ingest: zstd decoder: %w", err)
	}
	return &Decoder{zstd: z}, nil
}

// maxReplay is far above any limit of a body, because an acknowledged body must stay readable after the limits were lowered. It
// only keeps a damaged length from requesting absurd amounts of memory.
const maxReplay = 4 << 30

type scratch struct {
	raw     []byte
	src     bytes.Reader
	reader  gzip.Reader
	inflate inflate.Decoder
}

// DecodeRecord appends the rows of a record to set. The rows depend only on header and payload. An error means that the record is
// damaged or was written by a newer version. The set is then unchanged.
func (d *Decoder) DecodeRecord(header, payload []byte, set *blocks.Set) error {
	h, err := ParseRecordHeader(header)
	if err != nil {
		return err
	}
	stamp := h.stamp(math.MaxInt)
	stamp.Acknowledged = true
	if h.Kind == activity.SessionReplayEvents {
		h.Chunk.Append(payload, &stamp, set) // stored unchanged, with any size after decompression
		return nil
	}
	s, _ := d.scratch.Get().(*scratch)
	if s == nil {
		s = &scratch{}
	}
	defer func() {
		if cap(s.raw) <= maxPooledBuffer {
			d.scratch.Put(s)
		}
	}()
	raw, err := d.decompress(s, h.Encoding, payload)
	if err != nil {
		return fmt.Errorf("ingest: record payload: %w", err)
	}
	if h.Kind != 0 {
		_, err = activity.Walk(context.Background(), h.Kind, raw, &stamp, set)
	} else {
		_, err = otlp.Walk(h.Signal, raw, &stamp, set)
	}
	if err != nil {
		return fmt.Errorf("ingest: record payload: %w", err)
	}
	return nil
}

func (d *Decoder) decompress(s *scratch, encoding Encoding, payload []byte) ([]byte, error) {
	//exhaustive:enforce
	switch encoding {
	case EncodingNone:
		return payload, nil
	case EncodingZstd:
		raw, err := d.zstd.DecodeAll(payload, s.raw[:0])
		if err != nil {
			return nil, err
		}
		s.raw = raw[:0]
		return raw, nil
	case EncodingGzip:
		if size := expanded(payload, maxReplay); size <= maxTrusted {
			s.raw = slices.Grow(s.raw[:0], size+1)
			if s.inflate.Gunzip(s.raw[:size], payload) {
				return s.raw[:size], nil
			}
		}
		s.src.Reset(payload)
		defer s.src.Reset(nil)
		if err := s.reader.Reset(&s.src); err != nil {
			return nil, err
		}
		buf := buffer{b: s.raw}
		err := fill(&buf, &s.reader, expanded(payload, maxReplay), maxReplay, nil)
		s.raw = buf.b[:0]
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return buf.b, err
	default:
		return nil, fmt.Errorf("encoding %d is unknown", encoding)
	}
}
