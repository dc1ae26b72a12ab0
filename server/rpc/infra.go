package rpc

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"

	"github.com/svc-observability/svc/server/apierr"
)

// Route is a handler and the path prefix under which it serves.
type Route struct {
	Path    string
	Handler http.Handler
}

// Infra serves gRPC reflection (v1 and v1alpha) and gRPC health for the named services. Neither asks for a credential: the API is
// public knowledge, and load balancers have none. The health of a service, and of the server under the empty name, is ready's
// verdict: nil is SERVING.
func Infra(services []string, ready func(context.Context) error) []Route {
	reflector := grpcreflect.NewStaticReflector(services...)
	v1Path, v1 := grpcreflect.NewHandlerV1(reflector)
	alphaPath, alpha := grpcreflect.NewHandlerV1Alpha(reflector)
	healthPath, health := grpchealth.NewHandler(&healthChecker{services: services, ready: ready})
	return []Route{{v1Path, v1}, {alphaPath, alpha}, {healthPath, health}}
}

type healthChecker struct {
	services []string
	ready    func(context.Context) error
}

// Check answers grpc.health.v1.Health/Check.
func (h *healthChecker) Check(ctx context.Context, req *grpchealth.CheckRequest) (*grpchealth.CheckResponse, error) {
	known := req.Service == ""
	for _, s := range h.services {
		known = known || s == req.Service
	}
	if !known {
		return nil, connect.NewError(connect.CodeNotFound, errors.New("this server has no service of that name"))
	}
	status := grpchealth.StatusServing
	if h.ready(ctx) != nil {
		status = grpchealth.StatusNotServing
	}
	return &grpchealth.CheckResponse{Status: status}, nil
}

// Known passes calls of methods that the contract holds on to next and answers all others in the caller's own protocol: the generated
// handlers would send a plain-text 404, which clients cannot read. It also bounds the size of
// what callers send. Mount it on the prefix of each service, and let it answer whatever
// else begins with `/svc.v2.`.
func (c *Chain) Known(next http.Handler) http.Handler {
	errorWriter := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := c.contract.ByProcedure(r.URL.Path); ok {
			next.ServeHTTP(w, c.bound(r))
			return
		}
		err := c.wireError(r.Context(), "unknown", errNotOffered(r.URL.Path))
		if writeErr := errorWriter.Write(w, r, err); writeErr != nil {
			c.logger.DebugContext(r.Context(), "an answer could not be written", "error", writeErr, "tag", apierr.Spec(apierr.RouteNotFound).GetTag())
		}
	})
}
