package read

import (
	"context"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// inProcess has places for one key.
type inProcess chan struct{}

func (p inProcess) Take(ctx context.Context, _ string) (func(), error) {
	select {
	case p <- struct{}{}:
		return func() { <-p }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestReadersShareAnOrganization: two nodes together run as many reads of an organization as one may, and SQL has a bound of its own among
// them. A place comes back with the rows, and with a read that was refused.
func TestReadersShareAnOrganization(t *testing.T) {
	w := &counting{Warehouse: warehousetest.Shared(t)}
	reads, sql := make(inProcess, 2), make(inProcess, 1)
	first := NewReader(Config{Warehouse: w, Shared: reads, SharedSQL: sql})
	second := NewReader(Config{Warehouse: w, Shared: reads, SharedSQL: sql})
	var open []*warehouse.Rows
	for _, r := range []*Reader{first, second} {
		rows, err := r.Query(t.Context(), "org_gate", numbers("3").SQL)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, rows)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := second.Query(short, "org_gate", numbers("3").SQL); tagOf(err) != apierr.QueryEngineTimeout {
		t.Errorf("a third read: %v", err)
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := second.SelectConfined(t.Context(), "org_gate", "SELECT 1", warehouse.TenantLimits{}); err != nil {
		t.Errorf("SQL after a read has ended: %v", err)
	}
	sql <- struct{}{} // SQL on a third node
	short, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := first.SelectConfined(short, "org_gate", "SELECT 1", warehouse.TenantLimits{}); tagOf(err) != apierr.QueryEngineTimeout {
		t.Errorf("a second SQL statement: %v", err)
	}
	if err := open[1].Close(); err != nil {
		t.Fatal(err)
	}
	if len(reads) > 0 || !first.slots.Idle() || !second.slots.Idle() {
		t.Errorf("%d places are not free", len(reads))
	}
	for range cap(reads) { // those of the refused reads have come back, too
		rows, err := second.Query(t.Context(), "org_gate", numbers("3").SQL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = rows.Close() }()
	}
}
