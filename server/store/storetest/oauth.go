package storetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// grant begins a grant of the user and also returns the hash of its code.
func (f *fixture) grant(t *testing.T, org principal.OrgID, user principal.UserID, client string) (store.OAuthGrant, string) {
	t.Helper()
	hash := "code-" + f.name()
	g, err := f.CreateOAuthGrant(t.Context(), org, store.NewOAuthGrant{
		User: user, ClientID: client, ClientName: "Editor", Scope: "traces:read", Resource: "https://svc.test/mcp",
		RedirectURI: "http://localhost/cb",
		CodeHash:    hash, CodeChallenge: "challenge", CodeExpiresAt: f.now().Add(time.Minute), ExpiresAt: f.now().Add(90 * 24 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return g, hash
}

func (f *fixture) tokens() store.OAuthTokens {
	n := f.name()
	return store.OAuthTokens{
		AccessHash: "access-" + n, RefreshHash: "refresh-" + n, AccessExpiresAt: f.now().Add(time.Hour),
		RefreshExpiresAt: f.now().Add(30 * 24 * time.Hour),
	}
}

func testOAuthClients(t *testing.T, f *fixture) {
	ctx := t.Context()
	in := store.OAuthClient{
		ID: "c1", Name: "Editor", URI: "https://editor.test",
		RedirectURIs: []string{"http://localhost/cb", "https://editor.test/cb"},
	}
	if _, err := f.CreateOAuthClient(ctx, in, 2); err != nil {
		t.Fatal(err)
	}
	got, err := f.OAuthClientByID(ctx, "c1")
	if err != nil || got.Name != in.Name || got.URI != in.URI || len(got.RedirectURIs) != 2 || got.RedirectURIs[1] != in.RedirectURIs[1] ||
		!got.CreatedAt.Equal(f.now()) {
		t.Errorf("%+v %v", got, err)
	}
	_, err = f.OAuthClientByID(ctx, "c0")
	wantError(t, err, store.ErrNotFound)
	in.ID = "c2"
	if _, err := f.CreateOAuthClient(ctx, in, 2); err != nil {
		t.Fatal(err)
	}
	in.ID = "c3"
	_, err = f.CreateOAuthClient(ctx, in, 2)
	wantError(t, err, store.ErrConflict) // the limit is reached

	// A flood locks nobody out: registrations without a grant make room, the oldest first.
	f.advance(2 * time.Hour)
	if _, err := f.CreateOAuthClient(ctx, store.OAuthClient{ID: "c4", RedirectURIs: in.RedirectURIs}, 2); err != nil {
		t.Fatal(err)
	}
	_, err = f.OAuthClientByID(ctx, "c1")
	wantError(t, err, store.ErrNotFound)
	f.advance(25 * time.Hour) // the remaining ones expire
	for _, in.ID = range []string{"c1", "c2"} {
		if _, err := f.CreateOAuthClient(ctx, in, 2); err != nil {
			t.Fatal(err)
		}
	}
	in.ID = "c3"

	// A registration with a grant stays; an unused one makes room.
	org, user := f.org(t)
	f.grant(t, org, user, "c1")
	f.advance(25 * time.Hour)
	if _, err := f.CreateOAuthClient(ctx, in, 2); err != nil {
		t.Fatal(err)
	}
	if _, err := f.OAuthClientByID(ctx, "c1"); err != nil {
		t.Error(err)
	}
	_, err = f.OAuthClientByID(ctx, "c2")
	wantError(t, err, store.ErrNotFound)
}

func testOAuthGrants(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, user := f.org(t)
	other, stranger := f.org(t)
	_, err := f.CreateOAuthGrant(ctx, other, store.NewOAuthGrant{
		User: user, ClientID: "c", CodeHash: "x", CodeChallenge: "x", CodeExpiresAt: f.now(), ExpiresAt: f.now(),
	})
	wantError(t, err, store.ErrNotFound) // not a member there

	g, code := f.grant(t, org, user, "c")
	if got, err := f.OAuthGrantByCode(ctx, code); err != nil || got.ID != g.ID || got.RedeemedAt != nil || got.Org != org ||
		got.User != user || got.CodeChallenge != "challenge" {
		t.Errorf("%+v %v", got, err)
	}
	first := f.tokens()
	if err := f.RedeemOAuthCode(ctx, g.ID, first); err != nil {
		t.Fatal(err)
	}
	id, err := f.OAuthIdentityByHash(ctx, first.AccessHash)
	if err != nil || id.Grant.ID != g.ID || id.Role != principal.RoleAdmin || id.Email == "" || !id.ExpiresAt.Equal(first.AccessExpiresAt) {
		t.Errorf("%+v %v", id, err)
	}
	_, err = f.OAuthIdentityByHash(ctx, first.RefreshHash)
	wantError(t, err, store.ErrNotFound) // a refresh token is not an access token
	_, err = f.OAuthRefreshByHash(ctx, first.AccessHash)
	wantError(t, err, store.ErrNotFound)

	refresh, err := f.OAuthRefreshByHash(ctx, first.RefreshHash)
	if err != nil || refresh.Grant.ID != g.ID || refresh.ReplacedAt != nil {
		t.Fatalf("%+v %v", refresh, err)
	}
	second := f.tokens()
	if err := f.RotateOAuthTokens(ctx, refresh, second); err != nil {
		t.Fatal(err)
	}
	if list, err := f.ListOAuthGrants(ctx, user); err != nil || len(list) != 1 || list[0].ID != g.ID {
		t.Errorf("%+v %v", list, err)
	}
	if list, err := f.ListOAuthGrants(ctx, stranger); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}

	// The old refresh token is used again: two parties have it, and the server cannot tell which one is legitimate.
	var told []store.Change
	stop := f.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectOAuthGrant {
			told = append(told, c)
		}
	})
	defer stop()
	wantError(t, f.RotateOAuthTokens(ctx, refresh, f.tokens()), store.ErrReplayed)
	if id, err := f.OAuthIdentityByHash(ctx, second.AccessHash); err != nil || id.Grant.RevokedAt == nil {
		t.Errorf("%+v %v", id, err)
	}
	if len(told) != 1 || told[0].Org != org || told[0].User != user {
		t.Errorf("told %+v", told)
	}
	next, err := f.OAuthRefreshByHash(ctx, second.RefreshHash)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, f.RotateOAuthTokens(ctx, next, f.tokens()), store.ErrReplayed)

	// The second use of a code revokes the tokens of the first use.
	g, _ = f.grant(t, org, user, "c")
	first = f.tokens()
	if err := f.RedeemOAuthCode(ctx, g.ID, first); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.RedeemOAuthCode(ctx, g.ID, f.tokens()), store.ErrReplayed)
	if id, err := f.OAuthIdentityByHash(ctx, first.AccessHash); err != nil || id.Grant.RevokedAt == nil {
		t.Errorf("%+v %v", id, err)
	}

	// Only the client and the user can revoke the grant.
	g, _ = f.grant(t, org, user, "c")
	first = f.tokens()
	if err := f.RedeemOAuthCode(ctx, g.ID, first); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.RevokeOAuthToken(ctx, "another", first.RefreshHash), store.ErrNotFound)
	wantError(t, f.RevokeOAuthGrant(ctx, stranger, g.ID), store.ErrNotFound)
	if err := f.RevokeOAuthToken(ctx, "c", first.RefreshHash); err != nil {
		t.Fatal(err)
	}
	if err := f.RevokeOAuthGrant(ctx, user, g.ID); err != nil {
		t.Errorf("again: %v", err)
	}
	if list, err := f.ListOAuthGrants(ctx, user); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}

	// When a role is removed, the token loses it at once.
	g, _ = f.grant(t, org, user, "c")
	first = f.tokens()
	if err := f.RedeemOAuthCode(ctx, g.ID, first); err != nil {
		t.Fatal(err)
	}
	if err := f.CreateMembership(ctx, org, stranger, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	if err := f.DeleteMembership(ctx, org, user); err != nil {
		t.Fatal(err)
	}
	if id, err := f.OAuthIdentityByHash(ctx, first.AccessHash); err != nil || id.Role != "" {
		t.Errorf("%+v %v", id, err)
	}
}

