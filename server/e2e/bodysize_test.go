package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"

	connectrpc "connectrpc.com/connect"
	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/testkit"
)

// TestBodySizes sends a body of exactly the size of a setting, and one that is a byte larger, through every door.
// rest-max-body-bytes bounds REST, MCP and the methods that need no credential. grpc-max-message-bytes bounds OTLP over gRPC and
// the API over gRPC and Connect.
func TestBodySizes(t *testing.T) {
	t.Parallel()
	const rest, message = 64 << 10, 128 << 10
	s := testkit.Start(t, func(c *config.Config) {
		c.Limits.RESTMaxBodyBytes, c.Limits.GRPCMaxMessageBytes = rest, message
	})
	post := func(t *testing.T, path, key, body string, size int) (int, string) {
		t.Helper()
		// White space around a JSON value changes nothing.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.BaseURL+path,
			strings.NewReader(body+strings.Repeat(" ", size-len(body))))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		if key != "" {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(answer)
	}
	const tools = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	for name, tc := range map[string]struct {
		path, key, body string
		largest, within int // within is the status of a body of the exact size
		says            string
	}{
		"REST":    {"/v2/api_keys", s.APIKey, `{"name":"a"}`, rest, 200, "64 KiB"},
		"MCP":     {"/mcp", s.APIKey, tools, rest, 200, "64 KiB"},
		"Connect": {"/svc.v2.ApiKeysService/CreateApiKey", s.APIKey, `{"name":"a"}`, message, 200, "128 KiB"},
		"Connect without credential": {
			"/svc.v2.SessionsService/SignIn", "", `{"email":"a@example.com","password":"not the password"}`, rest, 401,
			"64 KiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if code, answer := post(t, tc.path, tc.key, tc.body, tc.largest); code != tc.within {
				t.Errorf("exactly the size: %d %s", code, answer)
			}
			if code, answer := post(t, tc.path, tc.key, tc.body, tc.largest+1); code < 400 || !strings.Contains(answer, "PayloadTooLargeError") ||
				!strings.Contains(answer, tc.says) {
				t.Errorf("a byte more: %d %s", code, answer)
			}
		})
	}
	t.Run("gRPC", func(t *testing.T) {
		protocols := new(http.Protocols)
		protocols.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: protocols}
		defer transport.CloseIdleConnections()
		client := svcv2connect.NewApiKeysServiceClient(&http.Client{Transport: transport}, s.BaseURL, connectrpc.WithGRPC())
		send := func(size int) error {
			const head = 3 + 1 + 3 // name "a"; tag and length of the description
			ctx, call := connectrpc.NewClientContext(t.Context())
			call.RequestHeader().Set("Authorization", "Bearer "+s.APIKey)
			_, err := client.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{Name: "a", Description: new(strings.Repeat("x", size-head))})
			return err
		}
		// The message is read, and then its description is too long.
		if err := send(message); err == nil || !strings.Contains(err.Error(), "description") {
			t.Errorf("exactly the size: %v", err)
		}
		if err := send(message + 1); err == nil || !strings.Contains(err.Error(), "larger than 128 KiB") {
			t.Errorf("a byte more: %v", err)
		}
	})
	t.Run("OTLP over gRPC", func(t *testing.T) {
		conn, err := grpc.NewClient(s.OTLPGRPCAddr, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		send := func(size int) error {
			req := &coltrace.ExportTraceServiceRequest{}
			// A field that OTLP does not have is ignored.
			req.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType), make([]byte, size-2-3)))
			_, err := coltrace.NewTraceServiceClient(conn).Export(metadata.AppendToOutgoingContext(t.Context(), "authorization",
				"Bearer "+s.PrivateKey), req)
			return err
		}
		if err := send(message); err != nil {
			t.Errorf("exactly the size: %v", err)
		}
		if err := send(message + 1); status.Code(err) != codes.ResourceExhausted && status.Code(err) != codes.InvalidArgument ||
			!strings.Contains(err.Error(), "128 KiB") {
			t.Errorf("a byte more: %v", err)
		}
	})
}
