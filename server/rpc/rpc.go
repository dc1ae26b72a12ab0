// Package rpc is the chain that every call of an API method passes, at every door: recovery, telemetry, error mapping,
// authentication result, rate limit, policy, validation. A service behind it gets admitted, well-formed requests only. Every error
// that a service returns leaves the chain as an ErrorDetail.
package rpc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"time"

	"buf.build/go/protovalidate"
	"connectrpc.com/connect"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/rpc/loopback"
	"github.com/svc-observability/svc/server/store"
)

// Defaults of Config.
const (
	// DefaultTimeout leaves a second for the answer to a read that takes its whole time.
	DefaultTimeout = limits.ReadTime + time.Second
)

// Config holds the dependencies of a chain.
type Config struct {
	// Contract holds the policy of each method.
	Contract *contract.Contract
	// Limiter holds the REST rate per credential; nil for no limit.
	Limiter ratelimit.Limiter
	Logger  *slog.Logger
	// Registerer takes the duration histogram; nil for none.
	Registerer prometheus.Registerer
	// Idempotency remembers the answers to requests with an Idempotency-Key; nil ignores the header.
	Idempotency *idempotency.Keys
	// DeniedCalls records calls that were denied although their credential is good; nil for no record.
	DeniedCalls *DeniedCallLog
	// Timeout ends a call that has no earlier deadline of its own; 0 for DefaultTimeout.
	Timeout time.Duration
	// MaxMessageBytes bounds a message over gRPC, gRPC-Web and Connect, as sent and after decompression; 0 for limits.GRPCMessage. The
	// doors of REST and MCP bound their bodies themselves.
	MaxMessageBytes int
	// MaxPublicBytes is the bound for methods that need no credential; 0 for limits.RESTBody. It is lower, because anybody can send such
	// a message.
	MaxPublicBytes int
	// Now is the clock of the rate limit; nil for time.Now.
	Now func() time.Time
}

// Chain admits and serves calls. Safe for concurrent use.
type Chain struct {
	contract *contract.Contract
	limiter  ratelimit.Limiter
	answers  *idempotency.Keys
	denied   *DeniedCallLog
	logger   *slog.Logger
	timeout  time.Duration
	// maxBytes and maxPublicBytes bound a message; see largest.
	maxBytes, maxPublicBytes int
	now                      func() time.Time
	validator                protovalidate.Validator
	durations                *prometheus.HistogramVec
}

// New makes a chain. It fails if a rule of a request type does not compile.
func New(cfg Config) (*Chain, error) {
	c := &Chain{
		contract: cfg.Contract, limiter: cfg.Limiter, answers: cfg.Idempotency, denied: cfg.DeniedCalls, logger: cfg.Logger, timeout: cfg.Timeout,
		maxBytes: cmp.Or(cfg.MaxMessageBytes, limits.GRPCMessage), maxPublicBytes: cmp.Or(cfg.MaxPublicBytes, limits.RESTBody),
		now: cfg.Now,
	}
	if c.contract == nil {
		return nil, errors.New("rpc: a contract is needed")
	}
	if c.logger == nil {
		c.logger = slog.Default()
	}
	if c.timeout == 0 {
		c.timeout = DefaultTimeout
	}
	if c.now == nil {
		c.now = time.Now
	}
	var err error
	if c.validator, err = newValidator(c.contract); err != nil {
		return nil, err
	}
	c.durations = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "svc_rpc_duration_seconds",
		Help:    "Duration of API calls by method, result code and door.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"method", "code", "door"})
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(c.durations); err != nil {
			return nil, fmt.Errorf("rpc: register metrics: %w", err)
		}
	}
	return c, nil
}

// Options returns the handler options for mounting an API service. The gate refuses a caller before the message is read; the
// interceptor runs the rest of the chain. Handler bounds the size of a message.
func (c *Chain) Options() []connect.HandlerOption {
	return append(codecs(),
		connect.WithRequestGate(c.gate),
		connect.WithInterceptors(connect.UnaryInterceptorFunc(c.unary)),
		connect.WithConditionalHandlerOptions(func(spec connect.Spec) []connect.HandlerOption {
			return []connect.HandlerOption{c.compression(c.largest(spec.Procedure))}
		}),
		connect.WithCompressMinBytes(1024),
	)
}

// gate admits a call by its headers alone.
func (c *Chain) gate(ctx context.Context, spec connect.Spec, peer connect.Peer, _ http.Header) (context.Context, error) {
	start := c.now()
	m, ok := c.contract.ByProcedure(spec.Procedure)
	if !ok {
		return nil, c.refuse(ctx, spec.Procedure, peer, start, errNotOffered(spec.Procedure))
	}
	admitted, err := c.Admit(ctx, m)
	if err != nil {
		return nil, c.refuse(ctx, spec.Procedure, peer, start, err)
	}
	return admitted, nil
}

func (c *Chain) refuse(ctx context.Context, procedure string, peer connect.Peer, start time.Time, err error) error {
	wire := challenge(peer, c.wireError(ctx, procedure, err))
	c.observe(ctx, procedure, peer, start, wire)
	return wire
}

// unary wraps recovery, telemetry and error mapping around admission, validation and the method.
func (c *Chain) unary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, req connect.AnyRequest) (res connect.AnyResponse, err error) {
		start, procedure := c.now(), req.Spec().Procedure
		ctx, cancel := context.WithTimeout(store.CallerWaits(ctx), c.timeout)
		defer cancel()
		defer func() {
			if r := recover(); r != nil {
				if r == http.ErrAbortHandler { //nolint:errorlint // a sentinel that is panicked with, not wrapped
					panic(r)
				}
				c.logger.ErrorContext(ctx, "an API method panicked", "method", procedure, "panic", fmt.Sprint(r),
					"stack", string(debug.Stack()), "request_id", requestid.From(ctx))
				res, err = nil, fmt.Errorf("panic: %v", r)
			}
			if err != nil {
				err = challenge(req.Peer(), c.wireError(ctx, procedure, err))
			}
			c.observe(ctx, procedure, req.Peer(), start, err)
		}()
		res, err = c.call(ctx, procedure, req, next)
		if err == nil {
			res = shared(ctx, res)
		}
		return res, err
	}
}

// shared gives the answer to a door of this process that reads it in memory. The handler then sends an empty body.
func shared(ctx context.Context, res connect.AnyResponse) connect.AnyResponse {
	if answer, ok := res.Any().(proto.Message); ok && loopback.Share(ctx, answer) {
		return answered{res, &emptypb.Empty{}}
	}
	return res
}

func (c *Chain) call(ctx context.Context, procedure string, req connect.AnyRequest, next connect.UnaryFunc) (connect.AnyResponse, error) {
	m, ok := c.contract.ByProcedure(procedure)
	if !ok {
		return nil, errNotOffered(procedure)
	}
	ctx, err := c.Admit(ctx, m)
	if err != nil {
		return nil, err
	}
	msg, ok := req.Any().(proto.Message)
	if !ok {
		return nil, fmt.Errorf("request of %s is not a protobuf message: %T", procedure, req.Any())
	}
	if err := unread(msg); err != nil {
		return nil, err
	}
	if err := c.validate(m, msg); err != nil {
		return nil, err
	}
	return c.once(ctx, m, req, msg, next)
}

func errNotOffered(procedure string) error {
	return apierr.New(apierr.RouteNotFound, fmt.Sprintf("This server has no method %s.", (&url.URL{Path: procedure}).EscapedPath()))
}
