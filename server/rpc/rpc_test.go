package rpc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/rpc"
)

// keys answers API key methods with the functions that a test sets.
type keys struct {
	svcv2connect.UnimplementedApiKeysServiceHandler
	get func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error)
}

func (k *keys) GetApiKey(ctx context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
	return k.get(ctx, req)
}

func (k *keys) ListApiKeys(context.Context, *svcv2.ListApiKeysRequest) (*svcv2.ListApiKeysResponse, error) {
	return &svcv2.ListApiKeysResponse{Object: "list"}, nil
}

func (k *keys) CreateApiKey(_ context.Context, req *svcv2.CreateApiKeyRequest) (*svcv2.ApiKeyWithSecret, error) {
	return &svcv2.ApiKeyWithSecret{Name: req.GetName()}, nil
}

// logText is a log that tests read while the server writes.
type logText struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

type fixture struct {
	contract *contract.Contract
	chain    *rpc.Chain
	service  *keys
	server   *httptest.Server
	log      *logText
	metrics  *prometheus.Registry
	// caller is the result of authentication; nil means no credential.
	caller *principal.Result
	door   principal.Door
}

func newFixture(t *testing.T, change ...func(*rpc.Config)) *fixture {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{contract: c, service: &keys{}, log: &logText{}, metrics: prometheus.NewRegistry()}
	f.service.get = func(_ context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
		return &svcv2.ApiKey{Id: req.GetId()}, nil
	}
	cfg := rpc.Config{
		Contract: c, Logger: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Registerer: f.metrics,
	}
	for _, fn := range change {
		fn(&cfg)
	}
	if f.chain, err = rpc.New(cfg); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	path, handler := svcv2connect.NewApiKeysServiceHandler(f.service, f.chain.Options()...)
	mux.Handle(path, f.chain.RefuseUnknownMethods(handler))
	mux.Handle("/", f.chain.RefuseUnknownMethods(handler))
	for _, r := range rpc.Infra(c.Services(), func(context.Context) error { return nil }) {
		mux.Handle(r.Path, r.Handler)
	}
	f.server = httptest.NewUnstartedServer(requestid.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		if f.caller != nil {
			ctx = principal.WithResult(ctx, *f.caller)
		}
		if f.door != "" {
			ctx = principal.WithDoor(ctx, f.door)
		}
		mux.ServeHTTP(w, r.WithContext(ctx))
	})))
	f.server.Config.Protocols = new(http.Protocols)
	f.server.Config.Protocols.SetHTTP1(true)
	f.server.Config.Protocols.SetUnencryptedHTTP2(true)
	f.server.Start()
	t.Cleanup(f.server.Close)
	return f
}

func as(p principal.Principal) *principal.Result { return &principal.Result{Principal: &p} }

