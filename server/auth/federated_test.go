package auth

import (
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// TestFederated checks who gets in with which identity, and as which user. The fixture's administrator is a@example.com.
func TestFederated(t *testing.T) {
	const issuer = "https://id.example"
	verified := func(email string) Identity {
		return Identity{Issuer: issuer, Subject: "s-" + email, Email: email, EmailVerified: true, Name: "N"}
	}
	for name, tc := range map[string]struct {
		identity Identity
		// invitation is the address of the invitation; "*" means any address.
		invitation string
		join       JoinRule
		// first is an identity that signs in before.
		first *Identity
		want  apierr.Tag
		// email and role are those of the person who is signed in.
		email string
		role  principal.Role
	}{
		"known by verified address": {identity: verified("A@Example.com"), email: "a@example.com", role: principal.RoleAdmin},
		"unverified address":        {identity: Identity{Issuer: issuer, Subject: "x", Email: "a@example.com"}, want: apierr.SignInFailed},
		"no address":                {identity: Identity{Issuer: issuer, Subject: "x", EmailVerified: true}, want: apierr.SignInFailed},
		"stranger":                  {identity: verified("b@example.com"), want: apierr.OrganizationAccessDenied},
		"invited by address": {
			identity: verified("b@example.com"), invitation: "b@example.com", email: "b@example.com",
			role: principal.RoleMember,
		},
		"invited by link":       {identity: verified("b@example.com"), invitation: "*", email: "b@example.com", role: principal.RoleMember},
		"invitation of another": {identity: verified("b@example.com"), invitation: "c@example.com", want: apierr.OrganizationForbidden},
		"invitation, unverified": {
			identity: Identity{Issuer: issuer, Subject: "x", Email: "b@example.com"}, invitation: "b@example.com",
			want: apierr.SignInFailed,
		},
		"invited, a member already": {identity: verified("a@example.com"), invitation: "*", email: "a@example.com", role: principal.RoleAdmin},
		"no such invitation":        {identity: verified("b@example.com"), invitation: "none", want: apierr.InvitationNotFound},
		"joins by rule": {
			identity: verified("b@joins.example"), join: JoinRule{"one", []string{"joins.example"}},
			email: "b@joins.example", role: principal.RoleMember,
		},
		"rule, a subdomain": {
			identity: verified("b@sub.joins.example"), join: JoinRule{"one", []string{"joins.example"}},
			want: apierr.OrganizationAccessDenied,
		},
		"rule, two at signs": {
			identity: verified("b@evil.example@joins.example"), join: JoinRule{"one", []string{"joins.example"}},
			want: apierr.OrganizationAccessDenied,
		},
		"rule, unverified": {
			identity: Identity{Issuer: issuer, Subject: "x", Email: "b@joins.example"},
			join:     JoinRule{"one", []string{"joins.example"}}, want: apierr.SignInFailed,
		},
		"rule, no such organization": {
			identity: verified("b@joins.example"), join: JoinRule{"nowhere", []string{"joins.example"}},
			want: apierr.OrganizationAccessDenied,
		},
		"rule, an administrator": {
			identity: verified("a@example.com"), join: JoinRule{"one", []string{"example.com"}},
			email: "a@example.com", role: principal.RoleAdmin,
		},
		"known by subject, new email": {
			first:    new(verified("a@example.com")),
			identity: Identity{Issuer: issuer, Subject: "s-a@example.com", Email: "b@example.com"}, email: "a@example.com",
			role: principal.RoleAdmin,
		},
		"same subject, other issuer": {
			first:    new(verified("a@example.com")),
			identity: Identity{Issuer: "https://other", Subject: "s-a@example.com", Email: "b@example.com", EmailVerified: true},
			want:     apierr.OrganizationAccessDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			ctx := from(t.Context(), "192.0.2.1")
			fed := NewFederated(FederatedConfig{Store: f.Store, SignIn: newSignIn(t, f), Join: tc.join})
			if tc.first != nil {
				if _, err := fed.Start(ctx, *tc.first, ""); err != nil {
					t.Fatal(err)
				}
			}
			token := ""
			if tc.invitation != "" {
				token = NewSecret(PrefixInvitation)
				in := store.NewInvitation{
					Role: principal.RoleMember, TokenHash: f.hasher.Hash(token), ExpiresAt: f.now().Add(time.Hour), CreatedBy: f.admin.ID,
				}
				if tc.invitation != "*" {
					in.Email = &tc.invitation
				}
				if tc.invitation != "none" {
					if _, err := f.CreateInvitation(ctx, f.org, in); err != nil {
						t.Fatal(err)
					}
				}
			}
			in, err := fed.Start(ctx, tc.identity, token)
			wantErrorTag(t, err, tc.want)
			if tc.want != 0 {
				if got, err := f.UserByEmail(ctx, tc.identity.Email); err == nil && got.ID != f.admin.ID {
					t.Errorf("a user was made all the same: %+v", got)
				}
				return
			}
			if in.User.Email != tc.email || in.Session.Org != f.org || len(in.Organizations) != 1 || in.Organizations[0].Role != tc.role {
				t.Errorf("signed in: %+v", in)
			}
			again, err := fed.Start(ctx, tc.identity, "")
			if err != nil || again.User.ID != in.User.ID || again.Token == in.Token {
				t.Errorf("again: %+v %v", again, err)
			}
		})
	}
}

// TestPicture: a sign-in takes over the picture of the provider, if a page can show it.
func TestPicture(t *testing.T) {
	f := newFixture(t)
	ctx := from(t.Context(), "192.0.2.1")
	fed := NewFederated(FederatedConfig{Store: f.Store, SignIn: newSignIn(t, f)})
	for _, c := range []struct{ sent, want string }{
		{"https://id.example/a.png", "https://id.example/a.png"},
		{"", "https://id.example/a.png"},
		{"javascript:alert(1)", "https://id.example/a.png"},
		{"http://id.example/b.png", "https://id.example/a.png"},
		{"https://user:password@id.example/b.png", "https://id.example/a.png"},
		{"https://id.example/" + strings.Repeat("b", limits.AvatarURL), "https://id.example/a.png"},
		{"https://id.example/b.png", "https://id.example/b.png"},
	} {
		id := Identity{Issuer: "https://id.example", Subject: "s", Email: f.admin.Email, EmailVerified: true, Picture: c.sent}
		if _, err := fed.Start(ctx, id, ""); err != nil {
			t.Fatal(err)
		}
		if got, err := f.GetUser(ctx, f.admin.ID); err != nil || got.AvatarURL == nil || *got.AvatarURL != c.want {
			t.Errorf("%.60q: %v, want %q, %v", c.sent, got.AvatarURL, c.want, err)
		}
	}
}
