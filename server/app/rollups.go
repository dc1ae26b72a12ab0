package app

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

const (
	// weightedMinutes is the migration that made service_minutes all that the query engine reads of it, coarseRollups the one that added the
	// rollups for long windows, serviceSeries the one that added the minutes of one service.
	weightedMinutes = "0006_weighted_minutes.sql"
	coarseRollups   = "0007_coarse_rollups.sql"
	serviceSeries   = "0011_service_series.sql"
	// firstMigrations is how long the migrations of a new warehouse take at most.
	firstMigrations = 10 * time.Minute
)

// rollups says since when the rollups hold everything that the query engine would read of rows: always in a warehouse that was made with
// them, else since the hour after they were added.
func (a *App) rollups(ctx context.Context) query.Rollups {
	statuses, err := a.warehouse.MigrationStatuses(ctx)
	if err != nil {
		a.log.Warn("the age of the rollups is not known: queries read rows", "error", err)
		return query.Rollups{}
	}
	return rollupsOf(statuses)
}

func rollupsOf(statuses []warehouse.MigrationStatus) query.Rollups {
	return query.Rollups{Minutes: rollupOf(statuses, weightedMinutes), Coarse: rollupOf(statuses, coarseRollups), Series: rollupOf(statuses, serviceSeries)}
}

// rollupOf is the rollup that a migration added.
func rollupOf(statuses []warehouse.MigrationStatus, migration string) query.Rollup {
	var first, added time.Time
	for _, s := range statuses {
		if !s.Applied && s.File <= migration {
			return query.Rollup{}
		}
		if first.IsZero() || s.Applied && s.AppliedAt.Before(first) {
			first = s.AppliedAt
		}
		if s.File == migration && s.AppliedAt.After(added) {
			added = s.AppliedAt
		}
	}
	if added.Sub(first) < firstMigrations {
		return query.Rollup{Complete: !added.IsZero()}
	}
	return query.Rollup{Complete: true, Since: added.Truncate(time.Hour).Add(time.Hour)}
}
