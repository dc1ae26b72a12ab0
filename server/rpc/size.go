package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	"connectrpc.com/connect"
	"github.com/klauspost/compress/gzip"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// envelopeBytes precede each message in gRPC and gRPC-Web.
const envelopeBytes = 5

// Drain reads and drops 16 MiB of a body that is too large. Without that, a client that sends its whole body before it reads would find
// its connection closed instead of the answer.
func Drain(body io.Reader) {
	// The answer does not depend on whether the rest could be read.
	_, _ = io.CopyN(io.Discard, body, 16<<20)
}

// largest is how many bytes a message of the method may have.
func (c *Chain) largest(procedure string) int {
	if m, ok := c.contract.ByProcedure(procedure); ok && m.Public {
		return min(c.maxPublicBytes, c.maxBytes)
	}
	return c.maxBytes
}

func tooLarge(largest int) *apierr.Error {
	return apierr.New(apierr.PayloadTooLarge, "The message is larger than "+limits.Size(largest)+". Send less in one request.")
}

// bounded is a request body whose reads fail with our error when it grows too large. connect passes on an error of its own type,
// but its own limit would answer without our ErrorDetail.
type bounded struct {
	io.ReadCloser
	left    int64
	tooMuch func() error
}

// Read reads at most one byte more than is allowed, to tell a body of the exact size from a larger one.
func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	if b.left < 0 {
		Drain(b.ReadCloser)
		b.left = 0
		return 0, b.tooMuch()
	}
	return n, err
}

// bound limits the body of a call as it is sent; inflater limits its size after decompression. A call from REST or MCP comes over the
// loopback, and its door has bounded the body.
func (c *Chain) bound(r *http.Request) *http.Request {
	door := principal.DoorFrom(r.Context())
	if r.Body == nil || r.Body == http.NoBody || door == principal.DoorREST || door == principal.DoorMCP {
		return r
	}
	largest := c.largest(r.URL.Path)
	body := int64(largest)
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
		body += envelopeBytes
	}
	start := c.now()
	ctx := r.Context()
	bound := r.WithContext(ctx)
	bound.Body = &bounded{r.Body, body, func() error {
		return c.refuse(ctx, r.URL.Path, connect.Peer{}, start, tooLarge(largest))
	}}
	return bound
}

// inflater decompresses gzip up to the largest size of a message. It reports its errors from Read, because connect would wrap an
// error of Reset.
type inflater struct {
	zip     gzip.Reader
	chain   *Chain
	largest int
	left    int64
	err     error
}

// Reset starts to read from r.
func (z *inflater) Reset(r io.Reader) error {
	z.left = int64(z.largest)
	if z.err = z.zip.Reset(r); z.err != nil {
		z.err = z.unreadable(z.err)
	}
	return nil
}

// Read decompresses.
func (z *inflater) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if int64(len(p)) > z.left+1 {
		p = p[:z.left+1]
	}
	n, err := z.zip.Read(p)
	z.left -= int64(n)
	switch {
	case z.left < 0:
		z.err = z.chain.wireError(context.Background(), "gzip", tooLarge(z.largest))
		return 0, z.err
	case err != nil && !errors.Is(err, io.EOF):
		z.err = z.unreadable(err)
		return n, z.err
	}
	return n, err
}

// Close releases nothing.
func (z *inflater) Close() error { return nil }

func (z *inflater) unreadable(err error) error {
	return z.chain.wireError(context.Background(), "gzip",
		apierr.New(apierr.InvalidRequest, "The message is not valid gzip.", apierr.Cause(err)))
}

func (c *Chain) compression(largest int) connect.HandlerOption {
	return connect.WithCompression("gzip",
		func() connect.Decompressor { return &inflater{chain: c, largest: largest} },
		func() connect.Compressor { return gzip.NewWriter(io.Discard) })
}
