package alerts

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type destinationRow struct {
	ID             string  `json:"id"`
	Name           string  `json:"name"`
	Type           string  `json:"type"`
	Enabled        bool    `json:"enabled"`
	Summary        string  `json:"summary"`
	ChannelLabel   *string `json:"channelLabel"`
	LastTestedAt   *string `json:"lastTestedAt"`
	LastTestError  *string `json:"lastTestError"`
	DisabledReason *string `json:"disabledReason"`
	CreatedAt      string  `json:"createdAt"`
	UpdatedAt      string  `json:"updatedAt"`
}

type destinationsResult struct {
	Destinations []destinationRow `json:"destinations"`
}

type listDestinationsArgs struct {
	tool.Call
	Type        *string `of:"CreateAlertDestinationRequest.type"`
	EnabledOnly bool    `doc:"Leave out disabled destinations."`
}

func newListAlertDestinations(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[destinationsResult](&tool.Tool{
		Name: "list_alert_destinations", View: "/alerts/destinations", Title: "Alert destinations",
		Description: "List the places that alerts can be sent to, the newest first. A rule names them by id. Secrets are not shown.",
		Run: tool.With(func(ctx context.Context, a *listDestinationsArgs) (*tool.Answer, error) {
			all, _, err := tool.Collect(ctx, nil, 0, 1000,
				func(ctx context.Context, limit int32, cursor *string) ([]*svcv2.AlertDestination, *string, error) {
					res, err := s.AlertDestinations.ListAlertDestinations(ctx, &svcv2.ListAlertDestinationsRequest{Limit: &limit, Cursor: cursor})
					return res.GetData(), tool.NextCursor(res), err
				})
			if err != nil {
				return nil, err
			}
			res := destinationsResult{Destinations: []destinationRow{}}
			var cells [][]string
			for _, d := range all {
				if a.Type != nil && d.GetType() != *a.Type || a.EnabledOnly && !d.GetEnabled() {
					continue
				}
				row := destinationRow{
					ID: d.GetId(), Name: d.GetName(), Type: d.GetType(), Enabled: d.GetEnabled(), Summary: d.GetSummary(), ChannelLabel: d.ChannelLabel,
					LastTestedAt: tool.Moment(d.GetLastTestedAt()), LastTestError: d.LastTestError, DisabledReason: d.DisabledReason,
					CreatedAt: wording.Clock(d.GetCreatedAt().AsTime()), UpdatedAt: wording.Clock(d.GetUpdatedAt().AsTime()),
				}
				res.Destinations = append(res.Destinations, row)
				cells = append(cells, []string{row.ID, wording.Clip(row.Name, 120), row.Type, row.Summary, state(&row)})
			}
			text := tool.Page{
				Blocks: []tool.Block{tool.Table("", "No destination matches.", []string{"id", "name", "type", "target", "state"}, cells)},
				Shown:  tool.ShownOf(len(cells), false, "destinations"),
			}
			return &tool.Answer{Data: res, Text: text}, nil
		}),
	})
}

// state says whether messages arrive.
func state(d *destinationRow) string {
	switch {
	case d.DisabledReason != nil:
		return "disabled by the server: " + *d.DisabledReason
	case !d.Enabled:
		return "disabled"
	case d.LastTestError != nil:
		return "enabled; the last test failed: " + *d.LastTestError
	default:
		return "enabled"
	}
}
