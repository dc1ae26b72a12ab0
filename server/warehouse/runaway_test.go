package warehouse_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// endless does not notice that it was cancelled. The guard of SQL refuses its function; here it stands for calls that the guard
// does not recognize.
const endless = "SELECT arrayLevenshteinDistance(range(100000), range(1, 100001))"

// reads runs a read of the API in which the engine works on a single value.
func reads(ctx context.Context, w *warehousetest.Engine, org principal.OrgID, value string) error {
	rows, err := w.Query(ctx, org, "SELECT toString("+value+") WHERE {org:String} != ''")
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	return errors.Join(rows.Err(), rows.Close())
}

// TestReadsThatDoNotEnd: an organization's reads keep their places after their callers have left, so it cannot have more of them in
// the engine than its share. When they do not end, the engine restarts. Others go on meanwhile, and nothing that was stored is lost.
func TestReadsThatDoNotEnd(t *testing.T) {
	e := tenantEngine(t)
	before := e.Supervisor.Restarts()
	left := make(chan error)
	for i := range limits.ReadsOfOrganization {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if i < limits.SQLStatementsOfOrganization {
				_, err := e.RunUnguarded(ctx, orgMine, endless, warehouse.DefaultTenantLimits())
				left <- err
				return
			}
			left <- reads(ctx, e, orgMine, "arrayLevenshteinDistance(range(100000), range(1, 100001))")
		}()
	}
	for range limits.ReadsOfOrganization {
		if err := <-left; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, warehouse.ErrTimeout) {
			t.Errorf("a caller that leaves: %v", err)
		}
	}
	cancelled := time.Now()
	go func() { left <- reads(t.Context(), e, orgMine, "1") }()
	if _, err := e.RunUnguarded(t.Context(), orgMine, endless, warehouse.DefaultTenantLimits()); !errors.Is(err, warehouse.ErrTenantBusy) {
		t.Errorf("SQL beyond the share: %v", err)
	}
	if err := <-left; !errors.Is(err, warehouse.ErrBusy) {
		t.Errorf("a read beyond the share: %v", err)
	}

	// The other organization reads all the time, also during the restart.
	for e.Supervisor.Restarts() == before {
		if err := reads(t.Context(), e, orgTheirs, "sleepEachRow(0.01)"); err != nil {
			t.Fatalf("another organization %s after the cancellation: %v", time.Since(cancelled), err)
		}
		if time.Since(cancelled) > 30*time.Second {
			t.Fatal("the engine does not restart")
		}
	}
	if since := time.Since(cancelled); since < limits.ReadEnd-2*time.Second {
		t.Errorf("the engine restarts %s after the cancellation", since)
	}
	for _, table := range []string{"logs", "spans"} {
		if _, err := e.SelectConfined(t.Context(), orgTheirs, "SELECT count() FROM "+table, warehouse.DefaultTenantLimits()); err != nil {
			t.Errorf("SQL of another organization after the restart: %v", err)
		}
	}
	// The organization pauses for reads or for SQL, whichever the engine found first. SQL waits for both pauses.
	_, err := e.SelectConfined(t.Context(), orgMine, "SELECT count() FROM logs", warehouse.DefaultTenantLimits())
	if !errors.Is(err, warehouse.ErrTenantBusy) && !errors.Is(err, warehouse.ErrBusy) {
		t.Errorf("SQL of the organization after the restart: %v", err)
	}
	if n := e.Supervisor.Restarts(); n != before+1 {
		t.Errorf("%d restarts", n-before)
	}
}
