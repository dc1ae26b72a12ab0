package loopback_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/rpc"
	"github.com/svc-observability/svc/server/rpc/loopback"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, ctx context.Context, h http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://loopback/x?a=b", nil)
	if err != nil {
		t.Fatal(err)
	}
	return loopback.Transport(h).RoundTrip(req)
}

// TestTransportStreams proves that a reader sees each line while the handler waits to write the next.
func TestTransportStreams(t *testing.T) {
	next := make(chan struct{}, 1)
	next <- struct{}{}
	res, err := get(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		for i := range 3 {
			<-next
			fmt.Fprintf(w, "line %d\n", i)
		}
		w.Header().Set("X-Sum", "3")
		w.Header().Set(http.TrailerPrefix+"X-More", "yes")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	for i := range 3 {
		line, err := lines.ReadString('\n')
		if want := fmt.Sprintf("line %d\n", i); err != nil || line != want {
			t.Fatalf("got %q, %v; want %q", line, err, want)
		}
		next <- struct{}{} // only now may the handler go on
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Fatalf("at the end: %q, %v", rest, err)
	}
	if res.Trailer.Get("X-Sum") != "3" || res.Trailer.Get("X-More") != "yes" || res.Header.Get("X-Sum") != "" {
		t.Errorf("trailer %v, header %v", res.Trailer, res.Header)
	}
}

func TestTransport(t *testing.T) {
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "carried")
	res, err := get(t, ctx, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Value", fmt.Sprint(r.Context().Value(key{}), r.RequestURI, r.Host))
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
		w.Header().Set("X-Late", "lost")
		_, _ = io.WriteString(w, "body")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusTeapot || string(text) != "body" || res.Header.Get("X-Late") != "" ||
		res.Header.Get("X-Value") != "carried/x?a=bloopback" {
		t.Errorf("%d %v %q %v", res.StatusCode, res.Header, text, err)
	}
}

func TestTransportCancellation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	res, err := get(t, ctx, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		<-r.Context().Done()
		_, err := io.WriteString(w, "second\n")
		ended <- err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	lines := bufio.NewReader(res.Body)
	if line, err := lines.ReadString('\n'); err != nil || line != "first\n" {
		t.Fatal(line, err)
	}
	cancel()
	if _, err := lines.ReadString('\n'); !errors.Is(err, context.Canceled) {
		t.Errorf("a read after the end of the context: %v", err)
	}
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write after the end of the context: %v", err)
	}

	ctx, cancel = context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	res, err = get(t, ctx, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	if err == nil {
		_ = res.Body.Close()
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a handler that never answers: %v", err)
	}
	res, err = get(t, ctx, func(http.ResponseWriter, *http.Request) { t.Error("called after the end of the context") })
	if err == nil {
		_ = res.Body.Close()
		t.Error("a call after the end of the context was served")
	}
}

func TestTransportReaderGoesAway(t *testing.T) {
	ended := make(chan error, 1)
	res, err := get(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := io.WriteString(w, "more\n"); err != nil {
				ended <- err
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if err := <-ended; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write to nobody: %v", err)
	}
}

func TestTransportPanics(t *testing.T) {
	res, err := get(t, t.Context(), func(http.ResponseWriter, *http.Request) { panic("early") })
	if err == nil {
		_ = res.Body.Close()
		t.Error("a panic before the answer was hidden")
	}
	res, err = get(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic("late")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, err := io.ReadAll(res.Body); err == nil || string(text) != "half" {
		t.Errorf("a panic within the answer: %q, %v", text, err)
	}
}

// keys shows what reached it.
type keys struct {
	svcv2connect.UnimplementedApiKeysServiceHandler
}

func (keys) GetApiKey(ctx context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
	if req.GetId() == "missing" {
		return nil, rpc.Error(apierr.New(apierr.ApiKeyNotFound, "There is no API key with this id."))
	}
	info, _ := connect.CallInfoForHandlerContext(ctx)
	info.ResponseTrailer().Set("X-Sum", "1")
	return &svcv2.ApiKey{
		Id: req.GetId(), Name: string(principal.DoorFrom(ctx)), Kind: info.RequestHeader().Get("X-Plain"), CreatedBy: info.RequestHeader().Get("X-Raw-Bin"),
	}, nil
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewApiKeysServiceHandler(keys{}))
	return mux
}

func TestConn(t *testing.T) {
	client := svcv2.NewApiKeysServiceClient(loopback.Conn(handler()))
	ctx := principal.WithDoor(t.Context(), principal.DoorMCP)
	ctx = metadata.AppendToOutgoingContext(ctx, "x-plain", "p", "x-raw-bin", "\x00\xff")
	var trailer, header metadata.MD
	got, err := client.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: "key_1"}, grpc.Trailer(&trailer), grpc.Header(&header))
	if err != nil {
		t.Fatal(err)
	}
	if got.GetId() != "key_1" || got.GetName() != "mcp" || got.GetKind() != "p" || got.GetCreatedBy() != "AP8" {
		t.Errorf("what the service saw: %v", got)
	}
	if len(trailer.Get("x-sum")) != 1 || len(header.Get("content-type")) != 1 {
		t.Errorf("trailer %v, header %v", trailer, header)
	}
}

