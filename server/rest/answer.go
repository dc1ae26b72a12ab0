package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/wirejson"
)

// minGzip is the size from which an answer is worth compressing.
const minGzip = 1024

// answer is the response of one request. The gateway and fail each write a body once, whole.
type answer struct {
	http.ResponseWriter
	door    *door
	request *http.Request
	status  int
	written bool
}

// WriteHeader keeps the status for Write.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write sends the whole answer.
func (a *answer) Write(data []byte) (int, error) {
	a.written = true
	header := a.Header()
	out := data
	if len(data) >= minGzip {
		header.Add("Vary", "Accept-Encoding")
		if acceptsGzip(a.request.Header.Get("Accept-Encoding")) {
			out = a.door.compress(data)
			header.Set("Content-Encoding", "gzip")
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(out)))
	if a.status != 0 {
		a.ResponseWriter.WriteHeader(a.status)
	}
	if _, err := a.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(data), nil
}

func (d *door) compress(data []byte) []byte {
	var out bytes.Buffer
	z, ok := d.gzips.Get().(*gzip.Writer)
	if !ok {
		return data
	}
	defer d.gzips.Put(z)
	z.Reset(&out)
	// A bytes.Buffer takes every write.
	_, _ = z.Write(data)
	_ = z.Close()
	return out.Bytes()
}

func acceptsGzip(header string) bool {
	for part := range strings.SplitSeq(header, ",") {
		coding, params, _ := strings.Cut(part, ";")
		coding = strings.TrimSpace(coding)
		if coding != "gzip" && coding != "*" {
			continue
		}
		q, isQ := strings.CutPrefix(strings.TrimSpace(params), "q=")
		weight, err := strconv.ParseFloat(q, 64)
		return !isQ || err != nil || weight > 0
	}
	return false
}

// fail answers with the error envelope.
func (a *answer) fail(err error) {
	a.failDetail(apierr.From(err).Detail())
}

func (a *answer) failDetail(d *optionsv1.ErrorDetail) {
	header := a.Header()
	header.Set("Content-Type", contentType)
	if s := d.GetRetryAfterSeconds(); s > 0 {
		header.Set("Retry-After", strconv.Itoa(int(s)))
	}
	if d.GetStatus() == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	a.status = int(d.GetStatus())
	if _, err := a.Write(apierr.Envelope(d, false)); err != nil {
		a.door.logger.DebugContext(a.request.Context(), "an answer could not be written", "error", err)
	}
}

// gatewayError answers what went wrong behind the gateway.
func (d *door) gatewayError(ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error) {
	a, ok := w.(*answer)
	if !ok {
		return // only checkRoutes calls with another writer, and it never gets here
	}
	if b, ok := r.Body.(*body); ok && b.err != nil {
		err = b.err
	}
	var decode *wirejson.DecodeError
	var encode *wirejson.EncodeError
	switch {
	case errors.As(err, &decode):
		a.fail(apierr.New(apierr.InvalidRequest, decode.Error(), apierr.Param(decode.Path())))
		return
	case errors.As(err, &encode):
		d.logger.ErrorContext(ctx, "an answer has no form in JSON", "error", encode, "request_id", requestid.From(ctx))
		a.fail(apierr.New(apierr.ResponseSchema, ""))
		return
	}
	st, ok := status.FromError(err)
	if !ok {
		a.fail(err)
		return
	}
	for _, detail := range st.Details() {
		if e, ok := detail.(*optionsv1.ErrorDetail); ok {
			a.failDetail(e)
			return
		}
	}
	switch st.Code() {
	case codes.InvalidArgument:
		a.fail(apierr.New(apierr.InvalidRequest, ""))
	case codes.Canceled:
		a.fail(context.Canceled)
	case codes.DeadlineExceeded:
		a.fail(context.DeadlineExceeded)
	default:
		d.logger.ErrorContext(ctx, "a REST request failed without an error of ours", "error", err, "request_id", requestid.From(ctx))
		a.fail(apierr.New(apierr.Unexpected, ""))
	}
}

// routingError answers a request that the contract knows and the gateway does not; checkRoutes excludes it.
func (d *door) routingError(_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, _ int) {
	if a, ok := w.(*answer); ok {
		a.fail(notFound(r))
	}
}
