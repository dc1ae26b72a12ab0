package egress_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// listenOn serves a handler on an address of the test's choice.
func listenOn(t *testing.T, address string, h http.Handler) *httptest.Server {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return s
}
