package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

const (
	// weightedMinutes is the migration that made service_minutes all that the query engine reads of it.
	weightedMinutes = "0006_weighted_minutes.sql"
	// firstMigrations is how long the migrations of a new warehouse take at most.
	firstMigrations = 10 * time.Minute
)

// rollups says since when the rollups hold everything that the query engine would read of rows: always in a warehouse that was made with
// them, else since the minute after they were added.
func (a *App) rollups(ctx context.Context) query.Rollups {
	statuses, err := a.warehouse.MigrationStatuses(ctx)
	if err != nil {
		a.log.Warn("the age of the rollups is not known: queries read rows", "error", err)
		return query.Rollups{}
	}
	return rollupsOf(statuses)
}

func rollupsOf(statuses []warehouse.MigrationStatus) query.Rollups {
	var first, added time.Time
	for _, s := range statuses {
		if !s.Applied && s.File <= weightedMinutes {
			return query.Rollups{}
		}
		if first.IsZero() || s.Applied && s.AppliedAt.Before(first) {
			first = s.AppliedAt
		}
		if s.File == weightedMinutes && s.AppliedAt.After(added) {
			added = s.AppliedAt
		}
	}
	if added.Sub(first) < firstMigrations {
		return query.Rollups{Complete: !added.IsZero()}
	}
	return query.Rollups{Complete: true, Since: added.Truncate(time.Minute).Add(time.Minute)}
}
