package warehouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/svc-observability/svc/server/principal"
)

// localSuffix ends the names of the tables that hold a shard's rows in a cluster.
const localSuffix = "_local"

// Holding returns the organizations that have at least one row in a telemetry table.
func (w *Warehouse) Holding(ctx context.Context, orgs []principal.OrgID) ([]principal.OrgID, error) {
	if len(orgs) == 0 {
		return nil, nil
	}
	if err := w.usable(); err != nil {
		return nil, err
	}
	tables, err := w.organizationTables(ctx)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(tables))
	for i, t := range tables {
		// OrgId comes first in every sort key: this reads next to nothing.
		parts[i] = "SELECT DISTINCT OrgId FROM " + strings.TrimSuffix(t, localSuffix) + " WHERE OrgId IN {orgs:Array(String)}"
	}
	ids := make([]string, len(orgs))
	for i, o := range orgs {
		ids[i] = string(o)
	}
	params, err := formatArgs([]Arg{Named("orgs", ids)})
	if err != nil {
		return nil, err
	}
	qctx := clickhouse.Context(ctx, clickhouse.WithSettings(w.limits.settings()), clickhouse.WithParameters(params))
	rows, err := w.conn.Query(qctx, "SELECT DISTINCT OrgId FROM ("+strings.Join(parts, " UNION ALL ")+")")
	if err != nil {
		return nil, mapError(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	var found []principal.OrgID
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, mapError(ctx, err)
		}
		found = append(found, principal.OrgID(id))
	}
	return found, mapError(ctx, rows.Err())
}

// togetherPurged bounds the length of a statement that deletes.
const togetherPurged = 500

// DeleteOrganizations removes every row of the organizations from every telemetry table, also from the disk, and returns when that is done.
// Each table is written anew once for all of them. Rows that are inserted meanwhile may stay: call it again.
func (w *Warehouse) DeleteOrganizations(ctx context.Context, orgs []principal.OrgID) error {
	if slices.Contains(orgs, "") {
		return errors.New("delete from the warehouse: no organization")
	}
	tables, err := w.organizationTables(ctx)
	if err != nil {
		return err
	}
	settings := map[string]string{"mutations_sync": "2"}
	if w.endpoint.cluster != "" {
		settings["distributed_ddl_task_timeout"] = "300" // seconds; the mutation goes on after it
	}
	var errs []error
	for part := range slices.Chunk(orgs, togetherPurged) {
		ids := make([]string, len(part))
		for i, org := range part {
			errs = append(errs, w.dropTenant(ctx, org))
			ids[i] = quoteText(string(org))
		}
		for _, t := range tables {
			sql := fmt.Sprintf("ALTER TABLE %s%s DELETE WHERE OrgId IN (%s)", t, w.onCluster(), strings.Join(ids, ", "))
			if err := w.exec(ctx, w.endpoint.database, sql, settings); err != nil {
				errs = append(errs, fmt.Errorf("delete from table %s: %w", t, err))
			}
		}
	}
	return errors.Join(errs...)
}

// organizationTables lists the tables that hold rows of organizations. On a cluster these are the tables of the shards.
func (w *Warehouse) organizationTables(ctx context.Context) ([]string, error) {
	qctx := clickhouse.Context(ctx, clickhouse.WithSettings(w.limits.settings()))
	rows, err := w.conn.Query(
		qctx,
		"SELECT table FROM system.columns WHERE database = "+quoteText(w.endpoint.database)+" AND name = 'OrgId' AND table IN "+
			"(SELECT name FROM system.tables WHERE database = "+quoteText(w.endpoint.database)+" AND engine LIKE '%MergeTree') ORDER BY table",
	)
	if err != nil {
		return nil, mapError(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	var tables []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, mapError(ctx, err)
		}
		// Materialized views without a target keep their rows in a table with a hidden name.
		if namePattern.MatchString(name) {
			tables = append(tables, name)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, mapError(ctx, err)
	}
	if w.endpoint.cluster != "" {
		tables = slices.DeleteFunc(tables, func(t string) bool { return !strings.HasSuffix(t, localSuffix) })
	}
	if len(tables) == 0 {
		return nil, errors.New("the warehouse has no tables of telemetry: apply the migrations first")
	}
	return tables, nil
}
