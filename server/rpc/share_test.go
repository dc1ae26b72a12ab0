package rpc_test

import (
	"context"
	"net/http"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/gen/svc/v2/svcv2connect"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/rpc/loopback"
)

// TestSharedAnswers calls through the chain over both kinds of loopback: the answers are equal, and only a SharingConn hands out the
// memory of the method.
func TestSharedAnswers(t *testing.T) {
	f := newFixture(t)
	kept := &svcv2.ApiKey{
		Id: "key_1", Name: "one", Scopes: []string{"traces:read", "logs:read"}, ExpiresAt: timestamppb.Now(),
	}
	before := proto.CloneOf(kept)
	f.service.get = func(_ context.Context, req *svcv2.GetApiKeyRequest) (*svcv2.ApiKey, error) {
		if req.GetId() == "key_missing" {
			return nil, apierr.New(apierr.ApiKeyNotFound, "There is no API key with this id.")
		}
		return kept, nil
	}
	mux := http.NewServeMux()
	mux.Handle(svcv2connect.NewApiKeysServiceHandler(f.service, f.chain.Options()...))
	ctx := principal.WithResult(t.Context(), *fullAccess())
	for name, c := range map[string]struct {
		client svcv2.ApiKeysServiceClient
		shares bool
	}{
		"plain":   {svcv2.NewApiKeysServiceClient(loopback.Conn(mux)), false},
		"sharing": {svcv2.NewApiKeysServiceClient(loopback.SharingConn(mux)), true},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				got, err := c.client.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: "key_1"})
				if err != nil {
					t.Fatal(err)
				}
				if got == kept || !proto.Equal(got, before) || !proto.Equal(kept, before) {
					t.Errorf("got %v of %v", got, kept)
				}
				if shared := got.GetExpiresAt() == kept.GetExpiresAt(); shared != c.shares {
					t.Errorf("the answer shares its messages with the method: %t", shared)
				}
			}
			_, err := c.client.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: "key_missing"})
			if st := status.Convert(err); st.Code() != codes.NotFound || len(st.Details()) != 1 {
				t.Errorf("an error: %v with %v", st, st.Details())
			}
			_, err = c.client.GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "key_1"})
			if status.Code(err) != codes.Unauthenticated {
				t.Errorf("without a credential: %v", err)
			}
		})
	}
}

func TestShareRefuses(t *testing.T) {
	if loopback.Share(t.Context(), &svcv2.ApiKey{}) {
		t.Error("a call that came over a socket has no reply in memory")
	}
	var wrong, again, first bool
	handler := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		wrong = loopback.Share(r.Context(), &svcv2.ListApiKeysResponse{Object: "list"})
		first = loopback.Share(r.Context(), &svcv2.ApiKey{Id: "key_1"})
		again = loopback.Share(r.Context(), &svcv2.ApiKey{Id: "key_2"})
	})
	got, err := svcv2.NewApiKeysServiceClient(loopback.SharingConn(handler)).GetApiKey(t.Context(), &svcv2.GetApiKeyRequest{Id: "key_1"})
	if err != nil || got.GetId() != "key_1" || wrong || !first || again {
		t.Errorf("%v, %v; another type %t, first %t, second %t", got, err, wrong, first, again)
	}
}
