package loopback_test

import (
	"context"
	"net/http"
	"testing"

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

// keys reports what reached it.
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
		Id: req.GetId(), Name: string(principal.DoorFrom(ctx)), Kind: info.RequestHeader().Get("X-Plain"),
		CreatedBy: info.RequestHeader().Get("X-Raw-Bin"),
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
	for httpStatus, want := range map[int]codes.Code{
		404: codes.Unimplemented, 401: codes.Unauthenticated, 403: codes.PermissionDenied,
		503: codes.Unavailable, 500: codes.Unknown,
	} {
		plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "plain", httpStatus) })
		_, err := svcv2.NewApiKeysServiceClient(loopback.Conn(plain)).GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{})
		if status.Code(err) != want {
			t.Errorf("plain %d: %v, want %v", httpStatus, err, want)
		}
	}
	panicking := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("x") })
	if _, err := svcv2.NewApiKeysServiceClient(loopback.Conn(panicking)).GetApiKey(t.Context(),
		&svcv2.GetApiKeyRequest{}); status.Code(err) != codes.Internal {
		t.Errorf("a panic: %v", err)
	}
}

// TestProtocols calls over the transport by each protocol; gRPC needs its trailers.
