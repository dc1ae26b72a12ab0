package store

import (
	"context"
	"slices"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/scrapetarget"
	"github.com/svc-observability/svc/ent/workshard"
	"github.com/svc-observability/svc/server/principal"
)

// ScrapeResult is the end of a scrape or a probe. An empty problem means success.
type ScrapeResult struct {
	Org     principal.OrgID
	ID      uuid.UUID
	At      time.Time
	Problem string
	// Under is the lease of the process that scraped; nil for a probe, which needs none.
	Under *Fence
}

// RecordScrapes writes the results to their targets, in one transaction. A target that was deleted is left out, and so are results of a
// process that lost the lease of the target: the holder records its own. A success keeps the time; a failure keeps that of the last
// success.
func (s *Store) RecordScrapes(ctx context.Context, results []ScrapeResult) error {
	if len(results) == 0 {
		return nil
	}
	return s.tx(ctx, "record scrapes", func(tx *ent.Tx) error {
		held, err := s.heldFences(ctx, tx, results)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Under != nil && !held[*r.Under] {
				continue
			}
			if err := recordScrape(ctx, tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// heldFences returns the leases of results that are not over. On PostgreSQL a takeover of their shards waits for the transaction.
func (s *Store) heldFences(ctx context.Context, tx *ent.Tx, results []ScrapeResult) (map[Fence]bool, error) {
	var shards []string
	for _, r := range results {
		if r.Under != nil && !slices.Contains(shards, r.Under.Shard()) {
			shards = append(shards, r.Under.Shard())
		}
	}
	held := map[Fence]bool{}
	if len(shards) == 0 {
		return held, nil
	}
	q := tx.WorkShard.Query().Where(workshard.IDIn(shards...), workshard.HolderNotNil()).Order(workshard.ByID())
	if s.dialect == dialect.Postgres {
		q.ForShare()
	}
	rows, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		held[Fence{Kind: row.Kind, Number: row.Number, Holder: *row.Holder, Token: row.Fence}] = true
	}
	return held, nil
}

// RecordProbe writes the result of a probe that a caller asked for, with its audit entry.
func (s *Store) RecordProbe(
	ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time, problem string,
) (t ScrapeTarget, err error) {
	err = s.tx(ctx, "record probe", func(tx *ent.Tx) error {
		row, err := s.lockScrapeTarget(ctx, tx, org, id)
		if err != nil {
			return err
		}
		t = toScrapeTarget(row)
		if err := recordScrape(ctx, tx, ScrapeResult{Org: org, ID: id, At: at, Problem: problem}); err != nil {
			return err
		}
		e := t.event("probed", nil, nil)
		e.Metadata = map[string]any{"success": problem == ""}
		if problem != "" {
			e.Metadata["error"] = plainText(problem, maxTextLength)
		}
		if err := s.audit(ctx, tx, org, e); err != nil {
			return err
		}
		if row, err = tx.ScrapeTarget.Get(ctx, id); err != nil {
			return err
		}
		t = toScrapeTarget(row)
		return nil
	})
	if err != nil {
		return ScrapeTarget{}, err
	}
	return t, nil
}

func recordScrape(ctx context.Context, tx *ent.Tx, r ScrapeResult) error {
	of := scrapetarget.And(scrapetarget.ID(r.ID), scrapetarget.OrgID(string(r.Org)))
	if r.Problem == "" {
		// A probe in an API node and a scrape may end in either order: the later success counts.
		return tx.ScrapeTarget.Update().Where(of, scrapetarget.Or(scrapetarget.LastScrapeAtIsNil(), scrapetarget.LastScrapeAtLTE(utc(r.At)))).
			SetLastScrapeAt(utc(r.At)).ClearLastScrapeError().ClearFailingSince().Exec(ctx)
	}
	err := tx.ScrapeTarget.Update().Where(of).SetLastScrapeError(plainText(r.Problem, maxTextLength)).Exec(ctx)
	if err != nil {
		return err
	}
	return tx.ScrapeTarget.Update().Where(of, scrapetarget.FailingSinceIsNil()).SetFailingSince(utc(r.At)).Exec(ctx)
}
