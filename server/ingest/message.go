package ingest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
)

const mediaGRPC = "application/grpc"

// A gRPC message on the wire is a flag, the length in four bytes, and the message.
const (
	messagePrefix     = 5
	messagePlain      = 0
	messageCompressed = 1
)

func isGRPC(r *http.Request) bool {
	media, _, _ := strings.Cut(strings.ToLower(r.Header.Get("Content-Type")), ";")
	media = strings.TrimSpace(media)
	return r.Method == http.MethodPost && (media == mediaGRPC || media == mediaGRPC+"+proto")
}

// readMessage reads the one message of a unary call as sent, possibly gzip. The length is known before the bytes are received. Memory is
// charged before it is taken, as the bytes arrive, so a large declared length alone costs nothing.
func (g *Gateway) readMessage(ctx context.Context, buf *buffer, r *http.Request) (gzip bool, _ *apierr.Error) {
	var prefix [messagePrefix]byte
	if n, err := io.ReadFull(r.Body, prefix[:]); err != nil {
		if n == 0 && errors.Is(err, io.EOF) {
			return false, apierr.New(apierr.IngestBadRequest, "The call ended without a message.")
		}
		return false, g.unreadable(ctx, err)
	}
	length := int64(binary.BigEndian.Uint32(prefix[1:]))
	if length > int64(g.limits.GRPCMessage) {
		return false, apierr.New(
			apierr.IngestPayloadTooLarge,
			fmt.Sprintf(
				"The message is larger than %s as sent. Send smaller batches, or compress them with gzip.",
				limits.Size(g.limits.GRPCMessage),
			),
		)
	}
	gzip, fail := messageEncoding(prefix[0], r.Header)
	if fail != nil {
		return false, fail
	}
	if held := cap(buf.b); held > 0 {
		if fail := g.charge(buf, held); fail != nil {
			return false, fail
		}
	}
	// A declared length gets memory of up to a mebibyte. More memory is taken as the bytes arrive.
	err := fill(
		buf,
		io.LimitReader(r.Body, length),
		int(min(length, 1<<20)),
		int(length),
		func(n int) *apierr.Error { return g.charge(buf, n) },
	)
	if err == nil && int64(len(buf.b)) < length {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return false, g.unreadable(ctx, err)
	}
	// The call must end here.
	n, err := io.ReadFull(r.Body, prefix[:1])
	switch {
	case n > 0:
		return false, apierr.New(apierr.IngestBadRequest, "Export takes one message; a second one came.")
	case !errors.Is(err, io.EOF):
		return false, g.unreadable(ctx, err)
	}
	return gzip, nil
}

// messageEncoding reports whether a message with that flag is gzip.
func messageEncoding(flag byte, h http.Header) (gzip bool, _ *apierr.Error) {
	encoding := h.Get("Grpc-Encoding")
	switch encoding {
	case "", "identity", "gzip":
	default:
		return false, apierr.New(
			apierr.IngestUnsupportedMediaType,
			"This grpc-encoding is not supported. Send gzip, or leave the message uncompressed.",
		)
	}
	switch {
	case flag == messagePlain:
		return false, nil
	case flag == messageCompressed && encoding == "gzip":
		return true, nil
	case flag == messageCompressed:
		return false, apierr.New(apierr.IngestBadRequest, "The message is marked as compressed, but the call names no grpc-encoding.")
	default:
		return false, apierr.New(apierr.IngestBadRequest, "The message does not begin as a gRPC message does.")
	}
}

// unreadable returns the answer to a message that ended too early.
func (g *Gateway) unreadable(ctx context.Context, err error) *apierr.Error {
	var fail *apierr.Error
	switch {
	case errors.As(err, &fail):
		return fail
	case isTimeout(ctx, err):
		return g.timedOut(err)
	case ctx.Err() != nil:
		return g.interrupted(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return apierr.New(apierr.IngestBadRequest, "The call ended in the middle of a message.", apierr.Cause(err))
	default:
		return apierr.New(apierr.IngestBadRequest, "The message could not be read.", apierr.Cause(err))
	}
}

// writeMessage answers with success.
func writeMessage(w http.ResponseWriter, m []byte) {
	b := make([]byte, messagePrefix, messagePrefix+len(m))
	binary.BigEndian.PutUint32(b[1:], uint32(len(m)))
	w.Header().Set("Trailer", "Grpc-Status")
	_, _ = w.Write(append(b, m...)) // a failed write means that the sender is gone
	w.Header().Set("Grpc-Status", "0")
}

// writeStatus answers with a refusal, in headers only.
func writeStatus(w http.ResponseWriter, st *status.Status) {
	h := w.Header()
	h.Set("Grpc-Status", strconv.Itoa(int(st.Code())))
	h.Set("Grpc-Message", percentEncoded(st.Message()))
	if details, err := proto.Marshal(st.Proto()); err == nil {
		h.Set("Grpc-Status-Details-Bin", base64.RawStdEncoding.EncodeToString(details))
	}
	w.WriteHeader(http.StatusOK)
}

// percentEncoded encodes a text for grpc-message: printable ASCII except the percent sign stays, all other bytes become hexadecimal.
func percentEncoded(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c >= ' ' && c <= '~' && c != '%' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
