package rpc

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

// Code is the Connect and gRPC code of an error. Clients repeat a call by themselves on Unavailable, so a dependency's failure that
// a repetition cannot mend is Internal.
func Code(tag apierr.Tag) connect.Code {
	spec := apierr.Spec(tag)
	if tag == apierr.RouteNotFound {
		return connect.CodeUnimplemented // clients of both protocols read it as "no such method"
	}
	switch spec.GetStatus() {
	case 401:
		return connect.CodeUnauthenticated
	case 402:
		return connect.CodeFailedPrecondition
	case 403:
		return connect.CodePermissionDenied
	case 404:
		return connect.CodeNotFound
	case 405:
		return connect.CodeUnimplemented
	case 409:
		return connect.CodeAborted
	case 413, 429:
		return connect.CodeResourceExhausted
	case 499:
		return connect.CodeCanceled
	case 502, 503:
		if spec.GetRetryable() {
			return connect.CodeUnavailable
		}
		return connect.CodeInternal
	case 504:
		return connect.CodeDeadlineExceeded
	case 500:
		return connect.CodeInternal
	default:
		return connect.CodeInvalidArgument
	}
}

// Error makes the error that Connect, gRPC and gRPC-Web send: code, safe message and ErrorDetail; for a retryable error also
// RetryInfo and Retry-After. The private cause is left out.
func Error(e *apierr.Error) *connect.Error {
	wire := connect.NewError(Code(e.Tag), errors.New(e.Message))
	addDetail(wire, e.Detail())
	if seconds := e.RetryAfterSeconds(); seconds > 0 {
		addDetail(wire, &errdetails.RetryInfo{RetryDelay: durationpb.New(time.Duration(seconds) * time.Second)})
		wire.Meta().Set("Retry-After", strconv.Itoa(seconds))
	}
	return wire
}

func addDetail(wire *connect.Error, msg proto.Message) {
	// Marshaling fails only for invalid UTF-8. The error then leaves with its code and message, without a detail.
	if d, err := connect.NewErrorDetail(msg); err == nil {
		wire.AddDetail(d)
	}
}

// wireError maps the error of a method. It logs the cause of a server failure with the request id.
func (c *Chain) wireError(ctx context.Context, procedure string, err error) *connect.Error {
	var e *apierr.Error
	var wire *connect.Error
	switch {
	case errors.As(err, &e):
	case errors.As(err, &wire) && wire.Code() == connect.CodeUnimplemented:
		e = apierr.New(apierr.RouteNotFound, "This server does not offer the method.", apierr.Cause(err))
	case ctx.Err() != nil:
		// The call ended early. Drivers report that in many different words.
		e = apierr.From(errors.Join(ctx.Err(), err))
	default:
		e = apierr.From(err)
	}
	level := slog.LevelDebug
	if apierr.Spec(e.Tag).GetStatus() >= 500 {
		level = slog.LevelError
	}
	c.logger.Log(ctx, level, "an API call failed", "method", procedure, "tag", apierr.Spec(e.Tag).GetTag(), "error", e.Error(),
		"request_id", requestid.From(ctx))
	return Error(e)
}

// challenge adds WWW-Authenticate on the Connect protocol. gRPC would send it as a trailer, which HTTP forbids.
func challenge(peer connect.Peer, err *connect.Error) *connect.Error {
	if err.Code() == connect.CodeUnauthenticated && peer.Protocol == connect.ProtocolConnect {
		err.Meta().Set("WWW-Authenticate", "Bearer")
	}
	return err
}

// observe records one finished call.
func (c *Chain) observe(ctx context.Context, procedure string, peer connect.Peer, start time.Time, err error) {
	elapsed := c.now().Sub(start)
	code := "ok"
	if err != nil {
		code = connect.CodeOf(err).String()
	}
	door := string(principal.DoorFrom(ctx))
	if door == string(principal.DoorConnect) && peer.Protocol != "" {
		door = peer.Protocol // connect, grpc or grpcweb
	}
	c.durations.WithLabelValues(procedure, code, door).Observe(elapsed.Seconds())
	if c.logger.Enabled(ctx, slog.LevelDebug) {
		p, ok := principal.From(ctx)
		if !ok {
			p = &principal.Principal{}
		}
		c.logger.DebugContext(ctx, "API call", "method", procedure, "code", code, "door", door, "duration", elapsed,
			"org_id", string(p.Org), "credential", string(p.Kind), "credential_id", p.CredentialID, "user_id", string(p.User),
			"request_id", requestid.From(ctx))
	}
}
