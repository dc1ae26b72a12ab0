package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/requestid"
	"github.com/svc-observability/svc/server/store"
)

// caller is the context of a request by a person at the dashboard.
func caller(ctx context.Context, org principal.OrgID, user principal.UserID) context.Context {
	ctx = principal.WithResult(ctx, principal.Result{Principal: &principal.Principal{
		Org: org, User: user, Email: "a@example.com", Kind: principal.KindSession, Role: principal.RoleAdmin,
	}})
	ctx = principal.WithOrigin(principal.WithDoor(ctx, principal.DoorREST), principal.Origin{
		IP: "203.0.113.9", UserAgent: "test/1", Country: "DE",
	})
	return requestid.With(ctx, "req_1")
}

func testAudit(t *testing.T, f *fixture) {
	org, user := f.org(t)
	other, _ := f.org(t)
	ctx := caller(t.Context(), org, user)
	key, _, err := f.CreateApiKey(ctx, org, store.NewApiKey{Name: "deploy", Kind: store.ApiKeyStandard, Secret: f.secret(), CreatedBy: user})
	if err != nil {
		t.Fatal(err)
	}
	f.advance(time.Second)
	for range 2 { // the second changes nothing and leaves no entry
		if _, _, err := f.RevokeApiKey(ctx, org, key.ID); err != nil {
			t.Fatal(err)
		}
	}
	f.advance(time.Second)
	if err := f.RecordAudit(t.Context(), org, store.AuditEvent{
		Action: "api.request", Denied: "no scope",
		Metadata: map[string]any{"operation": "x"},
	}); err != nil {
		t.Fatal(err)
	}

	list := func(filter store.AuditFilter) []store.AuditLogEntry {
		t.Helper()
		got, err := f.ListAuditLogEntries(t.Context(), org, filter, 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	actions := func(filter store.AuditFilter) (all []string) {
		for _, e := range list(filter) {
			all = append(all, e.Action)
		}
		return all
	}
	const avatar = "https://id.example.com/a.png"
	if err := f.SetUserAvatar(t.Context(), user, avatar); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.SetUserAvatar(t.Context(), "user_x", avatar), store.ErrNotFound)
	all := list(store.AuditFilter{})
	if len(all) != 5 || all[3].Action != "member.added" || all[4].Action != "organization.created" || all[4].ActorType != store.ActorSystem {
		t.Fatalf("%d entries, want those of the organization and three more: %+v", len(all), all)
	}
	id := publicid.Encode(publicid.APIKey, key.ID)
	want := store.AuditLogEntry{
		ID: all[1].ID, Action: "api_key.revoked", Outcome: store.AuditAllowed, ActorType: store.ActorUser, ActorID: new(string(user)),
		ActorName: new("a@example.com"), Source: store.SourceDashboard, ResourceType: new("api_key"), ResourceID: &id,
		Changes: &store.AuditChanges{
			Fields: []string{"revoked"}, Before: map[string]any{"revoked": false},
			After: map[string]any{"revoked": true},
		},
		RequestID: new("req_1"), OriginIP: new("203.0.113.9"), OriginCountry: new("DE"), UserAgent: new("test/1"), ActorAvatarURL: new(avatar),
		OccurredAt: all[1].OccurredAt, RecordedAt: all[1].RecordedAt,
	}
	if diff := cmp.Diff(want, all[1]); diff != "" {
		t.Errorf("the revocation (-want +got):\n%s", diff)
	}
	if got := all[2].Changes; got == nil || got.After["name"] != "deploy" || got.After["secret_hash"] != nil {
		t.Errorf("the creation holds %+v", got)
	}
	if got := all[0]; got.ActorType != store.ActorSystem || got.Source != store.SourceSystem || got.Outcome != store.AuditDenied ||
		got.ActorID != nil || got.Metadata["operation"] != "x" {
		t.Errorf("the refusal = %+v", got)
	}

	at := all[1].OccurredAt
	for name, test := range map[string]struct {
		filter store.AuditFilter
		want   []string
	}{
		"actor type":     {store.AuditFilter{ActorType: store.ActorUser}, []string{"api_key.revoked", "api_key.created"}},
		"actor":          {store.AuditFilter{ActorID: string(user)}, []string{"api_key.revoked", "api_key.created"}},
		"action":         {store.AuditFilter{Action: "api_key.created"}, []string{"api_key.created"}},
		"outcome":        {store.AuditFilter{Outcome: store.AuditDenied}, []string{"api.request"}},
		"resource":       {store.AuditFilter{ResourceType: "api_key", ResourceID: id}, []string{"api_key.revoked", "api_key.created"}},
		"changed":        {store.AuditFilter{Changed: "revoked"}, []string{"api_key.revoked"}},
		"part of a name": {store.AuditFilter{Changed: "revoke"}, nil},
		"a wildcard":     {store.AuditFilter{Changed: "%"}, nil},
		"request":        {store.AuditFilter{RequestID: "req_2"}, nil},
		"since":          {store.AuditFilter{Since: &at}, []string{"api.request", "api_key.revoked"}},
		"until":          {store.AuditFilter{Until: &at}, []string{"api_key.revoked", "api_key.created", "member.added", "organization.created"}},
	} {
		if diff := cmp.Diff(test.want, actions(test.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// A program that acts for the user has an id of its own, no picture, and may name the agent for which it acts.
	program := principal.WithOrigin(principal.WithResult(t.Context(), principal.Result{Principal: &principal.Principal{
		Org: org, User: user, Name: "Assistant", Kind: principal.KindOAuth, Agent: "actor_1", Role: principal.RoleAdmin,
	}}), principal.Origin{Agent: "actor_2"})
	if err := f.RecordAudit(program, org, store.AuditEvent{Action: "telemetry.read"}); err != nil {
		t.Fatal(err)
	}
	got := list(store.AuditFilter{ActorID: "actor_1"})
	if len(got) != 1 || got[0].ActorType != store.ActorAgent || got[0].ActorAvatarURL != nil || got[0].OriginCountry != nil ||
		got[0].Metadata["on_behalf_of"] != string(user) || got[0].Metadata["agent_id"] != "actor_2" {
		t.Errorf("an agent's entry: %+v", got)
	}
	if err := f.SetUserAvatar(t.Context(), user, ""); err != nil {
		t.Fatal(err)
	}
	if got := list(store.AuditFilter{Action: "api_key.revoked"}); got[0].ActorAvatarURL != nil {
		t.Errorf("a picture that was removed: %+v", got)
	}
	if got, err := f.ListAuditLogEntries(t.Context(), other, store.AuditFilter{ResourceID: id}, 0, 10); err != nil || len(got) != 0 {
		t.Errorf("the other organization sees %v, %v", got, err)
	}
}
