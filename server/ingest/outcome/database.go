package outcome

import (
	"context"
	"slices"
	"time"

	"github.com/svc-observability/svc/server/store"
)

// Database is the Store of a Recorder in the relational database.
type Database struct{ Store *store.Store }

func (s Database) PutOutcomes(ctx context.Context, node string, all []History) error {
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
	return s.Store.PutIngestOutcomes(ctx, rows)
}

func (s Database) Outcomes(ctx context.Context, node string, key Key) ([]Outcome, error) {
	rows, err := s.Store.ListIngestOutcomes(ctx, key.Org, key.ID)
	if err != nil {
		return nil, err
	}
	var all []Outcome
	for _, o := range slices.Backward(rows) { // they come newest first
		if o.Node == node {
			all = append(all, Outcome{
				At: o.At, Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: o.Tag, Accepted: o.Accepted, Rejected: o.Rejected,
				Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes, Reason: o.Reason, Agent: o.Agent,
			})
		}
	}
	return all, nil
}

func (s Database) DeleteOutcomes(ctx context.Context, before time.Time) error {
	_, err := s.Store.DeleteIngestOutcomes(ctx, before)
	return err
}
