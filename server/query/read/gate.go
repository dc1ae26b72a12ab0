package read

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
)

// GateConfig is what a Gate needs. Zero fields have defaults.
type GateConfig struct {
	Warehouse GatedWarehouse
	Now       func() time.Time
	// PerOrganization is how many statements of one organization run at once.
	PerOrganization int
	// CacheBytes bounds the memory that kept results take.
	CacheBytes int
}

// GatedWarehouse is what a Gate needs of *warehouse.Warehouse.
type GatedWarehouse interface {
	Warehouse
	SelectConfined(ctx context.Context, org principal.OrgID, sql string, limits warehouse.TenantLimits) (*warehouse.TenantResult, error)
	SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error)
}

// Defaults of GateConfig. The engine of the query language takes 4 of the 6 and SQL of users 3, so that a full dashboard leaves room for lists and
// single items.
const (
	defaultPerOrganization = 6
	defaultCacheBytes      = 48 << 20
)

const (
	// settled is how long after its end a window gets nothing new but what comes late.
	settled = 2 * time.Minute
	// KeptFor is how long a result over a closed window is kept: what comes late shows after that.
	KeptFor = 5 * time.Minute
)

// Gate is the way of every service to the warehouse: it admits a share of statements of each organization, keeps results over closed windows,
// and lets equal reads that come together run once. It is safe for concurrent use.
type Gate struct {
	warehouse GatedWarehouse
	now       func() time.Time
	shares    *Shares
	cache     *cache
}

// NewGate returns a gate.
func NewGate(cfg GateConfig) *Gate {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.PerOrganization == 0 {
		cfg.PerOrganization = defaultPerOrganization
	}
	if cfg.CacheBytes == 0 {
		cfg.CacheBytes = defaultCacheBytes
	}
	return &Gate{warehouse: cfg.Warehouse, now: cfg.Now, shares: NewShares(cfg.PerOrganization), cache: newCache(cfg.CacheBytes, cfg.Now)}
}

// Query is that of the warehouse, within the share of the organization. The slot is held until the rows are closed, so who has rows open must
// not wait for others.
func (g *Gate) Query(ctx context.Context, org principal.OrgID, sql string, args ...warehouse.Arg) (*warehouse.Rows, error) {
	release, err := g.shares.Acquire(ctx, org)
	if err != nil {
		return nil, err
	}
	rows, err := g.warehouse.Query(ctx, org, sql, args...)
	if err != nil {
		release()
		return nil, err
	}
	rows.OnClose(release)
	return rows, nil
}

// SelectConfined is that of the warehouse, within the share of the organization. The result belongs to many: it must not be changed.
func (g *Gate) SelectConfined(ctx context.Context, org principal.OrgID, sql string, limits warehouse.TenantLimits) (*warehouse.TenantResult, error) {
	run := func() (*warehouse.TenantResult, error) {
		patient, cancel := context.WithTimeoutCause(ctx, warehouse.TenantPatience, warehouse.ErrTenantBusy)
		release, err := g.shares.Acquire(patient, org)
		busy := ctx.Err() == nil && patient.Err() != nil
		cancel()
		if err != nil {
			if busy {
				return nil, warehouse.ErrTenantBusy
			}
			return nil, err
		}
		defer release()
		return g.warehouse.SelectConfined(ctx, org, sql, limits)
	}
	keep := sharedFor(ctx)
	if keep == 0 {
		return run()
	}
	return Once(ctx, g, keyOf("sql", org, sql, limits), keep, func() (*warehouse.TenantResult, int, error) {
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

// SQLSchemas is that of the warehouse.
func (g *Gate) SQLSchemas(ctx context.Context) ([]warehouse.SQLSchema, error) {
	return g.warehouse.SQLSchemas(ctx)
}

// KeepFor is how long the result of a read up to an instant may be given to others who ask the same; zero for not at all. The zero instant is
// one that is not known.
func (g *Gate) KeepFor(ctx context.Context, until time.Time) time.Duration {
	if !until.IsZero() && g.now().Sub(until) >= settled {
		return KeptFor
	}
	return sharedFor(ctx)
}

type sharedKey struct{}

// Shared lets reads of the context be answered with what equal ones gave up to that long ago. It is for readers who come in crowds and ask with
// rounded windows.
func Shared(ctx context.Context, age time.Duration) context.Context {
	return context.WithValue(ctx, sharedKey{}, age)
}

func sharedFor(ctx context.Context) time.Duration {
	age, _ := ctx.Value(sharedKey{}).(time.Duration)
	return age
}
