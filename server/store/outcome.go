package store

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/ingestoutcomes"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/principal"
)

// IngestOutcome is one answer that an ingest node gave.
type IngestOutcome struct {
	// KeyID and Node identify the key and the node. PutIngestOutcomes takes them from NodeOutcomes.
	KeyID string
	Node  string
	// At has a precision of milliseconds.
	At     time.Time
	Signal string
	// Door is the way in which the request arrived, such as "http" or "grpc".
	Door   string
	Status int
	// Tag names the error. It is empty when the request was accepted.
	Tag                         string
	Accepted, Rejected, Sampled int
	// Cut counts the values of accepted items that were shortened or left out because they exceed a limit.
	Cut   int
	Bytes int
	// Reason names the fault, for the sender.
	Reason string
	// Agent is the sender's User-Agent.
	Agent string
}

// NodeOutcomes are the last answers of one node to one key.
type NodeOutcomes struct {
	Org   principal.OrgID
	KeyID string
	Node  string
	// Outcomes replace the outcomes that this node has stored for the key.
	Outcomes []IngestOutcome
}

// PutIngestOutcomes stores the last answers of a node for any organizations, all or nothing. It skips organizations that do not
// exist.
func (s *Store) PutIngestOutcomes(ctx context.Context, batch []NodeOutcomes) error {
	if len(batch) == 0 {
		return nil
	}
	return s.tx(ctx, "put ingest outcomes", func(tx *ent.Tx) error {
		orgs, err := existing(ctx, tx, batch, func(n NodeOutcomes) principal.OrgID { return n.Org })
		if err != nil {
			return err
		}
		now := s.stamp()
		for _, n := range batch {
			if !orgs[n.Org] {
				continue
			}
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			rows := make([]schema.IngestOutcome, len(n.Outcomes))
			for i, o := range n.Outcomes {
				rows[i] = schema.IngestOutcome{
					At: o.At.UnixMilli(), Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: o.Tag, Accepted: o.Accepted,
					Rejected: o.Rejected, Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes,
					// Both contain text from senders.
					Reason: plainText(o.Reason, maxTextLength), Agent: plainText(o.Agent, maxNameLength),
				}
			}
			err = tx.IngestOutcomes.Create().SetID(id).SetOrgID(string(n.Org)).SetKeyID(n.KeyID).SetNode(n.Node).SetOutcomes(rows).SetUpdatedAt(now).
				OnConflictColumns(ingestoutcomes.FieldOrgID, ingestoutcomes.FieldKeyID, ingestoutcomes.FieldNode).
				Update(func(u *ent.IngestOutcomesUpsert) { u.UpdateOutcomes().UpdateUpdatedAt() }).
				Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// ListIngestOutcomes returns the last answers of all nodes, newest first. They are the answers to one key, or to all keys of the
// organization when keyID is empty.
func (s *Store) ListIngestOutcomes(ctx context.Context, org principal.OrgID, keyID string) ([]IngestOutcome, error) {
	q := s.read.IngestOutcomes.Query().Where(ingestoutcomes.OrgID(string(org)))
	if keyID != "" {
		q.Where(ingestoutcomes.KeyID(keyID))
	}
	rows, err := q.All(ctx)
	if err != nil {
		return nil, mapError("list ingest outcomes", err)
	}
	var out []IngestOutcome
	for _, row := range rows {
		for _, o := range row.Outcomes {
			out = append(out, IngestOutcome{
				KeyID: row.KeyID, Node: row.Node, At: time.UnixMilli(o.At).UTC(), Signal: o.Signal, Door: o.Door, Status: o.Status, Tag: o.Tag,
				Accepted: o.Accepted, Rejected: o.Rejected, Sampled: o.Sampled, Cut: o.Cut, Bytes: o.Bytes, Reason: o.Reason, Agent: o.Agent,
			})
		}
	}
	slices.SortStableFunc(out, func(a, b IngestOutcome) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.KeyID, b.KeyID), cmp.Compare(a.Node, b.Node))
	})
	return out, nil
}

// DeleteIngestOutcomes deletes outcomes that no node has renewed since the given time, in all organizations. It returns the
// number of deleted rows.
func (s *Store) DeleteIngestOutcomes(ctx context.Context, before time.Time) (int, error) {
	n, err := s.write.IngestOutcomes.Delete().Where(ingestoutcomes.UpdatedAtLT(utc(before))).Exec(ctx)
	if err != nil {
		return 0, mapError("delete ingest outcomes", err)
	}
	return n, nil
}
