package dashboards

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type deleteDashboardArgs struct {
	tool.Call
	ofDashboard
	Confirm bool `doc:"Must be true." default:"false"`
}

type deletedResult struct {
	ID string `json:"id"`
}

func newDeleteDashboard(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[deletedResult](&tool.Tool{
		Name: "delete_dashboard", View: "/dashboards", Title: "Delete a dashboard", Writes: true, Destroys: true,
		Description: "Delete a dashboard with its versions and its share links. It cannot be undone.",
		Run: tool.With(func(ctx context.Context, a *deleteDashboardArgs) (*tool.Answer, error) {
			if !a.Confirm {
				return nil, a.Bad(&a.Confirm, "must be true: this deletes the dashboard, its versions and its share links. Ask the user when in doubt.",
					"true")
			}
			out, err := s.Dashboards.DeleteDashboard(ctx, &svcv2.DeleteDashboardRequest{Id: a.DashboardID})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{Data: deletedResult{out.GetId()}, Text: tool.Page{
				Scope:  []tool.Pair{tool.Labeled("Dashboard", out.GetId())},
				Blocks: []tool.Block{{Empty: "The dashboard was deleted."}},
				Next:   []tool.Suggestion{tool.Next("list_dashboards", map[string]any{}, "the dashboards that are left")},
			}}, nil
		}),
	})
}
