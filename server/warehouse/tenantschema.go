package warehouse

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/confine"
)

// schemaFor is how long the cached schema and policies of the engine are used. A migration or an operator may change them.
const schemaFor = time.Minute

// SQLColumn is a column of an offered table.
type SQLColumn struct {
	Name, Type string
	// Sorted is the column's position in the sort key, from 1. It is 0 for a column outside the sort key.
	Sorted int
}

// SQLSchema is an offered table with the columns that the engine has.
type SQLSchema struct {
	SQLTable
	Columns []SQLColumn
	// latest says that only the last version of a row counts.
	latest bool
}

// SortKey lists the columns of the sort key in their order. Filters on them find rows fastest.
func (o SQLSchema) SortKey() []string {
	var key []string
	for i := 1; ; i++ {
		at := slices.IndexFunc(o.Columns, func(c SQLColumn) bool { return c.Sorted == i })
		if at < 0 {
			return key
		}
		key = append(key, o.Columns[at].Name)
	}
}

// tenantSchema has the facts about the engine that the checks of tenants' statements need.
type tenantSchema struct {
	guard  *confine.Guard
	tables map[string]SQLSchema
	at     time.Time
}

type tenantSchemas struct {
	mu      sync.Mutex
	current *tenantSchema
}

// SQLSchemas describes the tables for SQL, in the order of SQLTables.
func (w *Warehouse) SQLSchemas(ctx context.Context) ([]SQLSchema, error) {
	if err := w.usable(); err != nil {
		return nil, err
	}
	s, err := w.tenantSchema(ctx)
	if err != nil {
		return nil, err
	}
	var list []SQLSchema
	for _, o := range SQLTables() {
		if t, ok := s.tables[o.Name]; ok {
			list = append(list, t)
		}
	}
	return list, nil
}

func (w *Warehouse) tenantSchema(ctx context.Context) (*tenantSchema, error) {
	w.schemas.mu.Lock()
	defer w.schemas.mu.Unlock()
	if s := w.schemas.current; s != nil && time.Since(s.at) < schemaFor {
		return s, nil
	}
	if err := w.verifyFence(ctx); err != nil {
		return nil, err
	}
	functions, err := w.texts(ctx, "SELECT name FROM system.functions")
	if err != nil {
		return nil, err
	}
	s := &tenantSchema{guard: confine.NewGuard(sqlTableNames(), functions), tables: map[string]SQLSchema{}, at: time.Now()}
	local := ""
	if w.endpoint.cluster != "" {
		local = localSuffix
	}
	// Take the sort key and the table engine from the table that holds the rows.
	columns, err := w.texts(
		ctx,
		"SELECT concat(c.table, '\\t', c.name, '\\t', c.type, '\\t', toString(indexOf(splitByString(', ', t.sorting_key), c.name)), '\\t', "+
			"if(t.engine LIKE '%ReplacingMergeTree', '1', '')) FROM system.columns AS c INNER JOIN system.tables AS t ON t.database = c.database "+
			"AND t.name = concat(c.table, "+
			quoteText(
				local,
			)+") WHERE c.database = "+quoteText(w.endpoint.database)+" AND c.default_kind != 'EPHEMERAL' ORDER BY c.table, c.position",
	)
	if err != nil {
		return nil, err
	}
	sources := map[string]*SQLSchema{}
	for _, line := range columns {
		f := strings.Split(line, "\t")
		if len(f) != 5 {
			return nil, decodeError(fmt.Errorf("the schema of the warehouse has the unexpected line %q", line))
		}
		t := sources[f[0]]
		if t == nil {
			t = &SQLSchema{latest: f[4] != ""}
			sources[f[0]] = t
		}
		c := SQLColumn{Name: f[1], Type: f[2]}
		if _, err := fmt.Sscan(f[3], &c.Sorted); err != nil {
			return nil, decodeError(err)
		}
		t.Columns = append(t.Columns, c)
	}
	for _, o := range SQLTables() {
		if t := sources[o.source()]; t != nil {
			t := *t
			t.SQLTable = o
			s.tables[o.Name] = t
		}
	}
	w.schemas.current = s
	return s, nil
}

// texts runs a statement of svc itself and returns its single text column.
func (w *Warehouse) texts(ctx context.Context, sql string) ([]string, error) {
	rows, err := w.conn.Query(clickhouse.Context(ctx, clickhouse.WithSettings(w.limits.settings())), sql)
	if err != nil {
		return nil, mapError(ctx, err)
	}
	defer func() { _ = rows.Close() }()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, decodeError(err)
		}
		out = append(out, text)
	}
	return out, mapError(ctx, rows.Err())
}

// ErrFence says that the row policies do not cover a table. No statement of a tenant runs then.
var ErrFence = fmt.Errorf("%w: the row policies of the warehouse do not cover every table", ErrScope)

// verifyFence checks that every table with rows of organizations has the policy that separates organizations, and no policy that
// weakens it.
func (w *Warehouse) verifyFence(ctx context.Context) error {
	bare, err := w.texts(ctx, "SELECT table FROM system.columns WHERE database = "+quoteText(w.endpoint.database)+
		" AND name = 'OrgId' AND NOT startsWith(table, '.') ORDER BY table")
	if err != nil {
		return err
	}
	policies, err := w.texts(
		ctx,
		"SELECT concat(table, '\\t', coalesce(select_filter, ''), '\\t', toString(is_restrictive)) FROM system.row_policies WHERE database = "+
			quoteText(w.endpoint.database)+" AND (apply_to_all = 1 OR "+w.appliesToTenants()+")",
	)
	if err != nil {
		return err
	}
	covered := map[string]bool{}
	for _, p := range policies {
		f := strings.Split(p, "\t")
		if len(f) != 3 {
			return fmt.Errorf("%w: unexpected policy %q", ErrFence, p)
		}
		switch {
		case f[2] == "1": // a restrictive policy only hides rows
		case bareCondition(f[1]) == bareCondition(w.ownRows()):
			covered[f[0]] = true
		case bareCondition(f[1]) == bareCondition("currentDatabase() = "+quoteText(w.endpoint.database)) && w.endpoint.socket != "": // svc itself
		default:
			return fmt.Errorf("%w: the policy %q on table %q shows a tenant other rows", ErrFence, f[1], f[0])
		}
	}
	var missing []string
	for _, t := range bare {
		if !covered[t] && !covered[""] { // a policy on the whole database names no table
			missing = append(missing, t)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", ErrFence, strings.Join(missing, ", "))
	}
	return w.verifyShards(ctx)
}

// appliesToTenants is the condition on the row policies that name the users of organizations, or their role.
func (w *Warehouse) appliesToTenants() string {
	if w.endpoint.socket != "" {
		return "has(apply_to_list, 'default')"
	}
	return "has(apply_to_list, " + quoteText(w.endpoint.tenantRole) + ") OR arrayExists(name -> startsWith(name, " +
		quoteText(chdb.TenantPrefix) +
		"), apply_to_list)"
}

// ownRows is the condition of the row policies.
func (w *Warehouse) ownRows() string {
	if w.endpoint.socket != "" {
		return "currentDatabase() = " + quoteText(w.endpoint.database) + " OR " + chdb.OwnRows("currentDatabase()")
	}
	// On a shard, currentUser() is the user that sent the statement to the first server.
	return chdb.OwnRows("currentUser()")
}

// bareCondition removes the parts of a condition that the engine may print differently.
func bareCondition(sql string) string {
	return strings.NewReplacer(" ", "", "(", "", ")", "", "`", "", "\n", "").Replace(sql)
}
