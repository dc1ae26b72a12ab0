package storetest

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// testLastAdministrator: an organization keeps an administrator, by whatever way the last one would leave.
func testLastAdministrator(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, admin := f.org(t)
	member := f.user(t)
	if err := f.CreateMembership(ctx, org, member.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	refused := func(who principal.UserID) {
		t.Helper()
		_, err := f.SetRole(ctx, org, who, principal.RoleMember)
		wantError(t, err, store.ErrLastAdministrator)
		wantError(t, f.DeleteMembership(ctx, org, who), store.ErrLastAdministrator)
		if role, err := f.RoleOf(ctx, org, who); err != nil || role != principal.RoleAdmin {
			t.Errorf("the last administrator is %q, %v", role, err)
		}
	}
	refused(admin)
	if m, err := f.SetRole(ctx, org, admin, principal.RoleAdmin); err != nil || m.Role != principal.RoleAdmin {
		t.Errorf("the role that the administrator has: %+v, %v", m, err)
	}
	if m, err := f.SetRole(ctx, org, member.ID, principal.RoleMember); err != nil || m.Role != principal.RoleMember {
		t.Errorf("the role that the member has: %+v, %v", m, err)
	}
	_, err := f.SetRole(ctx, org, member.ID, principal.RoleRoot)
	if err == nil {
		t.Error("a member became root")
	}
	// With a second administrator the first may leave; then the second may not.
	if m, err := f.SetRole(ctx, org, member.ID, principal.RoleAdmin); err != nil || m.Role != principal.RoleAdmin || m.Email != member.Email {
		t.Errorf("promoted: %+v, %v", m, err)
	}
	if _, err := f.SetRole(ctx, org, admin, principal.RoleMember); err != nil {
		t.Error(err)
	}
	refused(member.ID)
	if err := f.DeleteMembership(ctx, org, admin); err != nil {
		t.Errorf("a member leaves: %v", err)
	}
	if _, err := f.GetUser(ctx, admin); err != nil {
		t.Errorf("who left an organization is no longer a user: %v", err)
	}
	// An administrator of another organization does not count.
	refused(member.ID)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{ResourceType: "member"}, 0, 10)
	if err != nil || len(entries) != 5 {
		t.Errorf("audit: %d entries, %v; want the first administrator and a member added, two changes of role, removed", len(entries), err)
	}
}

// testAdministratorsRace: two administrators who demote or remove each other concurrently do not both succeed.
func testAdministratorsRace(t *testing.T, f *fixture) {
	ctx := t.Context()
	for range 5 {
		org, a := f.org(t)
		b := f.user(t).ID
		if err := f.CreateMembership(ctx, org, b, principal.RoleAdmin); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var done atomic.Int64
		for i, call := range []func() error{
			func() error { _, err := f.SetRole(ctx, org, a, principal.RoleMember); return err },
			func() error { _, err := f.SetRole(ctx, org, b, principal.RoleMember); return err },
			func() error { return f.DeleteMembership(ctx, org, a) },
			func() error { return f.DeleteMembership(ctx, org, b) },
		} {
			wg.Go(func() {
				switch err := call(); {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, store.ErrLastAdministrator) && !errors.Is(err, store.ErrNotFound):
					t.Errorf("call %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		admins := 0
		list, err := f.ListMembers(ctx, org, 0, 10)
		for _, m := range list {
			if m.Role == principal.RoleAdmin {
				admins++
			}
		}
		if err != nil || admins != 1 || done.Load() == 0 {
			t.Errorf("%d administrators among %d members after %d changes, %v; want one", admins, len(list), done.Load(), err)
		}
	}
}
