package queue

import (
	"encoding/binary"
	"hash/crc32"
)

// A record on disk is a head of frameHeadSize bytes, the header and the payload, all integers little-endian:
//
//	0  magic        u32
//	4  version      u8, then three zero bytes
//	8  header size  u32
//	12 payload size u32
//	16 sequence     u64
//	24 time         i64, Unix nanoseconds
//	32 body CRC     u32 over header and payload
//	36 head CRC     u32 over the 36 bytes above, started from the segment number too
//
// The head has its own checksum so that a flipped bit in a payload leaves the length believable: the next record is then found
// without a search. Both checksums start from the log's random id, so that a payload which itself holds bytes of a queue file is
// never mistaken for a record when the reader searches for the next one.
const (
	frameMagic    = 0x31525153 // "SQR1"
	frameVersion  = 1
	frameHeadSize = 40
	// maxRecordBytes bounds header plus payload. The largest payload is a gRPC message, 64 MiB by default (limits.GRPCMessage).
	// Append refuses a larger record with ErrTooLarge. The bound lets the reader allocate the length that a head states.
	maxRecordBytes = 256 << 20
)

// castagnoli returns the CRC-32C table; crc32.MakeTable hands out one shared table for this polynomial.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

type frameHead struct {
	headerSize  int
	payloadSize int
	seq         uint64
	time        int64
	bodyCRC     uint32
}

func (h frameHead) bodySize() int64 { return int64(h.headerSize) + int64(h.payloadSize) }

func (h frameHead) size() int64 { return frameHeadSize + h.bodySize() }

// checksum holds the start values of the checksums of one log.
type checksum struct {
	table *crc32.Table
	salt  uint32
}

func newChecksum(id logID) checksum {
	t := castagnoli()
	return checksum{table: t, salt: crc32.Checksum(id[:], t)}
}

func (c checksum) body(header, payload []byte) uint32 {
	return crc32.Update(crc32.Update(c.salt, c.table, header), c.table, payload)
}

func (c checksum) head(segment uint64, head []byte) uint32 {
	start := c.salt ^ uint32(segment) ^ uint32(segment>>32)
	return crc32.Update(start, c.table, head[:frameHeadSize-4])
}

// putHead writes the head into b, which must have room for frameHeadSize bytes.
func (c checksum) putHead(b []byte, segment uint64, h frameHead) {
	le := binary.LittleEndian
	le.PutUint32(b[0:], frameMagic)
	le.PutUint32(b[4:], frameVersion)
	le.PutUint32(b[8:], uint32(h.headerSize))
	le.PutUint32(b[12:], uint32(h.payloadSize))
	le.PutUint64(b[16:], h.seq)
	le.PutUint64(b[24:], uint64(h.time))
	le.PutUint32(b[32:], h.bodyCRC)
	le.PutUint32(b[36:], c.head(segment, b))
}

// parseHead reads a head. The result why is empty if the head is valid.
func (c checksum) parseHead(b []byte, segment uint64) (h frameHead, why string) {
	le := binary.LittleEndian
	switch {
	case len(b) < frameHeadSize:
		return h, "the record head is cut off"
	case le.Uint32(b) != frameMagic:
		return h, "no record starts here"
	case le.Uint32(b[36:]) != c.head(segment, b):
		return h, "the checksum of the record head does not match"
	case le.Uint32(b[4:]) != frameVersion:
		return h, "the record has an unknown version"
	}
	h = frameHead{
		headerSize: int(le.Uint32(b[8:])), payloadSize: int(le.Uint32(b[12:])),
		seq: le.Uint64(b[16:]), time: int64(le.Uint64(b[24:])), bodyCRC: le.Uint32(b[32:]),
	}
	if h.bodySize() > maxRecordBytes {
		return h, "the record claims an impossible length"
	}
	return h, ""
}
