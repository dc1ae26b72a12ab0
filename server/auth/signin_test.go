package auth

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func wantErrorTag(t *testing.T, err error, tag apierr.Tag) *apierr.Error {
	t.Helper()
	var e *apierr.Error
	if tag == 0 {
		if err != nil {
			t.Errorf("error = %v", err)
		}
		return nil
	}
	if !errors.As(err, &e) || e.Tag != tag {
		t.Fatalf("error = %v, want %v", err, tag)
	}
	return e
}

func newSignIn(t *testing.T, f *fixture) *SignIn {
	t.Helper()
	p := newPasswords(64, 1)
	if err := f.SetPasswordHash(t.Context(), f.admin.ID, mustHash(t, p, "correct horse")); err != nil {
		t.Fatal(err)
	}
	return NewSignIn(SignInConfig{Store: f.Store, Hasher: f.hasher, Passwords: p, Now: f.now})
}

func from(ctx context.Context, ip string) context.Context {
	return principal.WithOrigin(ctx, principal.Origin{IP: ip, UserAgent: "test"})
}

func TestSignIn(t *testing.T) {
	f := newFixture(t)
	ctx := from(t.Context(), "192.0.2.1")
	s := newSignIn(t, f)
	if _, err := f.CreateUser(ctx, store.NewUser{Email: "none@example.com"}); err != nil {
		t.Fatal(err)
	}
	other := f.newOrg(t, "two")
	for name, tc := range map[string]struct {
		email, password string
		org             principal.OrgID
		want            apierr.Tag
	}{
		"good":           {"A@Example.com", "correct horse", "", 0},
		"in its own":     {"a@example.com", "correct horse", f.org, 0},
		"in another":     {"a@example.com", "correct horse", other, apierr.OrganizationAccessDenied},
		"in none":        {"a@example.com", "correct horse", "org_none", apierr.OrganizationAccessDenied},
		"wrong":          {"a@example.com", "correct horsf", "", apierr.SignInFailed},
		"wrong, another": {"a@example.com", "correct horsf", other, apierr.SignInFailed},
		"empty":          {"a@example.com", "", "", apierr.SignInFailed},
		"unknown":        {"b@example.com", "correct horse", "", apierr.SignInFailed},
		"no password":    {"none@example.com", "", "", apierr.SignInFailed},
		"very long":      {"a@example.com", string(make([]byte, MaxPasswordLength+1)), "", apierr.SignInFailed},
		"trailing space": {"a@example.com", "correct horse ", "", apierr.SignInFailed},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := s.Password(ctx, tc.email, tc.password, tc.org)
			wantErrorTag(t, err, tc.want)
			if tc.want != 0 {
				return
			}
			if !in.Session.ExpiresAt.Equal(f.now().Add(SessionLifetime)) || in.Session.UserAgent != "test" || in.Session.Org != f.org || len(in.Organizations) != 1 {
				t.Errorf("signed in: %+v", in)
			}
			wantTag(t, f.auth.Authenticate(ctx, bearerHeader(in.Token)), 0)
		})
	}
	entries, err := f.ListAuditLogEntries(ctx, f.org, store.AuditFilter{Action: "session.created"}, 0, 10)
	if err != nil || len(entries) != 2 || *entries[0].ActorID != string(f.admin.ID) || *entries[0].OriginIP != "192.0.2.1" {
		t.Errorf("audit log: %+v, %v", entries, err)
	}
	if err := f.Store.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = s.Password(ctx, "a@example.com", "x", "")
	wantErrorTag(t, err, apierr.AuthorizationUnavailable)
}

// TestSignInWithSeveral: with several organizations and none named, the session acts nowhere until a request names one.
func TestSignInWithSeveral(t *testing.T) {
	f := newFixture(t)
	s := newSignIn(t, f)
	other := f.newOrg(t, "two")
	if err := f.CreateMembership(t.Context(), other, f.admin.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	in, err := s.Password(t.Context(), "a@example.com", "correct horse", "")
	if err != nil || in.Session.Org != "" || len(in.Organizations) != 2 {
		t.Fatalf("%+v, %v", in, err)
	}
	h := bearerHeader(in.Token)
	wantTag(t, f.auth.Authenticate(t.Context(), h), apierr.OrganizationAccessDenied)
	h.Set("x-svc-org-id", string(other))
	if r := f.auth.Authenticate(t.Context(), h); r.Principal == nil || r.Principal.Org != other || r.Principal.Role != principal.RoleMember {
		t.Errorf("%+v", r)
	}
}

// TestSignInThrottle: failures on one account, or from one address, are slowed down; others and successes are not.
func TestSignInThrottle(t *testing.T) {
	f := newFixture(t)
	s := newSignIn(t, f)
	attempt := func(ip, email, password string) error {
		_, err := s.Password(from(t.Context(), ip), email, password, "")
		return err
	}
	for range 3 * accountAllowance().burst {
		wantErrorTag(t, attempt("192.0.2.9", "a@example.com", "correct horse"), 0)
	}
	for i := range accountAllowance().burst {
		wantErrorTag(t, attempt(fmt.Sprintf("198.51.100.%d", i), "a@example.com", "wrong"), apierr.SignInFailed)
	}
	e := wantErrorTag(t, attempt("203.0.113.1", " A@example.com", "correct horse"), apierr.SignInThrottled)
	if e.RetryAfter <= 0 || e.RetryAfter > accountAllowance().interval {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	wantErrorTag(t, attempt("203.0.113.1", "other@example.com", "wrong"), apierr.SignInFailed)
	f.advance(accountAllowance().interval)
	wantErrorTag(t, attempt("203.0.113.1", "a@example.com", "correct horse"), 0)

	for i := range addressAllowance().burst {
		wantErrorTag(t, attempt("2001:db8::1", fmt.Sprintf("u%d@example.com", i), "wrong"), apierr.SignInFailed)
	}
	wantErrorTag(t, attempt("2001:db8::2", "a@example.com", "correct horse"), apierr.SignInThrottled) // the same subscriber
	wantErrorTag(t, attempt("2001:db8:0:1::1", "a@example.com", "correct horse"), 0)
}

// TestThrottleMemory: whatever is tried, the table stays bounded, and what is full again makes room first.
func TestThrottleMemory(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := NewThrottle(func() time.Time { return now })
	for i := range 2 * maxBuckets {
		th.Take(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint("account ", i))
		if len(th.buckets) > maxBuckets+1 {
			t.Fatalf("%d buckets", len(th.buckets))
		}
	}
	now = now.Add(time.Hour)
	for range accountAllowance().burst {
		th.Take("192.0.2.1", "victim")
	}
	for i := range maxBuckets/2 - 10 {
		th.Take(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint("again ", i))
	}
	if ok, _ := th.Take("192.0.2.2", "victim"); ok {
		t.Error("a bucket in use made room for others before those that are full again")
	}
}
