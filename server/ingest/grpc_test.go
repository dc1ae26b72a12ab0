package ingest_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	collogs "go.opentelemetry.io/proto/otlp/collector/logs/v1"
	colmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/ingest"
)

// listenGRPC serves the gRPC door on a real port.
func (f *fixture) listenGRPC(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := f.GRPCServer()
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		_ = s.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

func dial(t testing.TB, addr string) *grpc.ClientConn {
	t.Helper()
	c, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func withKey(t testing.TB, key string) context.Context {
	return metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer "+key)
}

func TestExportGRPC(t *testing.T) {
	for name, opts := range map[string][]grpc.CallOption{"plain": nil, "gzip": {grpc.UseCompressor(gzip.Name)}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, ingest.Limits{}, nil)
			c := dial(t, f.listenGRPC(t))
			ctx := withKey(t, goodKey)
			// 6 MB without compression, which is more than gRPC's default limit of 4 MiB.
			large := spans(600)
			for _, s := range large.ResourceSpans[0].ScopeSpans[0].Spans {
				s.Attributes = append(s.Attributes, attribute("note", longText(10_000)))
			}
			if res, err := coltrace.NewTraceServiceClient(c).Export(ctx, large, opts...); err != nil || res.PartialSuccess != nil {
				t.Fatalf("%v, %v", res, err)
			}
			if res, err := coltrace.NewTraceServiceClient(c).Export(ctx, spans(2), opts...); err != nil || res.PartialSuccess != nil {
				t.Fatalf("%v, %v", res, err)
			}
			if res, err := collogs.NewLogsServiceClient(c).Export(ctx, logRecords(), opts...); err != nil || res.PartialSuccess != nil {
				t.Fatalf("%v, %v", res, err)
			}
			if res, err := colmetrics.NewMetricsServiceClient(c).Export(metadata.AppendToOutgoingContext(t.Context(), "x-svc-ingest-key", goodKey),
				points(), opts...); err != nil || res.PartialSuccess != nil {
				t.Fatalf("%v, %v", res, err)
			}
			if res, err := coltrace.NewTraceServiceClient(c).Export(ctx, &coltrace.ExportTraceServiceRequest{}, opts...); err != nil ||
				res.PartialSuccess != nil {
				t.Fatalf("empty: %v, %v", res, err)
			}
			if records, rows := f.queue.count(); records != 4 || rows != 604 {
				t.Errorf("%d records with %d rows", records, rows)
			}
			if got := f.decoded(t); got != 604 {
				t.Errorf("the queued records give %d rows", got)
			}
			h, err := ingest.ParseRecordHeader(f.queue.records[1].Header)
			if err != nil {
				t.Fatal(err)
			}
			if want := map[string]ingest.Encoding{"plain": ingest.EncodingNone, "gzip": ingest.EncodingGzip}[name]; h.Encoding != want {
				t.Errorf("encoding %d, want %d", h.Encoding, want)
			}
		})
	}
}

func TestGRPCPartialSuccess(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	bad := spans(2)
	bad.ResourceSpans[0].ScopeSpans[0].Spans[1].SpanId = nil
	res, err := coltrace.NewTraceServiceClient(dial(t, f.listenGRPC(t))).Export(withKey(t, goodKey), bad)
	if err != nil || res.GetPartialSuccess().GetRejectedSpans() != 1 || res.GetPartialSuccess().GetErrorMessage() == "" {
		t.Errorf("%v, %v", res, err)
	}
}

