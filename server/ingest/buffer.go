package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/inflate"
	"github.com/svc-observability/svc/server/limits"
)

const (
	firstBuffer = 64 << 10
	// maxPooledBuffer keeps one huge request from holding its memory for good.
	maxPooledBuffer = 4 << 20
	// maxDeflateRatio is the largest expansion of deflate. A gzip trailer is believed up to that ratio.
	maxDeflateRatio = 1032
	// maxTrusted is the most memory that a body gets because its trailer claims it. A body that claims more is first decompressed
	// without keeping the result, so that a body which expands too far costs only time.
	maxTrusted = 32 << 20
)

// buffer is reusable memory for one body.
type buffer struct {
	b []byte
	// charged is the part of Limits.Buffered that the buffer holds.
	charged int
	// share is charged for the bytes.
	share share
	// kept is set if another goroutine may still read the memory after the request. The garbage collector then frees it.
	kept bool
}

type bufferPool struct{ pool sync.Pool }

// get returns memory for a request of an organization. The caller that fills it must charge the memory that the buffer already
// has.
func (p *bufferPool) get(s share) *buffer {
	if buf, ok := p.pool.Get().(*buffer); ok {
		buf.share = s
		return buf
	}
	return &buffer{share: s}
}

func (p *bufferPool) put(buf *buffer) {
	if cap(buf.b) > maxPooledBuffer {
		return
	}
	buf.b = buf.b[:0]
	p.pool.Put(buf)
}

// release returns a buffer and its share of Limits.Buffered.
func (g *Gateway) release(buf *buffer) {
	if buf == nil {
		return
	}
	g.budget.give(buf.share, buf.charged)
	buf.charged = 0
	if !buf.kept {
		g.buffers.put(buf)
	}
}

// errTooLong is returned by fill when the source has more than the limit.
var errTooLong = errors.New("longer than the limit")

