package storetest

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("error = %v, want %v", err, want)
	}
}

func testOrganizations(t *testing.T, f *fixture) {
	ctx := t.Context()
	first, err := f.CreateOrganization(ctx, store.NewOrganization{
		Name: "  Größe & Co ", Admin: &store.NewUser{Email: " Admin@Example.COM", Name: "Ada", PasswordHash: "phc"},
		IngestKeys: &store.DefaultIngestKeys{Public: f.secret(), Private: f.secret()},
		ApiKey:     &store.NewApiKey{Name: "first", Kind: store.ApiKeyStandard, Secret: f.secret()},
	})
	if err != nil {
		t.Fatal(err)
	}
	org := first.Organization
	if !strings.HasPrefix(string(org.ID), "org_") || org.Slug != "gr-e-co" {
		t.Errorf("organization = %+v", org)
	}
	if got, err := f.GetOrganization(ctx, org.ID); err != nil || got != org {
		t.Errorf("get = %+v, %v", got, err)
	}
	if role, err := f.RoleOf(ctx, org.ID, first.Admin.ID); err != nil || role != principal.RoleAdmin {
		t.Errorf("role of the administrator = %q, %v", role, err)
	}
	if len(first.IngestKeys) != 2 || first.ApiKey == nil || first.ApiKey.CreatedBy != first.Admin.ID ||
		*first.ApiKey.CreatedByEmail != "admin@example.com" {
		t.Errorf("keys = %+v, %+v", first.IngestKeys, first.ApiKey)
	}

	// The slug is taken, so the second organization gets a suffix. An explicit slug is a conflict instead.
	second, err := f.CreateOrganization(ctx, store.NewOrganization{Name: "Größe Co", AdminUser: first.Admin.ID})
	if err != nil {
		t.Fatal(err)
	}
	if s := second.Organization.Slug; !strings.HasPrefix(s, "gr-e-co-") {
		t.Errorf("second slug = %q", s)
	}
	_, err = f.CreateOrganization(ctx, store.NewOrganization{Name: "x", Slug: "gr-e-co", AdminUser: first.Admin.ID})
	wantError(t, err, store.ErrConflict)

	// A failed creation leaves no rows.
	_, err = f.CreateOrganization(ctx, store.NewOrganization{Name: "third", Admin: &store.NewUser{Email: "ADMIN@example.com"}})
	wantError(t, err, store.ErrConflict)
	_, err = f.CreateOrganization(ctx, store.NewOrganization{Name: "third", AdminUser: "user_none"})
	wantError(t, err, store.ErrNotFound)
	all, err := f.ListOrganizations(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[principal.OrgID]bool{org.ID: true, second.Organization.ID: true}, ids(all)); diff != "" {
		t.Errorf("organizations (-want +got):\n%s", diff)
	}
	_, err = f.GetOrganization(ctx, "org_none")
	wantError(t, err, store.ErrNotFound)
}

func ids(orgs []store.Organization) map[principal.OrgID]bool {
	out := map[principal.OrgID]bool{}
	for _, o := range orgs {
		out[o.ID] = true
	}
	return out
}

func testBootstrapOnce(t *testing.T, f *fixture) {
	const nodes = 8
	var wg sync.WaitGroup
	created := make([]bool, nodes)
	for i := range nodes {
		wg.Go(func() {
			var err error
			_, created[i], err = f.BootstrapOrganization(t.Context(), store.NewOrganization{
				Name: "Default", Admin: &store.NewUser{Email: f.name() + "@example.com"},
			})
			if err != nil {
				t.Errorf("bootstrap: %v", err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, c := range created {
		if c {
			n++
		}
	}
	all, err := f.ListOrganizations(t.Context())
	if err != nil || n != 1 || len(all) != 1 {
		t.Errorf("%d nodes created, %d organizations, %v", n, len(all), err)
	}
}

func testUsers(t *testing.T, f *fixture) {
	ctx := t.Context()
	u, err := f.CreateUser(ctx, store.NewUser{Email: "Ada@Example.com", Name: "Ada"})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(u.ID), "user_") || u.Email != "ada@example.com" {
		t.Errorf("user = %+v", u)
	}
	_, err = f.CreateUser(ctx, store.NewUser{Email: "ADA@EXAMPLE.COM "})
	wantError(t, err, store.ErrConflict)
	if _, err := f.ChangePassword(ctx, u.ID, "phc", uuid.Nil); err != nil {
		t.Fatal(err)
	}
	u.PasswordHash = "phc"
	if got, err := f.UserByEmail(ctx, " aDa@example.com"); err != nil || got != u {
		t.Errorf("by email = %+v, %v", got, err)
	}
	if got, err := f.GetUser(ctx, u.ID); err != nil || got != u {
		t.Errorf("by id = %+v, %v", got, err)
	}
	_, err = f.UserByEmail(ctx, "none@example.com")
	wantError(t, err, store.ErrNotFound)
	_, err = f.ChangePassword(ctx, "user_none", "x", uuid.Nil)
	wantError(t, err, store.ErrNotFound)
}

func testMemberships(t *testing.T, f *fixture) {
	ctx := t.Context()
	org, _ := f.org(t)
	other, _ := f.org(t)
	u, err := f.CreateUser(ctx, store.NewUser{Email: "m@example.com"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.RoleOf(ctx, org, u.ID)
	wantError(t, err, store.ErrNotFound)
	if err := f.CreateMembership(ctx, org, u.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	wantError(t, f.CreateMembership(ctx, org, u.ID, principal.RoleAdmin), store.ErrConflict)
	wantError(t, f.CreateMembership(ctx, "org_none", u.ID, principal.RoleAdmin), store.ErrNotFound)
	wantError(t, f.CreateMembership(ctx, org, "user_none", principal.RoleAdmin), store.ErrNotFound)
	if err := f.CreateMembership(ctx, org, u.ID, principal.RoleRoot); err == nil {
		t.Error("a member became root")
	}
	if role, err := f.RoleOf(ctx, org, u.ID); err != nil || role != principal.RoleMember {
		t.Errorf("role = %q, %v", role, err)
	}
	_, err = f.RoleOf(ctx, other, u.ID)
	wantError(t, err, store.ErrNotFound)
	_, err = f.SetRole(ctx, other, u.ID, principal.RoleAdmin)
	wantError(t, err, store.ErrNotFound)
	wantError(t, f.DeleteMembership(ctx, other, u.ID), store.ErrNotFound)
	if _, err := f.SetRole(ctx, org, u.ID, principal.RoleAdmin); err != nil {
		t.Fatal(err)
	}
	f.advance(1)
	if err := f.CreateMembership(ctx, other, u.ID, principal.RoleMember); err != nil {
		t.Fatal(err)
	}
	ms, err := f.MembershipsOf(ctx, u.ID)
	if err != nil || len(ms) != 2 || ms[0].Role != principal.RoleAdmin || ms[0].Org != org || ms[1].Org != other {
		t.Errorf("memberships = %+v, %v", ms, err)
	}
	if err := f.DeleteMembership(ctx, org, u.ID); err != nil {
		t.Fatal(err)
	}
	_, err = f.RoleOf(ctx, org, u.ID)
	wantError(t, err, store.ErrNotFound)
}
