package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// TestSavedViewsOfOrganization checks that an organization has one more view below its bound and none at it, whoever owns them.
func TestSavedViewsOfOrganization(t *testing.T) {
	t.Parallel()
	s := open(t, store.Config{Path: filepath.Join(t.TempDir(), "svc.db")})
	ctx := t.Context()
	organization := func(slug string) principal.OrgID {
		t.Helper()
		o, err := s.CreateOrganization(ctx, store.NewOrganization{
			Name: slug, Slug: slug, Admin: &store.NewUser{Email: slug + "@example.com", Name: slug, PasswordHash: "hash"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return o.Organization.ID
	}
	full, other := organization("full"), organization("other")
	view := func(name string) store.SavedView {
		return store.SavedView{Page: "traces", Name: name, State: "q=has_error+%3D+true", Visibility: store.ViewShared}
	}
	views := make([]store.SavedView, limits.SavedViews-1)
	for i := range views {
		views[i] = view(fmt.Sprint("view ", i))
		views[i].Org = full
	}
	if err := s.InsertSavedViewsForTest(ctx, views); err != nil {
		t.Fatal(err)
	}
	if _, err := s.CreateSavedView(ctx, full, view("the last one")); err != nil {
		t.Fatalf("the last view: %v", err)
	}
	_, err := s.CreateSavedView(ctx, full, view("one too many"))
	want := fmt.Sprintf("the organization has %d, which is the most", limits.SavedViews)
	if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), want) {
		t.Errorf("one view too many: %v, want %q", err, want)
	}
	if _, err := s.CreateSavedView(ctx, other, view("the first one")); err != nil {
		t.Errorf("the bound of one organization holds for another: %v", err)
	}
}
