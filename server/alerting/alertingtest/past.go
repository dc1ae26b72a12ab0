// Package alertingtest lets the tests of services run the worker of alerts over a past.
package alertingtest

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/alerting"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Past is a store whose rules were enabled long ago and evaluated last at the time Through. It keeps the checks of commits.
type Past struct {
	*store.Store
	Through time.Time
	Checks  []alerting.Check
}

// NewPast returns the past of the last 14 minutes.
func NewPast(st *store.Store) *Past {
	return &Past{Store: st, Through: time.Now().UTC().Add(-40 * time.Second).Truncate(time.Minute).Add(-14 * time.Minute)}
}

// AlertCursors sets how far each shard is evaluated.
func (p *Past) AlertCursors(ctx context.Context, shard int) ([]store.AlertCursor, error) {
	out, err := p.Store.AlertCursors(ctx, shard)
	for i := range out {
		out[i].EvaluatedThrough = &p.Through
	}
	return out, err
}

// AlertMemory forgets when rules were enabled.
func (p *Past) AlertMemory(ctx context.Context, org principal.OrgID) (store.AlertMemory, error) {
	out, err := p.Store.AlertMemory(ctx, org)
	for i := range out.Rules {
		out.Rules[i].EnabledAt = nil
	}
	return out, err
}

// CommitAlerts keeps the checks.
func (p *Past) CommitAlerts(ctx context.Context, f store.Fence, org principal.OrgID, c store.AlertCommit) ([]uuid.UUID, error) {
	for _, batch := range c.Checks {
		checks, err := alerting.UnpackChecks(batch.Rows)
		if err != nil {
			return nil, err
		}
		p.Checks = append(p.Checks, checks...)
	}
	return p.Store.CommitAlerts(ctx, f, org, c)
}
