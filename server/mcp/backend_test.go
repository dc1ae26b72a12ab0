package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/mcp/tool/tooltest"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/rpc/loopback"
	"github.com/svc-observability/svc/server/rpc/rpctest"
)

// unasked answers the methods that no tool calls.
type unasked struct {
	svcv2connect.UnimplementedServicesServiceHandler
	svcv2connect.UnimplementedLogsServiceHandler
	svcv2connect.UnimplementedMetricsServiceHandler
	svcv2connect.UnimplementedTracesServiceHandler
	svcv2connect.UnimplementedSessionsServiceHandler
}

// backend stands in for the services: it records requests and answers from data. The whole rpc chain is in front of it.
type backend struct {
	unasked
	mu       sync.Mutex
	requests []proto.Message
	total    int // rows in each list
	sessions int // calls of GetSession
	trace    *svcv2.Trace
	err      error
	block    chan struct{} // if set, closed after a call ended because its caller disconnected
}

func (b *backend) record(req proto.Message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.requests = append(b.requests, proto.Clone(req))
}

func (b *backend) last() proto.Message {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.requests) == 0 {
		return nil
	}
	return b.requests[len(b.requests)-1]
}

// slice is the part of the list on one page. All cursors of the backend are offsets.
func (b *backend) slice(limit *int32, cursor *string) (from, to int, next *string, err error) {
	if b.err != nil {
		return 0, 0, nil, b.err
	}
	n := paging.Limit(limit)
	if from, err = paging.ParseOffset(cursor); err != nil {
		return 0, 0, nil, err
	}
	from = min(from, b.total)
	to = min(from+n, b.total)
	if to < b.total {
		next = new(paging.FormatOffset(to))
	}
	return from, to, next, nil
}

func (b *backend) ListServices(_ context.Context, req *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error) {
	b.record(req)
	from, to, next, err := b.slice(req.Limit, req.Cursor)
	res := &svcv2.ListServicesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for i := from; i < to; i++ {
		res.Data = append(res.Data, &svcv2.Service{
			Object: "service", Name: "service-" + string(rune('a'+i%26)), Throughput: 2.5,
			ErrorRate: float64(i%3) / 10, P95LatencyMs: 12,
		})
	}
	return res, err
}

func (b *backend) ListMetrics(_ context.Context, req *svcv2.ListMetricsRequest) (*svcv2.ListMetricsResponse, error) {
	b.record(req)
	from, to, next, err := b.slice(req.Limit, req.Cursor)
	res := &svcv2.ListMetricsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for range to - from {
		res.Data = append(res.Data, &svcv2.Metric{
			Object: "metric", Name: "http.server.request.duration", Type: "histogram", ServiceName: "web",
			Unit: "s", DataPointCount: 10,
		})
	}
	return res, err
}

func (b *backend) SummarizeMetrics(context.Context, *svcv2.SummarizeMetricsRequest) (*svcv2.SummarizeMetricsResponse, error) {
	return &svcv2.SummarizeMetricsResponse{Data: []*svcv2.MetricTypeFigures{{
		Type: "histogram", MetricCount: int32(b.total),
		DataPointCount: 10,
	}}}, b.err
}

func (b *backend) SearchLogs(ctx context.Context, req *svcv2.SearchLogsRequest) (*svcv2.SearchLogsResponse, error) {
	b.record(req)
	if b.block != nil {
		<-ctx.Done()
		close(b.block)
		return nil, ctx.Err()
	}
	from, to, next, err := b.slice(req.Limit, req.Cursor)
	res := &svcv2.SearchLogsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for range to - from {
		res.Data = append(res.Data, &svcv2.Log{
			Id: "log_x", Object: "log", Timestamp: timestamppb.New(tooltest.Now()), SeverityText: "ERROR", SeverityNumber: 17, ServiceName: "web",
			Body: "pipe | and\nline break " + strings.Repeat("long ", 2000), TraceId: new(strings.Repeat("ab", 16)),
		})
	}
	return res, err
}

func (b *backend) SearchTraces(_ context.Context, req *svcv2.SearchTracesRequest) (*svcv2.SearchTracesResponse, error) {
	b.record(req)
	from, to, next, err := b.slice(req.Limit, req.Cursor)
	res := &svcv2.SearchTracesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for i := from; i < to; i++ {
		res.Data = append(res.Data, &svcv2.TraceSummary{
			Id: strings.Repeat("ab", 16), Object: "trace", StartTime: timestamppb.New(tooltest.Now()), DurationMs: float64(i), RootSpanName: "GET /",
			RootServiceName: "web",
			RootStatusCode:  "Error", RootHasError: i%2 == 1,
		})
	}
	return res, err
}

