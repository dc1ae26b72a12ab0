package definition

import (
	"time"

	"github.com/google/uuid"
	"github.com/maypok86/otter/v2"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/store"
)

// cacheBytes bounds the text of the definitions that a Cache keeps. A parsed definition takes about four times the memory of its text.
const cacheBytes = 8 << 20

// Cache keeps parsed definitions: to parse them again is half of the cost of a list of dashboards. The caller reads the row of
// a dashboard from the database each time, and the version of the row finds the definition. So nodes need not tell each other
// about changes. A Cache is safe for concurrent use.
type Cache struct {
	kept *otter.Cache[cacheKey, parsed]
}

// cacheKey changes with every change of a dashboard. The time tells two states of one version apart after an operator restored a database.
type cacheKey struct {
	id      uuid.UUID
	version int
	updated time.Time
}

type parsed struct {
	def   *svcv2.DashboardDefinition
	bytes int
}

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{otter.Must(&otter.Options[cacheKey, parsed]{
		MaximumWeight: cacheBytes,
		Weigher:       func(_ cacheKey, p parsed) uint32 { return uint32(p.bytes) },
	})}
}

// Of returns the definition of a dashboard. Callers share it and must not change it.
func (c *Cache) Of(row store.Dashboard) (*svcv2.DashboardDefinition, error) {
	key := cacheKey{row.ID, row.Version, row.UpdatedAt}
	if p, ok := c.kept.GetIfPresent(key); ok {
		return p.def, nil
	}
	def, err := Read(row.Definition)
	if err == nil {
		c.kept.Set(key, parsed{def, len(row.Definition)})
	}
	return def, err
}
