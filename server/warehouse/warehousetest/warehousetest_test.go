package warehousetest_test

import (
	"os"
	"testing"

	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

func TestMain(m *testing.M) { os.Exit(warehousetest.Main(m)) }

func TestSmoke(t *testing.T) {
	w := warehousetest.Shared(t)
	if err := w.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	st, err := w.MigrationStatuses(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range st {
		t.Log(s)
	}
	rows, err := w.Query(t.Context(), "org_a", "SELECT count() FROM spans WHERE OrgId={org:String}")
	if err != nil {
		t.Fatal(err)
	}
	var n uint64
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	t.Log(n, rows.Err())
}
