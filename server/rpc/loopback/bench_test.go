package loopback_test

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/rpc/loopback"
)

// BenchmarkConn is one call of a method over the loopback, and over a gRPC connection to the same handler on a socket of this machine:
// the usual way to put the gateway before a server.
func BenchmarkConn(b *testing.B) {
	server := httptest.NewUnstartedServer(handler())
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	socket, err := grpc.NewClient(server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		b.Fatal(err)
	}
	defer socket.Close()
	for _, c := range []struct {
		name string
		conn grpc.ClientConnInterface
	}{{"loopback", loopback.Conn(handler())}, {"socket", socket}} {
		b.Run(c.name, func(b *testing.B) {
			client := svcv2.NewApiKeysServiceClient(c.conn)
			request := &svcv2.GetApiKeyRequest{Id: "key_1"}
			b.ReportAllocs()
			start := cpu(b)
			for b.Loop() {
				if _, err := client.GetApiKey(b.Context(), request); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64((cpu(b)-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpu is the CPU time of this process, both ends of the call.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
