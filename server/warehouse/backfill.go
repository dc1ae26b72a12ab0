package warehouse

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// backfill describes a table that a later version added. Without a backfill the table lacks the rows that were stored before that
// version. Rollups need no backfill: for the time before a rollup existed, readers use finer rows.
type backfill struct {
	// view feeds target from source, a table with a column Timestamp.
	view, source, target string
	// at is the time column of target. The key columns tell whether target already has a row; only target's rows that match filter
	// count.
	at, key, filter string
	// later is a column of target that the view does not fill, because a later migration added it for other views.
	later string
}

func backfills() []backfill {
	return []backfill{
		{
			view: "error_events_view", source: "spans", target: "error_events", at: "Timestamp", key: "OrgId, TraceId, SpanId", filter: "1",
			later: "Source",
		},
		{view: "service_peers_view", source: "spans", target: "service_peers", at: "Minute", key: "OrgId, Minute", filter: "1"},
		{
			view:   "product_event_keys_view",
			source: "product_events",
			target: "attribute_keys",
			at:     "Hour",
			key:    "OrgId, Hour",
			filter: "Signal = 'product_events'",
		},
	}
}

const (
	// backfilled is the prefix of the names under which schema_migrations records finished backfills.
	backfilled = "backfill of "
	// newWarehouse is the longest time that the migrations of a new warehouse take. A view that was added within this time of the
	// first migration had no rows before it, unless an upgrade is recorded. Older versions recorded none.
	newWarehouse = 10 * time.Minute
)

// Backfill fills tables that later versions added with the rows that older versions stored. It goes hour by hour, the latest hour
// first, and adds only missing rows. An interrupted backfill starts again, and a finished one costs next to nothing. Two
// concurrent calls could add rows twice. It returns the number of hours that it went through, summed over all tables.
func (w *Warehouse) Backfill(ctx context.Context) (hours int, err error) {
	if err := w.usable(); err != nil {
		return 0, err
	}
	if w.endpoint.cluster != "" {
		return 0, fmt.Errorf("the tables of a cluster cannot be filled, because the view of a shard sees only the rows of that shard")
	}
	steps, err := renderMigrations(migrationFiles, w.endpoint.database, "")
	if err != nil {
		return 0, err
	}
	applied, err := w.appliedSteps(ctx)
	if err != nil {
		return 0, err
	}
	first := time.Now()
	for _, a := range applied {
		if a.at.Before(first) {
			first = a.at
		}
	}
	for _, f := range backfills() {
		query, step, err := f.query(steps)
		if err != nil {
			return hours, err
		}
		added, ok := applied[step]
		if _, done := applied[stepKey{backfilled + f.view, 1}]; done || !ok {
			continue
		}
		if isUpgrade(applied, added.at) || added.at.Sub(first) >= newWarehouse {
			n, err := w.fill(ctx, f, query, added.at)
			if hours += n; err != nil {
				return hours, fmt.Errorf("fill %s: %w", f.target, err)
			}
		}
		sql := fmt.Sprintf("INSERT INTO schema_migrations (File, Statement, Checksum) VALUES (%s, 1, '')", quoteText(backfilled+f.view))
		if err := w.exec(ctx, w.endpoint.database, sql, nil); err != nil {
			return hours, err
		}
	}
	return hours, nil
}

// query returns the SELECT of the view from the migration that creates it, and the key of that statement.
func (f backfill) query(steps []step) (string, stepKey, error) {
	for _, s := range steps {
		if head, query, ok := strings.Cut(s.sql, " AS\nSELECT"); ok &&
			strings.HasPrefix(head, "CREATE MATERIALIZED VIEW IF NOT EXISTS "+f.view+" ") {
			query = "SELECT" + query
			if strings.Count(query, "FROM "+f.source+"\n") != 1 {
				return "", stepKey{}, fmt.Errorf("the view %s does not read %s once", f.view, f.source)
			}
			return query, stepKey{s.file, s.number}, nil
		}
	}
	return "", stepKey{}, fmt.Errorf("no migration makes the view %s", f.view)
}

// fill goes from the hour in which the view was added back to the oldest row.
func (w *Warehouse) fill(ctx context.Context, f backfill, query string, added time.Time) (hours int, err error) {
	oldest, err := w.texts(ctx, "SELECT toString(toUnixTimestamp(toDateTime(min(Timestamp), 'UTC'))) FROM "+f.source+" HAVING count() > 0")
	if err != nil || len(oldest) == 0 {
		return 0, err
	}
	seconds, err := strconv.ParseInt(oldest[0], 10, 64)
	if err != nil {
		return 0, err
	}
	columns, err := w.texts(ctx, "SELECT name FROM system.columns WHERE database = "+quoteText(w.endpoint.database)+
		" AND table = "+quoteText(f.target)+" AND name != "+quoteText(f.later)+" ORDER BY position")
	if err != nil {
		return 0, err
	}
	list := strings.Join(columns, ", ")
	for hour := added.UTC().Truncate(time.Hour); !hour.Add(time.Hour).Before(time.Unix(seconds, 0)); hour = hour.Add(-time.Hour) {
		within := func(column string) string {
			return fmt.Sprintf("%[1]s >= toDateTime(%[2]d, 'UTC') AND %[1]s < toDateTime(%[3]d, 'UTC')", column, hour.Unix(),
				hour.Add(time.Hour).Unix())
		}
		rows := strings.Replace(query, "FROM "+f.source+"\n", fmt.Sprintf("FROM (SELECT * FROM %s WHERE %s)\n", f.source, within("Timestamp")), 1)
		sql := fmt.Sprintf(
			"INSERT INTO %[1]s (%[2]s) SELECT %[2]s FROM (\n%[3]s\n) WHERE (%[4]s) NOT IN (SELECT %[4]s FROM %[1]s WHERE %[5]s AND %[6]s)",
			f.target,
			list,
			rows,
			f.key,
			f.filter,
			within(f.at),
		)
		// One thread: concurrent inserts and reads have priority.
		if err := w.exec(ctx, w.endpoint.database, sql, map[string]string{"max_threads": "1", "insert_deduplicate": "0"}); err != nil {
			return hours, err
		}
		hours++
	}
	return hours, nil
}
