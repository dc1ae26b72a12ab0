package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/worknode"
	"github.com/svc-observability/svc/ent/workshard"
	"github.com/svc-observability/svc/server/limits"
)

// WorkNode is a process that does background work.
type WorkNode struct {
	// ID is new at each start.
	ID uuid.UUID
	// Kinds are the kinds of work that it does.
	Kinds []string
	// Host and Version are for people.
	Host, Version string
	// SeenAt is its last sign of life, by the clock of the database.
	SeenAt time.Time
}

// JoinWork announces a node and adds the shards that are missing. On SQLite the lock of the data folder proves that this is the only
// server, so the node takes all shards of its kinds at once, whatever the clock says.
func (s *Store) JoinWork(ctx context.Context, node WorkNode) error {
	return s.tx(ctx, "join the background work", func(tx *ent.Tx) error {
		var missing []*ent.WorkShardCreate
		for _, kind := range slices.Sorted(slices.Values(node.Kinds)) {
			for n := range WorkShards(kind) {
				missing = append(missing, tx.WorkShard.Create().SetID(shardID(kind, n)).SetKind(kind).SetNumber(n).SetFence(0))
			}
		}
		err := tx.WorkShard.CreateBulk(missing...).OnConflict(entsql.ConflictColumns(workshard.FieldID), entsql.DoNothing()).Exec(ctx)
		if err != nil && !errorIsNoRows(err) {
			return err
		}
		if s.dialect == dialect.SQLite {
			if _, err := tx.WorkNode.Delete().Exec(ctx); err != nil {
				return err
			}
			err := tx.WorkShard.Update().Where(workshard.KindIn(node.Kinds...)).
				SetHolder(node.ID).AddFence(1).ClearExpiresAt().Exec(ctx)
			if err != nil {
				return err
			}
		}
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		return tx.WorkNode.Create().SetID(node.ID).SetKinds(node.Kinds).SetHost(node.Host).SetVersion(node.Version).
			SetStartedAt(now).SetSeenAt(now).Exec(ctx)
	})
}

// errorIsNoRows: a bulk insert that changed nothing returns no id.
func errorIsNoRows(err error) bool {
	return err != nil && strings.Contains(err.Error(), sql.ErrNoRows.Error())
}

// workClock is the clock of leases: that of the database, so that the clocks of nodes never meet. On SQLite it is that of the process.
func (s *Store) workClock(ctx context.Context, tx *ent.Tx) (time.Time, error) {
	if s.dialect == dialect.SQLite {
		return s.stamp(), nil
	}
	rows, err := tx.QueryContext(ctx, "SELECT clock_timestamp()")
	if err != nil {
		return time.Time{}, err
	}
	defer func() { _ = rows.Close() }()
	var now time.Time
	if rows.Next() {
		if err := rows.Scan(&now); err != nil {
			return time.Time{}, err
		}
	}
	return utc(now), rows.Err()
}

// BeatWork renews the leases of the node, takes its share of free shards and gives back what is above its share. It returns the leases
// that the node has now. On SQLite nothing expires and nothing is renewed.
func (s *Store) BeatWork(ctx context.Context, node WorkNode) (held []Fence, err error) {
	if s.dialect == dialect.SQLite {
		return s.heldShards(ctx, s.read, node.ID)
	}
	err = txOn(ctx, s.lease, "renew the leases", func(tx *ent.Tx) error {
		held = nil
		live, err := s.liveNodes(ctx, tx, node)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `UPDATE work_shards SET expires_at = clock_timestamp() + $2 * interval '1 microsecond' WHERE holder = $1`,
			node.ID, limits.WorkLease.Microseconds())
		if err != nil {
			return err
		}
		if held, err = s.heldShards(ctx, tx.Client(), node.ID); err != nil {
			return err
		}
		for _, kind := range node.Kinds {
			own := slices.DeleteFunc(slices.Clone(held), func(f Fence) bool { return f.Kind != kind })
			share := (WorkShards(kind) + max(1, live[kind]) - 1) / max(1, live[kind])
			switch {
			case len(own) < share:
				if err := s.claimShards(ctx, tx, node.ID, kind, share-len(own)); err != nil {
					return err
				}
			case len(own) > share:
				if err := s.releaseShards(ctx, tx, own[0]); err != nil {
					return err
				}
			}
		}
		held, err = s.heldShards(ctx, tx.Client(), node.ID)
		return err
	})
	return held, err
}