func fullAccess() *principal.Result {
	return as(principal.Principal{Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_a", Role: principal.RoleRoot})
}

func (f *fixture) client(opts ...connect.ClientOption) svcv2connect.ApiKeysServiceClient {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return svcv2connect.NewApiKeysServiceClient(&http.Client{Transport: transport}, f.server.URL, opts...)
}

func (f *fixture) grpcClient(t *testing.T) svcv2.ApiKeysServiceClient {
	t.Helper()
	conn, err := grpc.NewClient(f.server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return svcv2.NewApiKeysServiceClient(conn)
}

// detailOf is the ErrorDetail in an error that came over the wire.
func detailOf(t *testing.T, err error) *optionsv1.ErrorDetail {
	t.Helper()
	var wire *connect.Error
	if !errors.As(err, &wire) {
		t.Fatalf("not an error of the protocol: %v", err)
	}
	for _, d := range wire.Details() {
		v, err := d.Value()
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := v.(*optionsv1.ErrorDetail); ok {
			return e
		}
	}
	t.Fatalf("no ErrorDetail in %v", err)
	return nil
}

func name(tag apierr.Tag) string { return apierr.Spec(tag).GetTag() }

func TestAnonymousCallsAreRefused(t *testing.T) {
	f := newFixture(t)
	reached := false
	f.service.get = func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
		reached = true
		return &svcv2.ApiKey{}, nil
	}
	req := &svcv2.GetApiKeyRequest{Id: "key_1"}
	for door, client := range map[string]svcv2connect.ApiKeysServiceClient{
		"connect": f.client(), "connect json": f.client(connect.WithProtoJSON()), "grpc": f.client(connect.WithGRPC()),
		"grpc-web": f.client(connect.WithGRPCWeb()),
	} {
		_, err := client.GetApiKey(t.Context(), req)
		if connect.CodeOf(err) != connect.CodeUnauthenticated {
			t.Errorf("%s: %v", door, err)
			continue
		}
		if d := detailOf(t, err); d.GetTag() != name(apierr.Unauthorized) || d.GetStatus() != 401 {
			t.Errorf("%s: %v", door, d)
		}
	}
	if _, err := f.grpcClient(t).GetApiKey(t.Context(), req); status.Code(err) != codes.Unauthenticated {
		t.Errorf("grpc-go: %v", err)
	}
	// A body that is not a message makes no difference: the refusal comes before the body is read.
	res, err := http.Post(f.server.URL+"/svc.v2.ApiKeysService/GetApiKey", "application/json", strings.NewReader("{nonsense"))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("malformed body without a credential: %d", res.StatusCode)
	}
	if reached {
		t.Error("an anonymous call reached the service")
	}
}

func TestAdmit(t *testing.T) {
	f := newFixture(t)
	key := func(role principal.Role, kind principal.Kind, scopes ...string) *principal.Result {
		return as(principal.Principal{Org: "org_a", Kind: kind, CredentialID: "key_a", Role: role, Scopes: scopes})
	}
	for _, c := range []struct {
		name, method string
		caller       *principal.Result
		door         principal.Door
		want         apierr.Tag // 0 for admitted
	}{
		{"nothing", "GetApiKey", nil, "", apierr.Unauthorized},
		{"empty result", "GetApiKey", &principal.Result{}, "", apierr.Unauthorized},
		{"refused credential", "GetApiKey", &principal.Result{Err: apierr.New(apierr.InvalidCredentials, "x")}, "", apierr.InvalidCredentials},
		{
			"authentication down", "GetApiKey", &principal.Result{Err: apierr.New(apierr.AuthorizationUnavailable, "x")}, "",
			apierr.AuthorizationUnavailable,
		},
		{"full access", "RollApiKey", key(principal.RoleRoot, principal.KindAPIKey), "", 0},
		{"read for read", "GetApiKey", key(principal.RoleRoot, principal.KindAPIKey, "api_keys:read"), "", 0},
		{"write for read", "GetApiKey", key(principal.RoleRoot, principal.KindAPIKey, "api_keys:write"), "", 0},
		{"read for write", "RollApiKey", key(principal.RoleRoot, principal.KindAPIKey, "api_keys:read"), "", apierr.InsufficientScope},
		{"another family", "GetApiKey", key(principal.RoleRoot, principal.KindAPIKey, "traces:write"), "", apierr.InsufficientScope},
		{"star", "RollApiKey", key(principal.RoleRoot, principal.KindAPIKey, "*"), "", 0},
		{
			"no scope at all", "GetApiKey", as(principal.Principal{Kind: principal.KindAPIKey, Role: principal.RoleRoot, Scopes: []string{}}), "",
			apierr.InsufficientScope,
		},
		{"member reads", "GetApiKey", key(principal.RoleMember, principal.KindSession), "", 0},
		{"member writes", "RollApiKey", key(principal.RoleMember, principal.KindSession), "", apierr.InsufficientPermissions},
		{"admin writes", "RollApiKey", key(principal.RoleAdmin, principal.KindSession), "", 0},
		{"scope before role", "RollApiKey", key(principal.RoleMember, principal.KindAPIKey, "traces:read"), "", apierr.InsufficientScope},
		{"MCP key on Connect", "GetApiKey", key(principal.RoleRoot, principal.KindMCPKey), principal.DoorConnect, apierr.InvalidCredentials},
		{"MCP key on REST", "GetApiKey", key(principal.RoleRoot, principal.KindMCPKey), principal.DoorREST, apierr.InvalidCredentials},
		{"MCP key on MCP", "GetApiKey", key(principal.RoleRoot, principal.KindMCPKey), principal.DoorMCP, 0},
		{"OAuth on REST", "GetApiKey", key(principal.RoleMember, principal.KindOAuth), principal.DoorREST, apierr.InvalidCredentials},
		{"OAuth on MCP", "GetApiKey", key(principal.RoleMember, principal.KindOAuth), principal.DoorMCP, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, ok := f.contract.ByRPC("svc.v2.ApiKeysService." + c.method)
			if !ok {
				t.Fatal("no such method")
			}
			ctx := t.Context()
			if c.caller != nil {
				ctx = principal.WithResult(ctx, *c.caller)
			}
			if c.door != "" {
				ctx = principal.WithDoor(ctx, c.door)
			}
			_, err := f.chain.Admit(ctx, m)
			got := apierr.Tag(0)
			if err != nil {
				got = apierr.From(err).Tag
			}
			if got != c.want {
				t.Errorf("got %v (%v), want %v", got, err, c.want)
			}
			if c.want == apierr.InsufficientScope && !strings.Contains(err.Error(), m.Scope()) {
				t.Errorf("%q does not name the scope %s", err, m.Scope())
			}
		})
	}
}

