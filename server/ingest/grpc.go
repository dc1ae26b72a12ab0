package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/requestid"
)

// collectorServices are the OTLP services, by full name.
func collectorServices() map[string]otlp.Signal {
	return map[string]otlp.Signal{
		"opentelemetry.proto.collector.trace.v1.TraceService":     otlp.Traces,
		"opentelemetry.proto.collector.logs.v1.LogsService":       otlp.Logs,
		"opentelemetry.proto.collector.metrics.v1.MetricsService": otlp.Metrics,
	}
}

func newHealth() *health.Server {
	h := health.NewServer()
	for name := range collectorServices() {
		h.SetServingStatus(name, healthv1.HealthCheckResponse_SERVING)
	}
	return h
}

// GRPCServer serves the OTLP/gRPC address: the three collector services and gRPC health.
func (g *Gateway) GRPCServer() *grpc.Server {
	s := grpc.NewServer(
		grpc.ForceServerCodecV2(passThrough{}),
		//lint:ignore SA1019 The only way to get at a compressed message as it came: it is stored so, and both doors share one bounded decompressor. Registering a compressor instead would change gzip for the whole process.
		grpc.RPCDecompressor(keepCompressed{}), //nolint:staticcheck // see above
		grpc.MaxRecvMsgSize(g.limits.GRPCMessage),
		grpc.MaxConcurrentStreams(uint32(g.limits.InFlight)),
		grpc.InitialWindowSize(1<<20),
		grpc.InitialConnWindowSize(4<<20),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: time.Minute, Timeout: 20 * time.Second}),
		grpc.ConnectionTimeout(20*time.Second),
		grpc.WaitForHandlers(true),
	)
	for name, signal := range collectorServices() {
		// On the wire a unary call is a stream of one message each way. Registered as a stream, the handler runs before the message is
		// read, so that the key is checked first, as over HTTP.
		s.RegisterService(&grpc.ServiceDesc{
			ServiceName: name,
			HandlerType: (*any)(nil),
			Streams: []grpc.StreamDesc{{
				StreamName: "Export", ServerStreams: true, ClientStreams: true,
				Handler: func(_ any, stream grpc.ServerStream) error { return g.serveStream(stream, signal) },
			}},
		}, nil)
	}
	healthv1.RegisterHealthServer(s, g.health)
	return s
}

func (g *Gateway) serveStream(stream grpc.ServerStream, signal otlp.Signal) error {
	started := time.Now()
	g.metrics.open.Inc()
	defer g.metrics.open.Dec()
	ctx, cancel := context.WithDeadline(stream.Context(), started.Add(g.limits.Request))
	defer cancel()
	md, _ := metadata.FromIncomingContext(ctx)
	id := requestid.Choose(first(md, "x-request-id"))
	result, fail := g.receiveMessage(ctx, md, stream, signal)
	g.metrics.answered(signal, doorGRPC, started, fail)
	// Headers that cannot be sent mean that the sender is gone.
	_ = stream.SetHeader(metadata.Pairs("x-request-id", id))
	if fail != nil {
		g.report(signal, doorGRPC, id, fail)
		return grpcStatus(fail).Err()
	}
	return stream.SendMsg(&message{bytes: protoResponse(nil, result.Rejected, result.Message())})
}

// receiveMessage runs the checks in the order of the HTTP door.
func (g *Gateway) receiveMessage(ctx context.Context, md metadata.MD, stream grpc.ServerStream, signal otlp.Signal) (none otlp.Result, _ *apierr.Error) {
	key, discard, fail := g.authenticate(ctx, presentedKey(first(md, "authorization"), first(md, keyHeader)))
	if fail != nil {
		return none, fail
	}
	if fail := key.allow(signal); fail != nil {
		return none, fail
	}
	if fail := g.admit(key.Org); fail != nil {
		return none, fail
	}
	defer g.inFlight.leave(key.Org)
	m, fail := g.receiveOne(ctx, stream)
	if fail != nil {
		return none, fail
	}
	held := &buffer{org: key.Org}
	defer func() {
		if !held.kept {
			m.free()
		}
		g.release(held)
	}()
	if fail := g.charge(held, len(m.bytes)); fail != nil {
		return none, fail
	}
	return g.store(ctx, &export{signal: signal, door: doorGRPC, key: key, discard: discard, body: m.bytes, held: held, gzip: m.gzip})
}

// receiveOne reads the one message of a unary call. It gives up at the deadline of ctx; the reading ends when the handler returns.
func (g *Gateway) receiveOne(ctx context.Context, stream grpc.ServerStream) (*message, *apierr.Error) {
	type received struct {
		m   *message
		err error
	}
	done := make(chan received, 1)
	go func() {
		m := &message{}
		err := stream.RecvMsg(m)
		if err == nil {
			var second message
			if err = stream.RecvMsg(&second); err == nil {
				second.free()
				err = errSecondMessage
			} else if err == io.EOF { //nolint:errorlint // gRPC promises the bare value.
				err = nil
			}
		}
		done <- received{m, err}
	}()
	var r received
	select {
	case r = <-done:
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, g.interrupted(ctx)
		}
		// The stream is over, which ends the reading: its error says why. gRPC cancels also when it refuses a message itself.
		r = <-done
	}
	if r.err == nil {
		return r.m, nil
	}
	r.m.free()
	switch {
	case errors.Is(r.err, errSecondMessage):
		return nil, apierr.New(apierr.IngestBadRequest, "Export takes one message; a second one came.")
	case errors.Is(r.err, io.EOF):
		return nil, apierr.New(apierr.IngestBadRequest, "The call ended without a message.")
	case status.Code(r.err) == codes.ResourceExhausted:
		return nil, apierr.New(apierr.IngestPayloadTooLarge,
			fmt.Sprintf("The message is larger than %s as sent. Send smaller batches, or compress them with gzip.", mebibytes(g.limits.GRPCMessage)), apierr.Cause(r.err))
	case ctx.Err() != nil:
		return nil, g.interrupted(ctx)
	default:
		return nil, apierr.New(apierr.IngestBadRequest, "The message could not be read.", apierr.Cause(r.err))
	}
}

var errSecondMessage = errors.New("ingest: a second message in a unary call")

func first(md metadata.MD, name string) string {
	if v := md.Get(name); len(v) > 0 {
		return v[0]
	}
	return ""
}
