package scraping

import (
	"context"

	"google.golang.org/protobuf/types/known/fieldmaskpb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
)

type updateScrapeTargetArgs struct {
	tool.Call
	ScrapeTargetID        string `doc:"scrp_…" required:"true"`
	Name                  *string
	URL                   *string `doc:"Not to another origin while credentials are stored."`
	ServiceName           *string
	ScrapeIntervalSeconds *int    `of:"UpdateScrapeTargetRequest.scrape_interval_seconds"`
	LabelsJSON            *string `doc:"Replaces all labels; {} removes them."`
	Enabled               *bool   `doc:"False pauses the target."`
}

func newUpdateScrapeTarget(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[targetResult](&tool.Tool{
		Name: "update_scrape_target", View: "/settings/scrape-targets", Title: "Change a scrape target", Writes: true, Repeatable: true,
		Description: "Change, pause or resume a scrape target. Arguments that are left out keep their values.",
		Run: tool.With(func(ctx context.Context, a *updateScrapeTargetArgs) (*tool.Answer, error) {
			req := &svcv2.UpdateScrapeTargetRequest{
				Id: a.ScrapeTargetID, Name: a.Name, Url: a.URL, ServiceName: a.ServiceName, LabelsJson: a.LabelsJSON, Enabled: a.Enabled,
				UpdateMask: &fieldmaskpb.FieldMask{},
			}
			req.ScrapeIntervalSeconds = tool.Int32(a.ScrapeIntervalSeconds)
			for _, f := range []any{&a.Name, &a.URL, &a.ServiceName, &a.ScrapeIntervalSeconds, &a.LabelsJSON, &a.Enabled} {
				if a.Given(f) {
					req.UpdateMask.Paths = append(req.UpdateMask.Paths, a.NameOf(f)) // the field has the name of the argument
				}
			}
			if len(req.GetUpdateMask().GetPaths()) == 0 {
				return nil, a.Bad(&a.Enabled, "or another setting to change is required.", "false")
			}
			changed, err := s.ScrapeTargets.UpdateScrapeTarget(ctx, req)
			if err != nil {
				return nil, err
			}
			return answer(ctx, s, changed, "The target was changed.")
		}),
	})
}
