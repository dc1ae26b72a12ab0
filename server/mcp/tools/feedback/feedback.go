package feedback

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type feedbackResult struct {
	ID string `json:"id"`
}

func newSendFeedback(s *tool.Clients) (*tool.Tool, error) {
	text := func(name, description string, required bool) tool.Param {
		return tool.Param{Name: name, Kind: tool.KindText, Description: description, Required: required}
	}
	return tool.Define[feedbackResult](&tool.Tool{
		Name: "send_svc_feedback", Title: "Feedback", Writes: true,
		Description: "Tell the operators of this server what is wrong with it, missing or good. Not for your own telemetry's errors.",
		Params: []tool.Param{
			{Name: "kind", Kind: tool.KindText, Required: true, Enum: []string{"bug", "feature_request", "improvement", "documentation", "praise", "other"}},
			{Name: "impact", Kind: tool.KindText, Enum: []string{"blocking", "degraded", "minor"}},
			text("summary", "At most 200 characters.", true), text("reason", "Why, at most 4000 characters.", true), text("details", "", false), text("related_to", "Tool or page.", false),
			{Name: "agent_type", Kind: tool.KindText, Enum: []string{"coding_agent", "chat_assistant", "autonomous_agent", "ci", "other"}, Fallback: "other"},
			text("agent_name", "", false), text("agent_model", "", false), text("agent_version", "", false),
		},
		Run: func(ctx context.Context, a *tool.Arguments) (*tool.Answer, error) {
			out, err := s.Feedback.CreateAgentFeedback(ctx, &svcv2.CreateAgentFeedbackRequest{
				Kind: *a.Text("kind"), Impact: a.Text("impact"), Summary: *a.Text("summary"), Reason: *a.Text("reason"), Details: a.Text("details"), RelatedTo: a.Text("related_to"),
				Agent: &svcv2.FeedbackAgentParams{Type: a.TextOr("agent_type", "other"), Name: a.Text("agent_name"), Model: a.Text("agent_model"), Version: a.Text("agent_version")},
			})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{Data: feedbackResult{out.GetId()}, Text: tool.Page{Scope: []tool.Pair{tool.Labeled("Feedback", out.GetId())}, Blocks: []tool.Block{{Empty: "It was kept for the operators."}}}}, nil
		},
	})
}
