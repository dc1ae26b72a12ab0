package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/rest"
)

// recorder is a connection that records which method was called, and fails the call.
type recorder struct {
	grpc.ClientConnInterface
	called string
}

// Invoke records the method.
func (r *recorder) Invoke(_ context.Context, method string, _, _ any, _ ...grpc.CallOption) error {
	r.called = method
	return status.Error(codes.DeadlineExceeded, "")
}

// TestEveryRouteReachesItsMethod finds a service that is not registered, and a route that another route hides. The gateway tries
// routes in the reverse order of their registration, so a literal route must be declared after a parameter that would match it.
func TestEveryRouteReachesItsMethod(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	conn := &recorder{}
	admitted := ""
	handler, err := rest.New(rest.Config{
		Conn: conn, Contract: c, Logger: slog.New(slog.DiscardHandler),
		Admit: func(ctx context.Context, m *contract.Method) (context.Context, error) {
			admitted = m.Procedure
			return ctx, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range c.Methods() {
		if m.NoREST {
			continue
		}
		path := m.HTTP.Path
		for _, name := range m.HTTP.PathParams {
			path = strings.ReplaceAll(path, "{"+name+"}", "a%2Fb~c")
		}
		body := ""
		if m.HTTP.BodyField != "" {
			body = "{}"
		}
		conn.called, admitted = "", ""
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(m.HTTP.Method, path, strings.NewReader(body)))
		if conn.called != m.Procedure || admitted != m.Procedure || w.Code != http.StatusGatewayTimeout {
			t.Errorf("%s %s: admitted %q, called %q, want %q: %d %s", m.HTTP.Method, m.HTTP.Path, admitted, conn.called, m.Procedure, w.Code, w.Body)
		}
	}
}
