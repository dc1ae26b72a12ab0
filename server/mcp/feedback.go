package mcp

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

type feedbackResult struct {
	ID string `json:"id"`
}

func newSendFeedback(s *Server) (*tool, error) {
	text := func(name, description string, required bool) param {
		return param{name: name, kind: kindText, description: description, required: required}
	}
	return define[feedbackResult](&tool{
		name: "send_svc_feedback", title: "Feedback", writes: true,
		description: "Tell the operators of this server what is wrong with it, missing or good. Not for your own telemetry's errors.",
		params: []param{
			{name: "kind", kind: kindText, required: true, enum: []string{"bug", "feature_request", "improvement", "documentation", "praise", "other"}},
			{name: "impact", kind: kindText, enum: []string{"blocking", "degraded", "minor"}},
			text("summary", "At most 200 characters.", true), text("reason", "Why, at most 4000 characters.", true), text("details", "", false), text("related_to", "Tool or page.", false),
			{name: "agent_type", kind: kindText, enum: []string{"coding_agent", "chat_assistant", "autonomous_agent", "ci", "other"}, fallback: "other"},
			text("agent_name", "", false), text("agent_model", "", false), text("agent_version", "", false),
		},
		run: func(ctx context.Context, a *arguments) (*answer, error) {
			out, err := s.clients.feedback.CreateAgentFeedback(ctx, &svcv2.CreateAgentFeedbackRequest{
				Kind: *a.text("kind"), Impact: a.text("impact"), Summary: *a.text("summary"), Reason: *a.text("reason"), Details: a.text("details"), RelatedTo: a.text("related_to"),
				Agent: &svcv2.FeedbackAgentParams{Type: a.textOr("agent_type", "other"), Name: a.text("agent_name"), Model: a.text("agent_model"), Version: a.text("agent_version")},
			})
			if err != nil {
				return nil, err
			}
			return &answer{data: feedbackResult{out.GetId()}, text: page{scope: []pair{{"Feedback", out.GetId()}}, blocks: []block{{empty: "It was kept for the operators."}}}}, nil
		},
	})
}