func TestConnErrors(t *testing.T) {
	client := svcv2.NewApiKeysServiceClient(loopback.Conn(handler()))
	_, err := client.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "missing"})
	st := status.Convert(err)
	if st.Code() != codes.NotFound || st.Message() != "There is no API key with this id." || len(st.Details()) != 1 {
		t.Fatalf("%v with %v", st, st.Details())
	}
	if d, ok := st.Details()[0].(*optionsv1.ErrorDetail); !ok || d.GetTag() != "@svc/http/errors/ApiKeyNotFoundError" || d.GetParam() != "id" {
		t.Errorf("detail %v", st.Details()[0])
	}
	if _, err := client.ListApiKeys(t.Context(), &svcv2.ListApiKeysRequest{}); status.Code(err) != codes.Unimplemented {
		t.Errorf("a method without an implementation: %v", err)
	}
	if _, err := client.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "\xff"}); status.Code(err) != codes.Internal {
		t.Errorf("a request that is no protobuf text: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.GetApiKey(ended, &svcv2.GetApiKeyRequest{}); status.Code(err) != codes.Canceled {
		t.Errorf("a context that ended: %v", err)
	}
	if _, err := loopback.Conn(handler()).NewStream(t.Context(), &grpc.StreamDesc{}, "/x"); status.Code(err) != codes.Unimplemented {
		t.Errorf("a stream: %v", err)
	}
	if err := loopback.Conn(handler()).Invoke(t.Context(), "/x", 1, 2); status.Code(err) != codes.Internal {
		t.Errorf("arguments that are no messages: %v", err)
	}
	for httpStatus, want := range map[int]codes.Code{404: codes.Unimplemented, 401: codes.Unauthenticated, 403: codes.PermissionDenied, 503: codes.Unavailable, 500: codes.Unknown} {
		plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "plain", httpStatus) })
		_, err := svcv2.NewApiKeysServiceClient(loopback.Conn(plain)).GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{})
		if status.Code(err) != want {
			t.Errorf("plain %d: %v, want %v", httpStatus, err, want)
		}
	}
	panicking := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })
	if _, err := svcv2.NewApiKeysServiceClient(loopback.Conn(panicking)).GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{}); status.Code(err) != codes.Internal {
		t.Errorf("a panic: %v", err)
	}
}

// TestProtocols calls over the transport by each protocol; gRPC needs its trailers.
func TestProtocols(t *testing.T) {
	client := &http.Client{Transport: loopback.Transport(handler())}
	for protocol, opts := range map[string][]connect.ClientOption{"connect": nil, "grpc": {connect.WithGRPC()}, "grpc-web": {connect.WithGRPCWeb()}} {
		c := svcv2connect.NewApiKeysServiceClient(client, "http://loopback", opts...)
		got, err := c.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: strings.Repeat("x", 1<<20)})
		if err != nil || len(got.GetId()) != 1<<20 {
			t.Errorf("%s: %v", protocol, err)
		}
		if _, err := c.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "missing"}); connect.CodeOf(err) != connect.CodeNotFound {
			t.Errorf("%s: %v", protocol, err)
		}
	}
}
