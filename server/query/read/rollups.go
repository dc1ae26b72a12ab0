package read

import (
	"context"
	"log/slog"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

// firstMigrations is the longest time that the migrations of a new warehouse take. It matters only for installations of older versions,
// which did not record upgrades.
const firstMigrations = 10 * time.Minute

// Migrations is the part of *warehouse.Warehouse that knows the age of the rollups.
type Migrations interface {
	MigrationStatuses(ctx context.Context) ([]warehouse.MigrationStatus, error)
}

// Rollups returns the time since which the rollups hold everything that the query engine would otherwise read from rows. A warehouse that
// was created with the rollups has it from the start. An older one has it from the hour after the migration that added them. Without an
// answer of the warehouse, queries read rows.
func Rollups(ctx context.Context, m Migrations, logger *slog.Logger) query.Rollups {
	statuses, err := m.MigrationStatuses(ctx)
	if err != nil {
		logger.Warn("the age of the rollups is not known: queries read rows", "error", err)
		return query.Rollups{}
	}
	return rollupsOf(statuses)
}

func rollupsOf(statuses []warehouse.MigrationStatus) query.Rollups {
	return query.Rollups{
		Minutes: rollupOf(statuses, warehouse.MinutesComplete),
		Coarse:  rollupOf(statuses, warehouse.CoarseRollupsAdded),
		Series:  rollupOf(statuses, warehouse.ServiceSeriesAdded),
	}
}

// rollupOf returns the rollup that a migration added.
func rollupOf(statuses []warehouse.MigrationStatus, migration string) query.Rollup {
	var first, added time.Time
	upgrade := false
	for _, s := range statuses {
		if !s.Applied && s.File <= migration {
			return query.Rollup{}
		}
		if first.IsZero() || s.Applied && s.AppliedAt.Before(first) {
			first = s.AppliedAt
		}
		if s.File == migration && s.AppliedAt.After(added) {
			added, upgrade = s.AppliedAt, s.Upgrade
		}
	}
	if !upgrade && added.Sub(first) < firstMigrations {
		return query.Rollup{Complete: !added.IsZero()}
	}
	return query.Rollup{Complete: true, Since: added.Truncate(time.Hour).Add(time.Hour)}
}
