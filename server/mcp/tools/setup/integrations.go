package setup

import (
	"context"
	"strings"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/wording"
)

type integrationRow struct {
	Provider           string   `json:"provider"`
	Connected          bool     `json:"connected"`
	Status             string   `json:"status"`
	ConnectedAt        *string  `json:"connectedAt"`
	Account            *string  `json:"account,omitempty"`
	LastSyncAt         *string  `json:"lastSyncAt,omitempty"`
	Error              *string  `json:"error,omitempty"`
	Name               string   `json:"name"`
	Class              string   `json:"class"`
	MissingPermissions []string `json:"missingPermissions,omitempty"`
	NextAction         *string  `json:"nextAction,omitempty"`
	Tools              []string `json:"tools"`
}

type integrationsResult struct {
	Integrations []integrationRow `json:"integrations"`
}

type listIntegrationsArgs struct{ tool.Call }

func newListIntegrations(s *tool.Clients) (*tool.Tool, error) {
	return tool.Define[integrationsResult](&tool.Tool{
		Name: "list_integrations", View: "/settings/integrations", Title: "Integrations",
		Description: "List the providers that can be connected, with the state of each account, and the tools that read from it.",
		Run: tool.With(func(ctx context.Context, _ *listIntegrationsArgs) (*tool.Answer, error) {
			list, err := s.Integrations.ListIntegrations(ctx, &svcv2.ListIntegrationsRequest{})
			if err != nil {
				return nil, err
			}
			res := integrationsResult{Integrations: []integrationRow{}}
			var cells [][]string
			for _, i := range list.GetData() {
				res.Integrations = append(res.Integrations, integrationRow{
					Provider: i.GetProvider(), Connected: i.GetConnected(), Status: i.GetStatus(), ConnectedAt: tool.Moment(i.GetConnectedAt()),
					Account: i.Account, LastSyncAt: tool.Moment(i.GetLastSyncAt()), Error: i.Error, Name: i.GetName(), Class: i.GetClass(),
					MissingPermissions: i.GetMissingPermissions(), NextAction: i.NextAction, Tools: tool.NonNil(i.GetTools()),
				})
				cells = append(cells, []string{
					i.GetName(), wording.OneLine(i.GetAccount()), i.GetStatus(), strings.TrimSpace(i.GetError() + " " + i.GetNextAction()),
					strings.Join(i.GetTools(), ", "),
				})
			}
			return &tool.Answer{Data: res, Text: tool.Page{Blocks: []tool.Block{
				tool.Table("", "The server knows no provider.", []string{"provider", "account", "state", "next", "tools"}, cells),
			}}}, nil
		}),
	})
}
