package ingest

import (
	"context"
	"net/http"
	"path"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/limits"
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

// Bounds of the memory that a connection can take before its request is checked.
const (
	maxConnectionBuffer = 4 << 20
	maxStreamBuffer     = 256 << 10
	maxHealthMessage    = 4 << 10
)

// GRPCServer serves the OTLP/gRPC address: the three collector services and gRPC health.
//
// The HTTP/2 server of net/http serves Export, not grpc-go. grpc-go receives a whole message of up to 64 MiB before the handler
// can check whether there is memory for it. Here the key is checked before the message is read, and the length before the bytes
// are received. The memory is charged as the bytes arrive, as over HTTP. grpc-go serves everything else on the address, with
// messages of a few kilobytes.
func (g *Gateway) GRPCServer() *http.Server {
	rest := grpc.NewServer(grpc.MaxRecvMsgSize(maxHealthMessage))
	healthv1.RegisterHealthServer(rest, g.health)
	exports, collectors := map[string]otlp.Signal{}, map[string]bool{}
	for name, signal := range collectorServices() {
		collectors[name] = true
		exports["/"+name+"/Export"] = signal
	}
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	server := g.HTTPServer()
	server.Protocols = &protocols
	server.WriteTimeout = 0 // it would end a health watch; Export sets its own
	server.HTTP2 = &http.HTTP2Config{
		MaxConcurrentStreams:          min(g.limits.InFlight, limits.StreamsOfExporter),
		MaxReceiveBufferPerConnection: maxConnectionBuffer,
		MaxReceiveBufferPerStream:     maxStreamBuffer,
		SendPingTimeout:               time.Minute,
		PingTimeout:                   20 * time.Second,
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = g.noSniff
		if signal, ok := exports[r.URL.Path]; ok {
			g.serveCall(w, r, signal)
			return
		}
		if service, method := path.Split(r.URL.Path); isGRPC(r) && collectors[strings.Trim(service, "/")] {
			// grpc-go knows only the health service, and would report the service as unknown.
			w.Header().Set("Content-Type", mediaGRPC)
			writeStatus(w, status.Newf(codes.Unimplemented, "unknown method %s for service %s", method, strings.Trim(service, "/")))
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 2*maxHealthMessage)
		rest.ServeHTTP(w, r)
	})
	return server
}

// serveCall serves one call of Export.
func (g *Gateway) serveCall(w http.ResponseWriter, r *http.Request, signal otlp.Signal) {
	if !isGRPC(r) {
		w.WriteHeader(http.StatusUnsupportedMediaType) // the gRPC specification requires it
		return
	}
	ctx, started, done := g.begin(w, r)
	defer done()
	_ = http.NewResponseController(w).SetWriteDeadline(started.Add(g.limits.Request + 15*time.Second)) // as HTTPServer
	id := requestid.Choose(r.Header.Get(requestid.Header))
	h := w.Header()
	h.Set("Content-Type", mediaGRPC)
	h.Set("Grpc-Accept-Encoding", "gzip")
	h.Set(requestid.Header, id)
	e := export{
		signal:  signal,
		door:    doorGRPC,
		receipt: receipt{signalName: signal.String(), doorName: doorGRPC.String(), agent: r.UserAgent()},
	}
	fail := g.receiveCall(ctx, r, &e)
	message := e.result.Message()
	if e.test && fail != nil {
		message, e.result.Rejected, fail = testVerdict(fail), 0, nil
	}
	g.metrics.answered(&e, started, fail)
	g.settle(&e.receipt, fail)
	if fail != nil {
		g.report(signal, doorGRPC, id, fail)
		writeStatus(w, grpcStatus(fail))
		return
	}
	writeMessage(w, protoResponse(nil, e.result.Rejected, message))
}

// receiveCall runs the checks in the order of the HTTP door.
func (g *Gateway) receiveCall(ctx context.Context, r *http.Request, e *export) *apierr.Error {
	key, discard, fail := g.authenticate(ctx, r.Header)
	e.identify(&key)
	e.test = discard
	if fail != nil {
		return fail
	}
	if fail := key.allow(e.signal); fail != nil {
		return fail
	}
	if fail := g.paced(&key); fail != nil {
		return fail
	}
	place, fail := g.admit(ctx, key.share())
	if fail != nil {
		return fail
	}
	defer place.leave()
	body := g.buffers.get(key.share())
	defer g.release(body)
	gzip, fail := g.readMessage(ctx, body, r)
	if fail != nil {
		return fail
	}
	if fail := place.enter(); fail != nil {
		return fail
	}
	e.key, e.discard, e.body, e.held, e.gzip = key, discard, body.b, body, gzip
	return g.store(ctx, e)
}
