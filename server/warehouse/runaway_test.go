package warehouse_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
)

// TestStatementsThatDoNotEnd: a function that works on one block does not notice that its statement was cancelled. Such
// statements keep their slots until they end. So a tenant cannot have more of them than its number of slots, and others can
// continue.
func TestStatementsThatDoNotEnd(t *testing.T) {
	e := tenantEngine(t)
	// The statement guard does not allow this function. It stands for slow calls that the guard cannot recognize, such as some
	// regular expressions.
	const slow = "SELECT arrayLevenshteinDistance(range(50000), range(1, 50001))"
	left := make(chan error)
	for range 3 {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := e.RunUnguarded(ctx, orgMine, slow, warehouse.DefaultTenantLimits())
			left <- err
		}()
	}
	for range 3 {
		if err := <-left; !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, warehouse.ErrTimeout) {
			t.Errorf("a caller that leaves: %v", err)
		}
	}
	if _, err := e.RunUnguarded(t.Context(), orgMine, slow, warehouse.DefaultTenantLimits()); !errors.Is(err, warehouse.ErrTenantBusy) {
		t.Errorf("the fourth: %v", err)
	}
	if _, err := e.SelectConfined(t.Context(), orgTheirs, "SELECT count() FROM logs", warehouse.DefaultTenantLimits()); err != nil {
		t.Errorf("another organization meanwhile: %v", err)
	}
	for begun := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		_, err := e.SelectConfined(t.Context(), orgMine, "SELECT count() FROM logs", warehouse.DefaultTenantLimits())
		if err == nil {
			return
		}
		if !errors.Is(err, warehouse.ErrTenantBusy) || time.Since(begun) > 3*time.Minute {
			t.Fatalf("when they have ended: %v", err)
		}
	}
}
