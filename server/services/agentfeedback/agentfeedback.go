// Package agentfeedback answers the methods of svc.v2.AgentFeedbackService.
package agentfeedback

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.AgentFeedbackServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// ListAgentFeedback lists the feedback of agents, newest first.
func (s *Service) ListAgentFeedback(ctx context.Context, req *svcv2.ListAgentFeedbackRequest) (*svcv2.ListAgentFeedbackResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListAgentFeedback(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAgentFeedbackResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// CreateAgentFeedback stores the feedback of an agent.
func (s *Service) CreateAgentFeedback(ctx context.Context, req *svcv2.CreateAgentFeedbackRequest) (*svcv2.AgentFeedback, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	source := store.SourceAPI
	if principal.DoorFrom(ctx) == principal.DoorMCP {
		source = store.SourceMCP
	}
	agent := req.GetAgent()
	row, err := s.store.CreateAgentFeedback(ctx, caller.Org, store.AgentFeedback{
		Kind: req.GetKind(), Impact: req.Impact, Summary: req.GetSummary(), Reason: req.GetReason(), Details: req.Details,
		RelatedTo: req.RelatedTo,
		Agent:     store.FeedbackAgent{Type: agent.GetType(), Name: agent.Name, Model: agent.Model, Version: agent.Version},
		Source:    source, CreatedBy: caller.User,
	})
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(row), nil
}

// resource describes the errors of agent feedback.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Unavailable: storeerr.Answer{
			Tag:     apierr.AgentFeedbackPersistence,
			Message: "Feedback cannot be read or stored at the moment. Try again.",
		},
	}
}

func toProto(f store.AgentFeedback) *svcv2.AgentFeedback {
	return &svcv2.AgentFeedback{
		Id:     publicid.Encode(publicid.AgentFeedback, f.ID),
		Object: "agent_feedback", Kind: f.Kind, Impact: f.Impact, Summary: f.Summary, Reason: f.Reason,
		Details: f.Details, RelatedTo: f.RelatedTo,
		Agent:  &svcv2.FeedbackAgent{Type: f.Agent.Type, Name: f.Agent.Name, Model: f.Agent.Model, Version: f.Agent.Version},
		Source: f.Source, CreatedAt: timestamppb.New(f.CreatedAt),
	}
}
