package storetest

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func (f *fixture) deviceLogin(t *testing.T) (store.DeviceLogin, store.NewDeviceLogin) {
	t.Helper()
	n := f.name()
	in := store.NewDeviceLogin{
		DeviceCodeHash: "d-" + n, UserCodeHash: "u-" + n, ClientName: "box " + n, ClientAddress: "192.0.2.1",
		ExpiresAt: f.now().Add(10 * time.Minute),
	}
	out, err := f.CreateDeviceLogin(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out, in
}

func (f *fixture) redeem(t *testing.T, l store.DeviceLogin) (store.RedeemedLogin, error) {
	t.Helper()
	return f.RedeemDeviceLogin(t.Context(), l.ID, store.NewApiKey{Name: "cli", Kind: store.ApiKeyStandard, Secret: f.secret()})
}

func testDeviceLogins(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, _ := f.org(t)

	l, in := f.deviceLogin(t)
	if l.Status != store.DeviceLoginPending || l.ClientName != in.ClientName || !l.ExpiresAt.Equal(in.ExpiresAt) || l.PolledAt != nil {
		t.Errorf("created %+v", l)
	}
	_, err := f.CreateDeviceLogin(ctx, store.NewDeviceLogin{
		DeviceCodeHash: "d-else", UserCodeHash: in.UserCodeHash, ClientName: "x",
		ExpiresAt: f.now().Add(time.Minute),
	})
	wantError(t, err, store.ErrConflict)
	if got, err := f.PollDeviceLogin(ctx, in.DeviceCodeHash); err != nil || got.PolledAt != nil {
		t.Errorf("the first poll: %+v %v", got, err)
	}
	polled := f.now()
	f.advance(time.Second)
	if got, err := f.PollDeviceLogin(ctx, in.DeviceCodeHash); err != nil || got.PolledAt == nil || !got.PolledAt.Equal(polled) {
		t.Errorf("the second poll: %+v %v", got, err)
	}
	_, err = f.PollDeviceLogin(ctx, "none")
	wantError(t, err, store.ErrNotFound)
	_, err = f.redeem(t, l)
	wantError(t, err, store.ErrNotFound) // not approved yet

	if got, err := f.DecideDeviceLogin(ctx, org, user, l.ID, true); err != nil || got.Status != store.DeviceLoginApproved || got.Org != org ||
		got.User != user {
		t.Errorf("approved %+v %v", got, err)
	}
	_, err = f.DecideDeviceLogin(ctx, org, user, l.ID, false)
	wantError(t, err, store.ErrNotFound)
	made, err := f.redeem(t, l)
	if err != nil || made.Key.Org != org || made.Key.CreatedBy != user || made.User.ID != user || made.Organization.ID != org {
		t.Errorf("redeemed %+v %v", made, err)
	}
	_, err = f.redeem(t, l)
	wantError(t, err, store.ErrNotFound)

	// The person who approves must be an administrator of that organization when the key is made.
	l, _ = f.deviceLogin(t)
	if _, err := f.DecideDeviceLogin(ctx, other, user, l.ID, true); err != nil {
		t.Fatal(err)
	}
	_, err = f.redeem(t, l)
	wantError(t, err, store.ErrNoAdministrator)
	if err := f.CreateMembership(ctx, other, user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	_, err = f.redeem(t, l)
	wantError(t, err, store.ErrNoAdministrator)
	if keys, err := f.ListApiKeys(ctx, other, 0, 10); err != nil || len(keys) != 0 {
		t.Errorf("%d keys were made, %v", len(keys), err)
	}

	// A login expires with time. Later, the next new login deletes it.
	l, in = f.deviceLogin(t)
	f.advance(10 * time.Minute)
	_, err = f.DeviceLoginByUserCode(ctx, in.UserCodeHash)
	wantError(t, err, store.ErrNotFound)
	_, err = f.DecideDeviceLogin(ctx, org, user, l.ID, true)
	wantError(t, err, store.ErrNotFound)
	if _, err := f.PollDeviceLogin(ctx, in.DeviceCodeHash); err != nil {
		t.Errorf("an expired login is not told so: %v", err)
	}
	f.advance(2 * time.Hour)
	f.deviceLogin(t)
	_, err = f.PollDeviceLogin(ctx, in.DeviceCodeHash)
	wantError(t, err, store.ErrNotFound)

	// A deletion of the organization ends the logins that were approved for it.
	l, _ = f.deviceLogin(t)
	if _, err := f.DecideDeviceLogin(ctx, org, user, l.ID, true); err != nil {
		t.Fatal(err)
	}
	if err := f.DeleteOrganization(ctx, org); err != nil {
		t.Fatal(err)
	}
	_, err = f.redeem(t, l)
	wantError(t, err, store.ErrNotFound)
}

// testDeviceLoginRace: of many concurrent redemptions, one gets a key.
func testDeviceLoginRace(t *testing.T, f *fixture) {
	org, user := f.org(t)
	l, _ := f.deviceLogin(t)
	if _, err := f.DecideDeviceLogin(t.Context(), org, user, l.ID, true); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = f.redeem(t, l) })
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	if keys, err := f.ListApiKeys(t.Context(), org, 0, 10); err != nil || won != 1 || len(keys) != 1 {
		t.Errorf("%d won, %d keys, %v", won, len(keys), err)
	}
}

