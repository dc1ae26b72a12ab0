package storetest

import (
	"errors"
	"sync"
	"testing"

	"github.com/svc-observability/svc/server/store"
)

// testIdentity: servers that start together agree on one identity, which does not change. Only ReplaceSecretKey changes the key,
// and the audit log of every organization has an entry about it.
func testIdentity(t *testing.T, f *fixture) {
	if _, err := f.Identity(t.Context()); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before the first claim: %v", err)
	}
	claimed := make([]store.Identity, 4)
	var wg sync.WaitGroup
	for i, key := range []string{"one", "two", "one", "two"} {
		wg.Go(func() {
			var err error
			if claimed[i], err = f.ClaimIdentity(t.Context(), key); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range claimed {
		if id != claimed[0] || len(id.Installation) < 20 || id.SecretKey != "one" && id.SecretKey != "two" {
			t.Errorf("%+v and %+v", id, claimed[0])
		}
	}
	org, _ := f.org(t)
	for range 2 { // the second time there is nothing to replace
		if err := f.ReplaceSecretKey(t.Context(), "three"); err != nil {
			t.Fatal(err)
		}
	}
	want := store.Identity{Installation: claimed[0].Installation, SecretKey: "three"}
	if id, err := f.Identity(t.Context()); id != want || err != nil {
		t.Errorf("%+v %v", id, err)
	}
	all, err := f.ListAuditLogEntries(t.Context(), org, store.AuditFilter{Action: "secret_key.replaced"}, 0, 10)
	if err != nil || len(all) != 1 || all[0].Changes.Before["fingerprint"] != claimed[0].SecretKey ||
		all[0].Changes.After["fingerprint"] != "three" {
		t.Errorf("audit log: %+v %v", all, err)
	}
}
