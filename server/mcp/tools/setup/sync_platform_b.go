package setup

import (
	"context"
	"strconv"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type drainRow struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	State string `json:"state"`
}

type syncPlatformBResult struct {
	Projects    int        `json:"projects"`
	Deployments int        `json:"deployments"`
	Drains      []drainRow `json:"drains"`
	DrainsError *string    `json:"drainsError,omitempty"`
	Account     string     `json:"account"`
	Status      string     `json:"status"`
	StartedAt   *string    `json:"startedAt"`
	LastSyncAt  *string    `json:"lastSyncAt,omitempty"`
	Running     bool       `json:"running"`
	Error       *string    `json:"error,omitempty"`
}

func newSyncPlatformB(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[syncPlatformBResult](&tool.Tool{
		Name: "sync_platform_b", View: "/settings/integrations", Title: "Synchronize Vercel", Writes: true, OpenWorld: true,
		Description: "Read the projects, deployments and drains of the connected Vercel account now. Waits at most " +
			limits.Lasts(limits.HostingSyncWait) + ".",
		Run: tool.With(func(ctx context.Context, a *syncPlatformArgs) (*tool.Answer, error) {
			run, err := syncPlatform(ctx, s, a, "platform_b")
			if err != nil {
				return nil, err
			}
			p := run.GetPlatform()
			res := syncPlatformBResult{
				Projects: int(p.GetProjects()), Deployments: int(p.GetDeployments()), Drains: []drainRow{}, DrainsError: p.DrainsError,
				Account: p.GetAccount(), Status: p.GetStatus(), StartedAt: tool.Moment(run.GetStartedAt()),
				LastSyncAt: tool.Moment(p.GetLastSyncAt()), Running: run.GetRunning(), Error: p.Error,
			}
			var cells [][]string
			for _, d := range p.GetDrains() {
				res.Drains = append(res.Drains, drainRow{d.GetId(), d.GetName(), d.GetState()})
				cells = append(cells, []string{wording.OneLine(d.GetName()), d.GetState(), d.GetId()})
			}
			empty := "The account has no drains."
			if p.DrainsError != nil {
				empty = p.GetDrainsError()
			}
			return &tool.Answer{Data: res, Text: tool.Page{
				Scope: []tool.Pair{
					tool.Labeled("Account", wording.OneLine(p.GetAccount())), tool.Labeled("State", p.GetStatus()),
					tool.Labeled("Projects", strconv.Itoa(res.Projects)), tool.Labeled("Deployments", strconv.Itoa(res.Deployments)),
				},
				Notes:  []string{syncNote(run)},
				Blocks: []tool.Block{tool.Table("Drains", empty, []string{"drain", "state", "id"}, cells)},
			}}, nil
		}),
	})
}
