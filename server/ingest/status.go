package ingest

import (
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/svc-observability/svc/server/apierr"
)

// errorDomain is the ErrorInfo.domain of every refusal.
const errorDomain = "svc"

// grpcCode maps an error tag to the status of the OTLP/gRPC door. Exporters repeat a request on UNAVAILABLE and
// DEADLINE_EXCEEDED.
func grpcCode(tag apierr.Tag) codes.Code {
	switch tag {
	case apierr.IngestUnauthorized:
		return codes.Unauthenticated
	case apierr.IngestSignalNotAllowed:
		return codes.PermissionDenied
	case apierr.IngestPlanLimitReached:
		return codes.FailedPrecondition
	case apierr.IngestUnsupportedMediaType:
		return codes.Unimplemented // the gRPC specification requires it for an unknown compression
	case apierr.IngestBadRequest, apierr.IngestReplayBodyNotGzip:
		return codes.InvalidArgument
	case apierr.IngestPayloadTooLarge:
		return codes.ResourceExhausted
	case apierr.IngestRequestTimeout:
		return codes.DeadlineExceeded
	case apierr.IngestRouteNotFound, apierr.IngestMethodNotAllowed:
		return codes.Unimplemented
	case apierr.IngestRateLimited, apierr.IngestOrgQueueThrottled, apierr.IngestExportLaneBackpressure,
		apierr.IngestServiceUnavailable, apierr.IngestQueueUnavailable, apierr.IngestCollectorUnavailable:
		return codes.Unavailable
	default:
		return codes.Internal
	}
}

// grpcStatus returns a refusal with its details: the tag in ErrorInfo.reason, RetryInfo if the sender may repeat the request, and
// the faulty field.
func grpcStatus(fail *apierr.Error) *status.Status {
	spec := apierr.Spec(fail.Tag)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{
		Reason: spec.GetTag(), Domain: errorDomain, Metadata: map[string]string{"code": spec.GetCode(), "recovery": spec.GetRecovery()},
	}}
	if s := fail.RetryAfterSeconds(); s > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Duration(s) * time.Second)})
	}
	if grpcCode(fail.Tag) == codes.InvalidArgument {
		bad := &errdetails.BadRequest{}
		for _, v := range fail.Violations {
			bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: v.Field, Description: v.Message})
		}
		if len(bad.FieldViolations) == 0 {
			bad.FieldViolations = []*errdetails.BadRequest_FieldViolation{{Description: fail.Message}}
		}
		details = append(details, bad)
	}
	st := status.New(grpcCode(fail.Tag), fail.Message)
	if full, err := st.WithDetails(details...); err == nil {
		return full
	}
	return st
}
