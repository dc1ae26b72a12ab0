package read

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
)

// Config has the parts and bounds of a Reader. Zero fields have defaults.
type Config struct {
	Warehouse ConfinedWarehouse
	Now       func() time.Time
	// PerOrganization bounds the statements of one organization that run at once.
	PerOrganization int
	// Work says that the reads are those of background work, which have places of their own: limits.WorkReads in all.
	Work bool
	// Shared has the places of an organization on all nodes together, SharedSQL those of SQL among them. Nil means one node.
	Shared, SharedSQL Places
	// CacheBytes bounds the memory that kept results take.
	CacheBytes int
}

// ConfinedWarehouse is the part of *warehouse.Warehouse that a Reader needs.
type ConfinedWarehouse interface {
	Warehouse
	SelectConfined(ctx context.Context, org principal.OrgID, sql string, limits warehouse.TenantLimits) (*warehouse.TenantResult, error)
	SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error)
}

// Defaults of Config. The engine of the query language takes 4 of the 6 and SQL of users 3, so that a full dashboard leaves room for lists
// and single items.
const (
	defaultPerOrganization = limits.ReadsOfOrganization
	defaultCacheBytes      = 48 << 20
)

const (
	// settled is the time after the end of a window in which most of its telemetry arrives. Only late telemetry arrives after it.
	settled = limits.WindowSettled
	// KeptFor is how long a result over a closed window is kept: what comes late shows after that.
	KeptFor = limits.ResultKept
)

// Reader runs the statements of every service in the warehouse. It bounds the statements of each organization that run at once, keeps
// results over closed windows, and lets equal reads that come together run once. It is safe for concurrent use.
type Reader struct {
	warehouse ConfinedWarehouse
	now       func() time.Time
	slots     *OrgSlots
	sql       *OrgSlots
	work      chan struct{} // nil for the reads of people
	results   *results
}

// NewReader returns a reader.
func NewReader(cfg Config) *Reader {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	var work chan struct{}
	if cfg.Work {
		work = make(chan struct{}, limits.WorkReads)
		cfg.PerOrganization = limits.WorkReadsOfOrganization
	}
	if cfg.PerOrganization == 0 {
		cfg.PerOrganization = defaultPerOrganization
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = defaultCacheBytes
	}
	return &Reader{
		warehouse: cfg.Warehouse,
		now:       cfg.Now,
		slots:     NewOrgSlots(cfg.PerOrganization, cfg.Shared),
		sql:       NewOrgSlots(limits.SQLStatementsOfOrganization, cfg.SharedSQL),
		work:      work,
		results:   newResults(cfg.CacheBytes, cfg.Now),
	}
}

// Query runs a statement in the warehouse, in a slot of the organization. The slot is free again when the rows are closed, so a caller with
// open rows must not wait for other statements.
func (r *Reader) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	release, err := r.acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	if r.work != nil {
		args = append(slices.Clone(args), warehouse.OfWork())
	}
	rows, err := r.warehouse.Query(ctx, org, sql, args...)
	if err != nil {
		release()
		return nil, err
	}
	rows.OnClose(release)
	return rows, nil
}

// acquire waits for a slot of the organization, and for one of background work if the reader is for that.
func (r *Reader) acquire(ctx context.Context, org principal.OrgID) (func(), error) {
	release, err := r.slots.Acquire(ctx, org)
	if err != nil || r.work == nil {
		return release, err
	}
	select {
	case r.work <- struct{}{}:
		return func() { <-r.work; release() }, nil
	case <-ctx.Done():
		release()
		return nil, ctx.Err()
	}
}

// acquireSQL waits for a slot of SQL first: a statement that waits for it takes no slot from other reads.
func (r *Reader) acquireSQL(ctx context.Context, org principal.OrgID) (func(), error) {
	releaseSQL, err := r.sql.Acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	release, err := r.acquire(ctx, org)
	if err != nil {
		releaseSQL()
		return nil, err
	}
	return func() { release(); releaseSQL() }, nil
}

// SelectConfined runs SQL of users in the warehouse, in a slot of the organization. Callers share the result and must not change it.
func (r *Reader) SelectConfined(
	ctx context.Context,
	org principal.OrgID,
	sql string,
	bounds warehouse.TenantLimits,
) (*warehouse.TenantResult, error) {
	run := func() (*warehouse.TenantResult, error) {
		began := time.Now()
		patient, cancel := context.WithTimeoutCause(ctx, warehouse.TenantPatience, warehouse.ErrTenantBusy)
		release, err := r.acquireSQL(patient, org)
		busy := ctx.Err() == nil && patient.Err() != nil
		cancel()
		if err != nil {
			if busy {
				return nil, warehouse.ErrTenantBusy
			}
			return nil, err
		}
		defer release()
		rest := bounds
		rest.Wait = max(warehouse.TenantPatience-time.Since(began), time.Millisecond)
		return r.warehouse.SelectConfined(ctx, org, sql, rest)
	}
	keep := staleFor(ctx)
	if keep == 0 {
		return run()
	}
	return Coalesce(ctx, r, keyOf("sql", org, sql, bounds), keep, func() (*warehouse.TenantResult, int, error) {
		result, err := run()
		if err != nil {
			return nil, 0, err
		}
		bytes := 1024 + 64*len(result.Columns)
		for _, row := range result.Rows {
			bytes += 24 + len(row)
		}
		if len(result.Rows) == 0 {
			bytes = 0
		}
		return result, bytes, nil
	})
}

// SQLSchemas returns the tables that SQL of users can read.
func (r *Reader) SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error) {
	return r.warehouse.SQLSchemas(ctx)
}

// KeepFor is how long other callers may get the result of a read up to an instant. It is zero if the result must not be kept. The zero
// instant means that the end of the read is not known.
func (r *Reader) KeepFor(ctx context.Context, until time.Time) time.Duration {
	if !until.IsZero() && Settled(until, r.now()) {
		return KeptFor
	}
	return staleFor(ctx)
}

// Settled reports whether most telemetry of a window with that end has arrived.
func Settled(end, now time.Time) bool { return now.Sub(end) >= settled }

type staleKey struct{}

// AllowStale lets reads of the context take the results of equal reads up to that age. It is for crowds of readers, who ask with rounded
// windows.
func AllowStale(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(ctx, staleKey{}, age)
}

func staleFor(ctx context.Context) time.Duration {
	age, _ := ctx.Value(staleKey{}).(time.Duration)
	return age
}
