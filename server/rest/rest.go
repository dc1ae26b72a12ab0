// Package rest serves /v2: JSON in front of the API methods, by their HTTP bindings. A request is routed by the contract, admitted,
// read strictly and handed to the grpc-gateway, which calls the method over the loopback, so that the whole rpc chain runs. Every
// failure, from an unknown route to a panic, is answered by the error envelope.
package rest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

// DefaultMaxBodyBytes is the bound on a request body.
const DefaultMaxBodyBytes = 1 << 20

// Config is what the door needs.
type Config struct {
	// Conn reaches the rpc chain with the caller's context: loopback.Conn.
	Conn     grpc.ClientConnInterface
	Contract *contract.Contract
	// Admit decides whether the caller in the context may call the method, before the body is read: (*rpc.Chain).Admit.
	Admit  func(context.Context, *contract.Method) (context.Context, error)
	Logger *slog.Logger
	// MaxBodyBytes bounds a request body, after decompression too; 0 for DefaultMaxBodyBytes.
	MaxBodyBytes int64
}

type door struct {
	contract *contract.Contract
	admit    func(context.Context, *contract.Method) (context.Context, error)
	logger   *slog.Logger
	maxBody  int64
	gateway  *runtime.ServeMux
	gzips    sync.Pool
}

// New makes the handler of everything under /v2. It expects authentication to have left its result in the request's context.
func New(cfg Config) (http.Handler, error) {
	if cfg.Conn == nil || cfg.Contract == nil || cfg.Admit == nil {
		return nil, errors.New("rest: Conn, Contract and Admit are needed")
	}
	d := &door{contract: cfg.Contract, admit: cfg.Admit, logger: cfg.Logger, maxBody: cfg.MaxBodyBytes}
	d.gzips.New = func() any { return gzip.NewWriter(nil) }
	if d.logger == nil {
		d.logger = slog.Default()
	}
	if d.maxBody == 0 {
		d.maxBody = DefaultMaxBodyBytes
	}
	d.gateway = runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, marshaler{}),
		runtime.WithErrorHandler(d.gatewayError),
		runtime.WithRoutingErrorHandler(d.routingError),
		runtime.WithMiddlewares(exactPathParams),
		runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptReserved),
		runtime.WithDisablePathLengthFallback(), runtime.WithDisableHTTPMethodOverride(),
		// Everything else that a method may know of its caller is in the context.
		runtime.WithIncomingHeaderMatcher(only(idempotency.Header)), runtime.WithOutgoingHeaderMatcher(only(idempotency.ReplayedHeader)),
		runtime.WithOutgoingTrailerMatcher(only("")),
	)
	if err := register(d.gateway, cfg.Conn); err != nil {
		return nil, fmt.Errorf("rest: register routes: %w", err)
	}
	if err := d.checkRoutes(); err != nil {
		return nil, err
	}
	return requestid.Middleware(d), nil
}

// only lets one header pass between a request and its method.
func only(name string) runtime.HeaderMatcherFunc {
	return func(key string) (string, bool) { return name, name != "" && strings.EqualFold(key, name) }
}

