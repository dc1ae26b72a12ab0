package alerting

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// WaitingChecks are the checks that are not in the warehouse. *store.Store has them.
type WaitingChecks interface {
	NextAlertChecks(ctx context.Context, f store.Fence, limit int) (store.AlertCheckGroup, error)
	DeleteAlertChecks(ctx context.Context, f store.Fence, group uuid.UUID) error
	SetAsideAlertChecks(ctx context.Context, f store.Fence, batches []store.AlertCheckBatch) error
	DeletedOrganizations(ctx context.Context, orgs []principal.OrgID) ([]principal.OrgID, error)
}

// Inserter stores rows in the warehouse. *warehouse.Warehouse is one.
type Inserter interface {
	InsertRows(ctx context.Context, table string, columns []string, rows [][]any, token string) error
}

// Recorder moves checks from the relational database to the warehouse.
type Recorder struct {
	Waiting WaitingChecks
	Into    Inserter
	// Unreadable gets each batch that was set aside because it cannot be read.
	Unreadable func(batch store.AlertCheckBatch, err error)
}

// Record moves all waiting checks of a shard. After a crash or a failed insert, the same rows are inserted again under the same token, so
// the warehouse has each check once. A batch that cannot be read is set aside, so that it holds up no other.
func (r Recorder) Record(ctx context.Context, f store.Fence) error {
	for {
		group, err := r.Waiting.NextAlertChecks(ctx, f, limits.AlertCheckBatches)
		if err != nil || len(group.Batches) == 0 {
			return err
		}
		checks, err := r.read(ctx, f, group.Batches)
		if err != nil {
			return err
		}
		rows, err := r.rows(ctx, checks)
		if err != nil {
			return err
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

// read unpacks batches, and sets those aside that cannot be read.
func (r Recorder) read(ctx context.Context, f store.Fence, batches []store.AlertCheckBatch) (checks []Check, err error) {
	var aside []store.AlertCheckBatch
	var reasons []error
	for _, batch := range batches {
		some, err := UnpackChecks(batch.Rows)
		if err != nil {
			aside, reasons = append(aside, batch), append(reasons, err)
			continue
		}
		checks = append(checks, some...)
	}
	if len(aside) == 0 {
		return checks, nil
	}
	if err := r.Waiting.SetAsideAlertChecks(ctx, f, aside); err != nil {
		return nil, err
	}
	for i, batch := range aside {
		r.Unreadable(batch, reasons[i])
	}
	return checks, nil
}

// rows leaves out the checks of organizations that were deleted: their telemetry may be removed already.
func (r Recorder) rows(ctx context.Context, checks []Check) ([][]any, error) {
	var orgs []principal.OrgID
	for i := range checks {
		if !slices.Contains(orgs, checks[i].Org) {
			orgs = append(orgs, checks[i].Org)
		}
	}
	if len(orgs) == 0 {
		return nil, nil
	}
	deleted, err := r.Waiting.DeletedOrganizations(ctx, orgs)
	if err != nil {
		return nil, err
	}
	var rows [][]any
	for i := range checks {
		if !slices.Contains(deleted, checks[i].Org) {
			rows = append(rows, checks[i].row())
		}
	}
	return rows, nil
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
