package store

import (
	"context"
	"slices"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/counter"
	"github.com/svc-observability/svc/ent/ingestusage"
	"github.com/svc-observability/svc/ent/plan"
	"github.com/svc-observability/svc/server/principal"
)

// usageFlushCounter is followed by the node whose last flush the counter holds.
const usageFlushCounter = "usage_flush/"

// FlushIngestUsage is AddIngestUsage for callers that must not count twice: the number of the flush is kept with the deltas in one
// transaction, and a flush that has the number of the node's last one does nothing. So a flush whose outcome is unknown may be repeated,
// with the same deltas, until it succeeds; a node has one flush under way at a time. The node's name must stay over restarts, and the
// number be another for every flush.
func (s *Store) FlushIngestUsage(ctx context.Context, node string, flush int64, deltas []UsageDelta) error {
	return s.tx(ctx, "flush ingest usage", func(tx *ent.Tx) error {
		id := usageFlushCounter + node
		last, err := tx.Counter.Get(ctx, id)
		if err != nil && !ent.IsNotFound(err) {
			return err
		}
		if err == nil && last.Value == flush {
			return nil
		}
		if err := addIngestUsage(ctx, tx, deltas); err != nil {
			return err
		}
		return tx.Counter.Create().SetID(id).SetValue(flush).
			OnConflict(entsql.ConflictColumns(counter.FieldID)).UpdateValue().Exec(ctx)
	})
}

// IngestAccount is what an organization may send, and what it has sent in a month.
type IngestAccount struct {
	Plan Plan
	// Used is by signal, and only there for plans with limits.
	Used map[string]Usage
}

// IngestAccounts returns the accounts of those of the organizations that have a plan, with what was sent in the calendar month (UTC)
// that the time is in.
func (s *Store) IngestAccounts(ctx context.Context, orgs []principal.OrgID, month time.Time) (map[principal.OrgID]IngestAccount, error) {
	month = month.UTC()
	from := time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, time.UTC)
	accounts := map[principal.OrgID]IngestAccount{}
	for part := range slices.Chunk(orgs, usageRows) {
		ids := make([]string, len(part))
		for i, org := range part {
			ids[i] = string(org)
		}
		plans, err := s.read.Plan.Query().Where(plan.OrgIDIn(ids...)).All(ctx)
		if err != nil {
			return nil, mapError("list plans", err)
		}
		var limited []string
		for _, row := range plans {
			account := IngestAccount{Plan: toPlan(row)}
			if row.Active && len(row.Limits) > 0 {
				limited = append(limited, row.OrgID)
				account.Used = map[string]Usage{}
			}
			accounts[principal.OrgID(row.OrgID)] = account
		}
		if len(limited) == 0 {
			continue
		}
		var sums []struct {
			Org      string `sql:"org_id"`
			Signal   string `sql:"signal"`
			Requests int64  `sql:"requests"`
			Items    int64  `sql:"items"`
			Bytes    int64  `sql:"bytes"`
		}
		err = s.read.IngestUsage.Query().
			Where(ingestusage.OrgIDIn(limited...), ingestusage.DayGTE(from), ingestusage.DayLT(from.AddDate(0, 1, 0))).
			GroupBy(ingestusage.FieldOrgID, ingestusage.FieldSignal).
			Aggregate(
				ent.As(ent.Sum(ingestusage.FieldRequests), "requests"),
				ent.As(ent.Sum(ingestusage.FieldItems), "items"),
				ent.As(ent.Sum(ingestusage.FieldBytes), "bytes"),
			).Scan(ctx, &sums)
		if err != nil {
			return nil, mapError("sum ingest usage", err)
		}
		for _, r := range sums {
			accounts[principal.OrgID(r.Org)].Used[r.Signal] = Usage{Requests: r.Requests, Items: r.Items, Bytes: r.Bytes}
		}
	}
	return accounts, nil
}
