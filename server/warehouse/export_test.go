package warehouse

import (
	"context"
	"io/fs"
)

// MigrateFiles is Migrate with other files.
func (w *Warehouse) MigrateFiles(ctx context.Context, files fs.FS) error {
	return w.migrate(ctx, files)
}

// RenderedSQL is the SQL of all migrations for a place.
func RenderedSQL(database, cluster string) ([]string, error) {
	steps, err := renderMigrations(migrationFiles, database, cluster)
	var sql []string
	for _, s := range steps {
		if s.sql != "" {
			sql = append(sql, s.sql)
		}
	}
	return sql, err
}
