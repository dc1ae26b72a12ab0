package store

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/svc-observability/svc/server/store/pgtest"
)

// TestMigrationStatuses checks a database before and after its migrations, and after a newer version has migrated it.
func TestMigrationStatuses(t *testing.T) {
	for name, config := range map[string]func(t *testing.T) Config{
		"sqlite":   func(t *testing.T) Config { return Config{Path: filepath.Join(t.TempDir(), "svc.db")} },
		"postgres": func(t *testing.T) Config { return Config{URL: pgtest.Start(t).NewDatabase(t)} },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			before, err := MigrationStatuses(t.Context(), cfg)
			if err != nil || len(before) == 0 || before[0].Applied {
				t.Fatalf("%+v, %v", before, err)
			}
			if _, err := os.Stat(cfg.Path); cfg.Path != "" && err == nil {
				t.Error("a look made the file")
			}
			s, err := Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			after, err := MigrationStatuses(t.Context(), cfg)
			if err != nil || len(after) != len(before) {
				t.Fatalf("%+v, %v", after, err)
			}
			for _, m := range after {
				if !m.Applied || m.Changed || m.AppliedAt.IsZero() {
					t.Errorf("%+v", m)
				}
			}
			const newer = `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (9999, '9999_newer.sql', 'x', '2030-01-01T00:00:00.000000Z')`
			if _, err := s.writeDB.ExecContext(t.Context(), newer); err != nil {
				t.Fatal(err)
			}
			if _, err := s.writeDB.ExecContext(t.Context(), `UPDATE schema_migrations SET checksum = 'y' WHERE version = 1`); err != nil {
				t.Fatal(err)
			}
			later, err := MigrationStatuses(t.Context(), cfg)
			if err != nil || len(later) != len(before)+1 || !later[0].Changed || !later[len(later)-1].Changed {
				t.Errorf("%+v, %v", later, err)
			}
		})
	}
}
