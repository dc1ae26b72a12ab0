package apikeys

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

type fixture struct {
	*Service
	store      *store.Store
	org, other principal.OrgID
	secrets    int
	clock      time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{clock: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { f.clock = f.clock.Add(time.Millisecond); return f.clock }
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() }) // closed early by the test of a broken store
	for i, org := range []*principal.OrgID{&f.org, &f.other} {
		created, err := st.CreateOrganization(t.Context(), store.NewOrganization{
			Name:  fmt.Sprintf("Organization %d", i),
			Admin: &store.NewUser{Email: fmt.Sprintf("admin%d@example.com", i), Name: "Admin", PasswordHash: "x"},
		})
		if err != nil {
			t.Fatal(err)
		}
		*org = created.Organization.ID
	}
	f.store = st
	f.Service = New(st, func() (string, store.Secret, error) {
		f.secrets++
		text := fmt.Sprintf("svc_ak_secret%d", f.secrets)
		return text, store.Secret{Hash: "hash of " + text, Prefix: text[:12] + "..."}, nil
	}, []string{"api_keys", "dashboards", "ingest_keys", "logs", "metrics", "traces"}, now)
	return f
}

func (f *fixture) as(ctx context.Context, org principal.OrgID, scopes ...string) context.Context {
	return principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
		Org: org, User: "user_maker", Email: "maker@example.com", Kind: principal.KindAPIKey, Role: principal.RoleRoot, Scopes: scopes,
	}})
}

func wantError(t *testing.T, err error, tag apierr.Tag, param string) {
	t.Helper()
	var e *apierr.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want %v", err, tag)
	}
	if e.Tag != tag || e.Param != param {
		t.Errorf("error = %v on %q (%s), want %v on %q", e.Tag, e.Param, e.Message, tag, param)
	}
}

func TestLife(t *testing.T) {
	f := setup(t)
	ctx := f.as(t.Context(), f.org)
	created, err := f.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{
		Name: "  deploy  ", Description: new("for CI"), ExpiresInSeconds: new(int32(3600)), Kind: new("mcp"),
		Scopes: []string{"traces:read", "logs:write"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if created.GetName() != "deploy" || created.GetKind() != "mcp" || created.GetSecret() != "svc_ak_secret1" ||
		created.GetKeyPrefix() != "svc_ak_secre..." ||
		created.GetCreatedBy() != "user_maker" || created.GetCreatedByEmail() != "maker@example.com" || created.GetTxid() == "" ||
		created.GetRevoked() || created.GetObject() != "api_key" {
		t.Errorf("created %v", created)
	}
	if in := created.GetExpiresAt().AsTime().Sub(f.clock); in < 3599*time.Second || in > 3600*time.Second {
		t.Errorf("expires in %v", in)
	}
	got, err := f.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: created.GetId()})
	if err != nil || got.GetName() != "deploy" || !cmp.Equal(got.GetScopes(), []string{"traces:read", "logs:write"}) {
		t.Errorf("got %v, %v", got, err)
	}
	rolled, err := f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: created.GetId()})
	if err != nil {
		t.Fatal(err)
	}
	if rolled.GetId() == created.GetId() || rolled.GetSecret() == created.GetSecret() || rolled.GetName() != "deploy" ||
		rolled.GetDescription() != "for CI" ||
		rolled.GetKind() != "mcp" || !cmp.Equal(rolled.GetScopes(), created.GetScopes()) || rolled.GetExpiresAt() != nil ||
		rolled.GetTxid() <= created.GetTxid() {
		t.Errorf("rolled %v", rolled)
	}
	_, err = f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: created.GetId()})
	wantError(t, err, apierr.ApiKeyNotFound, "id")
	first, err := f.RevokeApiKey(ctx, &svcv2.RevokeApiKeyRequest{Id: rolled.GetId()})
	if err != nil || !first.GetRevoked() || first.GetRevokedAt() == nil || first.GetTxid() == "" {
		t.Fatalf("revoked %v, %v", first, err)
	}
	again, err := f.RevokeApiKey(ctx, &svcv2.RevokeApiKeyRequest{Id: rolled.GetId()})
	if err != nil || !again.GetRevokedAt().AsTime().Equal(first.GetRevokedAt().AsTime()) {
		t.Errorf("revoked again: %v, %v; want the first time %v", again.GetRevokedAt(), err, first.GetRevokedAt())
	}
	list, err := f.ListApiKeys(ctx, &svcv2.ListApiKeysRequest{})
	if err != nil || len(list.GetData()) != 2 || list.GetData()[0].GetId() != rolled.GetId() || !list.GetData()[1].GetRevoked() {
		t.Errorf("listed %v, %v; want both, newest first", list, err)
	}
}

