package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/warehouse"
)

// systemLogsLarge is the size above which ClickHouse's own logs count as a problem: they grow with every query.
const systemLogsLarge = 1 << 30

// clockSkew is how far a ClickHouse server's clock may be off. Partitions and TTLs depend on that clock.
const clockSkew = 5 * time.Second

func checkDatabase(ctx context.Context, cfg config.Config, _ bool) finding {
	list, err := relationalMigrations(ctx, cfg)
	if err != nil {
		return fail("%v", err)
	}
	name := "SQLite in the data folder"
	if cfg.DatabaseURL.Reveal() != "" {
		name = "PostgreSQL at " + cfg.DatabaseURL.String()
	}
	return migrated(name, list)
}

// migrated checks the migrations of a database. Missing migrations are not a fault, because the next start applies them.
func migrated(name string, list []migration) finding {
	for _, m := range list {
		if m.State == "changed" {
			return fail("%s: migration %s differs from the one in this version of svc", name, m.Name)
		}
	}
	if n := behind(list); n > 0 {
		return ok("%s: %d of %d migrations are missing; the next start applies them", name, n, len(list))
	}
	return ok("%s, up to date", name)
}

func checkWarehouse(ctx context.Context, cfg config.Config, running bool) finding {
	if err := warehouseRuns(ctx, cfg); err != nil {
		if running {
			return fail("the embedded engine does not answer although the server runs; see its log")
		}
		return skip("the embedded engine runs only inside a server")
	}
	list, err := warehouseMigrations(ctx, cfg)
	if err != nil {
		return fail("%v", err)
	}
	at, err := rawValue(ctx, cfg, "SELECT toUnixTimestamp64Milli(now64(3))")
	if err != nil {
		return fail("%v", err)
	}
	millis, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return fail("its clock reads %q", at)
	}
	if skew := time.Since(time.UnixMilli(millis)); math.Abs(skew.Seconds()) > clockSkew.Seconds() {
		return fail("its clock is %s off this machine's: set both clocks", skew.Round(time.Second))
	}
	name := "embedded engine"
	if cfg.WarehouseURL.Reveal() != "" {
		name = "ClickHouse at " + cfg.WarehouseURL.String()
	}
	return migrated(name, list)
}

// checkHosts pings every host of the warehouse URL.
func checkHosts(ctx context.Context, cfg config.Config, _ bool) finding {
	if cfg.WarehouseURL.Reveal() == "" {
		return skip("the embedded engine is used")
	}
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{})
	if err != nil {
		return fail("%v", err)
	}
	defer func() { _ = w.Close() }()
	var answers, silent []string
	for _, h := range w.Hosts() {
		if err := w.PingHost(ctx, h.Address); err != nil {
			silent = append(silent, fmt.Sprintf("%s does not answer: %v", h.Address, err))
			continue
		}
		answers = append(answers, h.Address+" answers")
	}
	switch {
	case len(silent) == 0:
		return ok("%s", strings.Join(answers, ", "))
	case len(answers) == 0:
		return fail("%s", strings.Join(silent, "; "))
	}
	return warn("%s", strings.Join(append(answers, silent...), "; "))
}

// checkSystemLogs looks for ClickHouse's own log tables, which by default grow without a bound. Tables with a number are left
// over from upgrades.
func checkSystemLogs(ctx context.Context, cfg config.Config, _ bool) finding {
	if err := warehouseRuns(ctx, cfg); err != nil {
		return skip("the embedded engine runs only inside a server")
	}
	const statement = `SELECT name || ' ' || formatReadableSize(total_bytes), total_bytes, position(create_table_query, 'TTL ') > 0
FROM system.tables WHERE database = 'system' AND match(name, '_log(_[0-9]+)?$') AND engine LIKE '%MergeTree' AND total_bytes > 0 ORDER BY total_bytes DESC`
	text, err := rawValue(ctx, cfg, statement)
	if err != nil {
		return fail("%v", err)
	}
	var total uint64
	var unbounded []string
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(fields) != 3 {
			continue
		}
		bytes, err := strconv.ParseUint(fields[1], 10, 64)
		if err != nil {
			return fail("unexpected answer %q", line)
		}
		total += bytes
		if fields[2] == "0" {
			unbounded = append(unbounded, fields[0])
		}
	}
	switch {
	case total > systemLogsLarge:
		return fail(
			"ClickHouse's own logs take %s: turn them off or give them a TTL (%s)",
			config.Size(total>>20<<20),
			strings.Join(unbounded, ", "),
		)
	case len(unbounded) > 0:
		return warn("ClickHouse logs without a TTL, which grow without end: %s", strings.Join(unbounded, ", "))
	}
	return ok("all are bounded")
}

// rawValue runs a read-only statement over all organizations and returns its rows as TSV, without the last line break.
func rawValue(ctx context.Context, cfg config.Config, statement string) (_ string, err error) {
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	var out bytes.Buffer
	if err := w.RawQuery(ctx, statement, "TSV", &out); err != nil {
		if errors.Is(err, warehouse.ErrUnavailable) {
			return "", fmt.Errorf("%s does not answer: %w", w, err)
		}
		return "", err
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
