package alerting

import (
	"context"
	"fmt"
	"math"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/store"
)

// WaitingChecks are the checks that are not in the warehouse. *store.Store has them.
type WaitingChecks interface {
	NextAlertChecks(ctx context.Context, f store.Fence, limit int) (store.AlertCheckGroup, error)
	DeleteAlertChecks(ctx context.Context, f store.Fence, group uuid.UUID) error
}

// Inserter stores rows in the warehouse. *warehouse.Warehouse is one.
type Inserter interface {
	InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error
}

// Recorder moves checks from the relational database to the warehouse.
type Recorder struct {
	Waiting WaitingChecks
	Into    Inserter
}

// Record moves all waiting checks of a shard. After a crash or a failed insert, the same rows are inserted again under the same token, so
// the warehouse has each check once.
func (r Recorder) Record(ctx context.Context, f store.Fence) error {
	for {
		group, err := r.Waiting.NextAlertChecks(ctx, f, limits.AlertCheckBatches)
		if err != nil || len(group.Batches) == 0 {
			return err
		}
		var rows [][]any
		for _, batch := range group.Batches {
			checks, err := UnpackChecks(batch)
			if err != nil {
				return err
			}
			for i := range checks {
				rows = append(rows, checks[i].row())
			}
		}
		if len(rows) > 0 {
			if err := r.Into.InsertRows(ctx, "alert_checks", checkColumns(), rows, group.ID.String()); err != nil {
				return fmt.Errorf("alerting: checks: %w", err)
			}
		}
		if err := r.Waiting.DeleteAlertChecks(ctx, f, group.ID); err != nil {
			return err
		}
	}
}

func checkColumns() []string {
	return []string{
		"OrgId", "RuleId", "GroupKey", "Timestamp", "Status", "SkipReason", "SignalType", "Comparator", "Threshold", "ThresholdUpper",
		"ObservedValue", "SampleCount", "WindowMinutes", "ConsecutiveBreaches", "ConsecutiveHealthy", "IncidentId", "IncidentTransition",
		"EvaluationDurationMs", "ErrorMessage", "ErrorCategory",
	}
}

func (c *Check) row() []any {
	return []any{
		string(c.Org), c.RuleID, c.GroupKey, c.At.UTC(), string(c.Status), c.SkipReason, c.SignalType, c.Comparator, c.Threshold,
		c.ThresholdUpper, c.ObservedValue, c.SampleCount, unsigned(c.WindowMinutes), unsigned(c.ConsecutiveBreaches),
		unsigned(c.ConsecutiveHealthy), c.IncidentID, string(c.Transition), unsigned(c.DurationMs), c.ErrorMessage, c.ErrorCategory,
	}
}

// unsigned is a count in the range of its column.
func unsigned[T int | int64](n T) uint32 {
	return uint32(min(max(int64(n), 0), math.MaxUint32))
}
