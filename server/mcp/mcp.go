// Package mcp is the MCP server: Streamable HTTP at /mcp, without sessions. This package has the HTTP entry, the protocol and the
// list of tools. Package tool has the parts of which tools are made, and each package below tools has one set of tools. A tool
// calls the API's methods over the loopback, so the same authentication, scopes and limits apply as for other API calls.
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

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
)

// These are the names of the server.
const (
	Path       = "/mcp"
	ServerName = "svc-observability"
	title      = "svc observability"
)

// ServerVersion is the version of the tools, prompts and resources that programs see. The version of the build is another one, at
// /version.
const ServerVersion = "1.0.0"

var instructions = `svc stores traces, logs and metrics of your services. Start with list_services to see what sends data, then search_traces or search_logs, then inspect_trace with a trace id. Times are UTC; give start_time and end_time as RFC 3339 or relative (now-1h); the default is the last ` + limits.Lasts(
	limits.DefaultToolWindow,
) + `. Names of services and environments must match exactly.`

// Config holds the dependencies of the server.
type Config struct {
	// Conn reaches the API's methods over the loopback.
	Conn grpc.ClientConnInterface
	// Contract says which methods a tool uses, and so which scopes it needs.
	Contract *contract.Contract
	// BaseURL is the public URL of the API, without /mcp.
	BaseURL string
	// ResourceMetadata is the URL at which programs learn how to sign in.
	ResourceMetadata string
	// MaxBodyBytes is the largest request body. 0 means limits.RESTBody.
	MaxBodyBytes int64
	// Limiter limits the rate of each credential. Nil means no limit.
	Limiter ratelimit.Limiter
	// Registerer registers the metric of call durations. Nil means no metric.
	Registerer prometheus.Registerer
	// Logger defaults to slog.Default.
	Logger *slog.Logger
	// Now defaults to time.Now.
	Now func() time.Time
	// Fixtures add objects for tests to the server. It is nil outside of tests.
	Fixtures Fixtures
}

// Fixtures add tools, prompts and resources that are not part of the product. Every caller may use them.
type Fixtures func(*sdk.Server)

// Server serves MCP. It is safe for concurrent use.
type Server struct {
	cfg     Config
	clients *tool.Clients
	tools   []*tool.Tool
	// methods holds the methods that each tool uses.
	methods   map[string][]*contract.Method
	stream    http.Handler
	published map[string]http.Handler
	// slugs holds the short names of organizations, for links.
	slugs     *cache.Cache[principal.OrgID, string]
	durations *prometheus.HistogramVec
}

// New makes the server. It fails if a tool is missing from the contract, or if the contract names a tool that does not exist.
func New(cfg Config) (*Server, error) {
	if cfg.Conn == nil || cfg.Contract == nil {
		return nil, errors.New("mcp: a connection and a contract are needed")
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.MaxBodyBytes == 0 {
		cfg.MaxBodyBytes = limits.RESTBody
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	s := &Server{cfg: cfg, durations: newDurations(), methods: map[string][]*contract.Method{}, clients: tool.NewClients(cfg.Conn)}
	s.slugs = cache.New[principal.OrgID, string](keptSlugs, cfg.Now)
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
		// The lists never change while the server runs.
		Capabilities: &sdk.ServerCapabilities{
			Tools:       &sdk.ToolCapabilities{},
			Prompts:     &sdk.PromptCapabilities{},
			Resources:   &sdk.ResourceCapabilities{},
			Completions: &sdk.CompletionCapabilities{},
		},
	})
	if err := addPrompts(server); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	for _, set := range append(toolsets(), toolset{ownSet, "", []tool.Maker{s.newListToolsets}}) {
		described := map[string]string{}
		for _, make := range set.tools {
			t, err := make(s.clients)
			if err != nil {
				return nil, fmt.Errorf("mcp: %w", err)
			}
			if len(s.methods[t.Name]) == 0 {
				return nil, fmt.Errorf("mcp: no method of the contract names the tool %s, so nothing says which scope it needs", t.Name)
			}
			t.Set = set.name
			t.Once(described)
			t.LookUp(s.clients)
			s.tools = append(s.tools, t)
			server.AddTool(t.Declaration(), s.observed(t, s.handler(t)))
		}
	}
	for _, name := range onCallTools() {
		if s.tool(name) == nil {
			return nil, fmt.Errorf("mcp: the toolset %s has the tool %s, which does not exist", onCall, name)
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
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: cfg.MaxBodyBytes,
		// ServeHTTP checks Origin itself. It also does so behind a proxy on the same machine, where Host is the public name.
		DisableLocalhostProtection: true,
	}))
	return s, nil
}

func (s *Server) tool(name string) *tool.Tool {
	if i := slices.IndexFunc(s.tools, func(t *tool.Tool) bool { return t.Name == name }); i >= 0 {
		return s.tools[i]
	}
	return nil
}

// visible reports whether the caller's scopes cover every method that the tool uses.
func (s *Server) visible(p *principal.Principal, name string) bool {
	for _, m := range s.methods[name] {
		if len(m.MissingScopes(p.Allows)) > 0 {
			return false
		}
	}
	return true
}
