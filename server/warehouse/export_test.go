package warehouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// MigrateFiles is Migrate with other files.
func (w *Warehouse) MigrateFiles(ctx context.Context, files fs.FS) error {
	return w.migrate(ctx, files)
}

// LateInsert is the statement of InsertLate with another source of rows.
func LateInsert(table, columns, source, token string) string {
	return lateInsert(table, columns, source, token)
}

// Checksums lists the checksum of each statement of the migrations.
func Checksums() (string, error) {
	steps, err := renderMigrations(migrationFiles, "svc", "main")
	var out strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&out, s.file, s.number, s.checksum)
	}
	return out.String(), err
}

// ComposedSQL is the statement that SelectConfined would run.
func (w *Warehouse) ComposedSQL(ctx context.Context, org principal.OrgID, sql string) (string, error) {
	t, err := w.confined(ctx, org, sql)
	if err != nil {
		return "", err
	}
	return t.sql, nil
}

// RunUnguarded runs a statement as a tenant without checking it: only the engine's rights and policies protect.
func (w *Warehouse) RunUnguarded(ctx context.Context, org principal.OrgID, sql string, limits TenantLimits) (*TenantResult, error) {
	return w.runTenant(ctx, org, sql, limits)
}

// RunUnfenced runs a statement that passed the guard as svc itself: no right and no policy restricts it.
func (w *Warehouse) RunUnfenced(ctx context.Context, org principal.OrgID, sql string, limits TenantLimits) (*TenantResult, error) {
	params := limits.params()
	params.Set("database", w.endpoint.database)
	params.Set("param_"+orgParam, string(org))
	res, err := w.post(ctx, params, strings.NewReader(sql))
	if err != nil {
		return nil, err
	}
	defer func() { _ = res.Body.Close() }()
	var out bytes.Buffer
	if err := copyAnswer(ctx, &out, res); err != nil {
		return nil, err
	}
	return readTenantResult(&out, limits.MaxRows)
}

// VerifyFence checks the row policies again.
func (w *Warehouse) VerifyFence(ctx context.Context) error { return w.verifyFence(ctx) }

// TenantStatements are the statements that make and renew the user of an organization on a server.
func (w *Warehouse) TenantStatements(org principal.OrgID) []string {
	return w.tenantStatements(org, true)
}

// ForgetSchema makes the next statement read the schema again.
func (w *Warehouse) ForgetSchema() {
	w.schemas.mu.Lock()
	defer w.schemas.mu.Unlock()
	w.schemas.current = nil
}

// InternalTables is for tests.
func InternalTables() map[string]string { return internalTables() }

// FenceOf is the fence for other migrations.
func FenceOf(sql ...string) (chdb.Fence, error) {
	var steps []step
	for _, s := range sql {
		steps = append(steps, step{file: "test", sql: s})
	}
	return fenceOf(steps)
}

// KindOfCode is the kind of a code of ClickHouse.
func KindOfCode(code int) error { return codeError(code, "", nil).Kind }

// Retryable reports whether the same call may succeed later: true unless ClickHouse permanently refuses the rows.
func Retryable(err error) bool {
	var e *Error
	return err != nil && (!errors.As(err, &e) || e.Retryable())
}
