package dashboards

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

func toProto(row store.Dashboard, def *svcv2.DashboardDefinition) *svcv2.Dashboard {
	return &svcv2.Dashboard{
		Id: publicid.Encode(publicid.Dashboard, row.ID), Object: "dashboard", Name: def.GetName(), Description: def.Description,
		Tags: def.GetTags(), TimeRange: def.GetTimeRange(), Widgets: def.GetWidgets(), Sections: def.GetSections(),
		Variables: def.GetVariables(), RefreshIntervalSeconds: def.RefreshIntervalSeconds, CreatedAt: timestamppb.New(row.CreatedAt),
		UpdatedAt: timestamppb.New(row.UpdatedAt),
	}
}

// mutation is the answer to a change; def is the definition after the change. The transaction number is empty if nothing changed.
func mutation(row store.Dashboard, def *svcv2.DashboardDefinition, txid string) *svcv2.DashboardMutationResponse {
	res := &svcv2.DashboardMutationResponse{
		Id: publicid.Encode(publicid.Dashboard, row.ID), Object: "dashboard", Name: def.GetName(), Description: def.Description,
		Tags: def.GetTags(), TimeRange: def.GetTimeRange(), Widgets: def.GetWidgets(), Sections: def.GetSections(),
		Variables: def.GetVariables(), RefreshIntervalSeconds: def.RefreshIntervalSeconds, CreatedAt: timestamppb.New(row.CreatedAt),
		UpdatedAt: timestamppb.New(row.UpdatedAt),
	}
	if txid != "" {
		res.Txid = &txid
	}
	return res
}
