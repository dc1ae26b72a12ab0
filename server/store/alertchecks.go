package store

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/alertcheckbatch"
	"github.com/svc-observability/svc/ent/deletedorganization"
	"github.com/svc-observability/svc/server/principal"
)

// AlertCheckGroup is a set of checks that is inserted into the warehouse at once.
type AlertCheckGroup struct {
	// ID is the token of the insert. A repeated insert with the same token and rows stores nothing twice.
	ID uuid.UUID
	// Batches are always in the same order.
	Batches []AlertCheckBatch
}

// AlertCheckBatch has the checks of one organization and minute, compressed.
type AlertCheckBatch struct {
	ID   uuid.UUID
	At   time.Time
	Rows []byte
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
			group.Batches = append(group.Batches, AlertCheckBatch{ID: row.ID, At: utc(row.EvaluatedAt), Rows: row.Rows})
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

// asideShard is where the batches of a shard are kept that cannot be read. No worker has such a shard.
func asideShard(shard int) int { return WorkShards(WorkAlerts) + shard }

// SetAsideAlertChecks takes batches out of the work of a shard, because they cannot be read. They are kept until SweepAlertChecks.
func (s *Store) SetAsideAlertChecks(ctx context.Context, f Fence, batches []AlertCheckBatch) error {
	return s.fenced(ctx, "set alert checks aside", f, func(tx *ent.Tx) error {
		for _, b := range batches {
			of := alertcheckbatch.And(alertcheckbatch.ID(b.ID), alertcheckbatch.Shard(f.Number))
			n, err := tx.AlertCheckBatch.Delete().Where(of).Exec(ctx)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			err = tx.AlertCheckBatch.Create().SetID(b.ID).SetShard(asideShard(f.Number)).SetEvaluatedAt(utc(b.At)).SetRows(b.Rows).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// SweepAlertChecks removes batches that were set aside and are older than a time.
func (s *Store) SweepAlertChecks(ctx context.Context, before time.Time) error {
	_, err := s.write.AlertCheckBatch.Delete().
		Where(alertcheckbatch.ShardGTE(asideShard(0)), alertcheckbatch.EvaluatedAtLT(utc(before))).Exec(ctx)
	if err != nil {
		return mapError("remove old alert checks", err)
	}
	return nil
}

// DeletedOrganizations returns those of the organizations that were deleted.
func (s *Store) DeletedOrganizations(ctx context.Context, orgs []principal.OrgID) ([]principal.OrgID, error) {
	names := make([]string, len(orgs))
	for i, o := range orgs {
		names[i] = string(o)
	}
	var out []principal.OrgID
	for part := range slices.Chunk(names, usageRows) {
		ids, err := s.read.DeletedOrganization.Query().Where(deletedorganization.IDIn(part...)).IDs(ctx)
		if err != nil {
			return nil, mapError("list deleted organizations", err)
		}
		for _, id := range ids {
			out = append(out, principal.OrgID(id))
		}
	}
	return out, nil
}
