package principal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/svc-observability/svc/server/principal"
)

func TestAllows(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   principal.Kind
		scopes []string
		family string
		write  bool
		want   bool
	}{
		{"nil is full access", principal.KindAPIKey, nil, "traces", true, true},
		{"empty is nothing", principal.KindAPIKey, []string{}, "traces", false, false},
		{"star", principal.KindAPIKey, []string{"*"}, "traces", true, true},
		{"read reads", principal.KindAPIKey, []string{"traces:read"}, "traces", false, true},
		{"read does not write", principal.KindAPIKey, []string{"traces:read"}, "traces", true, false},
		{"write reads", principal.KindAPIKey, []string{"traces:write"}, "traces", false, true},
		{"write writes", principal.KindAPIKey, []string{"traces:write"}, "traces", true, true},
		{"other family", principal.KindAPIKey, []string{"logs:write"}, "traces", false, false},
		{"second scope", principal.KindAPIKey, []string{"logs:write", "traces:read"}, "traces", false, true},
		{"prefix of a family", principal.KindAPIKey, []string{"trace:write"}, "traces", false, false},
		{"family without access", principal.KindAPIKey, []string{"traces"}, "traces", false, false},
		{"unknown access", principal.KindAPIKey, []string{"traces:admin"}, "traces", false, false},
		{"sessions are not scoped", principal.KindSession, []string{}, "traces", true, true},
		{"OAuth is scoped", principal.KindOAuth, []string{"traces:read"}, "traces", true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &principal.Principal{Kind: c.kind, Scopes: c.scopes}
			if got := p.Allows(c.family, c.write); got != c.want {
				t.Errorf("Allows(%q, %v) = %v with %q", c.family, c.write, got, c.scopes)
			}
		})
	}
}

func TestRoles(t *testing.T) {
	for role, admin := range map[principal.Role]bool{
		principal.RoleRoot: true, principal.RoleAdmin: true, principal.RoleMember: false,
		"": false,
	} {
		if got := (&principal.Principal{Role: role}).IsAdmin(); got != admin {
			t.Errorf("IsAdmin of %q = %v", role, got)
		}
	}
	p := &principal.Principal{Scopes: []string{"logs:write"}}
	if !p.HasScope("logs:write") || p.HasScope("logs:read") {
		t.Error("HasScope is about exact names")
	}
}

func TestContext(t *testing.T) {
	ctx := t.Context()
	if _, ok := principal.From(ctx); ok {
		t.Error("a caller out of nothing")
	}
	if _, ok := principal.ResultFrom(ctx); ok {
		t.Error("a result out of nothing")
	}
	refused := errors.New("refused")
	ctx = principal.WithResult(ctx, principal.Result{Err: refused})
	if r, ok := principal.ResultFrom(ctx); !ok || !errors.Is(r.Err, refused) {
		t.Errorf("result %v, %v", r, ok)
	}
	if _, ok := principal.From(ctx); ok {
		t.Error("a refused credential is a caller")
	}
	caller := &principal.Principal{Org: "org_a"}
	if p, ok := principal.From(principal.WithResult(ctx, principal.Result{Principal: caller})); !ok || p != caller {
		t.Errorf("caller %v, %v", p, ok)
	}
	if got := principal.DoorFrom(ctx); got != principal.DoorConnect {
		t.Errorf("door by default: %q", got)
	}
	if got := principal.DoorFrom(principal.WithDoor(ctx, principal.DoorREST)); got != principal.DoorREST {
		t.Errorf("door: %q", got)
	}
}

func TestCaller(t *testing.T) {
	for name, ctx := range map[string]context.Context{
		"nothing": t.Context(), "refused": principal.WithResult(t.Context(), principal.Result{Err: errors.New("refused")}),
	} {
		if p, err := principal.Caller(ctx); err == nil || p != nil {
			t.Errorf("%s: caller %v, %v", name, p, err)
		}
	}
	want := &principal.Principal{Org: "org_a"}
	if p, err := principal.Caller(principal.WithResult(t.Context(), principal.Result{Principal: want})); err != nil || p != want {
		t.Errorf("caller %v, %v", p, err)
	}
}