// testOAuthRace: of many concurrent uses of a code or a refresh token, at most one gets tokens. Because the code or token was
// used twice, those tokens do not work.
func testOAuthRace(t *testing.T, f *fixture) {
	org, user := f.org(t)
	race := func(step func(ctx context.Context) error) (won int) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				err := step(t.Context())
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won++
				case !errors.Is(err, store.ErrReplayed):
					t.Error(err)
				}
			})
		}
		wg.Wait()
		return won
	}
	g, code := f.grant(t, org, user, "c")
	if won := race(func(ctx context.Context) error { return f.RedeemOAuthCode(ctx, g.ID, f.tokens()) }); won != 1 {
		t.Errorf("%d redeemed the code", won)
	}
	if got, err := f.OAuthGrantByCode(t.Context(), code); err != nil || got.RevokedAt == nil {
		t.Errorf("%+v %v", got, err)
	}
	g, _ = f.grant(t, org, user, "c")
	first := f.tokens()
	if err := f.RedeemOAuthCode(t.Context(), g.ID, first); err != nil {
		t.Fatal(err)
	}
	refresh, err := f.OAuthRefreshByHash(t.Context(), first.RefreshHash)
	if err != nil {
		t.Fatal(err)
	}
	if won := race(func(ctx context.Context) error { return f.RotateOAuthTokens(ctx, refresh, f.tokens()) }); won != 1 {
		t.Errorf("%d refreshed", won)
	}
}

// testOAuthMember: a user who leaves an organization loses the grants to programs there, and keeps those in another organization.
func testOAuthMember(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, boss := f.org(t)
	other, user := f.org(t)
	if err := f.CreateMembership(ctx, org, user, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	g, code := f.grant(t, org, user, "c")
	pair := f.tokens()
	if err := f.RedeemOAuthCode(ctx, g.ID, pair); err != nil {
		t.Fatal(err)
	}
	_, waiting := f.grant(t, org, user, "c")
	_, elsewhere := f.grant(t, other, user, "c")
	_, theirs := f.grant(t, org, boss, "c")
	if err := f.DeleteMembership(ctx, org, user); err != nil {
		t.Fatal(err)
	}
	for hash, revoked := range map[string]bool{code: true, waiting: true, elsewhere: false, theirs: false} {
		if got, err := f.OAuthGrantByCode(ctx, hash); err != nil || (got.RevokedAt != nil) != revoked {
			t.Errorf("%+v %v", got, err)
		}
	}
	refresh, err := f.OAuthRefreshByHash(ctx, pair.RefreshHash)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, f.RotateOAuthTokens(ctx, refresh, f.tokens()), store.ErrNoMember)
	wantError(t, f.RedeemOAuthCode(ctx, g.ID, f.tokens()), store.ErrNoMember)
	entries, err := f.ListAuditLogEntries(ctx, org, store.AuditFilter{}, 0, 50)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		if e.Action == "oauth_grant.revoked" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d revocations are in the audit log, not 2: %+v", n, entries)
	}
}
