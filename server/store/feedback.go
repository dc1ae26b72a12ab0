package store

import (
	"context"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/agentfeedback"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// FeedbackAgent says who gave feedback.
type FeedbackAgent = schema.FeedbackAgent

// CreateAgentFeedback stores feedback; the store sets ID and CreatedAt. The caller validates the input.
func (s *Store) CreateAgentFeedback(ctx context.Context, org principal.OrgID, in AgentFeedback) (AgentFeedback, error) {
	in.Org, in.ID, in.CreatedAt = org, uuid.Nil, time.Time{}
	var out AgentFeedback
	err := s.tx(ctx, "create agent feedback", func(tx *ent.Tx) (err error) {
		if out, err = s.insertAgentFeedback(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "agent_feedback.created", ResourceID: publicid.Encode(publicid.AgentFeedback, out.ID),
			After: map[string]any{"kind": in.Kind, "summary": in.Summary},
		})
	})
	return out, err
}

// ListAgentFeedback returns feedback, newest first, ties by id. Request one more than a page to learn whether there is another
// page.
func (s *Store) ListAgentFeedback(ctx context.Context, org principal.OrgID, offset, limit int) ([]AgentFeedback, error) {
	rows, err := s.read.AgentFeedback.Query().Where(agentfeedback.OrgID(string(org))).
		Order(agentfeedback.ByCreatedAt(entsql.OrderDesc()), agentfeedback.ByID(entsql.OrderDesc())).
		Offset(offset).Limit(limit).All(ctx)
	return collect("list agent feedback", toAgentFeedback, rows, err)
}
