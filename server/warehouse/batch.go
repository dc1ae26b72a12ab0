package warehouse

import (
	"context"
	"fmt"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// InsertRows stores rows of Go values through the driver: for small tables and tests. Telemetry goes through Insert, which
// costs a third. The token works as Insert's.
func (w *Warehouse) InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error {
	if !namePattern.MatchString(table) {
		return fmt.Errorf("insert: %q is not a table name", table)
	}
	if err := w.usable(); err != nil {
		return err
	}
	settings := clickhouse.Settings{}
	for name, values := range w.insertParams(table, "", token) {
		if name != "query" && name != "database" {
			settings[name] = values[0]
		}
	}
	ctx = clickhouse.Context(ctx, clickhouse.WithSettings(settings))
	batch, err := w.conn.PrepareBatch(ctx, "INSERT INTO "+table+" ("+strings.Join(columns, ", ")+")")
	if err != nil {
		return mapError(ctx, err)
	}
	defer func() { _ = batch.Close() }() // returns the connection after a failed Append
	for i, row := range rows {
		if err := batch.Append(row...); err != nil {
			return fmt.Errorf("insert: row %d does not fit table %s: %w", i, table, err)
		}
	}
	return mapError(ctx, batch.Send())
}
