package rest_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/rest"
	"github.com/svc-observability/svc/server/rpc"
	"github.com/svc-observability/svc/server/rpc/loopback"
)

// keys is an in-memory service of API keys.
type keys struct {
	svcv2connect.UnimplementedApiKeysServiceHandler
}

func (keys) ListApiKeys(_ context.Context, req *svcv2.ListApiKeysRequest) (*svcv2.ListApiKeysResponse, error) {
	res := &svcv2.ListApiKeysResponse{Object: "list", NextCursor: req.Cursor}
	for range req.GetLimit() {
		res.Data = append(res.Data, &svcv2.ApiKey{Id: "key_1", Object: "api_key"})
	}
	return res, nil
}

func (keys) GetApiKey(ctx context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
	switch req.GetId() {
	case "panic":
		panic("out of range")
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "down":
		return nil, apierr.New(apierr.ApiKeyPersistence, "", apierr.Cause(errors.New("dial 10.0.0.7")))
	case "missing":
		return nil, apierr.New(apierr.ApiKeyNotFound, "There is no API key with this id.")
	}
	return &svcv2.ApiKey{Id: req.GetId()}, nil
}

func (keys) CreateApiKey(_ context.Context, req *svcv2.CreateApiKeyRequest) (*svcv2.ApiKeyWithSecret, error) {
	return &svcv2.ApiKeyWithSecret{Name: req.GetName(), Scopes: req.GetScopes(), Txid: proto.String("7")}, nil
}

func (keys) RollApiKey(_ context.Context, req *svcv2.RollApiKeyRequest) (*svcv2.ApiKeyWithSecret, error) {
	return &svcv2.ApiKeyWithSecret{Id: req.GetId(), Secret: "s"}, nil
}

// spans answers with a number that JSON cannot express.
type spans struct {
	svcv2connect.UnimplementedTracesServiceHandler
}

func (spans) GetTrace(context.Context, *svcv2.GetTraceRequest) (*svcv2.Trace, error) {
	return &svcv2.Trace{DurationMs: math.NaN()}, nil
}

// listing answers the list of services.
type listing struct {
	svcv2connect.UnimplementedServicesServiceHandler
}

func (listing) ListServices(_ context.Context, req *svcv2.ListServicesRequest) (*svcv2.ListServicesResponse, error) {
	return &svcv2.ListServicesResponse{Object: "list", NextCursor: proto.String(req.GetStartTime().AsTime().Format(time.RFC3339Nano))}, nil
}

// callTime bounds each call of newDoor. No call of a test takes as long, except for the one that waits for the end.
const callTime = time.Minute

// newDoor is the whole way from an HTTP request under /v2 to the services. Authorization names the caller: full, mcp, reader, member.
func newDoor(t testing.TB, limit int) http.Handler {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	chain, err := rpc.New(rpc.Config{
		Contract: c, Logger: logger, Limiter: ratelimit.NewWindow(limit, time.Minute), Timeout: callTime,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewApiKeysServiceHandler(keys{}, chain.Options()...))
	mux.Handle(svcv2connect.NewTracesServiceHandler(spans{}, chain.Options()...))
	mux.Handle(svcv2connect.NewServicesServiceHandler(listing{}, chain.Options()...))
	door, err := rest.New(rest.Config{Conn: loopback.SharingConn(mux), Contract: c, Admit: chain.Admit, Logger: logger})
	if err != nil {
		t.Fatal(err)
	}
	callers := map[string]principal.Principal{
		"full":   {Kind: principal.KindAPIKey, CredentialID: "key_full", Role: principal.RoleRoot},
		"mcp":    {Kind: principal.KindMCPKey, CredentialID: "key_mcp", Role: principal.RoleRoot},
		"reader": {Kind: principal.KindAPIKey, CredentialID: "key_reader", Role: principal.RoleRoot, Scopes: []string{"api_keys:read"}},
		"member": {Kind: principal.KindSession, CredentialID: "session", Role: principal.RoleMember},
	}
	return requestid.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := callers[r.Header.Get("Authorization")]; ok {
			r = r.WithContext(principal.WithResult(r.Context(), principal.Result{Principal: &p}))
		}
		door.ServeHTTP(w, r)
	}))
}