// register adds the routes of every service. checkRoutes finds one that was forgotten.
func register(mux *runtime.ServeMux, conn grpc.ClientConnInterface) error {
	ctx := context.Background() // the generated code does not use it
	return errors.Join(
		svcv2.RegisterApiKeysServiceHandlerClient(ctx, mux, svcv2.NewApiKeysServiceClient(conn)),
		svcv2.RegisterAgentFeedbackServiceHandlerClient(ctx, mux, svcv2.NewAgentFeedbackServiceClient(conn)),
		svcv2.RegisterAttributeMappingsServiceHandlerClient(ctx, mux, svcv2.NewAttributeMappingsServiceClient(conn)),
		svcv2.RegisterShareServiceHandlerClient(ctx, mux, svcv2.NewShareServiceClient(conn)),
		svcv2.RegisterCliServiceHandlerClient(ctx, mux, svcv2.NewCliServiceClient(conn)),
		svcv2.RegisterDashboardsServiceHandlerClient(ctx, mux, svcv2.NewDashboardsServiceClient(conn)),
		svcv2.RegisterDashboardDataServiceHandlerClient(ctx, mux, svcv2.NewDashboardDataServiceClient(conn)),
		svcv2.RegisterIngestKeysServiceHandlerClient(ctx, mux, svcv2.NewIngestKeysServiceClient(conn)),
		svcv2.RegisterAuditLogServiceHandlerClient(ctx, mux, svcv2.NewAuditLogServiceClient(conn)),
		svcv2.RegisterOrganizationServiceHandlerClient(ctx, mux, svcv2.NewOrganizationServiceClient(conn)),
		svcv2.RegisterSessionsServiceHandlerClient(ctx, mux, svcv2.NewSessionsServiceClient(conn)),
		svcv2.RegisterInstrumentationServiceHandlerClient(ctx, mux, svcv2.NewInstrumentationServiceClient(conn)),
		svcv2.RegisterServicesServiceHandlerClient(ctx, mux, svcv2.NewServicesServiceClient(conn)),
		svcv2.RegisterEnvironmentsServiceHandlerClient(ctx, mux, svcv2.NewEnvironmentsServiceClient(conn)),
		svcv2.RegisterServiceMapServiceHandlerClient(ctx, mux, svcv2.NewServiceMapServiceClient(conn)),
		svcv2.RegisterErrorEventsServiceHandlerClient(ctx, mux, svcv2.NewErrorEventsServiceClient(conn)),
		svcv2.RegisterTracesServiceHandlerClient(ctx, mux, svcv2.NewTracesServiceClient(conn)),
		svcv2.RegisterLogsServiceHandlerClient(ctx, mux, svcv2.NewLogsServiceClient(conn)),
		svcv2.RegisterQueryServiceHandlerClient(ctx, mux, svcv2.NewQueryServiceClient(conn)),
		svcv2.RegisterAttributesServiceHandlerClient(ctx, mux, svcv2.NewAttributesServiceClient(conn)),
		svcv2.RegisterProductEventAnalyticsServiceHandlerClient(ctx, mux, svcv2.NewProductEventAnalyticsServiceClient(conn)),
		svcv2.RegisterSqlServiceHandlerClient(ctx, mux, svcv2.NewSqlServiceClient(conn)),
		svcv2.RegisterMetricsServiceHandlerClient(ctx, mux, svcv2.NewMetricsServiceClient(conn)),
		svcv2.RegisterSessionReplaysServiceHandlerClient(ctx, mux, svcv2.NewSessionReplaysServiceClient(conn)),
		svcv2.RegisterProductEventsServiceHandlerClient(ctx, mux, svcv2.NewProductEventsServiceClient(conn)),
	)
}

// ServeHTTP answers one request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{ResponseWriter: w, door: d, request: r}
	w.Header().Set("Cache-Control", "no-store")
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // a sentinel that is panicked with, not wrapped
				panic(p)
			}
			d.logger.ErrorContext(r.Context(), "a REST request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()),
				"request_id", requestid.From(r.Context()))
			if !a.written {
				a.fail(apierr.New(apierr.Unexpected, ""))
			}
		}
	}()
	r = r.WithContext(principal.WithDoor(r.Context(), principal.DoorREST))
	if err := d.serve(a, r); err != nil {
		a.fail(err)
	}
}

// serve routes, admits and reads a request, in this order, and lets the gateway call the method.
func (d *door) serve(a *answer, r *http.Request) error {
	m, params, err := d.route(a.Header(), r)
	if err != nil {
		return err
	}
	if m == nil { // OPTIONS
		a.ResponseWriter.WriteHeader(http.StatusNoContent)
		a.written = true
		return nil
	}
	ctx, err := d.admit(r.Context(), m)
	if err != nil {
		return err
	}
	if err := checkPath(m, params); err != nil {
		return err
	}
	if err := checkQuery(m, r.URL.RawQuery); err != nil {
		return err
	}
	if err := checkIdempotencyKey(m, r.Header); err != nil {
		return err
	}
	body, err := d.readBody(m, r)
	if err != nil {
		return err
	}
	d.gateway.ServeHTTP(a, innerRequest(ctx, r, m, params, body))
	return nil
}
