package store

import (
	"context"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestmark"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
)

// IngestMark says how far the telemetry of a node, or of all live nodes, is stored.
type IngestMark struct {
	// Through: everything acknowledged before is stored, except for the organizations in Behind.
	Through time.Time
	// Behind are organizations whose backlog is stored beside the others. BehindThrough is Through for them.
	Behind        []string
	BehindThrough time.Time
}

// Of returns the time before which everything that was acknowledged for an organization is stored.
func (m IngestMark) Of(org principal.OrgID) time.Time {
	if slices.Contains(m.Behind, string(org)) && m.BehindThrough.Before(m.Through) {
		return m.BehindThrough
	}
	return m.Through
}

// Join is the mark of two nodes together.
func (m IngestMark) Join(o IngestMark) IngestMark {
	if m.Through.IsZero() {
		return o
	}
	m.Behind = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(m.Behind), o.Behind...))))
	if o.Through.Before(m.Through) {
		m.Through = o.Through
	}
	if o.BehindThrough.Before(m.BehindThrough) {
		m.BehindThrough = o.BehindThrough
	}
	return m
}

// SetIngestMark records the mark of a node.
func (s *Store) SetIngestMark(ctx context.Context, node string, m IngestMark) error {
	return s.tx(ctx, "set ingest mark", func(tx *ent.Tx) error {
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		behind := m.Behind
		if behind == nil {
			behind = []string{}
		}
		return tx.IngestMark.Create().SetID(node).SetStoredThrough(utc(m.Through)).SetBehind(behind).
			SetBehindThrough(utc(m.BehindThrough)).SetSeenAt(now).
			OnConflict(entsql.ConflictColumns(ingestmark.FieldID)).UpdateNewValues().Exec(ctx)
	})
}

// KeepIngestMark is a sign of life of a node that cannot say how far its telemetry is stored, because it still stores what an earlier run
// left. The mark of the earlier run holds: what it counted as stored is. Without one, nothing is known to be stored.
func (s *Store) KeepIngestMark(ctx context.Context, node string) error {
	return s.tx(ctx, "keep ingest mark", func(tx *ent.Tx) error {
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		unknown := time.Unix(0, 0).UTC()
		return tx.IngestMark.Create().SetID(node).SetStoredThrough(unknown).SetBehind([]string{}).SetBehindThrough(unknown).SetSeenAt(now).
			OnConflict(entsql.ConflictColumns(ingestmark.FieldID)).
			Update(func(mark *ent.IngestMarkUpsert) { mark.SetSeenAt(now) }).Exec(ctx)
	})
}

// ClearIngestMark removes the mark of a node that stops with everything stored.
func (s *Store) ClearIngestMark(ctx context.Context, node string) error {
	if err := s.write.IngestMark.DeleteOneID(node).Exec(ctx); err != nil && !ent.IsNotFound(err) {
		return mapError("clear ingest mark", err)
	}
	return nil
}

// CountIngestNodes returns the number of other ingest nodes that gave a sign of life.
func (s *Store) CountIngestNodes(ctx context.Context, own string) (n int, err error) {
	err = s.tx(ctx, "count ingest nodes", func(tx *ent.Tx) error {
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		n, err = tx.IngestMark.Query().Where(ingestmark.IDNEQ(own), ingestmark.SeenAtGTE(now.Add(-limits.IngestMarkSilent))).Count(ctx)
		return err
	})
	return n, err
}

// StoredThrough returns the mark of all live ingest nodes together. ok is false when no node is alive. silent lists nodes whose mark is
// too old to count: what they have in their queues is missing.
func (s *Store) StoredThrough(ctx context.Context) (all IngestMark, ok bool, silent []string, err error) {
	err = s.tx(ctx, "read ingest marks", func(tx *ent.Tx) error {
		all, ok, silent = IngestMark{}, false, nil
		now, err := s.workClock(ctx, tx)
		if err != nil {
			return err
		}
		rows, err := tx.IngestMark.Query().All(ctx)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if now.Sub(row.SeenAt) > limits.IngestMarkSilent {
				silent = append(silent, row.ID)
				continue
			}
			all = all.Join(IngestMark{Through: utc(row.StoredThrough), Behind: row.Behind, BehindThrough: utc(row.BehindThrough)})
			ok = true
		}
		return nil
	})
	return all, ok, silent, err
}
