package rpc

import (
	"context"
	"fmt"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
	"github.com/svc-observability/svc/server/principal"
)

// once calls the method, or returns the answer to the first request with the same Idempotency-Key. It remembers successes only: a
// request that failed created nothing and may be repeated with its key.
func (c *Chain) once(
	ctx context.Context, m *contract.Method, req connect.AnyRequest, msg proto.Message, next connect.UnaryFunc,
) (connect.AnyResponse, error) {
	values := req.Header().Values(idempotency.Header)
	p, known := principal.From(ctx)
	if c.answers == nil || !m.IdempotencyKey || !known || len(values) == 0 {
		return next(ctx, req)
	}
	if len(values) > 1 {
		return nil, apierr.New(apierr.InvalidRequest, "The request has several `"+idempotency.Header+"` headers. Send one.",
			apierr.Param(idempotency.Header))
	}
	if err := idempotency.Check(values[0]); err != nil {
		return nil, err
	}
	request, err := proto.MarshalOptions{Deterministic: true}.Marshal(msg)
	if err != nil {
		return nil, fmt.Errorf("marshal the request for its idempotency key: %w", err)
	}
	attempt, err := c.answers.Begin(ctx, p, values[0], m.FullName, request)
	if err != nil {
		return nil, err
	}
	if attempt.Replayed {
		return replay(m, attempt.Replay)
	}
	kept := false
	defer func() {
		if !kept {
			attempt.Release(ctx)
		}
	}()
	// The call runs to its end even when the caller disconnects: the next request with the key must find a complete answer.
	whole := context.WithoutCancel(ctx)
	if deadline, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		whole, cancel = context.WithDeadline(whole, deadline)
		defer cancel()
	}
	res, err := next(whole, req)
	if err != nil {
		return nil, err
	}
	answer, ok := res.Any().(proto.Message)
	if !ok {
		return nil, fmt.Errorf("answer of %s is not a protobuf message: %T", m.FullName, res.Any())
	}
	kept = true // the resource exists: whatever happens now, the key must not become free before its lease ends
	text, err := proto.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("marshal the answer of %s: %w", m.FullName, err)
	}
	attempt.Done(whole, text)
	return res, nil
}

// answered is a response with another message. It serves answers whose type is known only at run time.
type answered struct {
	connect.AnyResponse
	message proto.Message
}

// Any returns the message.
func (r answered) Any() any { return r.message }

func replay(m *contract.Method, answer []byte) (connect.AnyResponse, error) {
	t, err := protoregistry.GlobalTypes.FindMessageByName(m.Descriptor.Output().FullName())
	if err != nil {
		return nil, fmt.Errorf("answer type of %s: %w", m.FullName, err)
	}
	message := t.New().Interface()
	if err := proto.Unmarshal(answer, message); err != nil {
		return nil, fmt.Errorf("read the stored answer of %s: %w", m.FullName, err)
	}
	res := answered{connect.NewResponse(&emptypb.Empty{}), message}
	res.Header().Set(idempotency.ReplayedHeader, "true")
	return res, nil
}
