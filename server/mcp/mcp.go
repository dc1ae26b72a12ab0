// Package mcp is the MCP server: Streamable HTTP at /mcp, without sessions. Each tool is a value in a file of its own, built on the
// methods of the API, which it calls over the loopback: so authentication, scopes and limits are those of every other door.
package mcp

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/principal"
)

// Names of the server.
const (
	Path       = "/mcp"
	ServerName = "svc-observability"
	title      = "svc observability"
)

// ServerVersion is the version of what the server offers to programs (ingest-mcp-facts.md 4.1), not that of the build, which /version tells.
const ServerVersion = "1.0.0"

const instructions = `svc stores traces, logs and metrics of your services. Start with list_services to see what sends data, then search_traces or search_logs, then inspect_trace with a trace id. Times are UTC; give start_time and end_time as RFC 3339 or relative (now-1h); the default is the last 6 hours. Names of services and environments are matched exactly.`

// Limiter decides whether a credential may make one more request now.
type Limiter interface {
	Allow(key string, now time.Time) (ok bool, retryAfter time.Duration)
}

// Config is what the server needs.
type Config struct {
	// Conn reaches the API's methods: the loopback.
	Conn grpc.ClientConnInterface
	// Contract says which methods, and so which scopes, a tool is built on.
	Contract *contract.Contract
	// BaseURL is the public URL of the API, without /mcp.
	BaseURL string
	// ResourceMetadata is the URL at which programs learn how to sign in.
	ResourceMetadata string
	// Limiter holds the rate per credential; nil for no limit.
	Limiter Limiter
	// Registerer takes the durations of calls; nil for none.
	Registerer prometheus.Registerer
	// Logger is slog.Default when nil.
	Logger *slog.Logger
	// Now is time.Now when nil.
	Now func() time.Time
	// Fixtures add to the server what a test looks for; nil outside of tests.
	Fixtures Fixtures
}

// Fixtures add tools, prompts and resources that are no part of the product: everybody who may call may use them.
type Fixtures func(*sdk.Server)

// Server serves MCP. It is safe for concurrent use.
type Server struct {
	cfg     Config
	clients clients
	tools   []*tool
	// methods are those that each tool is built on.
	methods   map[string][]*contract.Method
	stream    http.Handler
	published map[string]http.Handler
	durations *prometheus.HistogramVec
}

// clients are the services that tools call.
type clients struct {
	services     svcv2.ServicesServiceClient
	traces       svcv2.TracesServiceClient
	logs         svcv2.LogsServiceClient
	metrics      svcv2.MetricsServiceClient
	serviceMap   svcv2.ServiceMapServiceClient
	environments svcv2.EnvironmentsServiceClient
	attributes   svcv2.AttributesServiceClient
	errors       svcv2.ErrorEventsServiceClient
	sql          svcv2.SqlServiceClient
	query        svcv2.QueryServiceClient

	replays       svcv2.SessionReplaysServiceClient
	productEvents svcv2.ProductEventsServiceClient
	dashboards    svcv2.DashboardsServiceClient
	dashboardData svcv2.DashboardDataServiceClient
	agents        svcv2.AgentSessionsServiceClient
	// instrumentation has the audit and the recommendations.
	instrumentation svcv2.InstrumentationServiceClient
	feedback        svcv2.AgentFeedbackServiceClient
}

// New makes the server. It fails when a tool is missing from the contract, or the contract names a tool that does not exist.
func New(cfg Config) (*Server, error) {
	if cfg.Conn == nil || cfg.Contract == nil {
		return nil, errors.New("mcp: a connection and a contract are needed")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, durations: newDurations(), methods: map[string][]*contract.Method{}, clients: clients{
		services: svcv2.NewServicesServiceClient(cfg.Conn), traces: svcv2.NewTracesServiceClient(cfg.Conn),
		logs: svcv2.NewLogsServiceClient(cfg.Conn), metrics: svcv2.NewMetricsServiceClient(cfg.Conn),
		serviceMap: svcv2.NewServiceMapServiceClient(cfg.Conn), environments: svcv2.NewEnvironmentsServiceClient(cfg.Conn),
		attributes: svcv2.NewAttributesServiceClient(cfg.Conn), errors: svcv2.NewErrorEventsServiceClient(cfg.Conn),
		sql: svcv2.NewSqlServiceClient(cfg.Conn), query: svcv2.NewQueryServiceClient(cfg.Conn),
		replays: svcv2.NewSessionReplaysServiceClient(cfg.Conn), productEvents: svcv2.NewProductEventsServiceClient(cfg.Conn),
		dashboards: svcv2.NewDashboardsServiceClient(cfg.Conn), feedback: svcv2.NewAgentFeedbackServiceClient(cfg.Conn),
		dashboardData: svcv2.NewDashboardDataServiceClient(cfg.Conn), agents: svcv2.NewAgentSessionsServiceClient(cfg.Conn),
		instrumentation: svcv2.NewInstrumentationServiceClient(cfg.Conn),
	}}
	if cfg.Registerer != nil {
		if err := cfg.Registerer.Register(s.durations); err != nil {
			return nil, fmt.Errorf("mcp: register metrics: %w", err)
		}
	}
	s.published = map[string]http.Handler{}
	for _, path := range ManifestPaths() {
		s.published[path] = s.publish(s.manifest())
	}
	for _, path := range entryPaths() {
		s.published[path] = s.publish(s.entry())
	}
	for _, m := range cfg.Contract.Methods() {
		for _, name := range m.MCPTools {
			s.methods[name] = append(s.methods[name], m)
		}
	}
	server := sdk.NewServer(&sdk.Implementation{Name: ServerName, Title: title, Version: ServerVersion}, &sdk.ServerOptions{
		Instructions:      instructions,
		PageSize:          1000,
		CompletionHandler: s.complete,
		// No list changes by itself.
		Capabilities: &sdk.ServerCapabilities{
			Tools: &sdk.ToolCapabilities{}, Prompts: &sdk.PromptCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Completions: &sdk.CompletionCapabilities{},
		},
	})
	addPrompts(server)
	for _, set := range toolsets() {
		for _, make := range set.makes {
			t, err := make(s)
			if err != nil {
				return nil, fmt.Errorf("mcp: %w", err)
			}
			if len(s.methods[t.name]) == 0 {
				return nil, fmt.Errorf("mcp: no method of the contract names the tool %s, so nothing says which scope it needs", t.name)
			}
			t.set = set.name
			s.tools = append(s.tools, t)
			server.AddTool(t.declaration(), s.observed(t, s.handler(t)))
		}
	}
	for name, methods := range s.methods {
		if s.tool(name) == nil {
			return nil, fmt.Errorf("mcp: %s names the tool %s, which does not exist", methods[0].FullName, name)
		}
	}
	if cfg.Fixtures != nil {
		cfg.Fixtures(server)
	}
	server.AddReceivingMiddleware(s.filterTools)
	s.stream = selecting(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: maxBody,
		// The door checks Origin itself, also behind a proxy on the same machine, where Host is the public name.
		DisableLocalhostProtection: true,
	}))
	return s, nil
}

func (s *Server) tool(name string) *tool {
	if i := slices.IndexFunc(s.tools, func(t *tool) bool { return t.name == name }); i >= 0 {
		return s.tools[i]
	}
	return nil
}

// visible reports whether the caller's scopes cover every method that the tool is built on.
func (s *Server) visible(p *principal.Principal, name string) bool {
	for _, m := range s.methods[name] {
		if !m.AnyScope && !p.Allows(m.Family, m.Write) {
			return false
		}
	}
	return true
}
