package app

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// lastSave bounds the wait of a stop for a database that does not accept the last counts and outcomes.
const lastSave = 5 * time.Second

// openUsage starts the parts that record requests after their answer. They stop after the doors and the pipeline, since telemetry
// comes first.
func (a *App) openUsage(node string) error {
	meter, err := usage.Start(usage.Config{Store: usageStore{a.store}, Node: node, Logger: a.log})
	if err != nil {
		return err
	}
	a.usage = meter
	a.onClose("ingest usage", within(lastSave, meter.Close))
	unsubscribe := a.store.Subscribe(func(c store.Change) {
		if c.Subject == store.SubjectIngestPolicy || c.Subject == store.SubjectAny && c.Cause == nil {
			meter.Reread()
		}
	})
	a.onClose("changes of plans", func(context.Context) error { unsubscribe(); return nil })
	recorder, err := outcome.Start(outcome.Config{Store: outcomeStore{a.store}, Node: node, Logger: a.log})
	if err != nil {
		return err
	}
	a.outcomes = recorder
	a.onClose("ingest outcomes", within(lastSave, recorder.Close))
	a.registry.MustRegister(usageCollector{meter, recorder})
	return nil
}

func within(limit time.Duration, stop func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		return stop(ctx)
	}
}

// usageStore connects the meter to the database.
type usageStore struct{ store *store.Store }

func (s usageStore) AddUsage(ctx context.Context, node string, flush int64, deltas []usage.Delta) error {
	rows := make([]store.UsageDelta, len(deltas))
	for i, d := range deltas {
		rows[i] = store.UsageDelta{Org: d.Org, Day: d.Day, Signal: d.Signal, KeyID: d.Key, Usage: store.Usage(d.Counts)}
	}
	return s.store.FlushIngestUsage(ctx, node, flush, rows)
}

func (s usageStore) Accounts(ctx context.Context, orgs []principal.OrgID, month time.Time) (map[principal.OrgID]usage.Account, error) {
	found, err := s.store.IngestAccounts(ctx, orgs, month)
	if err != nil {
		return nil, err
	}
	accounts := make(map[principal.OrgID]usage.Account, len(found))
	for org, f := range found {
		plan := usage.Plan{Name: f.Plan.Name, Active: f.Plan.Active, Limits: make(map[string]usage.Limit, len(f.Plan.Limits))}
		for _, l := range f.Plan.Limits {
			plan.Limits[l.Signal] = usage.Limit{Items: l.Items, Bytes: l.Bytes}
		}
		account := usage.Account{Plan: &plan, Used: make(map[string]usage.Counts, len(f.Used))}
		for signal, n := range f.Used {
			account.Used[signal] = usage.Counts(n)
		}
		accounts[org] = account
	}
	return accounts, nil
}

// outcomeStore connects the recorder to the database.
type outcomeStore struct{ store *store.Store }

func (s outcomeStore) PutOutcomes(ctx context.Context, node string, all []outcome.History) error {
	rows := make([]store.NodeOutcomes, len(all))
	for i, h := range all {
		rows[i] = store.NodeOutcomes{Org: h.Org, KeyID: h.ID, Node: node, Outcomes: make([]store.IngestOutcome, len(h.Outcomes))}
		for j, o := range h.Outcomes {
			rows[i].Outcomes[j] = store.IngestOutcome{
				At: o.At, Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: o.Tag, Accepted: o.Accepted, Rejected: o.Rejected,
				Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes, Reason: o.Reason, Agent: o.Agent,
			}
		}
	}
	return s.store.PutIngestOutcomes(ctx, rows)
}

func (s outcomeStore) Outcomes(ctx context.Context, node string, key outcome.Key) ([]outcome.Outcome, error) {
	rows, err := s.store.ListIngestOutcomes(ctx, key.Org, key.ID)
	if err != nil {
		return nil, err
	}
	var all []outcome.Outcome
	for _, o := range slices.Backward(rows) { // the newest come first
		if o.Node == node {
			all = append(all, outcome.Outcome{
				At: o.At, Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: o.Tag, Accepted: o.Accepted, Rejected: o.Rejected,
				Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes, Reason: o.Reason, Agent: o.Agent,
			})
		}
	}
	return all, nil
}

func (s outcomeStore) DeleteOutcomes(ctx context.Context, before time.Time) error {
	_, err := s.store.DeleteIngestOutcomes(ctx, before)
	return err
}
