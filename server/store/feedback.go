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

// AgentFeedback is the feedback of an agent.
type AgentFeedback struct {
	ID        uuid.UUID
	Kind      string
	Impact    *string
	Summary   string
	Reason    string
	Details   *string
	RelatedTo *string
	Agent     FeedbackAgent
	// Source is SourceMCP or SourceAPI.
	Source    string
	CreatedAt time.Time
	CreatedBy principal.UserID
}

// CreateAgentFeedback stores feedback; the store sets ID and CreatedAt. The caller validates the input.
func (s *Store) CreateAgentFeedback(ctx context.Context, org principal.OrgID, in AgentFeedback) (AgentFeedback, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return AgentFeedback{}, mapError("create agent feedback", err)
	}
	var out AgentFeedback
	err = s.tx(ctx, "create agent feedback", func(tx *ent.Tx) error {
		row, err := tx.AgentFeedback.Create().SetID(id).SetOrgID(string(org)).SetKind(in.Kind).SetNillableImpact(in.Impact).
			SetSummary(in.Summary).SetReason(in.Reason).SetNillableDetails(in.Details).SetNillableRelatedTo(in.RelatedTo).SetAgent(in.Agent).
			SetSource(agentfeedback.Source(in.Source)).SetCreatedAt(s.stamp()).SetCreatedBy(string(in.CreatedBy)).Save(ctx)
		if err != nil {
			return err
		}
		out = toAgentFeedback(row)
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "agent_feedback.created", ResourceID: publicid.Encode(publicid.AgentFeedback, id), After: map[string]any{"kind": in.Kind, "summary": in.Summary},
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
	if err != nil {
		return nil, mapError("list agent feedback", err)
	}
	out := make([]AgentFeedback, len(rows))
	for i, row := range rows {
		out[i] = toAgentFeedback(row)
	}
	return out, nil
}

func toAgentFeedback(row *ent.AgentFeedback) AgentFeedback {
	return AgentFeedback{
		ID: row.ID, Kind: row.Kind, Impact: row.Impact, Summary: row.Summary, Reason: row.Reason, Details: row.Details,
		RelatedTo: row.RelatedTo, Agent: row.Agent, Source: string(row.Source), CreatedAt: utc(row.CreatedAt), CreatedBy: principal.UserID(row.CreatedBy),
	}
}
