package setup

import (
	"context"
	"strconv"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type environmentError struct {
	Environment string `json:"environment"`
	Message     string `json:"message"`
}

type syncPlatformAResult struct {
	StartedAt     *string            `json:"startedAt"`
	ResourcesSeen int                `json:"resourcesSeen"`
	Errors        []environmentError `json:"errors"`
	Projects      int                `json:"projects"`
	Deployments   int                `json:"deployments"`
	Account       string             `json:"account"`
	Status        string             `json:"status"`
	LastSyncAt    *string            `json:"lastSyncAt,omitempty"`
	Running       bool               `json:"running"`
	Error         *string            `json:"error,omitempty"`
}

func newSyncPlatformA(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[syncPlatformAResult](&tool.Tool{
		Name: "sync_platform_a", View: "/settings/integrations", Title: "Synchronize Railway", Writes: true, OpenWorld: true,
		Description: "Read the projects, environments, services and deployments of the connected Railway account now. Waits at most " +
			limits.Lasts(limits.HostingSyncWait) + ".",
		Run: tool.With(func(ctx context.Context, a *syncPlatformArgs) (*tool.Answer, error) {
			run, err := syncPlatform(ctx, s, a, "platform_a")
			if err != nil {
				return nil, err
			}
			p := run.GetPlatform()
			res := syncPlatformAResult{
				StartedAt: tool.Moment(run.GetStartedAt()), ResourcesSeen: int(p.GetResourcesSeen()), Errors: []environmentError{},
				Projects: int(p.GetProjects()), Deployments: int(p.GetDeployments()), Account: p.GetAccount(), Status: p.GetStatus(),
				LastSyncAt: tool.Moment(p.GetLastSyncAt()), Running: run.GetRunning(), Error: p.Error,
			}
			var cells [][]string
			for _, e := range p.GetEnvironmentErrors() {
				res.Errors = append(res.Errors, environmentError{e.GetEnvironment(), e.GetMessage()})
				cells = append(cells, []string{wording.OneLine(e.GetEnvironment()), e.GetMessage()})
			}
			return &tool.Answer{Data: res, Text: tool.Page{
				Scope: []tool.Pair{
					tool.Labeled("Account", wording.OneLine(p.GetAccount())), tool.Labeled("State", p.GetStatus()),
					tool.Labeled("Projects", strconv.Itoa(res.Projects)), tool.Labeled("Deployments", strconv.Itoa(res.Deployments)),
				},
				Notes:  []string{syncNote(run)},
				Blocks: []tool.Block{tool.Table("Errors", "No environment failed.", []string{"environment", "problem"}, cells)},
			}}, nil
		}),
	})
}
