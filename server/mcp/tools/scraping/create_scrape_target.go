package scraping

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type createScrapeTargetArgs struct {
	tool.Call
	Name                  string  `doc:"The attribute job of its points; unique." required:"true"`
	URL                   string  `doc:"https:// or http://, without credentials." required:"true"`
	ServiceName           *string `doc:"Default name."`
	ScrapeIntervalSeconds *int    `of:"CreateScrapeTargetRequest.scrape_interval_seconds"`
	LabelsJSON            *string `doc:"{\"region\":\"eu\"}"`
	TargetType            *string `of:"CreateScrapeTargetRequest.target_type"`
	Enabled               *bool   `doc:"Default true."`
}

func newCreateScrapeTarget(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[targetResult](&tool.Tool{
		Name: "create_scrape_target", View: "/settings/scrape-targets", Title: "Create a scrape target", Writes: true,
		Description: "Scrape an endpoint in the Prometheus format that needs no credentials. Credentials are set by the API, not here.",
		Run: tool.With(func(ctx context.Context, a *createScrapeTargetArgs) (*tool.Answer, error) {
			req := &svcv2.CreateScrapeTargetRequest{
				Name: a.Name, Url: &a.URL, ServiceName: a.ServiceName, LabelsJson: a.LabelsJSON, TargetType: a.TargetType, Enabled: a.Enabled,
			}
			req.ScrapeIntervalSeconds = tool.Int32(a.ScrapeIntervalSeconds)
			made, err := s.ScrapeTargets.CreateScrapeTarget(ctx, req)
			if err != nil {
				return nil, err
			}
			return answer(ctx, s, made, "The target was created.")
		}),
	})
}
