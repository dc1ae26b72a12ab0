package auth

import (
	"errors"
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
	if err := f.SetRole(ctx, two, both, principal.RoleAdmin); err != nil {
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

	// A changed role and a lost membership take effect at once.
	if err := f.SetRole(ctx, f.org, f.admin.ID, principal.RoleMember); err != nil {
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

func TestSignIn(t *testing.T) {
	f := newFixture(t)
	ctx := t.Context()
	p := newPasswords(64, 1)
	phc, err := p.Hash(ctx, "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.SetPasswordHash(ctx, f.admin.ID, phc); err != nil {
		t.Fatal(err)
	}
	if _, err := f.CreateUser(ctx, store.NewUser{Email: "none@example.com"}); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		email, password string
		want            error
	}{
		"good":           {"A@Example.com", "correct horse", nil},
		"wrong":          {"a@example.com", "correct horsf", ErrSignIn},
		"empty":          {"a@example.com", "", ErrSignIn},
		"unknown":        {"b@example.com", "correct horse", ErrSignIn},
		"no password":    {"none@example.com", "", ErrSignIn},
		"very long":      {"a@example.com", string(make([]byte, MaxPasswordLength+1)), ErrSignIn},
		"trailing space": {"a@example.com", "correct horse ", ErrSignIn},
	} {
		t.Run(name, func(t *testing.T) {
			token, s, err := SignIn(ctx, f.Store, f.hasher, p, SignInParams{Email: tc.email, Password: tc.password, UserAgent: "test", Now: f.now()})
			if !errors.Is(err, tc.want) {
				t.Fatalf("error = %v, want %v", err, tc.want)
			}
			if err != nil {
				return
			}
			if !s.ExpiresAt.Equal(f.now().Add(SessionLifetime)) || s.UserAgent != "test" {
				t.Errorf("session = %+v", s)
			}
			wantTag(t, f.auth.Authenticate(ctx, bearerHeader(token)), 0)
		})
	}
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := SignIn(ctx, f.Store, f.hasher, p, SignInParams{Email: "a@example.com"}); err == nil || errors.Is(err, ErrSignIn) {
		t.Errorf("with the database gone: %v", err)
	}
}
