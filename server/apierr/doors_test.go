package apierr_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/rest"
	"github.com/svc-observability/svc/server/rpc/loopback"
	"github.com/svc-observability/svc/server/rpc/rpctest"
	"github.com/svc-observability/svc/server/wirejson"
)

// failing answers GetApiKey with the error whose number is the id.
type failing struct {
	svcv2connect.UnimplementedApiKeysServiceHandler
}

func (failing) GetApiKey(_ context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
	n, err := strconv.Atoi(req.GetId())
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("wrapped by a service: %w", apierr.New(apierr.Tag(n), "", apierr.Cause(errors.New("a private cause"))))
}

// doors serves the failing service by Connect, gRPC and REST on a real listener, for a caller with full access.
func doors(t *testing.T) *httptest.Server {
	t.Helper()
	c, chain := rpctest.New(t)
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewApiKeysServiceHandler(failing{}, chain.Options()...))
	v2, err := rest.New(rest.Config{Conn: loopback.SharingConn(mux), Contract: c, Admit: chain.Admit, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	mux.Handle("/v2/", v2)
	caller := principal.Result{Principal: &principal.Principal{
		Org: "org_a", Kind: principal.KindAPIKey, CredentialID: "key_a",
		Role: principal.RoleRoot,
	}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(principal.WithResult(r.Context(), caller)))
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// TestEveryTagThroughEveryDoor records how each tag appears to each kind of client. A reviewer reads the difference when an error
// changes.
func TestEveryTagThroughEveryDoor(t *testing.T) {
	server := doors(t)
	connectClient := svcv2connect.NewApiKeysServiceClient(server.Client(), server.URL)
	conn, err := grpc.NewClient(server.Listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	grpcClient := svcv2.NewApiKeysServiceClient(conn)

	var tags strings.Builder
	for _, tag := range apierr.All() {
		req := &svcv2.GetApiKeyRequest{Id: strconv.Itoa(int(tag))}
		fmt.Fprintf(&tags, "%s\n", apierr.Spec(tag).GetTag())
		fmt.Fprintf(&tags, "  rest    %s\n", overREST(t, server.URL+"/v2/api_keys/"+req.GetId()))

		_, err := connectClient.GetApiKey(t.Context(), req)
		var connectErr *connect.Error
		if !errors.As(err, &connectErr) {
			t.Fatalf("%v over Connect: %v", tag, err)
		}
		var details []proto.Message
		for _, d := range connectErr.Details() {
			v, err := d.Value()
			if err != nil {
				t.Fatal(err)
			}
			details = append(details, v)
		}
		fmt.Fprintf(&tags, "  connect %v%s %s\n", connectErr.Code(), delay(connectErr.Meta().Get("Retry-After")), names(details))

		var trailer metadata.MD
		_, err = grpcClient.GetApiKey(t.Context(), req, grpc.Trailer(&trailer), grpc.Header(&metadata.MD{}))
		st := status.Convert(err)
		details = nil
		for _, d := range st.Details() {
			if m, ok := d.(proto.Message); ok {
				details = append(details, m)
			}
		}
		fmt.Fprintf(&tags, "  grpc    %v%s %s\n", st.Code(), delay(strings.Join(trailer.Get("retry-after"), ",")), names(details))
		for _, d := range details {
			if e, ok := d.(*optionsv1.ErrorDetail); ok {
				text, err := wirejson.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&tags, "  detail  %s\n", text)
			}
		}
		for _, text := range []string{connectErr.Message(), st.Message()} {
			if strings.Contains(text, "private cause") {
				t.Errorf("%v: the private cause left the server: %q", tag, text)
			}
		}
	}
	golden.Compare(t, "tags.golden", tags.String())
}

func overREST(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "private cause") {
		t.Errorf("%s: the private cause left the server: %s", url, text)
	}
	challenge := ""
	if c := res.Header.Get("WWW-Authenticate"); c != "" {
		challenge = " WWW-Authenticate: " + c
	}
	return fmt.Sprintf("%d%s%s %s", res.StatusCode, delay(res.Header.Get("Retry-After")), challenge, text)
}

func delay(header string) string {
	if header == "" {
		return ""
	}
	return " Retry-After: " + header
}

func names(details []proto.Message) string {
	var list []string
	for _, d := range details {
		list = append(list, string(d.ProtoReflect().Descriptor().Name()))
	}
	return strings.Join(list, "+")
}
