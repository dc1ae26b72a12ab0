package dashboards

import (
	"sync"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/store"
)

// maxDefinitionsBytes bounds the text of the definitions that are kept. What is made of it is about four times as large.
const maxDefinitionsBytes = 8 << 20

// definitions keeps what stored definitions mean: reading them again is half of what a list of dashboards costs. A dashboard is read
// from the database each time, and its version says whether the one that is kept is still the one; so nothing has to be told to
// other nodes. It is safe for concurrent use.
type definitions struct {
	mu sync.Mutex
	// When the newer ones reach half of the bound, they become the older ones, and what nobody asked for since is let go.
	newer, older map[definitionKey]*svcv2.CreateDashboardRequest
	bytes        int
}

// definitionKey changes with every change of a dashboard; the time tells states apart when a database was put back.
type definitionKey struct {
	id      uuid.UUID
	version int
	updated time.Time
}

// of returns the definition of a dashboard, which belongs to many: it must not be changed.
func (d *definitions) of(row store.Dashboard) (*svcv2.CreateDashboardRequest, error) {
	key := definitionKey{row.ID, row.Version, row.UpdatedAt}
	if def := d.find(key, len(row.Definition)); def != nil {
		return def, nil
	}
	def, err := readDefinition(row.Definition)
	if err == nil {
		d.keep(key, def, len(row.Definition))
	}
	return def, err
}

func (d *definitions) find(key definitionKey, size int) *svcv2.CreateDashboardRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	if def := d.newer[key]; def != nil {
		return def
	}
	def := d.older[key]
	if def != nil {
		d.put(key, def, size)
	}
	return def
}

func (d *definitions) keep(key definitionKey, def *svcv2.CreateDashboardRequest, size int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.put(key, def, size)
}

func (d *definitions) put(key definitionKey, def *svcv2.CreateDashboardRequest, size int) {
	if d.newer == nil || d.bytes+size > maxDefinitionsBytes/2 {
		d.newer, d.older, d.bytes = map[definitionKey]*svcv2.CreateDashboardRequest{}, d.newer, 0
	}
	if d.newer[key] == nil {
		d.newer[key] = def
		d.bytes += size
	}
}