// TestGRPCStatus causes every refusal of this door. Each fault occurs alone, because the order is that of the HTTP door.
func TestGRPCStatus(t *testing.T) {
	bad := spans(4)
	for _, c := range []struct {
		name  string
		key   string
		body  *coltrace.ExportTraceServiceRequest
		limit ingest.Limits
		err   error
		busy  bool
		code  codes.Code
		tag   apierr.Tag
	}{
		{name: "no key", code: codes.Unauthenticated, tag: apierr.IngestUnauthorized},
		{name: "no key and too large", limit: ingest.Limits{GRPCMessage: 100}, code: codes.Unauthenticated, tag: apierr.IngestUnauthorized},
		{name: "unknown key", key: "svc_pk_unknown", code: codes.Unauthenticated, tag: apierr.IngestUnauthorized},
		{name: "lookup outage", key: outageKey, code: codes.Unavailable, tag: apierr.IngestServiceUnavailable},
		{name: "signal", key: logsKey, code: codes.PermissionDenied, tag: apierr.IngestSignalNotAllowed},
		{name: "in flight", key: goodKey, busy: true, code: codes.Unavailable, tag: apierr.IngestRateLimited},
		{
			name: "in flight and too large", key: goodKey, busy: true, body: spans(100), limit: ingest.Limits{GRPCMessage: 1000},
			code: codes.Unavailable, tag: apierr.IngestRateLimited,
		},
		{
			name: "expands too far", key: goodKey, limit: ingest.Limits{Decompressed: 100}, code: codes.ResourceExhausted,
			tag: apierr.IngestPayloadTooLarge,
		},
		{name: "OTLP", key: goodKey, body: bad, code: codes.InvalidArgument, tag: apierr.IngestBadRequest},
		{name: "queue", key: goodKey, err: errors.New("disk full"), code: codes.Unavailable, tag: apierr.IngestQueueUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			var gate chan struct{}
			if c.busy {
				gate = make(chan struct{})
				c.limit.InFlight = 1
			}
			f := newFixture(t, c.limit, gate)
			f.queue.fail(c.err)
			if c.busy {
				done := make(chan struct{})
				go func() {
					defer close(done)
					f.do("POST", "/v1/logs", wire(t, logRecords()), bearer(goodKey)...)
				}()
				f.queue.awaitWaiting(t, 1)
				t.Cleanup(func() { close(gate); <-done })
			}
			conn := dial(t, f.listenGRPC(t))
			ctx := t.Context()
			if c.key != "" {
				ctx = withKey(t, c.key)
			}
			var err error
			switch c.body {
			case bad: // invalid UTF-8 in a name, which a client's own encoder would refuse
				body := bytes.Replace(wire(t, bad), []byte("GET /cart"), []byte("GET \xffcart"), 1)
				err = conn.Invoke(ctx, "/opentelemetry.proto.collector.trace.v1.TraceService/Export", body, &emptypb.Empty{},
					grpc.ForceCodec(rawCodec{}))
			case nil:
				_, err = coltrace.NewTraceServiceClient(conn).Export(ctx, spans(3), grpc.UseCompressor(gzip.Name))
			default:
				_, err = coltrace.NewTraceServiceClient(conn).Export(ctx, c.body)
			}
			refusedGRPC(t, err, c.code, c.tag)
			if n, _ := f.queue.count(); n != 0 {
				t.Errorf("%d records were written", n)
			}
		})
	}
}

// TestGRPCMessageTooLarge: the length alone refuses the message, before a byte of it is kept. RESOURCE_EXHAUSTED without
// RetryInfo tells senders not to repeat the request.
func TestGRPCMessageTooLarge(t *testing.T) {
	f := newFixture(t, ingest.Limits{GRPCMessage: 100}, nil)
	_, err := coltrace.NewTraceServiceClient(dial(t, f.listenGRPC(t))).Export(withKey(t, goodKey), spans(3))
	refusedGRPC(t, err, codes.ResourceExhausted, apierr.IngestPayloadTooLarge)
	eventually(t, "the refusal is counted", func() bool {
		return f.metric(t, "svc_ingest_requests_total", "grpc", "traces", "@svc/ingest/PayloadTooLarge") == 1
	})
}

func refusedGRPC(t *testing.T, err error, code codes.Code, tag apierr.Tag) {
	t.Helper()
	st := status.Convert(err)
	spec := apierr.Spec(tag)
	if st.Code() != code || st.Message() == "" {
		t.Fatalf("status %v, want %v", st, code)
	}
	var info *errdetails.ErrorInfo
	var retry *errdetails.RetryInfo
	var bad *errdetails.BadRequest
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.RetryInfo:
			retry = d
		case *errdetails.BadRequest:
			bad = d
		}
	}
	if info.GetReason() != spec.GetTag() || info.GetMetadata()["code"] != spec.GetCode() {
		t.Errorf("ErrorInfo %v, want reason %s", info, spec.GetTag())
	}
	if got, want := retry.GetRetryDelay().GetSeconds(), int64(spec.GetRetryAfterSeconds()); (retry != nil) != spec.GetRetryable() ||
		got != want {
		t.Errorf("RetryInfo %v, want %d s", retry, want)
	}
	if code == codes.InvalidArgument && len(bad.GetFieldViolations()) == 0 {
		t.Error("BadRequest is missing")
	}
	if strings.Contains(st.Message(), "disk full") || strings.Contains(st.Message(), "hunter2") {
		t.Errorf("message %q shows an inner error", st.Message())
	}
}

// rawCodec sends bytes unchanged.
type rawCodec struct{}

func (rawCodec) Marshal(v any) ([]byte, error) { return v.([]byte), nil }
func (rawCodec) Unmarshal([]byte, any) error   { return nil }
func (rawCodec) Name() string                  { return "proto" }