func TestRateLimit(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	f := newFixture(t, func(c *rpc.Config) {
		c.Limiter = ratelimit.NewWindow(3, time.Minute)
		c.Now = func() time.Time { return now }
	})
	f.caller = as(principal.Principal{
		Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_a", Role: principal.RoleRoot, Scopes: []string{"traces:read"},
	})
	client := f.client()
	get := func() error {
		_, err := client.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "x"})
		return err
	}
	for range 3 { // refused for their scope, but counted
		if err := get(); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Fatal(err)
		}
	}
	err := get()
	if connect.CodeOf(err) != connect.CodeResourceExhausted || detailOf(t, err).GetTag() != name(apierr.RateLimit) {
		t.Fatalf("the fourth: %v", err)
	}
	var wire *connect.Error
	if errors.As(err, &wire); wire.Meta().Get("Retry-After") != "60" {
		t.Errorf("Retry-After: %q", wire.Meta())
	}
	f.door = principal.DoorMCP
	if err := get(); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("MCP shares the limit: %v", err)
	}
	f.door = ""
	key := f.caller
	f.caller = as(principal.Principal{
		Org: "org_a", User: "user_a", Kind: principal.KindSession, CredentialID: "s",
		Role: principal.RoleMember,
	})
	for range 10 {
		if err := get(); connect.CodeOf(err) == connect.CodeResourceExhausted {
			t.Fatalf("a session has a rate: %v", err)
		}
	}
	f.caller = key
	f.caller.Principal.CredentialID = "key_b"
	if err := get(); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("another key shares the limit: %v", err)
	}
	f.caller.Principal.CredentialID = "key_a"
	now = now.Add(time.Minute)
	if err := get(); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a minute later: %v", err)
	}
	ctx := principal.WithResult(t.Context(), *fullAccess())
	m, _ := f.contract.ByRPC("svc.v2.ApiKeysService.GetApiKey")
	for i := range 10 { // one request that is checked at each stage counts once
		if ctx, err = f.chain.Admit(ctx, m); err != nil {
			t.Fatalf("asked %d times: %v", i+1, err)
		}
	}
	other, _ := f.contract.ByRPC("svc.v2.ApiKeysService.RollApiKey")
	f.caller.Principal.Scopes = nil
	member := principal.WithResult(ctx, *as(principal.Principal{Kind: principal.KindSession, CredentialID: "s", Role: principal.RoleMember}))
	if _, err := f.chain.Admit(member, other); err == nil {
		t.Error("the admission to one method let a caller into another")
	}
}

func TestValidation(t *testing.T) {
	f := newFixture(t)
	f.caller = fullAccess()
	for door, opts := range map[string][]connect.ClientOption{"connect": nil, "grpc": {connect.WithGRPC()}} {
		client := f.client(opts...)
		_, err := client.ListApiKeys(t.Context(), &svcv2.ListApiKeysRequest{Limit: proto.Int32(101)})
		d := detailOf(t, err)
		if connect.CodeOf(err) != connect.CodeInvalidArgument || d.GetTag() != name(apierr.ParameterInvalid) || d.GetParam() != "limit" ||
			d.GetMessage() != "`limit` must be between 1 and 100." {
			t.Errorf("%s: a query parameter: %v", door, d)
		}
		_, err = client.CreateApiKey(t.Context(), &svcv2.CreateApiKeyRequest{Kind: proto.String("x"), Scopes: []string{"a:read", "!"}})
		d = detailOf(t, err)
		var fields []string
		for _, v := range d.GetViolations() {
			fields = append(fields, v.GetField())
		}
		if diff := cmp.Diff([]string{"name", "kind", "scopes[1]"}, fields); diff != "" {
			t.Errorf("%s: violations: %s", door, diff)
		}
		if d.GetTag() != name(apierr.InvalidRequest) || d.GetParam() != "name" ||
			d.GetMessage() != "`name` is required. (and 2 other invalid fields)" {
			t.Errorf("%s: a body: %v", door, d)
		}
	}
}