// fill reads src to its end into buf, at most limit bytes. hint is the expected length, or 0 if it is unknown. fill asks grow
// before it takes memory.
func fill(buf *buffer, src io.Reader, hint, limit int, grow func(n int) *apierr.Error) error {
	b := buf.b[:0]
	defer func() { buf.b = b }()
	// The buffer takes the expected size when the first bytes arrive, so a sender that sends nothing holds little memory. It has
	// room for one more byte, so that the read that finds the end of the body does not make it grow.
	if err := reserve(&b, min(firstBuffer, limit+1), grow); err != nil {
		return err
	}
	for {
		if len(b) == cap(b) {
			if err := reserve(&b, min(max(2*cap(b), hint+1), limit+1), grow); err != nil {
				return err
			}
		}
		n, err := src.Read(b[len(b):min(cap(b), limit+1)])
		b = b[:len(b)+n]
		switch {
		case len(b) > limit:
			return errTooLong
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// reserve makes room for n bytes in total.
func reserve(b *[]byte, n int, grow func(n int) *apierr.Error) error {
	if cap(*b) >= n {
		return nil
	}
	if grow != nil {
		if err := grow(n - cap(*b)); err != nil {
			return err
		}
	}
	*b = append(make([]byte, 0, n), *b...)
	return nil
}

// gunzip decompresses a whole gzip file, which may have several members, into buf. A body that turns out to be large is promoted first.
func (g *Gateway) gunzip(ctx context.Context, buf *buffer, compressed []byte, permit *decodePermit) *apierr.Error {
	if len(compressed) == 0 {
		return notGzip(compressed, gzip.ErrHeader)
	}
	limit := permit.bound(largeFrom, g.limits.Decompressed)
	err := g.gunzipWithin(ctx, buf, compressed, limit)
	if errors.Is(err, errTooLong) && limit < g.limits.Decompressed {
		if fail := permit.promote(ctx, g.limits.Decompressed); fail != nil {
			return fail
		}
		err = g.gunzipWithin(ctx, buf, compressed, g.limits.Decompressed)
	}
	var fail *apierr.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fail):
		return fail
	case errors.Is(err, errTooLong):
		return g.expandsTooFar()
	case ctx.Err() != nil:
		return g.interrupted(ctx)
	default:
		return notGzip(compressed, err)
	}
}

// gunzipWithin does the same for at most limit bytes.
func (g *Gateway) gunzipWithin(ctx context.Context, buf *buffer, compressed []byte, limit int) error {
	zr, _ := g.gunzips.Get().(*gunzipper)
	if zr == nil {
		zr = &gunzipper{}
	}
	defer func() {
		zr.src.Reset(nil)
		g.gunzips.Put(zr)
	}()
	// Memory that the buffer already has is charged once, even if this is the second attempt.
	if held := cap(buf.b) - buf.charged; held > 0 {
		if fail := g.charge(buf, held); fail != nil {
			return fail
		}
	}
	err := errUntrusted
	size := expanded(compressed, limit)
	if size <= maxTrusted {
		err = zr.fill(ctx, buf, compressed, size, limit, func(n int) *apierr.Error { return g.charge(buf, n) })
	}
	if errors.Is(err, errUntrusted) {
		if size, err = zr.measure(ctx, compressed, limit); err == nil {
			err = zr.fill(ctx, buf, compressed, size, size, func(n int) *apierr.Error { return g.charge(buf, n) })
		}
	}
	return err
}

var gzipMagic = []byte{0x1f, 0x8b}

// errAfterEnd is returned by gunzipper.Read when the bytes after a member are not another member.
var errAfterEnd = errors.New("more after the end")

type gunzipper struct {
	src     bytes.Reader
	reader  gzip.Reader
	inflate inflate.Decoder
}

// boundReader fails when its context ends.
type boundReader struct {
	ctx context.Context
	src io.Reader
}

func (r *boundReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.src.Read(p)
}

// errUntrusted is returned by gunzipper.fill when a body is larger than its trailer says, by more than a buffer.
var errUntrusted = errors.New("longer than declared")

func (z *gunzipper) reset(compressed []byte) error {
	z.src.Reset(compressed)
	return z.member()
}

// member starts to read the member at the position of src.
func (z *gunzipper) member() error {
	err := z.reader.Reset(&z.src)
	z.reader.Multistream(false)
	if errors.Is(err, io.EOF) { // even in the middle of a name
		err = io.ErrUnexpectedEOF
	}
	return err
}

// Read returns the contents of all members, one after the other. It finds the next member itself, because the library reports trailing
// bytes that are not a member as a member that was cut.
func (z *gunzipper) Read(p []byte) (int, error) {
	for {
		n, err := z.reader.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if z.src.Len() == 0 {
			return 0, io.EOF
		}
		var magic [2]byte
		next, _ := z.src.ReadAt(magic[:], z.src.Size()-int64(z.src.Len()))
		if !bytes.HasPrefix(gzipMagic, magic[:next]) {
			return 0, errAfterEnd
		}
		if err := z.member(); err != nil {
			return 0, err
		}
	}
}

// fill decompresses into buf. It takes memory for hint bytes, and more than maxTrusted only if hint says so.
func (z *gunzipper) fill(ctx context.Context, buf *buffer, compressed []byte, hint, limit int, charge func(n int) *apierr.Error) error {
	held, untrusted := cap(buf.b), false
	grow := func(n int) *apierr.Error {
		if held += n; held > max(hint+1, maxTrusted) {
			untrusted = true
			return apierr.New(apierr.IngestPayloadTooLarge, "")
		}
		return charge(n)
	}
	// This package's own decoder reads bodies whose trailer states the true length. The general reader reads all others into the
	// same memory, and gives the reason of a failure.
	err := reserve(&buf.b, min(max(hint+1, firstBuffer), limit+1), grow)
	if err == nil && z.inflate.Gunzip(buf.b[:hint], compressed) {
		buf.b = buf.b[:hint]
		return nil
	}
	if err == nil {
		err = z.reset(compressed)
	}
	if err == nil {
		err = fill(buf, &boundReader{ctx, z}, hint, limit, grow)
	}
	if untrusted {
		return errUntrusted
	}
	return err
}

// measure returns the size of a body after decompression.
func (z *gunzipper) measure(ctx context.Context, compressed []byte, limit int) (int, error) {
	if err := z.reset(compressed); err != nil {
		return 0, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(&boundReader{ctx, z}, int64(limit)+1))
	if err == nil && n > int64(limit) {
		err = errTooLong
	}
	return int(n), err
}

// expanded returns the length that a gzip trailer claims, so that most bodies need one allocation. It is at most the largest
// length that deflate can reach.
func expanded(compressed []byte, limit int) int {
	n := len(compressed)
	if n < 18 {
		return 0
	}
	t := compressed[n-4:]
	claim := int(uint32(t[0]) | uint32(t[1])<<8 | uint32(t[2])<<16 | uint32(t[3])<<24)
	return min(claim, limit, n*maxDeflateRatio)
}

func notGzip(compressed []byte, err error) *apierr.Error {
	return apierr.New(apierr.IngestBadRequest, "The body is declared as gzip, but "+gzipReason(compressed, err)+".", apierr.Cause(err))
}

func gzipReason(compressed []byte, err error) string {
	switch {
	case errors.Is(err, errAfterEnd):
		return "bytes that are not gzip follow its end"
	case errors.Is(err, gzip.ErrHeader), !bytes.HasPrefix(gzipMagic, compressed[:min(len(gzipMagic), len(compressed))]):
		return "it has no gzip header where one is expected"
	case errors.Is(err, gzip.ErrChecksum):
		return "its checksum does not match"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "it ends too early"
	default:
		return "it is damaged: " + err.Error()
	}
}

func (g *Gateway) expandsTooFar() *apierr.Error {
	return apierr.New(apierr.IngestPayloadTooLarge,
		fmt.Sprintf("The body is larger than %s after decompression. Send smaller batches.", limits.Size(g.limits.Decompressed)))
}

// newPacker makes the encoder for bodies that arrived uncompressed and are worth compressing for the queue.
func newPacker() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false), zstd.WithWindowSize(1<<20))
}