type call struct {
	method, target, as, body string
	header                   http.Header
}

func send(t *testing.T, url string, c call) (*http.Response, string) {
	t.Helper()
	var body io.Reader
	if c.body != "" {
		body = strings.NewReader(c.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), c.method, url+c.target, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
	if c.body != "" && c.header["Content-Type"] == nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.as != "nobody" {
		req.Header.Set("Authorization", c.as)
	}
	res, err := (&http.Transport{DisableCompression: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, string(text)
}

func TestAnswers(t *testing.T) {
	server := httptest.NewServer(newDoor(t, 600))
	t.Cleanup(server.Close)
	type header = http.Header
	const times = "start_time=2026-01-31T09:30:00Z&end_time=2026-01-31T10:30:00Z"
	for _, c := range []struct {
		name   string
		call   call
		status int
		want   string // in the body
		param  string // of an error
	}{
		{
			"list",
			call{"GET", "/v2/api_keys?limit=1", "full", "", nil},
			200,
			`{"object":"list","data":[{"id":"key_1","object":"api_key","name":"","description":null,`, "",
		},
		{"read scope", call{"GET", "/v2/api_keys", "reader", "", nil}, 200, `"next_cursor":null`, ""},
		{"empty cursor is a cursor", call{"GET", "/v2/api_keys?cursor=", "full", "", nil}, 200, `"next_cursor":""`, ""},
		{"create", call{"POST", "/v2/api_keys", "full", `{"name":"n"}`, nil}, 200, `"name":"n"`, ""},
		{
			"create: charset",
			call{"POST", "/v2/api_keys", "full", `{"name":"n"}`, header{"Content-Type": {"application/json; charset=UTF-8"}}},
			200, `"txid":"7"`, "",
		},
		{"roll without a body", call{"POST", "/v2/api_keys/key_1/roll", "full", "", nil}, 200, `"secret":"s"`, ""},
		{"roll with {}", call{"POST", "/v2/api_keys/key_1/roll", "full", " {}\n", nil}, 200, `"id":"key_1"`, ""},
		{"escaped slash stays in its segment", call{"GET", "/v2/api_keys/a%2Fb%25", "full", "", nil}, 200, `"id":"a/b%"`, ""},
		{"escaped letters of a literal", call{"GET", "/v2/api%5Fkeys/x", "full", "", nil}, 200, `"id":"x"`, ""},
		{"plus is a plus in a path", call{"GET", "/v2/api_keys/a+b%20c", "full", "", nil}, 200, `"id":"a+b c"`, ""},
		{
			"times",
			call{"GET", "/v2/services?" + strings.Replace(times, ":00Z&", ":00.25%2B00:00&", 1), "full", "", nil},
			200,
			`"next_cursor":"2026-01-31T09:30:00.25Z"`, "",
		},

		{"no credential", call{"GET", "/v2/api_keys", "nobody", "", nil}, 401, "@svc/http/errors/UnauthorizedError", ""},
		{"no credential, bad everything", call{"POST", "/v2/api_keys?x=1", "nobody", "nonsense", nil}, 401, "UnauthorizedError", ""},
		{"MCP key", call{"GET", "/v2/api_keys", "mcp", "", nil}, 401, "@svc/http/v2/InvalidCredentialsError", ""},
		{"scope before body", call{"POST", "/v2/api_keys", "reader", "nonsense", nil}, 403, "`api_keys:write`", ""},
		{"role before body", call{"POST", "/v2/api_keys", "member", "nonsense", nil}, 403, "@svc/http/v2/InsufficientPermissionsError", ""},

		{"unknown route", call{"GET", "/v2/nothing", "full", "", nil}, 404, "@svc/http/v2/RouteNotFoundError", ""},
		{"unknown route, no credential", call{"GET", "/v2/nothing", "nobody", "", nil}, 404, "RouteNotFoundError", ""},
		{"trailing slash", call{"GET", "/v2/api_keys/", "full", "", nil}, 404, "RouteNotFoundError", ""},
		{"empty segment", call{"GET", "/v2//api_keys", "full", "", nil}, 404, "RouteNotFoundError", ""},
		{"the root", call{"GET", "/v2/", "full", "", nil}, 404, "RouteNotFoundError", ""},
		{"wrong method", call{"PUT", "/v2/api_keys/x", "full", "{}", nil}, 405, "@svc/http/v2/MethodNotAllowedError", ""},
		{
			"method override",
			call{"POST", "/v2/api_keys/x", "full", "{}", header{"X-Http-Method-Override": {"DELETE"}}},
			405,
			"MethodNotAllowedError", "",
		},

		{"limit is a word", call{"GET", "/v2/api_keys?limit=nope", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit is a fraction", call{"GET", "/v2/api_keys?limit=1.5", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit 0", call{"GET", "/v2/api_keys?limit=0", "full", "", nil}, 400, "must be between 1 and 100", "limit"},
		{"limit 101", call{"GET", "/v2/api_keys?limit=101", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit empty", call{"GET", "/v2/api_keys?limit=", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit octal", call{"GET", "/v2/api_keys?limit=010", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit hexadecimal", call{"GET", "/v2/api_keys?limit=0x10", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit enormous", call{"GET", "/v2/api_keys?limit=99999999999999999999", "full", "", nil}, 400, "ParameterInvalidError", "limit"},
		{"limit twice", call{"GET", "/v2/api_keys?limit=1&limit=2", "full", "", nil}, 400, "given twice", "limit"},
		{"unknown parameter", call{"GET", "/v2/api_keys?page=1", "full", "", nil}, 400, "@svc/http/v2/InvalidRequestError", "page"},
		{"camelCase parameter", call{"GET", "/v2/services?startTime=x", "full", "", nil}, 400, "InvalidRequestError", "startTime"},
		{"map syntax", call{"GET", "/v2/api_keys?limit[x]=1", "full", "", nil}, 400, "InvalidRequestError", "limit[x]"},
		{"parameter of a body method", call{"POST", "/v2/api_keys?name=x", "full", `{"name":"n"}`, nil}, 400, "takes none", "name"},
		{"bad escape", call{"GET", "/v2/api_keys?cursor=%zz", "full", "", nil}, 400, "InvalidRequestError", ""},
		{"semicolon", call{"GET", "/v2/api_keys?limit=1;cursor=x", "full", "", nil}, 400, "InvalidRequestError", ""},
		{"invalid UTF-8 in the query", call{"GET", "/v2/api_keys?cursor=%ff", "full", "", nil}, 400, "not valid UTF-8", "cursor"},
		{"zero byte in the query", call{"GET", "/v2/api_keys?cursor=a%00", "full", "", nil}, 400, "zero byte", "cursor"},
		{"zero byte in the path", call{"GET", "/v2/api_keys/a%00", "full", "", nil}, 400, "InvalidRequestError", "id"},
		{"invalid UTF-8 in the path", call{"GET", "/v2/api_keys/%ff", "full", "", nil}, 400, "not valid UTF-8", "id"},
		{
			"missing parameter",
			call{"GET", "/v2/services?end_time=2026-01-31T10:30:00Z", "full", "", nil},
			400,
			"@svc/http/v2/ParameterMissingError", "start_time",
		},
		{"bad time", call{"GET", "/v2/services?start_time=yesterday", "full", "", nil}, 400, "ParameterInvalidError", "start_time"},
		{
			"time of another zone",
			call{"GET", "/v2/services?start_time=2026-01-31T09:30:00%2B01:00", "full", "", nil},
			400, "in UTC",
			"start_time",
		},
		{"path rule", call{"GET", "/v2/traces/xyz", "full", "", nil}, 400, "InvalidRequestError", "trace_id"},

		{"missing body", call{"POST", "/v2/api_keys", "full", "", nil}, 400, "The request body is missing", ""},
		{"malformed JSON", call{"POST", "/v2/api_keys", "full", `{"name":`, nil}, 400, "not valid JSON", ""},
		{"unknown field", call{"POST", "/v2/api_keys", "full", `{"name":"n","colour":1}`, nil}, 400, "not a known field", "colour"},
		{"wrong type", call{"POST", "/v2/api_keys", "full", `{"name":"n","scopes":["a",3]}`, nil}, 400, "must be a string", "scopes[1]"},
		{"empty scopes", call{"POST", "/v2/api_keys", "full", `{"name":"n","scopes":[]}`, nil}, 400, "must not be an empty list", "scopes"},
		{"missing field", call{"POST", "/v2/api_keys", "full", `{}`, nil}, 400, "`name` is required", "name"},
		{"body where none belongs", call{"POST", "/v2/api_keys/x/roll", "full", `{"a":1}`, nil}, 400, "takes no request body", ""},
		{"body of a GET", call{"GET", "/v2/api_keys", "full", `x`, nil}, 400, "takes no request body", ""},
		{
			"content type",
			call{"POST", "/v2/api_keys", "full", `name=n`, header{"Content-Type": {"application/x-www-form-urlencoded"}}},
			415,
			"@svc/http/v2/UnsupportedMediaTypeError", "",
		},
		{
			"charset",
			call{"POST", "/v2/api_keys", "full", `{}`, header{"Content-Type": {"application/json; charset=latin1"}}},
			415,
			"UnsupportedMediaTypeError", "",
		},
		{
			"content encoding",
			call{"POST", "/v2/api_keys", "full", `{}`, header{"Content-Encoding": {"br"}}},
			415, "UnsupportedMediaTypeError",
			"",
		},
		{"not gzip", call{"POST", "/v2/api_keys", "full", `{}`, header{"Content-Encoding": {"gzip"}}}, 400, "could not be read", ""},
		{
			"oversize",
			call{"POST", "/v2/api_keys", "full", `{"name":"` + strings.Repeat("x", limits.RESTBody) + `"}`, nil},
			413,
			"@svc/http/v2/PayloadTooLargeError", "",
		},

		{"error of the service", call{"GET", "/v2/api_keys/missing", "full", "", nil}, 404, "@svc/http/errors/ApiKeyNotFoundError", "id"},
		{"retryable", call{"GET", "/v2/api_keys/down", "full", "", nil}, 503, "ApiKeyPersistenceError", ""},
		{"panic", call{"GET", "/v2/api_keys/panic", "full", "", nil}, 500, "@svc/http/v2/UnexpectedError", ""},
		{
			"answer without a form in JSON",
			call{"GET", "/v2/traces/" + strings.Repeat("a", 32), "full", "", nil},
			500,
			"@svc/http/v2/ResponseSchemaError", "",
		},
		{"method that is not served", call{"DELETE", "/v2/api_keys/x", "full", "", nil}, 404, "RouteNotFoundError", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, body := send(t, server.URL, c.call)
			if res.StatusCode != c.status || !strings.Contains(body, c.want) {
				t.Fatalf("got %d %s, want %d with %s", res.StatusCode, body, c.status, c.want)
			}
			if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("Cache-Control") != "no-store" ||
				res.Header.Get("X-Request-Id") == "" {
				t.Errorf("headers: %v", res.Header)
			}
			if c.status != 200 {
				checkEnvelope(t, res, body, c.param)
			}
			if strings.Contains(body, "10.0.0.7") || strings.Contains(body, "out of range") {
				t.Errorf("the private cause left the server: %s", body)
			}
		})
	}
}

// TestDeadline: the chain ends a call after its time. The clock of the test moves when everything waits, so no time passes.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		door, w, begin := newDoor(t, 600), httptest.NewRecorder(), time.Now()
		r := httptest.NewRequest(http.MethodGet, "/v2/api_keys/slow", nil)
		r.Header.Set("Authorization", "full")
		door.ServeHTTP(w, r)
		if took := time.Since(begin); w.Code != http.StatusGatewayTimeout || took != callTime {
			t.Errorf("%d after %s, want 504 after %s", w.Code, took, callTime)
		}
		checkEnvelope(t, w.Result(), w.Body.String(), "")
		if !strings.Contains(w.Body.String(), "@svc/http/v2/WorkerUnavailableError") {
			t.Error(w.Body.String())
		}
	})
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
