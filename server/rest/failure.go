package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/wirejson"
)

// fail answers with the error envelope.
func (res *response) fail(err error) { res.failDetail(apierr.From(err).Detail()) }

func (res *response) failDetail(d *optionsv1.ErrorDetail) {
	header := res.Header()
	header.Set("Content-Type", contentType)
	if s := d.GetRetryAfterSeconds(); s > 0 {
		header.Set("Retry-After", strconv.Itoa(int(s)))
	}
	if d.GetStatus() == http.StatusUnauthorized {
		header.Set("WWW-Authenticate", "Bearer")
	}
	res.status = int(d.GetStatus())
	if _, err := res.Write(apierr.Envelope(d, false)); err != nil {
		res.transcoder.logger.DebugContext(res.request.Context(), "an answer could not be written", "error", err)
	}
}

// callFailed is the gateway's error handler. It answers a failure to bind the request, to call the method, or to write its answer.
func (t *transcoder) callFailed(
	ctx context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, err error,
) {
	res, ok := w.(*response)
	if !ok {
		return // ServeHTTP is the gateway's only caller
	}
	if b, ok := r.Body.(*body); ok && b.err != nil {
		err = b.err
	}
	var decode *wirejson.DecodeError
	var encode *wirejson.EncodeError
	switch {
	case errors.As(err, &decode):
		res.fail(apierr.New(apierr.InvalidRequest, decode.Error(), apierr.Param(decode.Path())))
		return
	case errors.As(err, &encode):
		t.logger.ErrorContext(ctx, "an answer cannot be written as JSON", "error", encode, "request_id", requestid.From(ctx))
		res.fail(apierr.New(apierr.ResponseSchema, ""))
		return
	}
	st, ok := status.FromError(err)
	if !ok {
		res.fail(err)
		return
	}
	for _, detail := range st.Details() {
		if e, ok := detail.(*optionsv1.ErrorDetail); ok {
			res.failDetail(e)
			return
		}
	}
	switch st.Code() {
	case codes.InvalidArgument:
		if failure, ok := readValueError(res.method, st.Message()); ok {
			res.fail(failure)
			return
		}
		res.fail(apierr.New(apierr.InvalidRequest, ""))
	case codes.Canceled:
		res.fail(context.Canceled)
	case codes.DeadlineExceeded:
		res.fail(context.DeadlineExceeded)
	default:
		t.logger.ErrorContext(ctx, "a REST request failed with an error outside the contract", "error", err, "request_id", requestid.From(ctx))
		res.fail(apierr.New(apierr.Unexpected, ""))
	}
}
