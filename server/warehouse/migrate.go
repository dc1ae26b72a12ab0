package warehouse

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

// Files of migrations after which a table holds figures that queries can read instead of rows. No file has the number 0010: it was never
// used, and stays free, because files are applied in the order of their names.
const (
	// MinutesComplete is the migration since which service_minutes holds everything that the query engine reads from it.
	MinutesComplete = "0006_weighted_minutes.sql"
	// CoarseRollupsAdded is the migration that added the rollups for long windows.
	CoarseRollupsAdded = "0007_coarse_rollups.sql"
	// ServiceSeriesAdded is the migration that added the minutes of one service.
	ServiceSeriesAdded = "0011_service_series.sql"
)

// MigrationStatus is the state of one statement of the migrations.
type MigrationStatus struct {
	File      string
	Statement int
	Title     string
	Applied   bool
	AppliedAt time.Time
	// Changed is true when the statement differs from the one that was applied.
	Changed bool
	// Upgrade is true when the warehouse held telemetry before the statement was applied.
	Upgrade bool
}

type appliedStep struct {
	checksum string
	at       time.Time
}

type stepKey struct {
	file   string
	number int
}

// Migrate creates the database and applies the statements that are not yet applied. Each statement is idempotent and is recorded
// when it is done. So an interrupted run or two concurrent runs do no harm, and the next run continues. There is no dirty state.
func (w *Warehouse) Migrate(ctx context.Context) error {
	return w.migrate(ctx, migrationFiles)
}

func (w *Warehouse) migrate(ctx context.Context, files fs.FS) error {
	steps, err := renderMigrations(files, w.endpoint.database, w.endpoint.cluster)
	if err != nil {
		return err
	}
	onCluster, engine := w.onCluster(), "MergeTree"
	settings := map[string]string{}
	if w.endpoint.cluster != "" {
		// One table for all shards: every node knows which statements were applied.
		engine = "ReplicatedMergeTree('/clickhouse/tables/all/{database}/{table}', '{shard}-{replica}')"
		settings["distributed_ddl_task_timeout"] = "300"
	}
	// The database may not exist yet, so this one statement runs in the server's default database.
	if err := w.exec(ctx, "", "CREATE DATABASE IF NOT EXISTS "+w.endpoint.database+onCluster, settings); err != nil {
		return fmt.Errorf("cannot create the warehouse database: %w", err)
	}
	record := "CREATE TABLE IF NOT EXISTS schema_migrations" + onCluster +
		" (File String, Statement UInt32, Checksum String, AppliedAt DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'))" +
		" ENGINE = " + engine + " ORDER BY (File, Statement) SETTINGS fsync_after_insert = 1"
	if err := w.exec(ctx, w.endpoint.database, record, settings); err != nil {
		return fmt.Errorf("cannot create the record of warehouse migrations: %w", err)
	}
	applied, err := w.appliedSteps(ctx)
	if err != nil {
		return err
	}
	if err := w.markUpgrade(ctx, steps, applied); err != nil {
		return err
	}
	fresh, begun := 0, time.Now()
	altered := map[string]bool{}
	for _, s := range steps {
		if s.sql == "" {
			continue
		}
		if done, ok := applied[stepKey{s.file, s.number}]; ok {
			if done.checksum != s.checksum {
				return fmt.Errorf("warehouse migration %s, statement %d was changed after it was applied at %s: "+
					"restore it, and put the change into a new file", s.file, s.number, done.at.Format(time.RFC3339))
			}
			continue
		}
		start := time.Now()
		if err := w.exec(ctx, w.endpoint.database, s.sql, settings); err != nil {
			return fmt.Errorf("warehouse migration %s, statement %d (%s): %w", s.file, s.number, s.title(), err)
		}
		sql := fmt.Sprintf("INSERT INTO schema_migrations (File, Statement, Checksum) VALUES (%s, %d, %s)", quoteText(s.file), s.number,
			quoteText(s.checksum))
		if err := w.exec(ctx, w.endpoint.database, sql, nil); err != nil {
			return fmt.Errorf("warehouse migration %s, statement %d was applied but not recorded: %w", s.file, s.number, err)
		}
		fresh++
		if m := modifyQuery.FindStringSubmatch(s.sql); m != nil {
			altered[m[1]] = true
		}
		w.log.DebugContext(ctx, "applied a warehouse migration", "file", s.file, "statement", s.number, "title", s.title(), "duration",
			time.Since(start).String())
	}
	if err := w.reload(ctx, slices.Sorted(maps.Keys(altered))); err != nil {
		return err
	}
	if fresh > 0 {
		w.log.InfoContext(ctx, "migrated the warehouse", "statements", fresh, "duration", time.Since(begun).String())
	}
	return nil
}

