package usage

import (
	"context"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// Database is the Store of a Meter in the relational database.
type Database struct{ Store *store.Store }

func (s Database) AddUsage(ctx context.Context, node string, flush int64, deltas []Delta) error {
	rows := make([]store.UsageDelta, len(deltas))
	for i, d := range deltas {
		rows[i] = store.UsageDelta{Org: d.Org, Day: d.Day, Signal: d.Signal, KeyID: d.Key, Usage: store.Usage(d.Counts)}
	}
	return s.Store.FlushIngestUsage(ctx, node, flush, rows)
}

func (s Database) Accounts(ctx context.Context, orgs []principal.OrgID, month time.Time) (map[principal.OrgID]Account, error) {
	found, err := s.Store.IngestAccounts(ctx, orgs, month)
	if err != nil {
		return nil, err
	}
	accounts := make(map[principal.OrgID]Account, len(found))
	for org, f := range found {
		plan := Plan{Name: f.Plan.Name, Active: f.Plan.Active, Limits: make(map[string]Limit, len(f.Plan.Limits))}
		for _, l := range f.Plan.Limits {
			plan.Limits[l.Signal] = Limit{Items: l.Items, Bytes: l.Bytes}
		}
		account := Account{Plan: &plan, Used: make(map[string]Counts, len(f.Used))}
		for signal, n := range f.Used {
			account.Used[signal] = Counts(n)
		}
		accounts[org] = account
	}
	return accounts, nil
}
