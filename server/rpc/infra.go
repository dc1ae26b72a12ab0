package rpc

import (
	"context"
	"errors"
	"net/http"

	"connectrpc.com/connect"
	"connectrpc.com/grpchealth"
	"connectrpc.com/grpcreflect"
)

// Route is a handler and the path prefix under which it serves.
type Route struct {
	Path    string
	Handler http.Handler
}

// Infra serves gRPC reflection (v1 and v1alpha) and gRPC health for the named services. Neither asks for a credential: the API is
// public, and load balancers have no credential. A service, and the server under the empty name, is SERVING while ready returns nil.
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
