package feedback

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type feedbackResult struct {
	ID string `json:"id"`
}

type sendFeedbackArgs struct {
	tool.Call
	Kind         string  `required:"true" of:"CreateAgentFeedbackRequest.kind"`
	Impact       *string `of:"CreateAgentFeedbackRequest.impact"`
	Summary      string  `required:"true" of:"CreateAgentFeedbackRequest.summary"`
	Reason       string  `doc:"The reason." required:"true" of:"CreateAgentFeedbackRequest.reason"`
	Details      *string
	RelatedTo    *string `doc:"The tool or page."`
	AgentType    string  `default:"other" of:"FeedbackAgentParams.type"`
	AgentName    *string
	AgentModel   *string
	AgentVersion *string
}

func newSendFeedback(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[feedbackResult](&tool.Tool{
		Name: "send_svc_feedback", View: tool.NoView,
		Title:       "Feedback",
		Writes:      true,
		Description: "Tell the operators of this server about its faults, missing features or good parts. It is not for errors in your own telemetry.",
		Run: tool.With(func(ctx context.Context, a *sendFeedbackArgs) (*tool.Answer, error) {
			out, err := s.Feedback.CreateAgentFeedback(ctx, &svcv2.CreateAgentFeedbackRequest{
				Kind: a.Kind, Impact: a.Impact, Summary: a.Summary, Reason: a.Reason, Details: a.Details, RelatedTo: a.RelatedTo,
				Agent: &svcv2.FeedbackAgentParams{Type: a.AgentType, Name: a.AgentName, Model: a.AgentModel, Version: a.AgentVersion},
			})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{
				Data: feedbackResult{out.GetId()},
				Text: tool.Page{
					Scope:  []tool.Pair{tool.Labeled("Feedback", out.GetId())},
					Blocks: []tool.Block{{Empty: "The feedback was saved for the operators."}},
				},
			}, nil
		}),
	})
}