func TestOtherOrganizationsAreInvisible(t *testing.T) {
	f := setup(t)
	key, err := f.CreateApiKey(f.as(t.Context(), f.org), &svcv2.CreateApiKeyRequest{Name: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := f.as(t.Context(), f.other)
	list, err := f.ListApiKeys(ctx, &svcv2.ListApiKeysRequest{})
	if err != nil || len(list.GetData()) != 0 {
		t.Errorf("the other organization lists %v, %v", list, err)
	}
	var messages []string
	for _, id := range []string{key.GetId(), publicid.Encode(publicid.APIKey, uuid.New())} {
		_, get := f.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: id})
		_, revoke := f.RevokeApiKey(ctx, &svcv2.RevokeApiKeyRequest{Id: id})
		_, roll := f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: id})
		for _, err := range []error{get, revoke, roll} {
			wantError(t, err, apierr.ApiKeyNotFound, "id")
			if strings.Contains(apierr.From(err).Message, "rolled") {
				t.Errorf("%q speaks of rolling to one who did not ask for that, or of a key that never was", apierr.From(err).Message)
			}
			messages = append(messages, apierr.From(err).Message)
		}
	}
	for _, m := range messages {
		if m != messages[0] {
			t.Errorf("a foreign key and an unknown one can be told apart: %q, %q", m, messages[0])
		}
	}
	if got, err := f.GetApiKey(f.as(t.Context(), f.org), &svcv2.GetApiKeyRequest{Id: key.GetId()}); err != nil || got.GetRevoked() {
		t.Errorf("the key is %v, %v", got, err)
	}
}

func TestPages(t *testing.T) {
	f := setup(t)
	ctx := f.as(t.Context(), f.org)
	for i := range 25 {
		if _, err := f.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []*int32{nil, new(int32(1)), new(int32(25)), new(int32(100))} {
		var names []string
		req := &svcv2.ListApiKeysRequest{Limit: limit}
		for {
			res, err := f.ListApiKeys(ctx, req)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range res.GetData() {
				names = append(names, k.GetName())
			}
			if req.Cursor = res.NextCursor; !res.GetHasMore() {
				if res.NextCursor != nil {
					t.Error("the last page has a cursor")
				}
				break
			}
		}
		if len(names) != 25 || names[0] != "24" || names[24] != "0" {
			t.Errorf("limit %v: %v", limit, names)
		}
	}
}

func TestRefuses(t *testing.T) {
	f := setup(t)
	ctx := f.as(t.Context(), f.org)
	for name, tc := range map[string]struct {
		req   *svcv2.CreateApiKeyRequest
		param string
	}{
		"unknown family": {&svcv2.CreateApiKeyRequest{Name: "n", Scopes: []string{"traces:read", "nothing:read"}}, "scopes[1]"},
		"unknown access": {&svcv2.CreateApiKeyRequest{Name: "n", Scopes: []string{"traces:admin"}}, "scopes[0]"},
		"no access":      {&svcv2.CreateApiKeyRequest{Name: "n", Scopes: []string{"traces"}}, "scopes[0]"},
	} {
		_, err := f.CreateApiKey(ctx, tc.req)
		t.Log(name)
		wantError(t, err, apierr.InvalidRequest, tc.param)
	}
	_, err := f.ListApiKeys(ctx, &svcv2.ListApiKeysRequest{Cursor: new("off_-1")})
	wantError(t, err, apierr.ParameterInvalid, "cursor")
	for _, id := range []string{
		"", "key_", "key_0", "ingk_" + strings.TrimPrefix(publicid.Encode(publicid.APIKey, uuid.New()), "key_"),
		"nonsense",
	} {
		_, err := f.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: id})
		wantError(t, err, apierr.InvalidRequest, "id")
	}
}