var modifyQuery = regexp.MustCompile(`^ALTER TABLE (\w+) MODIFY QUERY\b`)

// reload makes the embedded engine read altered views from disk, as it does after a restart. The deduplication token of a view's rows
// depends on the form of its query, and an altered view has another form until it is read again. Without the reload, an insert that is
// repeated after a crash would store the rows of such a view twice. No rows arrive meanwhile, since ingest begins after the migrations.
// A server is left alone, since other nodes may insert into its tables now.
func (w *Warehouse) reload(ctx context.Context, views []string) error {
	if w.endpoint.socket == "" {
		return nil
	}
	for _, view := range views {
		for _, verb := range []string{"DETACH", "ATTACH"} {
			if err := w.exec(ctx, w.endpoint.database, verb+" TABLE "+view, nil); err != nil {
				return fmt.Errorf("cannot reload the altered view %s: %w", view, err)
			}
		}
	}
	return nil
}

// upgraded is the name under which schema_migrations records the first time that statements were added to a warehouse with telemetry.
const upgraded = "upgrade"

// markUpgrade records that telemetry was there before the statements that are about to be applied.
func (w *Warehouse) markUpgrade(ctx context.Context, steps []step, applied map[stepKey]appliedStep) error {
	if _, marked := applied[stepKey{upgraded, 1}]; marked || len(applied) == 0 {
		return nil
	}
	for _, s := range steps {
		if _, ok := applied[stepKey{s.file, s.number}]; ok || s.sql == "" {
			continue
		}
		if empty, err := w.Empty(ctx); err != nil || empty {
			return err
		}
		sql := fmt.Sprintf("INSERT INTO schema_migrations (File, Statement, Checksum) VALUES (%s, 1, '')", quoteText(upgraded))
		return w.exec(ctx, w.endpoint.database, sql, nil)
	}
	return nil
}

// isUpgrade reports whether a statement was applied to a warehouse with telemetry, as far as that was recorded.
func isUpgrade(applied map[stepKey]appliedStep, at time.Time) bool {
	mark, marked := applied[stepKey{upgraded, 1}]
	return marked && !at.Before(mark.at)
}

func (w *Warehouse) appliedSteps(ctx context.Context) (map[stepKey]appliedStep, error) {
	rows, err := w.conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"readonly": "2"})),
		"SELECT File, Statement, Checksum, AppliedAt FROM schema_migrations ORDER BY AppliedAt")
	if err != nil {
		return nil, fmt.Errorf("cannot read the record of warehouse migrations: %w", mapError(ctx, err))
	}
	defer func() { _ = rows.Close() }()
	applied := map[stepKey]appliedStep{}
	for rows.Next() {
		var file, checksum string
		var number uint32
		var at time.Time
		if err := rows.Scan(&file, &number, &checksum, &at); err != nil {
			return nil, fmt.Errorf("cannot read the record of warehouse migrations: %w", err)
		}
		applied[stepKey{file, int(number)}] = appliedStep{checksum, at}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("cannot read the record of warehouse migrations: %w", mapError(ctx, err))
	}
	return applied, nil
}

// MigrationStatuses lists every statement that this endpoint needs. It changes nothing. Before the first Migrate, no statement is
// applied.
func (w *Warehouse) MigrationStatuses(ctx context.Context) ([]MigrationStatus, error) {
	steps, err := renderMigrations(migrationFiles, w.endpoint.database, w.endpoint.cluster)
	if err != nil {
		return nil, err
	}
	exists, err := w.hasMigrationRecord(ctx)
	if err != nil {
		return nil, err
	}
	applied := map[stepKey]appliedStep{}
	if exists {
		if applied, err = w.appliedSteps(ctx); err != nil {
			return nil, err
		}
	}
	var statuses []MigrationStatus
	for _, s := range steps {
		if s.sql == "" {
			continue
		}
		done, ok := applied[stepKey{s.file, s.number}]
		statuses = append(statuses, MigrationStatus{
			File: s.file, Statement: s.number, Title: s.title(), Applied: ok, AppliedAt: done.at, Changed: ok && done.checksum != s.checksum,
			Upgrade: ok && isUpgrade(applied, done.at),
		})
	}
	return statuses, nil
}

func (w *Warehouse) hasMigrationRecord(ctx context.Context) (bool, error) {
	// No database parameter here: ClickHouse refuses a database that does not exist.
	sql := "SELECT count() FROM system.tables WHERE database = " + quoteText(w.endpoint.database) + " AND name = 'schema_migrations'"
	res, err := w.post(ctx, nil, strings.NewReader(sql))
	if err != nil {
		return false, err
	}
	defer func() { _ = res.Body.Close() }()
	var out strings.Builder
	if err := copyAnswer(ctx, &out, res); err != nil {
		return false, err
	}
	return out.String() == "1\n", nil
}