func (b *backend) SummarizeTraces(_ context.Context, req *svcv2.SummarizeTracesRequest) (*svcv2.SummarizeTracesResponse, error) {
	res := &svcv2.SummarizeTracesResponse{}
	for _, id := range req.GetTraceIds() {
		res.Data = append(res.Data, &svcv2.TraceFigures{
			Id: id, SpanCount: 7, ErrorCount: 1, Services: []string{"db", "web"},
			ErrorMessage: "it broke",
		})
	}
	return res, b.err
}

func (b *backend) QueryLogBreakdown(context.Context, *svcv2.QueryLogBreakdownRequest) (*svcv2.LogBreakdown, error) {
	return &svcv2.LogBreakdown{Object: "log_breakdown", Data: []*svcv2.TelemetryGroup{{Name: "ERROR", Value: float64(b.total)}}}, b.err
}

// GetSession names the organization of the caller, as links need it.
func (b *backend) GetSession(context.Context, *svcv2.GetSessionRequest) (*svcv2.Session, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sessions++
	return &svcv2.Session{Object: "session", Organization: &svcv2.SessionOrganization{Slug: "acme"}}, nil
}

func (b *backend) GetTrace(_ context.Context, req *svcv2.GetTraceRequest) (*svcv2.Trace, error) {
	b.record(req)
	if b.trace == nil {
		return nil, apierr.New(apierr.TraceNotFound, "No such trace.", apierr.Param("trace_id"))
	}
	return b.trace, b.err
}

// server is the MCP server in front of a backend. The Authorization header of a request holds the name of a principal, which
// authenticates it.
func server(t *testing.T, b *backend, callers map[string]principal.Principal, limiter ratelimit.Limiter) *httptest.Server {
	t.Helper()
	c, chain := rpctest.New(t)
	api := http.NewServeMux()
	api.Handle(svcv2connect.NewServicesServiceHandler(b, chain.Options()...))
	api.Handle(svcv2connect.NewMetricsServiceHandler(b, chain.Options()...))
	api.Handle(svcv2connect.NewLogsServiceHandler(b, chain.Options()...))
	api.Handle(svcv2connect.NewTracesServiceHandler(b, chain.Options()...))
	api.Handle(svcv2connect.NewSessionsServiceHandler(b, chain.Options()...))
	s, err := New(Config{
		Conn: loopback.Conn(api), Contract: c, BaseURL: "https://api.example.com", Limiter: limiter, Now: tooltest.Now,
		ResourceMetadata: resourceMetadata,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(Path, s)
	for _, p := range Published() {
		mux.Handle(p, s)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if p, ok := callers[name]; ok {
			r = r.WithContext(principal.WithResult(r.Context(), principal.Result{Principal: &p}))
		} else if name != "" {
			r = r.WithContext(principal.WithResult(r.Context(), principal.Result{Err: apierr.New(apierr.InvalidCredentials, "Unknown key.")}))
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv
}

func full() map[string]principal.Principal {
	return map[string]principal.Principal{"full": {
		Org: "org_a", User: "user_a", Kind: principal.KindMCPKey, CredentialID: "key_a",
		Role: principal.RoleRoot,
	}}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// connect is a session of the SDK's own client.
func connect(t *testing.T, srv *httptest.Server, name string) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: srv.URL + Path, HTTPClient: &http.Client{Transport: bearer(name)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close() // the server has no session to end
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return session
}

func call(t *testing.T, session *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func textOf(res *sdk.CallToolResult) string {
	var all []string
	for _, c := range res.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			all = append(all, text.Text)
		}
	}
	return strings.Join(all, "\n")
}

func failureOf(t *testing.T, res *sdk.CallToolResult) tool.Failure {
	t.Helper()
	var d tool.Failure
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &d); err != nil || !res.IsError {
		t.Fatalf("not a failure: %s", raw)
	}
	return d
}

// declared returns the tools as tools/list shows them.
func declared(t *testing.T, session *sdk.ClientSession) map[string]*sdk.Tool {
	t.Helper()
	res, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	tools := map[string]*sdk.Tool{}
	for _, tool := range res.Tools {
		tools[tool.Name] = tool
	}
	return tools
}
