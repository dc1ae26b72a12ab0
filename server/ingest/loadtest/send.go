package loadtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// answerTimeout is longer than the gateway needs for any response.
const answerTimeout = 40 * time.Second

func newSender(cfg Config) (sender, error) {
	switch cfg.Protocol {
	case HTTPProtobuf, HTTPJSON:
		media := "application/x-protobuf"
		if cfg.Protocol == HTTPJSON {
			media = "application/json"
		}
		return &httpSender{
			url: strings.TrimSuffix(cfg.URL, "/") + "/v1/" + cfg.Signal.String(), key: cfg.Key, media: media, gzip: cfg.Gzip,
			client: &http.Client{
				Timeout:   answerTimeout,
				Transport: &http.Transport{MaxIdleConnsPerHost: cfg.Workers, DisableCompression: true, WriteBufferSize: 64 << 10},
			},
		}, nil
	case GRPC:
		return newGRPCSender(cfg)
	default:
		return nil, fmt.Errorf("loadtest: unknown protocol %q", cfg.Protocol)
	}
}

type httpSender struct {
	url, key, media string
	gzip            bool
	client          *http.Client
}

func (s *httpSender) send(ctx context.Context, body []byte) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	// Without GetBody the client never repeats a request by itself. A silent repeat would look like a duplicate made by the
	// server.
	r.GetBody = nil
	r.Header.Set("Authorization", "Bearer "+s.key)
	r.Header.Set("Content-Type", s.media)
	if s.gzip {
		r.Header.Set("Content-Encoding", "gzip")
	}
	res, err := s.client.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = res.Body.Close() }() // only read
	answer, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	switch {
	case err != nil && res.StatusCode != http.StatusOK:
		return "", err
	case res.StatusCode != http.StatusOK:
		return res.Status + hint(res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusServiceUnavailable,
			res.Header.Get("Retry-After") != ""), nil
	case err == nil && !complete(answer):
		return "partial success: " + string(answer), nil
	default:
		return "", nil // the status alone is the acknowledgement
	}
}

// complete reports whether a successful response refuses no items. An empty partial_success, as the Collector sends it, has the
// same meaning as an absent one.
func complete(answer []byte) bool {
	switch string(answer) {
	case "", "{}", "\n\x00", `{"partialSuccess":{}}`:
		return true
	default:
		return false
	}
}

// hint marks a response that asks for a retry without giving a time.
func hint(wanted, there bool) string {
	if wanted && !there {
		return WithoutRetry
	}
	return ""
}

// WithoutRetry ends the status text of a response that asks for a retry but lacks Retry-After or RetryInfo.
const WithoutRetry = ", without a time to retry"

func hasRetryInfo(st *status.Status) bool {
	for _, d := range st.Details() {
		if _, ok := d.(*errdetails.RetryInfo); ok {
			return true
		}
	}
	return false
}

func (s *httpSender) close() { s.client.CloseIdleConnections() }

type grpcSender struct {
	conn   *grpc.ClientConn
	method string
	key    string
}

func newGRPCSender(cfg Config) (*grpcSender, error) {
	method := map[otlp.Signal]string{
		otlp.Traces:  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
		otlp.Logs:    "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
		otlp.Metrics: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
	}[cfg.Signal]
	opts := []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})),
		grpc.WithDisableRetry(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: pause, Multiplier: 1.5, MaxDelay: time.Second},
			MinConnectTimeout: time.Second,
		}),
	}
	if cfg.Gzip {
		//lint:ignore SA1019 Bodies come compressed from the generator; registering such a compressor would change gzip for the whole process.
		opts = append(opts, grpc.WithCompressor(precompressed{})) //nolint:staticcheck // see above
	}
	conn, err := grpc.NewClient(cfg.Addr, opts...)
	if err != nil {
		return nil, err
	}
	return &grpcSender{conn: conn, method: method, key: cfg.Key}, nil
}

func (s *grpcSender) send(ctx context.Context, body []byte) (string, error) {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+s.key), answerTimeout)
	defer cancel()
	var answer []byte
	err := s.conn.Invoke(ctx, s.method, body, &answer)
	st := status.Convert(err)
	switch {
	case err == nil && !complete(answer):
		return fmt.Sprintf("partial success: %x", answer), nil
	case err == nil:
		return "", nil
	case len(st.Details()) > 0: // the gateway's own refusals have details; gRPC's reports of a broken connection have no details
		return st.Code().String() + hint(st.Code() == codes.Unavailable || st.Code() == codes.DeadlineExceeded, hasRetryInfo(st)), nil
	case st.Code() == codes.Unimplemented, st.Code() == codes.ResourceExhausted:
		return st.Code().String() + ": " + st.Message(), nil
	default:
		return "", err
	}
}

func (s *grpcSender) close() { _ = s.conn.Close() }

// bytesCodec sends and receives messages as bytes.
type bytesCodec struct{}

func (bytesCodec) Name() string { return "proto" }

func (bytesCodec) Marshal(v any) ([]byte, error) {
	b, ok := v.([]byte)
	if !ok {
		return nil, errors.New("loadtest: not bytes")
	}
	return b, nil
}

func (bytesCodec) Unmarshal(data []byte, v any) error {
	b, ok := v.(*[]byte)
	if !ok {
		return errors.New("loadtest: not bytes")
	}
	*b = bytes.Clone(data)
	return nil
}

// precompressed is a gzip compressor for gRPC that takes messages which are gzip already.
type precompressed struct{}

func (precompressed) Type() string { return "gzip" }

func (precompressed) Do(w io.Writer, p []byte) error {
	_, err := w.Write(p)
	return err
}
