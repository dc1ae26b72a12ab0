package storetest

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// invite creates an invitation for a week and returns it with the hash of its token.
func (f *fixture) invite(t *testing.T, org principal.OrgID, in store.NewInvitation) (store.Invitation, string) {
	t.Helper()
	if in.Role == "" {
		in.Role = principal.RoleMember
	}
	in.TokenHash, in.ExpiresAt = "invitation-"+f.name(), f.now().Add(7*24*time.Hour)
	i, err := f.CreateInvitation(t.Context(), org, in)
	if err != nil {
		t.Fatal(err)
	}
	return i, in.TokenHash
}

// user creates a user who belongs to no organization.
func (f *fixture) user(t *testing.T) store.User {
	t.Helper()
	u, err := f.CreateUser(t.Context(), store.NewUser{Email: f.name() + "@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func testInvitations(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, admin := f.org(t)
	other, _ := f.org(t)
	i, hash := f.invite(t, org, store.NewInvitation{Email: new(" Ada@Example.COM "), Role: principal.RoleAdmin, CreatedBy: admin})
	want := store.Invitation{
		ID: i.ID, Org: org, Email: new("ada@example.com"), Role: principal.RoleAdmin, CreatedAt: f.now().UTC(), CreatedBy: admin,
		ExpiresAt: f.now().Add(7 * 24 * time.Hour).UTC(),
	}
	if diff := cmp.Diff(want, i); diff != "" || !i.Pending(f.now()) {
		t.Errorf("created (-want +got):\n%s", diff)
	}
	found, of, err := f.InvitationByHash(ctx, hash)
	if diff := cmp.Diff(want, found); err != nil || diff != "" || of.ID != org {
		t.Errorf("by hash: %v, of %s (-want +got):\n%s", err, of.ID, diff)
	}
	_, _, err = f.InvitationByHash(ctx, "none")
	wantError(t, err, store.ErrNotFound)
	_, err = f.CreateInvitation(ctx, org, store.NewInvitation{Role: principal.RoleRoot, TokenHash: "x", ExpiresAt: f.now()})
	if err == nil {
		t.Error("an invitation makes root")
	}
	_, err = f.CreateInvitation(ctx, "org_none", store.NewInvitation{Role: principal.RoleMember, TokenHash: "x", ExpiresAt: f.now()})
	wantError(t, err, store.ErrNotFound)

	f.advance(time.Second)
	second, _ := f.invite(t, org, store.NewInvitation{})
	if list, err := f.ListInvitations(ctx, org, 0, 10); err != nil || !cmp.Equal([]store.Invitation{second, want}, list) {
		t.Errorf("list: %v %s", err, cmp.Diff([]store.Invitation{second, want}, list))
	}
	if list, err := f.ListInvitations(ctx, other, 0, 10); err != nil || len(list) != 0 {
		t.Errorf("the other organization lists %d, %v", len(list), err)
	}
	_, err = f.RevokeInvitation(ctx, other, i.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.RevokeInvitation(ctx, org, uuid.New())
	wantError(t, err, store.ErrNotFound)

	// An accepted invitation makes a new or an existing user a member, and can no longer be revoked.
	joined, err := f.AcceptInvitation(ctx, i, "", &store.NewUser{Email: "Ada@example.com", Name: "Ada", PasswordHash: "phc"})
	if err != nil || joined.Email != "ada@example.com" || joined.Name != "Ada" {
		t.Fatalf("accepted: %+v, %v", joined, err)
	}
	if role, err := f.RoleOf(ctx, org, joined.ID); err != nil || role != principal.RoleAdmin {
		t.Errorf("role %q, %v", role, err)
	}
	if got, _, err := f.InvitationByHash(ctx, hash); err != nil || got.AcceptedAt == nil || got.AcceptedBy == nil ||
		*got.AcceptedBy != joined.ID || got.Pending(f.now()) {
		t.Errorf("afterwards: %+v, %v", got, err)
	}
	_, err = f.RevokeInvitation(ctx, org, i.ID)
	wantError(t, err, store.ErrNotFound)
	existing := f.user(t)
	if _, err := f.AcceptInvitation(ctx, second, existing.ID, nil); err != nil {
		t.Error(err)
	}
	if role, err := f.RoleOf(ctx, org, existing.ID); err != nil || role != principal.RoleMember {
		t.Errorf("role %q, %v", role, err)
	}
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{Action: "invitation.accepted"}, 0, 10)
	if err != nil || len(entries) != 2 || *entries[0].AffectedUser != string(existing.ID) || *entries[0].ActorID != string(existing.ID) ||
		entries[0].Metadata["role"] != "org:member" {
		t.Errorf("audit: %+v, %v", entries, err)
	}
}

// testInvitationRefusals: a refused acceptance leaves the invitation, the members and the users as they were.
func testInvitationRefusals(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, admin := f.org(t)
	members := func() int {
		t.Helper()
		list, err := f.ListMembers(ctx, org, 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	twice, _ := f.invite(t, org, store.NewInvitation{})
	if _, err := f.AcceptInvitation(ctx, twice, f.user(t).ID, nil); err != nil {
		t.Fatal(err)
	}
	revoked, _ := f.invite(t, org, store.NewInvitation{})
	var first store.Invitation
	for n := range 2 { // the second changes nothing
		got, err := f.RevokeInvitation(ctx, org, revoked.ID)
		if err != nil || got.RevokedAt == nil {
			t.Fatalf("revoked: %+v, %v", got, err)
		}
		if n == 0 {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Errorf("revoked again (-first +second):\n%s", diff)
		}
		f.advance(time.Minute)
	}
	expired, _ := f.invite(t, org, store.NewInvitation{})
	f.advance(7 * 24 * time.Hour)
	late, _ := f.invite(t, org, store.NewInvitation{})
	before := members()
	for name, i := range map[string]store.Invitation{"used": twice, "revoked": revoked, "expired": expired} {
		t.Run(name, func(t *testing.T) {
			who := f.user(t)
			_, err := f.AcceptInvitation(ctx, i, who.ID, nil)
			wantError(t, err, store.ErrNotFound)
			email := f.name() + "@example.com"
			_, err = f.AcceptInvitation(ctx, i, "", &store.NewUser{Email: email})
			wantError(t, err, store.ErrNotFound)
			_, err = f.UserByEmail(ctx, email)
			wantError(t, err, store.ErrNotFound)
		})
	}
	_, err := f.AcceptInvitation(ctx, late, admin, nil)
	wantError(t, err, store.ErrConflict)
	taken := f.user(t)
	_, err = f.AcceptInvitation(ctx, late, "", &store.NewUser{Email: taken.Email})
	wantError(t, err, store.ErrConflict)
	_, err = f.AcceptInvitation(ctx, late, "user_none", nil)
	wantError(t, err, store.ErrNotFound)
	if got := members(); got != before {
		t.Errorf("%d members, had %d", got, before)
	}
	if _, err := f.AcceptInvitation(ctx, late, taken.ID, nil); err != nil {
		t.Errorf("the invitation did not stay open: %v", err)
	}
}

// testInvitationRace: of many concurrent uses of one link, one succeeds.
func testInvitationRace(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	i, _ := f.invite(t, org, store.NewInvitation{})
	var wg sync.WaitGroup
	var joined atomic.Int64
	for n := range 8 {
		wg.Go(func() {
			_, err := f.AcceptInvitation(ctx, i, "", &store.NewUser{Email: "racer" + strconv.Itoa(n) + "@example.com"})
			switch {
			case err == nil:
				joined.Add(1)
			case !errors.Is(err, store.ErrNotFound):
				t.Errorf("accept: %v", err)
			}
		})
	}
	wg.Wait()
	if list, err := f.ListMembers(ctx, org, 0, 100); err != nil || joined.Load() != 1 || len(list) != 2 {
		t.Errorf("%d joined, %d members, %v", joined.Load(), len(list), err)
	}
}
