package reads

import (
	"time"

	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// incidentCases are the reads of incidents and differences.
func incidentCases(w query.Window, value func(string) *string, filter query.Filter) map[string]sqlbuild.Statement {
	c := ChangeSeries{Window: query.Window{Start: w.Start.Truncate(time.Minute), End: w.End}, Bucket: 2 * time.Minute, Limit: 100}
	narrow := c
	narrow.Environment, narrow.Service = value("environment"), value("service")
	side := Selection{Window: w, Filter: match(query.Builtin, "has_error", query.OpEqual, "true")}
	before := Selection{Window: w.Before(), Filter: filter}
	spans := Difference{Source: query.Traces, Selected: side, Other: Selection{Window: w}, SelectedShare: 1, OtherShare: 0.25, Limit: 100}
	logs := Difference{
		Source: query.Logs, Scope: match(query.Builtin, "service.name", query.OpEqual, marker), Selected: Selection{Window: w}, Other: before,
		SelectedShare: 1, OtherShare: 1, Limit: 100,
	}
	sessions := Difference{
		Source: query.Sessions, Scope: match(query.OwnAttribute, "plan", query.OpEqual, marker), Selected: side, Other: before,
		SelectedShare: 1, OtherShare: 1, Limit: 100,
	}
	return map[string]sqlbuild.Statement{
		"service_changes":        ServiceChanges(c),
		"service_changes_narrow": ServiceChanges(narrow),
		"peer_changes":           PeerChanges(narrow),
		"error_changes":          ErrorChanges(c),
		"log_changes":            LogChanges(c),
		"gauge_changes":          GaugeChanges(c, []string{marker}),
		"level_changes":          LevelChanges(c, []string{marker}),
		"resource_metrics":       ResourceMetrics(w, []string{"memory", "queue"}, 51),
		"difference_sizes":       DifferenceSizes(spans),
		"difference_sizes_logs":  DifferenceSizes(logs),
		"difference_sessions":    DifferenceSizes(sessions),
		"differences":            Differences(spans, 100, 1000),
		"differences_logs":       Differences(logs, 100, 1000),
		"differences_sessions":   Differences(sessions, 100, 1000),
		"operation_levels":       OperationLevels(w, w.Before(), match(query.Builtin, "service.name", query.OpEqual, marker+" service"), 100),
		"affected":               Affected(w, filter, 10_000),
	}
}
