package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcheckbatch"
)

// AlertCheckGroup is a set of checks that is inserted into the warehouse at once.
type AlertCheckGroup struct {
	// ID is the token of the insert. A repeated insert with the same token and rows stores nothing twice.
	ID uuid.UUID
	// Batches are the compressed checks, always in the same order.
	Batches [][]byte
}

// NextAlertChecks returns the oldest checks of a shard that are not in the warehouse, at most limit batches. While a group is not
// removed by DeleteAlertChecks, it is returned again, with the same batches. The group is empty when no checks wait.
func (s *Store) NextAlertChecks(ctx context.Context, f Fence, limit int) (group AlertCheckGroup, err error) {
	waits, err := s.read.AlertCheckBatch.Query().Where(alertcheckbatch.Shard(f.Number)).Exist(ctx)
	if err != nil {
		return AlertCheckGroup{}, mapError("group alert checks", err)
	}
	if !waits {
		return AlertCheckGroup{}, nil
	}
	err = s.fenced(ctx, "group alert checks", f, func(tx *ent.Tx) error {
		group = AlertCheckGroup{}
		oldest := func() *ent.AlertCheckBatchQuery {
			return tx.AlertCheckBatch.Query().Where(alertcheckbatch.Shard(f.Number)).
				Order(alertcheckbatch.ByEvaluatedAt(), alertcheckbatch.ByID())
		}
		begun, err := oldest().Where(alertcheckbatch.InsertGroupNotNil()).First(ctx)
		var rows []*ent.AlertCheckBatch
		switch {
		case err == nil:
			group.ID = *begun.InsertGroup
			rows, err = oldest().Where(alertcheckbatch.InsertGroup(group.ID)).All(ctx)
		case ent.IsNotFound(err):
			rows, err = oldest().Limit(limit).All(ctx)
		}
		if err != nil || len(rows) == 0 {
			return err
		}
		ids := make([]uuid.UUID, len(rows))
		for i, row := range rows {
			ids[i] = row.ID
			group.Batches = append(group.Batches, row.Rows)
		}
		if begun != nil {
			return nil
		}
		if group.ID, err = uuid.NewV7(); err != nil {
			return err
		}
		return tx.AlertCheckBatch.Update().Where(alertcheckbatch.IDIn(ids...)).SetInsertGroup(group.ID).Exec(ctx)
	})
	return group, err
}

// DeleteAlertChecks removes a group that is in the warehouse.
func (s *Store) DeleteAlertChecks(ctx context.Context, f Fence, group uuid.UUID) error {
	return s.fenced(ctx, "delete alert checks", f, func(tx *ent.Tx) error {
		_, err := tx.AlertCheckBatch.Delete().
			Where(alertcheckbatch.Shard(f.Number), alertcheckbatch.InsertGroup(group)).Exec(ctx)
		return err
	})
}