// TestEveryIngestTagHasItsGRPCStatus pins the status table, including tags that only later checks use.
func TestEveryIngestTagHasItsGRPCStatus(t *testing.T) {
	got := map[string]string{}
	for _, tag := range apierr.All() {
		if name := apierr.Spec(tag).GetTag(); strings.HasPrefix(name, "@svc/ingest/") {
			got[strings.TrimPrefix(name, "@svc/ingest/")] = ingest.GRPCCode(tag).String()
		}
	}
	want := map[string]string{
		"Unauthorized": "Unauthenticated", "SignalNotAllowed": "PermissionDenied", "RateLimited": "Unavailable",
		"PayloadTooLarge":      "ResourceExhausted",
		"UnsupportedMediaType": "Unimplemented", "BadRequest": "InvalidArgument", "ReplayBodyNotGzip": "InvalidArgument",
		"PlanLimitReached":  "FailedPrecondition",
		"OrgQueueThrottled": "Unavailable", "ExportLaneBackpressure": "Unavailable", "ServiceUnavailable": "Unavailable",
		"QueueUnavailable":     "Unavailable",
		"CollectorUnavailable": "Unavailable", "RequestTimeout": "DeadlineExceeded", "PayloadEncodeFailed": "Internal",
		"InternalError": "Internal",
		"RouteNotFound": "Unimplemented", "MethodNotAllowed": "Unimplemented",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// openStream begins a call to Export without sending its message.
func openStream(t *testing.T, addr string) grpc.ClientStream {
	t.Helper()
	desc := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
	s, err := dial(t, addr).NewStream(withKey(t, goodKey), desc, "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
		grpc.ForceCodec(rawCodec{}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGRPCCallsThatAreNotUnary(t *testing.T) {
	f := newFixture(t, ingest.Limits{Request: 200 * time.Millisecond}, nil)
	addr := f.listenGRPC(t)
	var ignored emptypb.Empty

	none := openStream(t, addr)
	if err := none.CloseSend(); err != nil {
		t.Fatal(err)
	}
	refusedGRPC(t, none.RecvMsg(&ignored), codes.InvalidArgument, apierr.IngestBadRequest)

	two := openStream(t, addr)
	for range 2 {
		if err := two.SendMsg(wire(t, spans(1))); err != nil {
			t.Fatal(err)
		}
	}
	refusedGRPC(t, two.RecvMsg(&ignored), codes.InvalidArgument, apierr.IngestBadRequest)

	// A call whose sender never ends it is cut.
	refusedGRPC(t, openStream(t, addr).RecvMsg(&ignored), codes.DeadlineExceeded, apierr.IngestRequestTimeout)
	if n, _ := f.queue.count(); n != 0 {
		t.Errorf("%d records were written", n)
	}
}

// badGzip claims to compress with gzip, but sends other bytes.
type badGzip struct{ replacement []byte }

func (b badGzip) Do(w io.Writer, _ []byte) error { _, err := w.Write(b.replacement); return err }

type namedCompressor struct {
	badGzip
	name string
}

func (c namedCompressor) Type() string { return c.name }

func withCompressor(c badGzip, name string) grpc.DialOption {
	//lint:ignore SA1019 Registering a compressor instead would change it for the whole process.
	return grpc.WithCompressor(namedCompressor{c, name}) //nolint:staticcheck // see above
}

func TestGRPCBadCompression(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	zipped := gzipped(t, wire(t, spans(1)))
	for name, b := range map[string]badGzip{
		"not gzip":  {[]byte("hello")},
		"empty":     {nil},
		"truncated": {zipped[:len(zipped)-4]},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := grpc.NewClient(f.listenGRPC(t), grpc.WithTransportCredentials(insecure.NewCredentials()), withCompressor(b, "gzip"))
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Close() }()
			_, err = coltrace.NewTraceServiceClient(c).Export(withKey(t, goodKey), spans(1))
			refusedGRPC(t, err, codes.InvalidArgument, apierr.IngestBadRequest)
		})
	}
	c, err := grpc.NewClient(f.listenGRPC(t), grpc.WithTransportCredentials(insecure.NewCredentials()), withCompressor(badGzip{}, "zstd"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err = coltrace.NewTraceServiceClient(c).Export(withKey(t, goodKey), spans(1)); status.Code(err) != codes.Unimplemented {
		t.Errorf("zstd: %v", err)
	}
}

func TestGRPCHealth(t *testing.T) {
	f := newFixture(t, ingest.Limits{}, nil)
	c := healthv1.NewHealthClient(dial(t, f.listenGRPC(t)))
	for _, name := range []string{"", "opentelemetry.proto.collector.logs.v1.LogsService"} {
		res, err := c.Check(t.Context(), &healthv1.HealthCheckRequest{Service: name})
		if err != nil || res.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("%q: %v, %v", name, res, err)
		}
	}
	f.Drain()
	if res, err := c.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil ||
		res.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("draining: %v, %v", res, err)
	}
}
