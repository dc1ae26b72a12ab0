package read

import (
	"testing"
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/warehouse"
)

func TestRollupsOf(t *testing.T) {
	at := time.Date(2026, 11, 1, 10, 0, 30, 0, time.UTC)
	later := time.Date(2026, 11, 1, 11, 0, 0, 0, time.UTC)
	step := func(file string, at time.Time) warehouse.MigrationStatus {
		return warehouse.MigrationStatus{File: file, Applied: !at.IsZero(), AppliedAt: at}
	}
	for name, tc := range map[string]struct {
		in   []warehouse.MigrationStatus
		want query.Rollups
	}{
		"none": {nil, query.Rollups{}},
		"new": {
			[]warehouse.MigrationStatus{
				step("0001_telemetry.sql", at), step(warehouse.MinutesComplete, at.Add(time.Second)),
				step(warehouse.CoarseRollupsAdded, at.Add(time.Second)), step(warehouse.ServiceSeriesAdded, at.Add(time.Second)),
			},
			query.AllRollups(),
		},
		"upgraded": {
			[]warehouse.MigrationStatus{step("0001_telemetry.sql", at.Add(-240*time.Hour)), step(warehouse.MinutesComplete, at)},
			query.Rollups{Minutes: query.Rollup{Complete: true, Since: later}},
		},
		"upgraded soon": { // within the time that a new warehouse may take, but over telemetry
			[]warehouse.MigrationStatus{
				step("0001_telemetry.sql", at.Add(-2*time.Minute)), step(warehouse.MinutesComplete, at.Add(-2*time.Minute)),
				step(warehouse.CoarseRollupsAdded, at.Add(-2*time.Minute)),
				{File: warehouse.ServiceSeriesAdded, Applied: true, AppliedAt: at, Upgrade: true},
			},
			query.Rollups{
				Minutes: query.Rollup{Complete: true}, Coarse: query.Rollup{Complete: true},
				Series: query.Rollup{Complete: true, Since: later},
			},
		},
		"upgraded twice": {
			[]warehouse.MigrationStatus{
				step("0001_telemetry.sql", at.Add(-240*time.Hour)), step(warehouse.MinutesComplete, at.Add(-240*time.Hour)),
				step(warehouse.CoarseRollupsAdded, at),
			},
			query.Rollups{Minutes: query.Rollup{Complete: true}, Coarse: query.Rollup{Complete: true, Since: later}},
		},
		"not yet":   {[]warehouse.MigrationStatus{step("0001_telemetry.sql", at), step(warehouse.MinutesComplete, time.Time{})}, query.Rollups{}},
		"before it": {[]warehouse.MigrationStatus{step("0001_telemetry.sql", at)}, query.Rollups{}},
		"a later file": {
			[]warehouse.MigrationStatus{
				step("0001_telemetry.sql", at), step(warehouse.MinutesComplete, at), step(warehouse.CoarseRollupsAdded, time.Time{}),
				step("0099_x.sql", time.Time{}),
			},
			query.Rollups{Minutes: query.Rollup{Complete: true}},
		},
	} {
		if got := rollupsOf(tc.in); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}