func TestErrors(t *testing.T) {
	f := newFixture(t, func(c *rpc.Config) { c.Timeout = 50 * time.Millisecond })
	f.caller = fullAccess()
	for _, c := range []struct {
		name string
		get  func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error)
		code connect.Code
		tag  apierr.Tag
		log  string // what the log must hold and the answer must not
	}{
		{"our error", func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
			return nil, apierr.New(apierr.ApiKeyPersistence, "Try later.", apierr.Cause(errors.New("dial 10.0.0.7: refused")))
		}, connect.CodeUnavailable, apierr.ApiKeyPersistence, "10.0.0.7"},
		{"another error", func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
			return nil, errors.New("pq: relation missing")
		}, connect.CodeInternal, apierr.Unexpected, "pq: relation missing"},
		{"a panic", func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
			panic("index out of range")
		}, connect.CodeInternal, apierr.Unexpected, "rpc_test.go"},
		{"too slow", func(ctx context.Context, _ *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("driver: interrupted")
		}, connect.CodeDeadlineExceeded, apierr.WorkerUnavailable, "driver: interrupted"},
		{"not implemented", func(context.Context, *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
			return nil, connect.NewError(connect.CodeUnimplemented, errors.New("no"))
		}, connect.CodeUnimplemented, apierr.RouteNotFound, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.service.get = c.get
			_, err := f.client().GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "x"})
			d := detailOf(t, err)
			if connect.CodeOf(err) != c.code || d.GetTag() != name(c.tag) {
				t.Errorf("got %v, %v", connect.CodeOf(err), d)
			}
			if c.log != "" {
				if !strings.Contains(f.log.String(), c.log) {
					t.Errorf("the log lacks %q", c.log)
				}
				if strings.Contains(err.Error()+d.String(), c.log) {
					t.Errorf("the answer holds %q: %v %v", c.log, err, d)
				}
			}
			var wire *connect.Error
			if errors.As(err, &wire); !strings.Contains(f.log.String(), wire.Meta().Get(requestid.Header)) ||
				wire.Meta().Get(requestid.Header) == "" {
				t.Errorf("the request id %q is not in the log", wire.Meta().Get(requestid.Header))
			}
		})
	}
}

func TestUnknownMethods(t *testing.T) {
	f := newFixture(t)
	f.caller = fullAccess()
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	for _, path := range []string{"/svc.v2.ApiKeysService/NoSuchMethod", "/svc.v2.NoSuchService/Get"} {
		for door, opts := range map[string][]connect.ClientOption{
			"connect": nil, "grpc": {connect.WithGRPC()},
			"grpc-web": {connect.WithGRPCWeb()},
		} {
			client := connect.NewClient[svcv2.GetApiKeyRequest, svcv2.ApiKey](&http.Client{Transport: transport}, f.server.URL+path, opts...)
			_, err := client.CallUnary(t.Context(), connect.NewRequest(&svcv2.GetApiKeyRequest{}))
			if connect.CodeOf(err) != connect.CodeUnimplemented || detailOf(t, err).GetTag() != name(apierr.RouteNotFound) {
				t.Errorf("%s over %s: %v", path, door, err)
			}
		}
	}
}

func TestMetrics(t *testing.T) {
	f := newFixture(t)
	f.caller = fullAccess()
	_, err := f.client(connect.WithGRPC()).GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "x"})
	if err != nil {
		t.Fatal(err)
	}
	f.caller = nil
	if _, err = f.client().GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "x"}); err == nil {
		t.Fatal("admitted")
	}
	if n, err := testutil.GatherAndCount(f.metrics, "svc_rpc_duration_seconds"); err != nil || n != 2 {
		t.Errorf("%d series, %v; want one for the call and one for the refusal", n, err)
	}
	families, err := f.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, m := range families[0].GetMetric() {
		text := ""
		for _, l := range m.GetLabel() {
			text += l.GetValue() + " "
		}
		labels = append(labels, text)
	}
	if diff := cmp.Diff([]string{"ok grpc /svc.v2.ApiKeysService/GetApiKey ", "unauthenticated connect /svc.v2.ApiKeysService/GetApiKey "},
		labels); diff != "" {
		t.Error(diff)
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := rpc.New(rpc.Config{}); err == nil {
		t.Error("a chain without a contract was made")
	}
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	metrics := prometheus.NewRegistry()
	if _, err := rpc.New(rpc.Config{Contract: c, Registerer: metrics}); err != nil {
		t.Fatal(err)
	}
	if _, err := rpc.New(rpc.Config{Contract: c, Registerer: metrics}); err == nil {
		t.Error("the histogram was registered twice")
	}
}

// TestHandlerNamesWhatIsNotMounted checks that a forgotten service stops the start.
func TestHandlerNamesWhatIsNotMounted(t *testing.T) {
	f := newFixture(t)
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewApiKeysServiceHandler(f.service, f.chain.Options()...))
	_, err := f.chain.Handler(mux)
	if err == nil || !strings.Contains(err.Error(), "svc.v2.TracesService") || strings.Contains(err.Error(), "ApiKeysService") {
		t.Errorf("the error does not name the services that are missing: %v", err)
	}
	for _, s := range f.contract.Services() {
		if s != "svc.v2.ApiKeysService" {
			mux.Handle("/"+s+"/", http.NotFoundHandler())
		}
	}
	if _, err := f.chain.Handler(mux); err != nil {
		t.Error(err)
	}
}