func testUserIdentities(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	_, other := f.org(t)
	_, err := f.UserByIdentity(ctx, "https://id", "s1")
	wantError(t, err, store.ErrNotFound)
	if err := f.LinkIdentity(ctx, user, "https://id", "s1"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.UserByIdentity(ctx, "https://id", "s1"); err != nil || got.ID != user {
		t.Errorf("%+v %v", got, err)
	}
	_, err = f.UserByIdentity(ctx, "https://other", "s1")
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.LinkIdentity(ctx, other, "https://id", "s1"), store.ErrConflict)
	wantError(t, f.LinkIdentity(ctx, "user_none", "https://id", "s2"), store.ErrNotFound)

	changed, unsubscribe := watch(f)
	joined, err := f.JoinOrganization(ctx, org, other, nil, principal.RoleMember, "rule")
	unsubscribe()
	if err != nil || joined.ID != other || len(changed()) != 1 {
		t.Errorf("joined %+v %v, changes %v", joined, err, changed())
	}
	_, err = f.JoinOrganization(ctx, org, other, nil, principal.RoleMember, "rule")
	wantError(t, err, store.ErrConflict)
	made, err := f.JoinOrganization(ctx, org, "", &store.NewUser{Email: "New@example.com", Name: "New"}, principal.RoleMember, "rule")
	if err != nil || made.Email != "new@example.com" {
		t.Errorf("made %+v %v", made, err)
	}
	if role, err := f.RoleOf(ctx, org, made.ID); err != nil || role != principal.RoleMember {
		t.Errorf("role %s %v", role, err)
	}
	_, err = f.JoinOrganization(ctx, org, "", &store.NewUser{Email: "new@example.com"}, principal.RoleMember, "rule")
	wantError(t, err, store.ErrConflict)
	_, err = f.JoinOrganization(ctx, "org_none", "", &store.NewUser{Email: "more@example.com"}, principal.RoleMember, "rule")
	wantError(t, err, store.ErrNotFound)
	if _, err := f.UserByEmail(ctx, "more@example.com"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a user of a join that failed: %v", err)
	}
}

// testUnprovedAddress: an attacker registers another person's address with a link for anybody and waits. When the owner of the
// address signs in, the attacker is locked out.
func testUnprovedAddress(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, admin := f.org(t)
	address := "bound@example.com"
	for name, tc := range map[string]struct {
		email   *string
		dropped bool
	}{
		"a link for anybody":      {nil, true},
		"a link for that address": {&address, false},
	} {
		inv, err := f.CreateInvitation(ctx, org, store.NewInvitation{
			Email: tc.email, Role: principal.RoleMember, TokenHash: "t-" + f.name(),
			ExpiresAt: f.now().Add(time.Hour), CreatedBy: admin,
		})
		if err != nil {
			t.Fatal(err)
		}
		email := f.name() + "@example.com"
		if tc.email != nil {
			email = *tc.email
		}
		user, err := f.AcceptInvitation(ctx, inv, "", &store.NewUser{Email: email, PasswordHash: "hash"})
		if err != nil {
			t.Fatal(err)
		}
		hash := "s-" + f.name()
		if _, err := f.CreateSession(ctx, store.NewSession{User: user.ID, TokenHash: hash, ExpiresAt: f.now().Add(time.Hour)}); err != nil {
			t.Fatal(err)
		}
		grant, code := f.grant(t, org, user.ID, "c")
		if err := f.RedeemOAuthCode(ctx, grant.ID, f.tokens()); err != nil {
			t.Fatal(err)
		}
		f.advance(time.Hour)
		got, unsubscribe := watch(f)
		if err := f.LinkIdentity(ctx, user.ID, "https://id", email); err != nil {
			t.Fatal(err)
		}
		unsubscribe()
		after, err := f.GetUser(ctx, user.ID)
		if err != nil || (after.PasswordHash == "") != tc.dropped {
			t.Errorf("%s: the password is %q, %v", name, after.PasswordHash, err)
		}
		session, err := f.SessionByHash(ctx, hash)
		if err != nil || (session.RevokedAt != nil) != tc.dropped {
			t.Errorf("%s: the session is %+v, %v", name, session.Session, err)
		}
		if grant, err := f.OAuthGrantByCode(ctx, code); err != nil || (grant.RevokedAt != nil) != tc.dropped {
			t.Errorf("%s: what it allowed a program is %+v, %v", name, grant, err)
		}
		if changes := got(); (len(changes) == 2 && changes[0].Subject == store.SubjectOAuthGrant && changes[1].Hash == hash &&
			changes[1].Gone) != tc.dropped {
			t.Errorf("%s: changes %v", name, changes)
		}
	}
	// A user who joins later with such a link already had the account, so the account stays as it is.
	if _, err := f.ChangePassword(ctx, admin, "hash", uuid.Nil); err != nil {
		t.Fatal(err)
	}
	other, by := f.org(t)
	f.advance(time.Hour)
	inv, err := f.CreateInvitation(ctx, other, store.NewInvitation{
		Role: principal.RoleMember, TokenHash: "t-" + f.name(),
		ExpiresAt: f.now().Add(time.Hour), CreatedBy: by,
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.AcceptInvitation(ctx, inv, admin, nil); err != nil {
		t.Fatal(err)
	}
	if err := f.LinkIdentity(ctx, admin, "https://id", "admin"); err != nil {
		t.Fatal(err)
	}
	if got, err := f.GetUser(ctx, admin); err != nil || got.PasswordHash != "hash" {
		t.Errorf("an account of before: %+v %v", got, err)
	}
}
