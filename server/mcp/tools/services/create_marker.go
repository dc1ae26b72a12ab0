package services

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type markerResult struct {
	Marker markerRow `json:"marker"`
}

type markerRow struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Title       string `json:"title"`
	At          string `json:"at"`
	End         string `json:"end,omitempty"`
	Service     string `json:"service,omitempty"`
	Environment string `json:"environment,omitempty"`
	URL         string `json:"url,omitempty"`
}

type createMarkerArgs struct {
	tool.Call
	Kind        string  `of:"CreateMarkerRequest.kind" required:"true"`
	Title       string  `of:"CreateMarkerRequest.title" required:"true"`
	Description *string `of:"CreateMarkerRequest.description"`
	At          *time.Time
	Service     *string
	Environment *string
	URL         *string `of:"CreateMarkerRequest.url"`
}

func newCreateMarker(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[markerResult](&tool.Tool{
		Name: "create_marker", View: "/services/{service}",
		Title: "New marker",
		Description: "Note what happened at a time: a deployment, a change of a flag or of configuration, or a note. Incidents and " +
			"list_releases show it.",
		Writes: true,
		Run: tool.With(func(ctx context.Context, a *createMarkerArgs) (*tool.Answer, error) {
			req := &svcv2.CreateMarkerRequest{
				Kind: a.Kind, Title: a.Title, Description: a.Description, ServiceName: a.Service, DeploymentEnvironment: a.Environment, Url: a.URL,
			}
			if a.At != nil {
				req.OccurredAt = timestamppb.New(*a.At)
			}
			m, err := s.Markers.CreateMarker(ctx, req)
			if err != nil {
				return nil, err
			}
			row := toMarker(m)
			text := tool.Page{Scope: []tool.Pair{
				tool.Labeled("Marker", row.ID), tool.Labeled("Kind", row.Kind), tool.Labeled("Title", row.Title), tool.Labeled("Time", row.At),
			}}
			return &tool.Answer{Data: markerResult{row}, Text: text}, nil
		}),
	})
}

func toMarker(m *svcv2.Marker) markerRow {
	row := markerRow{
		m.GetId(), m.GetKind(), m.GetTitle(), wording.Clock(m.GetOccurredAt().AsTime()), "", m.GetServiceName(), m.GetDeploymentEnvironment(),
		m.GetUrl(),
	}
	if m.GetEndedAt() != nil {
		row.End = wording.Clock(m.GetEndedAt().AsTime())
	}
	return row
}
