package rpc_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/rpc"
)

// TestInfra asks grpc-go's own clients, which send no credential.
func TestInfra(t *testing.T) {
	var notReady error
	mux := http.NewServeMux()
	for _, r := range rpc.Infra([]string{"svc.v2.ApiKeysService"}, func(context.Context) error { return notReady }) {
		mux.Handle(r.Path, r.Handler)
	}
	server := httptest.NewUnstartedServer(mux)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	conn, err := grpc.NewClient(server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })

	health := healthv1.NewHealthClient(conn)
	for _, service := range []string{"", "svc.v2.ApiKeysService"} {
		res, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: service})
		if err != nil || res.GetStatus() != healthv1.HealthCheckResponse_SERVING {
			t.Errorf("health of %q: %v, %v", service, res, err)
		}
	}
	if _, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{Service: "nobody"}); status.Code(err) != codes.NotFound {
		t.Errorf("health of an unknown service: %v", err)
	}
	notReady = errors.New("the engine does not answer")
	if res, err := health.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil ||
		res.GetStatus() != healthv1.HealthCheckResponse_NOT_SERVING {
		t.Errorf("health while not ready: %v, %v", res, err)
	}

	stream, err := reflectionv1.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := &reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}}
	if err := stream.Send(ask); err != nil {
		t.Fatal(err)
	}
	res, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range res.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	if !slices.Equal(names, []string{"svc.v2.ApiKeysService"}) {
		t.Errorf("reflection lists %q", names)
	}
	ask = &reflectionv1.ServerReflectionRequest{
		MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: "svc.v2.ApiKey"},
	}
	if err := stream.Send(ask); err != nil {
		t.Fatal(err)
	}
	if res, err = stream.Recv(); err != nil || len(res.GetFileDescriptorResponse().GetFileDescriptorProto()) == 0 {
		t.Errorf("reflection has no descriptor of svc.v2.ApiKey: %v, %v", res, err)
	}
}
