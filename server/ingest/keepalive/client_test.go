package keepalive_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	_ "unsafe" // for leastClientInterval

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	grpckeepalive "google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/ingest/keepalive"
)

// leastClientInterval is how often grpc-go's client pings at most. Its 10 s would be the time that these tests take.
//
//go:linkname leastClientInterval google.golang.org/grpc/internal.KeepaliveMinPingTime
var leastClientInterval time.Duration

func TestMain(m *testing.M) {
	leastClientInterval = time.Millisecond
	code := m.Run()
	if err := goleak.Find(); code == 0 && err != nil {
		println(err.Error())
		code = 1
	}
	os.Exit(code)
}

// server answers health checks over the HTTP/2 of net/http, as the OTLP/gRPC address does, and counts its connections.
func server(t *testing.T, p keepalive.Policy) (addr string, connections *atomic.Int32) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	services := grpc.NewServer()
	healthv1.RegisterHealthServer(services, health.NewServer())
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	connections = &atomic.Int32{}
	s := &http.Server{Handler: services, Protocols: &protocols, ReadHeaderTimeout: time.Second, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}}
	served := make(chan error, 1)
	go func() { served <- s.Serve(keepalive.Listener(l, p)) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return l.Addr().String(), connections
}

// watch is a client with a call that does not end, and pings.
func watch(t *testing.T, addr string, interval time.Duration) (healthv1.HealthClient, healthv1.Health_WatchClient) {
	t.Helper()
	cc, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithKeepaliveParams(grpckeepalive.ClientParameters{
		Time: interval, Timeout: 5 * time.Second, PermitWithoutStream: true,
	}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cc.Close(); err != nil {
			t.Error(err)
		}
	})
	client := healthv1.NewHealthClient(cc)
	w, err := client.Watch(t.Context(), &healthv1.HealthCheckRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Recv(); err != nil {
		t.Fatal(err)
	}
	return client, w
}

// TestClientThatPingsTooOften: grpc-go's client is told why its connection ends, and can connect again.
func TestClientThatPingsTooOften(t *testing.T) {
	addr, connections := server(t, keepalive.Policy{})
	client, w := watch(t, addr, 20*time.Millisecond)
	_, err := w.Recv()
	if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), "ENHANCE_YOUR_CALM") || !strings.Contains(err.Error(), "too_many_pings") {
		t.Fatalf("the call ended with %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if _, err := client.Check(ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
		t.Errorf("after it: %v", err)
	}
	if n := connections.Load(); n < 2 {
		t.Errorf("%d connections", n)
	}
}

// TestClientThatPingsInTime: a client that keeps to the interval is never disturbed, idle or beside many short calls, after each of whose
// answers grpc-go's client measures the line with a ping of its own.
func TestClientThatPingsInTime(t *testing.T) {
	addr, connections := server(t, keepalive.Policy{MinInterval: 50 * time.Millisecond})
	client, w := watch(t, addr, 250*time.Millisecond) // far enough from the rule for a busy machine; TestStrikes is exact
	ended := make(chan error, 1)
	go func() { _, err := w.Recv(); ended <- err }()
	for began := time.Now(); time.Since(began) < time.Second; {
		if _, err := client.Check(t.Context(), &healthv1.HealthCheckRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-ended:
		t.Errorf("the call ended: %v", err)
	case <-time.After(1500 * time.Millisecond):
	}
	if n := connections.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
