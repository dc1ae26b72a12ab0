package scraping

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type deleteScrapeTargetArgs struct {
	tool.Call
	ScrapeTargetID string `doc:"scrp_…" required:"true"`
	Confirm        bool   `doc:"Must be true." default:"false"`
}

type deletedResult struct {
	Deleted bool `json:"deleted"`
}

func newDeleteScrapeTarget(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[deletedResult](&tool.Tool{
		Name: "delete_scrape_target", View: "/settings/scrape-targets", Title: "Delete a scrape target", Writes: true, Destroys: true,
		Description: "Delete a scrape target and the history of its checks. Its metrics stay.",
		Run: tool.With(func(ctx context.Context, a *deleteScrapeTargetArgs) (*tool.Answer, error) {
			if !a.Confirm {
				return nil, a.Bad(&a.Confirm, "must be true: this deletes the target and its checks. Ask the user when in doubt.", "true")
			}
			out, err := s.ScrapeTargets.DeleteScrapeTarget(ctx, &svcv2.DeleteScrapeTargetRequest{Id: a.ScrapeTargetID})
			if err != nil {
				return nil, err
			}
			return &tool.Answer{Data: deletedResult{out.GetDeleted()}, Text: tool.Page{
				Scope:  []tool.Pair{tool.Labeled("Target", out.GetId())},
				Blocks: []tool.Block{{Empty: "The target was deleted. The metrics that it delivered stay."}},
			}}, nil
		}),
	})
}
