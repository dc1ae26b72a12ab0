package store_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/store/pgtest"
	"github.com/svc-observability/svc/server/store/storetest"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T, now func() time.Time) *store.Store {
		return open(t, store.Config{Path: filepath.Join(t.TempDir(), "svc.db"), Now: now})
	})
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	pg := pgtest.Start(t)
	storetest.Run(t, func(t *testing.T, now func() time.Time) *store.Store {
		return open(t, store.Config{URL: pg.NewDatabase(t), Now: now})
	})
}

func open(t *testing.T, cfg store.Config) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}
