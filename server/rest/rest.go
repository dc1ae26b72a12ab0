// Package rest serves /v2: JSON in front of the API methods, by their HTTP bindings. The grpc-gateway routes a request, binds path,
// query and body to the request message, and calls the method over the loopback, so that the whole rpc chain runs. The rules that
// the gateway does not know are plugged into it: admission, the strict query parser, the strict JSON, and the error envelope, which
// answers every failure from an unknown route to a panic. docs/adr/0005-rest-rules-around-the-gateway.md lists the rules that the
// gateway has no place for.
package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"
	"github.com/klauspost/compress/gzip"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/requestid"
)

// Config holds the dependencies of the REST handler.
type Config struct {
	// Conn reaches the rpc chain with the caller's context: loopback.Conn.
	Conn     grpc.ClientConnInterface
	Contract *contract.Contract
	// Admit decides whether the caller in the context may call the method, before the body is read: (*rpc.Chain).Admit.
	Admit  func(context.Context, *contract.Method) (context.Context, error)
	Logger *slog.Logger
	// MaxBodyBytes bounds a request body, before and after decompression; 0 for limits.RESTBody.
	MaxBodyBytes int64
}

type transcoder struct {
	contract *contract.Contract
	admit    func(context.Context, *contract.Method) (context.Context, error)
	logger   *slog.Logger
	maxBody  int64
	gateways map[string]*runtime.ServeMux // by family
	gzips    sync.Pool
}

// New makes the handler of every path under /v2. The request's context must already hold the result of authentication and the
// request id.
func New(cfg Config) (http.Handler, error) {
	if cfg.Conn == nil || cfg.Contract == nil || cfg.Admit == nil {
		return nil, errors.New("rest: Conn, Contract and Admit are needed")
	}
	t := &transcoder{
		contract: cfg.Contract, admit: cfg.Admit, logger: cfg.Logger, maxBody: cfg.MaxBodyBytes,
		gateways: map[string]*runtime.ServeMux{},
	}
	t.gzips.New = func() any { return gzip.NewWriter(nil) }
	if t.logger == nil {
		t.logger = slog.Default()
	}
	if t.maxBody == 0 {
		t.maxBody = limits.RESTBody
	}
	plugQueryParser()
	if err := t.openGateways(cfg.Conn); err != nil {
		return nil, err
	}
	return t, nil
}

// openGateways makes the gateway of each family, the segment after /v2. A gateway tries its routes one after the other, so its families
// keep the cost of a request from growing with the number of all routes.
func (t *transcoder) openGateways(conn grpc.ClientConnInterface) error {
	type member struct{ family, service string }
	registered := map[member]bool{}
	all := services()
	methods := slices.Clone(t.contract.Methods())
	hides := hiding(methods)
	// The gateway takes the route that was registered last. A service whose parameters match literal segments of others comes first.
	slices.SortStableFunc(methods, func(a, b *contract.Method) int {
		return cmp.Compare(hides[b.Descriptor.Parent().FullName()], hides[a.Descriptor.Parent().FullName()])
	})
	for _, m := range methods {
		service := string(m.Descriptor.Parent().FullName())
		if m.NoREST || registered[member{m.Family, service}] {
			continue
		}
		registered[member{m.Family, service}] = true
		register, ok := all[service]
		if !ok {
			return fmt.Errorf("rest: the routes of %s are not known: run make generate", service)
		}
		if t.gateways[m.Family] == nil {
			t.gateways[m.Family] = t.newGateway()
		}
		if err := register(context.Background(), t.gateways[m.Family], conn); err != nil { // the generated code does not use the context
			return fmt.Errorf("rest: register the routes of %s: %w", service, err)
		}
	}
	return nil
}

// hiding counts, for each service, the routes of other services that one of its routes matches with a parameter.
func hiding(methods []*contract.Method) map[protoreflect.FullName]int {
	out := map[protoreflect.FullName]int{}
	for _, a := range methods {
		for _, b := range methods {
			if !a.NoREST && !b.NoREST && a.Descriptor.Parent() != b.Descriptor.Parent() && hidden(a.HTTP.Path, b.HTTP.Path) {
				out[a.Descriptor.Parent().FullName()]++
			}
		}
	}
	return out
}

// hidden reports whether a path with parameters matches another path that has a literal segment in place of a parameter.
func hidden(general, special string) bool {
	a, b := strings.Split(general, "/"), strings.Split(special, "/")
	if len(a) != len(b) {
		return false
	}
	parameter := func(segment string) bool { return strings.HasPrefix(segment, "{") }
	for i := range a {
		if a[i] != b[i] && !parameter(a[i]) {
			return false
		}
	}
	return slices.ContainsFunc(a, parameter) && slices.IndexFunc(a, parameter) != slices.IndexFunc(b, parameter)
}

func (t *transcoder) newGateway() *runtime.ServeMux {
	return runtime.NewServeMux(
		runtime.WithMarshalerOption(runtime.MIMEWildcard, strictJSON{}),
		runtime.WithMiddlewares(t.admitting),
		runtime.WithErrorHandler(t.callFailed),
		runtime.WithRoutingErrorHandler(t.routingFailed),
		runtime.WithUnescapingMode(runtime.UnescapingModeAllExceptReserved), // the mode AllCharacters takes an escaped slash for a separator
		runtime.WithDisablePathLengthFallback(), runtime.WithDisableHTTPMethodOverride(),
		// The context carries the other facts that a method may know of its caller.
		runtime.WithIncomingHeaderMatcher(only(idempotency.Header)), runtime.WithOutgoingHeaderMatcher(only(idempotency.ReplayedHeader)),
		runtime.WithOutgoingTrailerMatcher(only("")),
	)
}

// only lets one header pass between a request and its method.
func only(name string) runtime.HeaderMatcherFunc {
	return func(key string) (string, bool) { return name, name != "" && strings.EqualFold(key, name) }
}

// ServeHTTP answers one request.
func (t *transcoder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	res := &response{ResponseWriter: w, transcoder: t, request: r}
	w.Header().Set("Cache-Control", "no-store")
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler { //nolint:errorlint // a sentinel that is panicked with, not wrapped
				panic(p)
			}
			t.logger.ErrorContext(r.Context(), "a REST request panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()),
				"request_id", requestid.From(r.Context()))
			if !res.written {
				res.fail(apierr.New(apierr.Unexpected, ""))
			}
		}
	}()
	routed := r.WithContext(principal.WithDoor(r.Context(), principal.DoorREST))
	if r.Method == http.MethodHead {
		routed.Method = http.MethodGet // net/http drops the body of the answer
	}
	u, family := canonical(r.URL)
	gateway, ok := t.gateways[family]
	if !ok {
		if path, old := t.successor(r.URL); old {
			signpost(res, r, path)
			return
		}
		res.fail(notFound(r))
		return
	}
	routed.URL = u
	gateway.ServeHTTP(res, routed)
}
