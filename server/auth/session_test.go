package auth

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func TestSessionOrganization(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	two, three := f.newOrg(t, "two"), f.newOrg(t, "three")
	user := func(email string, orgs ...principal.OrgID) principal.UserID {
		u, err := f.CreateUser(ctx, store.NewUser{Email: email})
		if err != nil {
			t.Fatal(err)
		}
		for _, org := range orgs {
			if err := f.CreateMembership(ctx, org, u.ID, principal.RoleMember); err != nil {
				t.Fatal(err)
			}
		}
		return u.ID
	}
	nobody, single, both := user("0@example.com"), user("1@example.com", two), user("2@example.com", f.org, two)
	if _, err := f.SetRole(ctx, two, both, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		user     principal.UserID
		own      principal.OrgID
		header   principal.OrgID
		want     principal.OrgID
		wantRole principal.Role
	}{
		"only membership":            {single, "", "", two, principal.RoleMember},
		"own":                        {both, f.org, "", f.org, principal.RoleMember},
		"named, with its own role":   {both, f.org, two, two, principal.RoleAdmin},
		"named equals own":           {both, two, two, two, principal.RoleAdmin},
		"several, none chosen":       {both, "", "", "", ""},
		"no membership":              {nobody, "", "", "", ""},
		"not a member of own":        {single, f.org, "", "", ""},
		"not a member of the named":  {both, two, three, "", ""},
		"named does not exist":       {both, two, "org_none", "", ""},
		"single, another is named":   {single, "", f.org, "", ""},
		"nobody, an existing named":  {nobody, "", two, "", ""},
		"named wins over a lost own": {single, f.org, two, two, principal.RoleMember},
	} {
		t.Run(name, func(t *testing.T) {
			token, s := f.session(t, tc.user, tc.own)
			h := bearerHeader(token)
			if tc.header != "" {
				h.Set("x-svc-org-id", string(tc.header))
			}
			r := f.auth.Authenticate(ctx, h)
			if tc.want == "" {
				wantTag(t, r, apierr.OrganizationAccessDenied)
				return
			}
			wantTag(t, r, 0)
			if p := r.Principal; p != nil && (p.Org != tc.want || p.Role != tc.wantRole || p.User != tc.user ||
				p.Kind != principal.KindSession || p.CredentialID != s.ID.String() || p.Email == "") {
				t.Errorf("principal = %+v", p)
			}
		})
	}
}

func TestSessionEnds(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	revoked, s := f.session(t, f.admin.ID, "")
	expiring, _ := f.session(t, f.admin.ID, "")
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(revoked)), 0)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), 0)
	if err := f.RevokeSession(ctx, f.admin.ID, s.ID); err != nil {
		t.Fatal(err)
	}
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(revoked)), apierr.InvalidCredentials)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), 0)

	// A changed role and a lost membership take effect at once. Another member stays administrator.
	second, err := f.CreateUser(ctx, store.NewUser{Email: "second@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.CreateMembership(ctx, f.org, second.ID, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	if _, err := f.SetRole(ctx, f.org, f.admin.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	if r := f.auth.Authenticate(ctx, bearerHeader(expiring)); r.Principal == nil || r.Principal.Role != principal.RoleMember {
		t.Errorf("after a changed role: %+v, %v", r.Principal, r.Err)
	}
	if err := f.DeleteMembership(ctx, f.org, f.admin.ID); err != nil {
		t.Fatal(err)
	}
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), apierr.OrganizationAccessDenied)
	f.advance(time.Hour)
	wantTag(t, f.auth.Authenticate(ctx, bearerHeader(expiring)), apierr.InvalidCredentials)
}

// TestSessionIdle checks that use keeps a session alive, up to its absolute end.
func TestSessionIdle(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	start := func(life time.Duration) http.Header {
		token := NewSecret(PrefixSession)
		if _, err := f.CreateSession(ctx, store.NewSession{
			User: f.admin.ID, TokenHash: f.hasher.Hash(token),
			ExpiresAt: f.now().Add(life),
		}); err != nil {
			t.Fatal(err)
		}
		return bearerHeader(token)
	}
	used, unused := start(3*SessionIdle), start(3*SessionIdle)
	for range 5 {
		f.advance(SessionIdle / 2)
		wantTag(t, f.auth.Authenticate(ctx, used), 0)
		// The use is recorded outside of the request.
		for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			s, err := f.Store.SessionByHash(ctx, f.hasher.Hash(strings.TrimPrefix(used.Get("Authorization"), "Bearer ")))
			if err != nil || time.Now().After(deadline) {
				t.Fatalf("last seen %s, %v", s.LastSeenAt, err)
			}
			if s.LastSeenAt.Equal(f.now()) {
				break
			}
		}
	}
	wantTag(t, f.auth.Authenticate(ctx, unused), apierr.InvalidCredentials)
	f.advance(SessionIdle / 2)
	wantTag(t, f.auth.Authenticate(ctx, used), apierr.InvalidCredentials)
	edge := start(3 * SessionIdle)
	f.advance(SessionIdle - time.Microsecond)
	wantTag(t, f.auth.Authenticate(ctx, edge), 0)
	f.advance(SessionIdle)
	wantTag(t, f.auth.Authenticate(ctx, edge), apierr.InvalidCredentials)
}
