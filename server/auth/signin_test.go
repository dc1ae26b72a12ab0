package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/ratelimit"
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
	if _, err := f.ChangePassword(t.Context(), f.admin.ID, mustHash(t, p, "correct horse"), uuid.Nil); err != nil {
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
			if !in.Session.ExpiresAt.Equal(f.now().Add(SessionLifetime)) || in.Session.UserAgent != "test" || in.Session.Org != f.org ||
				len(in.Organizations) != 1 {
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

// TestSignInWithSeveral checks a user with several organizations who names none at the sign-in: the session acts nowhere until a
// request names one.
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

// TestSignInThrottle checks that failures on one account, or from one address, are slowed down. Other callers and successes are
// not.
func TestSignInThrottle(t *testing.T) {
	f := newFixture(t)
	s := newSignIn(t, f)
	attempt := func(ip, email, password string) error {
		_, err := s.Password(from(t.Context(), ip), email, password, "")
		return err
	}
	for range 3 * accountBucket("").Burst {
		wantErrorTag(t, attempt("192.0.2.9", "a@example.com", "correct horse"), 0)
	}
	for i := range accountBucket("").Burst {
		wantErrorTag(t, attempt(fmt.Sprintf("198.51.100.%d", i), "a@example.com", "wrong"), apierr.SignInFailed)
	}
	e := wantErrorTag(t, attempt("203.0.113.1", " A@example.com", "correct horse"), apierr.SignInThrottled)
	if e.RetryAfter <= 0 || e.RetryAfter > accountBucket("").Interval {
		t.Errorf("retry after %s", e.RetryAfter)
	}
	// From the address where the person signed in before, sign-in still works, until that address has as many failures of its
	// own.
	wantErrorTag(t, attempt("192.0.2.9", "a@example.com", "correct horse"), 0)
	for range accountBucket("").Burst {
		wantErrorTag(t, attempt("192.0.2.9", "a@example.com", "wrong"), apierr.SignInFailed)
	}
	wantErrorTag(t, attempt("192.0.2.9", "a@example.com", "correct horse"), apierr.SignInThrottled)
	wantErrorTag(t, attempt("203.0.113.1", "other@example.com", "wrong"), apierr.SignInFailed)
	f.advance(accountBucket("").Interval)
	wantErrorTag(t, attempt("203.0.113.1", "a@example.com", "correct horse"), 0)

	for i := range addressBucket("").Burst {
		wantErrorTag(t, attempt("2001:db8::1", fmt.Sprintf("u%d@example.com", i), "wrong"), apierr.SignInFailed)
	}
	wantErrorTag(t, attempt("2001:db8::2", "a@example.com", "correct horse"), apierr.SignInThrottled) // the same subscriber
	wantErrorTag(t, attempt("2001:db8:0:1::1", "a@example.com", "correct horse"), 0)
}

// TestThrottleMemory checks that the table stays bounded under any attempts, and that full buckets make room first.
func TestThrottleMemory(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	th := NewThrottle("test", nil, func() time.Time { return now })
	for i := range 2 * maxBuckets {
		th.Take(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint("account ", i))
		if th.local.Kept() > maxBuckets+1 {
			t.Fatalf("%d buckets", th.local.Kept())
		}
	}
	now = now.Add(time.Hour)
	for range accountBucket("").Burst {
		th.Take("192.0.2.1", "victim")
	}
	for i := range maxBuckets/2 - 10 {
		th.Take(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint("again ", i))
	}
	if a, _ := th.Take("192.0.2.2", "victim"); a != nil {
		t.Error("a bucket in use made room for others before those that are full again")
	}
	for i := range maxFamiliar + 10 {
		a, wait := th.Take(fmt.Sprintf("10.%d.%d.%d", i>>16, i>>8&255, i&255), fmt.Sprint("person ", i))
		if a == nil {
			t.Fatalf("person %d waits %v", i, wait)
		}
		a.Succeeded()
		if i%100 != 0 && i < maxFamiliar {
			continue
		}
		if known, _ := th.familiar.Size(); known > maxFamiliar {
			t.Fatalf("%d familiar addresses", i)
		}
	}
}

// sharedBuckets stands in for Redis.
type sharedBuckets struct {
	down        bool
	wait        time.Duration
	taken, back [][]ratelimit.Bucket
}

func (b *sharedBuckets) Take(list []ratelimit.Bucket) (time.Duration, bool) {
	if b.down {
		return 0, false
	}
	b.taken = append(b.taken, list)
	return b.wait, true
}

func (b *sharedBuckets) GiveBack(list []ratelimit.Bucket) { b.back = append(b.back, list) }

// TestSharedThrottle checks that the shared buckets decide and that attempts are given back to them. While they do not answer,
// this process counts, so guesses are not let through.
func TestSharedThrottle(t *testing.T) {
	shared := &sharedBuckets{}
	th := NewThrottle("test", shared, nil)
	for range 3 * accountBucket("").Burst {
		if a, _ := th.Take("192.0.2.1", "a@example.com"); a == nil {
			t.Fatal("this process counted by itself")
		}
	}
	a, _ := th.Take("192.0.2.1", "a@example.com")
	if a.GiveBack(); len(shared.back) != 1 || !slices.Equal(shared.back[0], shared.taken[0]) {
		t.Errorf("gave back %v, took %v", shared.back, shared.taken[0])
	}
	for _, b := range shared.taken[0] {
		if strings.Contains(b.Key, "a@example.com") || strings.Contains(b.Key, "192.0.2.1") {
			t.Errorf("a bucket is called %s", b.Key)
		}
	}
	shared.wait = time.Second
	if a, wait := th.Take("192.0.2.1", "a@example.com"); a != nil || wait != time.Second {
		t.Errorf("allowed, %v, when the shared bucket is empty", wait)
	}
	shared.down = true
	for i := range accountBucket("").Burst {
		if a, _ := th.Take("192.0.2.1", "a@example.com"); a == nil {
			t.Fatalf("attempt %d", i)
		}
	}
	if a, wait := th.Take("192.0.2.2", "a@example.com"); a != nil || wait <= 0 {
		t.Errorf("allowed, %v, without what is shared", wait)
	}
}
