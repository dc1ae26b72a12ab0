package egress_test

import (
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/egress"
)

// TestKeepAlive counts the connections of a client that keeps them for a time.
func TestKeepAlive(t *testing.T) {
	var dialled atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			dialled.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	g := egress.New(netip.MustParsePrefix("127.0.0.1/32"))
	get := func(c *http.Client) {
		t.Helper()
		if _, _, err := egress.Get(t.Context(), c, server.URL, "*/*", 10); err != nil {
			t.Fatal(err)
		}
	}
	count := func(what string, want int32, run func()) {
		t.Helper()
		before := dialled.Load()
		if run(); dialled.Load()-before != want {
			t.Errorf("%s: %d connections, want %d", what, dialled.Load()-before, want)
		}
	}
	each := g.Client(egress.Options{PlainHTTP: true})
	count("no KeepAlive", 3, func() { get(each); get(each); get(each) })
	kept := g.Client(egress.Options{PlainHTTP: true, KeepAlive: time.Hour})
	count("KeepAlive", 1, func() { get(kept); get(kept); get(kept) })
	count("after CloseIdleConnections", 1, func() { kept.CloseIdleConnections(); get(kept) })
	brief := g.Client(egress.Options{PlainHTTP: true, KeepAlive: time.Nanosecond})
	count("past its time", 2, func() { get(brief); get(brief) })
	kept.CloseIdleConnections()
	brief.CloseIdleConnections()
}

func TestTrusting(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("here")) }))
	defer server.Close()
	g := egress.New(netip.MustParsePrefix("127.0.0.1/32"))
	_, _, err := egress.Get(t.Context(), g.Client(egress.Options{}), server.URL, "*/*", 10)
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of an unknown authority: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	if _, _, err := egress.Get(t.Context(), g.Trusting(roots).Client(egress.Options{}), server.URL, "*/*", 10); err != nil {
		t.Error(err)
	}
}
