package ingest

import (
	"io"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// message is a gRPC message as bytes, so that the walk can read the wire itself.
type message struct {
	bytes []byte
	// gzip is set when the message came compressed and still is.
	gzip bool
	held mem.Buffer
}

// free gives the memory back; bytes must not be used after it.
func (m *message) free() {
	if m.held != nil {
		m.held.Free()
	}
	m.bytes, m.held = nil, nil
}

// passThrough is a codec that hands messages of the collector services over as bytes, and leaves others (health) to the usual codec.
type passThrough struct{}

func (passThrough) Name() string { return proto.Name }

func (passThrough) Marshal(v any) (mem.BufferSlice, error) {
	if m, ok := v.(*message); ok {
		return mem.BufferSlice{mem.SliceBuffer(m.bytes)}, nil
	}
	return encoding.GetCodecV2(proto.Name).Marshal(v)
}

func (passThrough) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(*message)
	if !ok {
		return encoding.GetCodecV2(proto.Name).Unmarshal(data, v)
	}
	m.held = data.MaterializeToBuffer(mem.DefaultBufferPool())
	m.bytes = m.held.ReadOnlyData()
	m.gzip = isGzip(m.bytes)
	return nil
}

// isGzip tells a message that keepCompressed let through from an uncompressed one. No protobuf message begins with these bytes: 0x1f
// would be a field of wire type 7, which does not exist.
func isGzip(b []byte) bool { return len(b) >= 2 && b[0] == 0x1f && b[1] == 0x8b }

// keepCompressed is gRPC's gzip without the decompression. A message that claims to be gzip and is not has to fail as such, so it is
// marked with a gzip header that cannot be read.
type keepCompressed struct{}

func (keepCompressed) Type() string { return "gzip" }

func (keepCompressed) Do(r io.Reader) ([]byte, error) {
	size := 0
	if sized, ok := r.(interface{ Remaining() int }); ok {
		size = sized.Remaining()
	}
	b := make([]byte, size)
	n, err := io.ReadFull(r, b)
	if err != nil && err != io.EOF { //nolint:errorlint // io.ReadFull promises the bare value.
		return nil, err
	}
	if !isGzip(b[:n]) {
		return []byte{0x1f, 0x8b}, nil
	}
	return b[:n], nil
}
