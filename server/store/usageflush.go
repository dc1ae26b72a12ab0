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

// usageFlushCounter is the prefix of counter names. The node's name follows; the counter holds the node's last flush.
const usageFlushCounter = "usage_flush/"

// FlushIngestUsage is AddIngestUsage for callers that must not count twice. It stores the number of the flush in the same
// transaction as the deltas. A flush with the number of the node's last flush does nothing. So a caller may repeat a flush whose
// outcome is unknown, with the same deltas, until it succeeds. A node runs one flush at a time. Its name must stay the same over
// restarts, and every flush needs a new number.
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

// IngestAccount has the quota of an organization and its usage in a month.
type IngestAccount struct {
	Plan Plan
	// Used is the usage by signal. It is set only for plans with limits.
	Used map[string]Usage
}

// IngestAccounts returns the accounts of the given organizations that have a plan, with the usage of the calendar month (UTC) of
// the given time.
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