// TestContractRefuses holds the rules that the chain checks before the service is called.
func TestContractRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		req   proto.Message
		param string
	}{
		"no name":    {&svcv2.CreateApiKeyRequest{}, "name"},
		"blank name": {&svcv2.CreateApiKeyRequest{Name: " \t"}, "name"},
		"kind":       {&svcv2.CreateApiKeyRequest{Name: "n", Kind: new("root")}, "kind"},
		"expired":    {&svcv2.CreateApiKeyRequest{Name: "n", ExpiresInSeconds: new(int32(0))}, "expires_in_seconds"},
		"limit":      {&svcv2.ListApiKeysRequest{Limit: new(int32(101))}, "limit"},
	} {
		var broken *protovalidate.ValidationError
		if err := protovalidate.Validate(tc.req); !errors.As(err, &broken) {
			t.Errorf("%s: %v, want a violation", name, err)
		} else if path := protovalidate.FieldPathString(broken.Violations[0].Proto.GetField()); path != tc.param {
			t.Errorf("%s: a violation of %q, want %q", name, path, tc.param)
		}
	}
}

func TestNobodyHandsOnMoreThanTheyHold(t *testing.T) {
	f := setup(t)
	everything, err := f.CreateApiKey(f.as(t.Context(), f.org), &svcv2.CreateApiKeyRequest{Name: "full"})
	if err != nil {
		t.Fatal(err)
	}
	ctx := f.as(t.Context(), f.org, "api_keys:write", "traces:write", "logs:read")
	for scopes, param := range map[string]string{
		"": "scopes", "*": "scopes[0]", "metrics:read": "scopes[0]", "traces:read logs:write": "scopes[1]",
	} {
		_, err := f.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{Name: "n", Scopes: strings.Fields(scopes)})
		wantError(t, err, apierr.InsufficientScope, param)
	}
	_, err = f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: everything.GetId()})
	wantError(t, err, apierr.InsufficientScope, "scopes")
	if got, err := f.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: everything.GetId()}); err != nil || got.GetRevoked() {
		t.Errorf("a refused roll left the key %v, %v", got, err)
	}
	narrow, err := f.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{Name: "n", Scopes: []string{"traces:read", "logs:read"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: narrow.GetId()}); err != nil {
		t.Errorf("a key within the caller's scopes cannot be rolled: %v", err)
	}
	if _, err := f.CreateApiKey(f.as(t.Context(), f.org, "*"), &svcv2.CreateApiKeyRequest{Name: "n"}); err != nil {
		t.Errorf("a key with * cannot make a full one: %v", err)
	}
}

func TestBrokenStore(t *testing.T) {
	f := setup(t)
	if err := f.store.Close(); err != nil {
		t.Fatal(err)
	}
	ctx := f.as(t.Context(), f.org)
	id := publicid.Encode(publicid.APIKey, uuid.New())
	_, list := f.ListApiKeys(ctx, &svcv2.ListApiKeysRequest{})
	_, create := f.CreateApiKey(ctx, &svcv2.CreateApiKeyRequest{Name: "n"})
	_, get := f.GetApiKey(ctx, &svcv2.GetApiKeyRequest{Id: id})
	_, revoke := f.RevokeApiKey(ctx, &svcv2.RevokeApiKeyRequest{Id: id})
	_, roll := f.RollApiKey(ctx, &svcv2.RollApiKeyRequest{Id: id})
	for _, err := range []error{list, create, get, revoke, roll} {
		wantError(t, err, apierr.ApiKeyPersistence, "")
	}
}
