package store_test

import (
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestDeadlock: PostgreSQL aborts one of two transactions that wait for each other. The store runs it again, and both succeed.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s := open(t, store.Config{URL: pgtest.Start(t).NewDatabase(t)})
	made, err := s.CreateOrganization(ctx, store.NewOrganization{Name: "o", Admin: &store.NewUser{Email: "a@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	org := made.Organization.ID
	var ids [2]uuid.UUID
	for i := range ids {
		d, _, err := s.CreateDashboard(ctx, org, made.Admin.ID, store.DashboardChange{
			Name: "d", Definition: json.RawMessage("{}"),
			Kind: "created", Action: "created",
		})
		if err != nil {
			t.Fatal(err)
		}
		ids[i] = d.ID
	}
	var wg, both sync.WaitGroup
	both.Add(2)
	var runs [2]int
	for i := range 2 {
		wg.Go(func() {
			err := s.TxForTest(ctx, org, ids[i], ids[1-i], func() {
				if runs[i]++; runs[i] == 1 { // each holds the lock that the other wants
					both.Done()
					both.Wait()
				}
			})
			if err != nil {
				t.Errorf("transaction %d: %v", i, err)
			}
		})
	}
	wg.Wait()
	if runs[0]+runs[1] < 3 {
		t.Errorf("the transactions ran %d and %d times: they did not get into each other's way", runs[0], runs[1])
	}
}