// liveNodes records the sign of life of the node, removes the rows of nodes that are gone, and counts the live nodes of each kind.
func (s *Store) liveNodes(ctx context.Context, tx *ent.Tx, node WorkNode) (map[string]int, error) {
	now, err := s.workClock(ctx, tx)
	if err != nil {
		return nil, err
	}
	err = tx.WorkNode.Create().SetID(node.ID).SetKinds(node.Kinds).SetHost(node.Host).SetVersion(node.Version).SetStartedAt(now).
		SetSeenAt(now).
		OnConflict(entsql.ConflictColumns(worknode.FieldID), entsql.ResolveWith(func(u *entsql.UpdateSet) {
			u.SetExcluded(worknode.FieldSeenAt)
		})).Exec(ctx)
	if err != nil {
		return nil, err
	}
	// A node that is gone for long has lost its leases. Its row would only puzzle a reader.
	if _, err := tx.WorkNode.Delete().Where(worknode.SeenAtLT(now.Add(-limits.WorkNodeGone))).Exec(ctx); err != nil {
		return nil, err
	}
	rows, err := tx.WorkNode.Query().Where(worknode.SeenAtGTE(now.Add(-limits.WorkLease))).All(ctx)
	if err != nil {
		return nil, err
	}
	live := map[string]int{}
	for _, row := range rows {
		for _, kind := range row.Kinds {
			live[kind]++
		}
	}
	return live, nil
}

func (s *Store) claimShards(ctx context.Context, tx *ent.Tx, node uuid.UUID, kind string, n int) error {
	_, err := tx.ExecContext(ctx, `UPDATE work_shards
		SET holder = $1, fence = fence + 1, expires_at = clock_timestamp() + $4 * interval '1 microsecond'
		WHERE id IN (SELECT id FROM work_shards WHERE kind = $2 AND (holder IS NULL OR expires_at < clock_timestamp())
			LIMIT $3 FOR UPDATE SKIP LOCKED)`, node, kind, n, limits.WorkLease.Microseconds())
	return err
}

func (s *Store) releaseShards(ctx context.Context, tx *ent.Tx, shards ...Fence) error {
	for _, f := range shards {
		err := tx.WorkShard.Update().Where(workshard.ID(f.Shard()), workshard.Holder(f.Holder), workshard.Fence(f.Token)).
			ClearHolder().ClearExpiresAt().AddFence(1).Exec(ctx)
		if err != nil {
			return err
		}
	}
	return nil
}

// LeaveWork gives back all leases of a node, so that the next node need not wait for their end.
func (s *Store) LeaveWork(ctx context.Context, node uuid.UUID) error {
	return s.tx(ctx, "give back the leases", func(tx *ent.Tx) error {
		err := tx.WorkShard.Update().Where(workshard.Holder(node)).ClearHolder().ClearExpiresAt().AddFence(1).Exec(ctx)
		if err != nil {
			return err
		}
		_, err = tx.WorkNode.Delete().Where(worknode.ID(node)).Exec(ctx)
		return err
	})
}

func (s *Store) heldShards(ctx context.Context, c *ent.Client, node uuid.UUID) ([]Fence, error) {
	rows, err := c.WorkShard.Query().Where(workshard.Holder(node)).Order(workshard.ByKind(), workshard.ByNumber()).All(ctx)
	return collect("list held shards", func(r *ent.WorkShard) Fence {
		return Fence{Kind: r.Kind, Number: r.Number, Holder: node, Token: r.Fence}
	}, rows, err)
}

// ShardState is the lease of one shard, for people.
type ShardState struct {
	Kind   string
	Number int
	// Fence grows with each change of the holder.
	Fence int64
	// Holder is nil while no node has the lease.
	Holder *uuid.UUID
	// Expired is true when the node with the lease did not renew it in time.
	Expired bool
}

// ListWork returns all shards with their leases, and all nodes, for `svc doctor` and the metrics.
func (s *Store) ListWork(ctx context.Context) (shards []ShardState, nodes []WorkNode, err error) {
	err = s.tx(ctx, "list the background work", func(tx *ent.Tx) error {
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.WorkShard.Query().Order(workshard.ByKind(), workshard.ByNumber()).All(ctx)
		if err != nil {
			return err
		}
		shards = shards[:0]
		for _, r := range rows {
			shards = append(shards, ShardState{
				Kind: r.Kind, Number: r.Number, Fence: r.Fence, Holder: r.Holder, Expired: r.ExpiresAt != nil && r.ExpiresAt.Before(now),
			})
		}
		list, err := tx.WorkNode.Query().Order(worknode.ByStartedAt()).All(ctx)
		if err != nil {
			return err
		}
		nodes = nodes[:0]
		for _, r := range list {
			nodes = append(nodes, WorkNode{ID: r.ID, Kinds: r.Kinds, Host: r.Host, Version: r.Version, SeenAt: utc(r.SeenAt)})
		}
		return nil
	})
	return shards, nodes, err
}

// String names a node in logs.
func (n WorkNode) String() string {
	kinds, err := json.Marshal(n.Kinds)
	if err != nil {
		return n.ID.String()
	}
	return fmt.Sprintf("%s on %s %s", n.ID, n.Host, kinds)
}

// WorkExpires is false on SQLite, where a lease lasts as long as the process.
func (s *Store) WorkExpires() bool { return s.dialect != dialect.SQLite }
