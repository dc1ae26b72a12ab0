// Package investigations has the tools for investigations: findings about a problem, kept for the next person or agent.
package investigations

import (
	"context"
	"encoding/json"
	"strconv"

	"google.golang.org/protobuf/types/known/structpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

// Tools makes the tools of this set, in the order in which they are listed.
func Tools() []tool.Maker {
	return []tool.Maker{newStart, newAddFinding, newUpdate, newGet}
}

type result struct {
	ID       string `json:"id"`
	Status   string `json:"status"`
	Findings int32  `json:"findings"`
}

type startArgs struct {
	tool.Call
	Title    string  `of:"CreateInvestigationRequest.title" required:"true"`
	Question *string `of:"CreateInvestigationRequest.question"`
	IssueID  *string `doc:"iss_…"`
}

func newStart(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[result](&tool.Tool{
		Name: "start_investigation", View: "/investigations/{id}", Title: "Start an investigation", Writes: true,
		Description: "Keep findings about a problem, so that others can go on with it.",
		Run: tool.With(func(ctx context.Context, a *startArgs) (*tool.Answer, error) {
			i, err := s.Investigations.CreateInvestigation(ctx, &svcv2.CreateInvestigationRequest{
				Title: a.Title, Question: a.Question,
				IssueId: a.IssueID,
			})
			return changed(i, err, "The investigation was started.")
		}),
	})
}

type findingArgs struct {
	tool.Call
	InvestigationID string          `doc:"inv_…" required:"true"`
	Text            string          `of:"AddInvestigationFindingRequest.text" required:"true"`
	Value           *float64        `doc:"The figure that shows it."`
	Unit            *string         `doc:"ms, %, …"`
	Tool            *string         `doc:"The tool that gave the figure."`
	Arguments       json.RawMessage `doc:"Its arguments." type:"object"`
}

func newAddFinding(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[result](&tool.Tool{
		Name: "add_finding", View: "/investigations/{investigation_id}", Title: "Add a finding", Writes: true,
		Description: "Add a sentence with its figure and the call that gives it again.",
		Run: tool.With(func(ctx context.Context, a *findingArgs) (*tool.Answer, error) {
			req := &svcv2.AddInvestigationFindingRequest{Id: a.InvestigationID, Text: a.Text, Value: a.Value, Unit: a.Unit, Call: a.Tool}
			if a.Arguments != nil {
				req.Request = &structpb.Struct{}
				if err := a.Decode(&a.Arguments, req.Request); err != nil {
					return nil, err
				}
			}
			i, err := s.Investigations.AddInvestigationFinding(ctx, req)
			return changed(i, err, "The finding was added.")
		}),
	})
}

type updateArgs struct {
	tool.Call
	InvestigationID string  `doc:"inv_…" required:"true"`
	Status          *string `of:"UpdateInvestigationRequest.status"`
	Conclusion      *string `doc:"The answer, in Markdown."`
	Assignee        *string `doc:"Who goes on with it."`
}

func newUpdate(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[result](&tool.Tool{
		Name: "update_investigation", View: "/investigations/{investigation_id}", Title: "Conclude or hand over", Writes: true, Repeatable: true,
		Description: "Set the state or the conclusion of an investigation, or hand it over.",
		Run: tool.With(func(ctx context.Context, a *updateArgs) (*tool.Answer, error) {
			i, err := s.Investigations.UpdateInvestigation(ctx, &svcv2.UpdateInvestigationRequest{
				Id: a.InvestigationID, Status: a.Status, Conclusion: a.Conclusion, Assignee: a.Assignee,
			})
			return changed(i, err, "The investigation was changed.")
		}),
	})
}

func changed(i *svcv2.Investigation, err error, done string) (*tool.Answer, error) {
	if err != nil {
		return nil, err
	}
	return &tool.Answer{
		ID:   i.GetId(),
		Data: result{i.GetId(), i.GetStatus(), i.GetFindingCount()},
		Text: tool.Page{
			Scope: []tool.Pair{
				tool.Labeled("Investigation", i.GetId()), tool.Labeled("Status", i.GetStatus()),
				tool.Labeled("Findings", strconv.Itoa(int(i.GetFindingCount()))),
			},
			Blocks: []tool.Block{{Empty: done}},
			Next:   []tool.Suggestion{tool.Next("get_investigation", map[string]any{"investigation_id": i.GetId()}, "its report")},
		},
	}, nil
}
