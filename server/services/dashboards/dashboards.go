// Package dashboards implements svc.v2.DashboardsService and svc.v2.DashboardDataService. Package definition checks the stored
// content. Package links has the methods of share links. Packages templates and perses make definitions. Package query/widget
// reads the data of widgets.
package dashboards

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/services/dashboards/links"
	"github.com/svc-observability/svc/server/store"
)

// Service implements svcv2connect.DashboardsServiceHandler. It is safe for concurrent use.
type Service struct {
	*links.Service // the methods of share links

	store       *store.Store
	definitions *definition.Cache
}

// New returns the service.
func New(st *store.Store, shares *links.Service) *Service {
	return &Service{Service: shares, store: st, definitions: definition.NewCache()}
}

// ListDashboards lists dashboards, most recently updated first.
func (s *Service) ListDashboards(ctx context.Context, req *svcv2.ListDashboardsRequest) (*svcv2.ListDashboardsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListDashboards(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListDashboardsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		def, err := s.definitions.Of(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, toProto(row, def))
	}
	return res, nil
}

// CreateDashboard checks and stores a dashboard.
func (s *Service) CreateDashboard(ctx context.Context, req *svcv2.CreateDashboardRequest) (*svcv2.DashboardMutationResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	return s.create(ctx, caller, definition.New(req))
}

func (s *Service) create(
	ctx context.Context, caller *principal.Principal, def *svcv2.DashboardDefinition,
) (*svcv2.DashboardMutationResponse, error) {
	definition.Normalize(def)
	text, err := definition.Check(def)
	if err != nil {
		return nil, err
	}
	d, txid, err := s.store.CreateDashboard(ctx, caller.Org, caller.User, store.DashboardChange{
		Name: def.GetName(), Definition: text, Kind: definition.KindCreated, Summary: new("Created"), Action: "created",
		After: definition.AuditAfter(nil, def),
	})
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	return mutation(d, def, txid), nil
}

// GetDashboard returns one dashboard.
func (s *Service) GetDashboard(ctx context.Context, req *svcv2.GetDashboardRequest) (*svcv2.Dashboard, error) {
	caller, id, err := definition.Resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetDashboard(ctx, caller.Org, id)
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	def, err := s.definitions.Of(row)
	if err != nil {
		return nil, err
	}
	return toProto(row, def), nil
}

// UpdateDashboard changes the fields that the mask names, in the newest state of the dashboard.
func (s *Service) UpdateDashboard(ctx context.Context, req *svcv2.UpdateDashboardRequest) (*svcv2.DashboardMutationResponse, error) {
	caller, id, err := definition.Resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	return s.edit(ctx, caller, id, func(newest store.Dashboard, def *svcv2.DashboardDefinition) (*store.DashboardChange, error) {
		if want := req.GetExpectedUpdatedAt(); want != nil && !want.AsTime().Equal(newest.UpdatedAt) {
			return nil, apierr.New(apierr.DashboardConcurrency,
				"The dashboard was changed since `expected_updated_at`. Read it again, and repeat the change.",
				apierr.Param("expected_updated_at"))
		}
		return &store.DashboardChange{Action: "updated"}, apply(def, req)
	})
}

// apply writes the fields that the mask names into the definition.
func apply(def *svcv2.DashboardDefinition, req *svcv2.UpdateDashboardRequest) error {
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			def.Name = req.GetName()
		case "description":
			def.Description = req.Description
		case "tags":
			def.Tags = req.GetTags()
		case "time_range":
			def.TimeRange = req.GetTimeRange()
		case "widgets":
			def.Widgets = req.GetWidgets()
		case "sections":
			def.Sections = req.GetSections()
		case "variables":
			def.Variables = req.GetVariables()
		case "refresh_interval_seconds":
			def.RefreshIntervalSeconds = req.RefreshIntervalSeconds
		default:
			return fmt.Errorf("dashboards: no update of the field %s", path)
		}
	}
	return nil
}

// edit lets fn change the newest definition, checks the result, and stores it with a version that describes the change. fn
// returns the change as far as it knows it. The kind follows from the difference, unless fn returns a kind. stored are definitions from
// which fn may take values that the checks of today refuse, besides the newest definition.
func (s *Service) edit(
	ctx context.Context, caller *principal.Principal, id uuid.UUID,
	fn func(newest store.Dashboard, def *svcv2.DashboardDefinition) (*store.DashboardChange, error), stored ...*svcv2.DashboardDefinition,
) (*svcv2.DashboardMutationResponse, error) {
	var def *svcv2.DashboardDefinition
	d, txid, err := s.store.EditDashboard(ctx, caller.Org, id, caller.User, func(newest store.Dashboard) (*store.DashboardChange, error) {
		old, err := s.definitions.Of(newest)
		if err != nil {
			return nil, err
		}
		def = proto.CloneOf(old)
		change, err := fn(newest, def)
		if err != nil {
			return nil, err
		}
		definition.Normalize(def)
		text, err := definition.Check(def, append(stored, old)...)
		if err != nil {
			return nil, err
		}
		kind, summary := definition.Difference(old, def)
		if kind == "" && change.Kind == "" {
			return nil, nil
		}
		if change.Kind == "" {
			change.Kind, change.Summary = kind, &summary
		}
		change.Name, change.Definition = def.GetName(), text
		change.Before, change.After = definition.AuditFields(old), definition.AuditAfter(old, def)
		return change, nil
	})
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	return mutation(d, def, txid), nil
}

// DeleteDashboard deletes a dashboard with its versions and shares.
func (s *Service) DeleteDashboard(ctx context.Context, req *svcv2.DeleteDashboardRequest) (*svcv2.DeletedDashboard, error) {
	caller, id, err := definition.Resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	txid, err := s.store.DeleteDashboard(ctx, caller.Org, id)
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	return &svcv2.DeletedDashboard{Id: req.GetId(), Object: "dashboard", Deleted: true, Txid: &txid}, nil
}
