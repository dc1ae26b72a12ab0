package links

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/store"
)

// budget allows a number of requests for each key.
type budget struct {
	each int
	used map[string]int
}

func (b *budget) Allow(key string, _ time.Time) (bool, time.Duration) {
	if b.used == nil {
		b.used = map[string]int{}
	}
	if b.used[key] >= b.each {
		return false, time.Minute
	}
	b.used[key]++
	return true, 0
}

// TestShareLimits checks that a link is limited by its token and by the address of the caller. Requests for links that do not
// exist are limited by the address only, so that guesses do not fill the memory of the other limit.
func TestShareLimits(t *testing.T) {
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	made, err := st.CreateOrganization(t.Context(), store.NewOrganization{Name: "o", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	org, admin := made.Organization.ID, made.Admin.ID
	def := everything(t)
	text, err := definition.Check(def)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := st.CreateDashboard(t.Context(), org, admin, store.DashboardChange{
		Name: "d", Definition: text, Kind: definition.KindCreated, Action: "created",
	})
	if err != nil {
		t.Fatal(err)
	}
	hash := func(token string) string { return "hash of " + token }
	_, err = st.UpsertDashboardShare(t.Context(), org, d.ID, "", store.SharePublic, admin,
		func(uuid.UUID) (string, string) { return "sealed", hash("token-of-a-link") })
	if err != nil {
		t.Fatal(err)
	}
	tokens, addresses := &budget{each: 3}, &budget{each: 2}
	p := NewPublic(PublicConfig{Store: st, Hash: hash, ByToken: tokens, ByAddress: addresses})
	ask := func(address, token string) error {
		t.Helper()
		ctx := principal.WithOrigin(t.Context(), principal.Origin{IP: address})
		_, err := p.ResolveShare(ctx, &svcv2.ResolveShareRequest{Token: token})
		return err
	}
	limited := func(what string, err error) {
		t.Helper()
		var e *apierr.Error
		if !errors.As(err, &e) || e.Tag != apierr.ShareRateLimited || e.RetryAfterSeconds() != 60 {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, address := range []string{"10.0.0.1", "10.0.0.1", "10.0.0.2"} {
		if err := ask(address, "token-of-a-link"); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
	}
	limited("a third request from an address", ask("10.0.0.1", "token-of-a-link"))
	limited("a fourth request for a token", ask("10.0.0.3", "token-of-a-link"))
	for range 2 {
		var e *apierr.Error
		if err := ask("10.0.0.4", "a-guess"); !errors.As(err, &e) || e.Tag != apierr.ShareNotFound {
			t.Errorf("a guess: %v", err)
		}
	}
	limited("a third guess", ask("10.0.0.4", "another-guess"))
	if len(tokens.used) != 1 {
		t.Errorf("guesses are counted as tokens: %v", tokens.used)
	}
}

// TestShareOfTheOrganization checks that a member of the organization can open its links, in whichever organization the session
// acts. Keys open no such link.
func TestShareOfTheOrganization(t *testing.T) {
	st, err := store.Open(t.Context(), store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	ours, err := st.CreateOrganization(t.Context(), store.NewOrganization{Name: "ours", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	other, err := st.CreateOrganization(t.Context(), store.NewOrganization{Name: "other", Admin: &store.NewUser{Email: "b@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPublic(PublicConfig{Store: st})
	org := ours.Organization.ID
	as := func(kind principal.Kind, acting principal.OrgID, user principal.UserID) context.Context {
		return principal.WithResult(t.Context(), principal.Result{Principal: &principal.Principal{Kind: kind, Org: acting, User: user}})
	}
	for name, tc := range map[string]struct {
		ctx context.Context
		tag apierr.Tag
	}{
		"nobody":                {t.Context(), apierr.ShareSignInRequired},
		"a bad credential":      {principal.WithResult(t.Context(), principal.Result{Err: errors.New("ended")}), apierr.ShareSignInRequired},
		"an API key":            {as(principal.KindAPIKey, org, ours.Admin.ID), apierr.ShareSignInRequired},
		"an agent":              {as(principal.KindOAuth, org, ours.Admin.ID), apierr.ShareSignInRequired},
		"a member":              {as(principal.KindSession, org, ours.Admin.ID), 0},
		"a member, elsewhere":   {as(principal.KindSession, other.Organization.ID, ours.Admin.ID), 0},
		"a stranger":            {as(principal.KindSession, other.Organization.ID, other.Admin.ID), apierr.ShareWrongOrg},
		"a stranger, nowhere":   {as(principal.KindSession, "", other.Admin.ID), apierr.ShareWrongOrg},
		"a user who is no more": {as(principal.KindSession, other.Organization.ID, "user_gone"), apierr.ShareWrongOrg},
	} {
		err := p.belongs(tc.ctx, org)
		var e *apierr.Error
		if errors.As(err, &e); tc.tag == 0 && err != nil || tc.tag != 0 && (e == nil || e.Tag != tc.tag) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
