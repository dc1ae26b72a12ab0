// Package savedviews answers the methods of svc.v2.SavedViewsService.
package savedviews

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.SavedViewsServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// resource describes the errors of a saved view. A private view of another user and an unknown id give the same answer.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.SavedView, ID: "a saved view", Invalid: apierr.SavedViewValidation,
		NotFound: storeerr.Answer{
			Tag:     apierr.SavedViewNotFound,
			Message: "There is no such saved view, or it is the private view of another user.",
		},
		Taken: storeerr.Answer{Tag: apierr.SavedViewNameTaken, Message: "The page has a saved view with this name. Choose another name."},
		Unavailable: storeerr.Answer{
			Tag:     apierr.SavedViewPersistence,
			Message: "Saved views cannot be read or changed at the moment. Try again.",
		},
	}
}

func failure(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrForbidden) {
		return apierr.New(apierr.SavedViewForbidden,
			"Only its owner and administrators change a shared view, and only its owner makes it private.", apierr.Cause(err))
	}
	return resource().Failure(ctx, err)
}

// viewer returns the reader of a call. The user of a key is its maker, who need not know what the key does. So a key stands for no person,
// and has no private views.
func viewer(caller *principal.Principal) store.Viewer {
	v := store.Viewer{Admin: caller.IsAdmin()}
	if caller.Kind == principal.KindSession || caller.Kind == principal.KindOAuth {
		v.User = caller.User
	}
	return v
}

// target returns the caller's organization, the caller as a viewer, and the id of a request.
func target(ctx context.Context, text string) (principal.OrgID, store.Viewer, uuid.UUID, error) {
	caller, id, err := resource().Target(ctx, text)
	if err != nil {
		return "", store.Viewer{}, id, err
	}
	return caller.Org, viewer(caller), id, nil
}

// ListSavedViews lists the views that the caller sees, by name.
func (s *Service) ListSavedViews(ctx context.Context, req *svcv2.ListSavedViewsRequest) (*svcv2.ListSavedViewsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	filter := store.SavedViewFilter{Page: req.GetPage(), Visibility: req.GetVisibility()}
	rows, err := s.store.ListSavedViews(ctx, caller.Org, viewer(caller), filter, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListSavedViewsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// CreateSavedView creates a view of the caller.
func (s *Service) CreateSavedView(ctx context.Context, req *svcv2.CreateSavedViewRequest) (*svcv2.SavedView, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	visibility := store.ViewPrivate
	if req.Visibility != nil {
		visibility = req.GetVisibility()
	}
	r, err := s.store.CreateSavedView(ctx, caller.Org, store.SavedView{
		Page: req.GetPage(), Name: req.GetName(), Description: req.Description, State: req.GetState(), Visibility: visibility,
		Owner: viewer(caller).User,
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(r), nil
}

// GetSavedView returns one view that the caller sees.
func (s *Service) GetSavedView(ctx context.Context, req *svcv2.GetSavedViewRequest) (*svcv2.SavedView, error) {
	org, by, id, err := target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	r, err := s.store.GetSavedView(ctx, org, by, id)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(r), nil
}

// UpdateSavedView changes the fields that the mask names.
func (s *Service) UpdateSavedView(ctx context.Context, req *svcv2.UpdateSavedViewRequest) (*svcv2.SavedView, error) {
	org, by, id, err := target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	change, err := edit(req)
	if err != nil {
		return nil, err
	}
	r, err := s.store.EditSavedView(ctx, org, by, id, change)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(r), nil
}

// DeleteSavedView deletes a view.
func (s *Service) DeleteSavedView(ctx context.Context, req *svcv2.DeleteSavedViewRequest) (*svcv2.DeletedSavedView, error) {
	org, by, id, err := target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteSavedView(ctx, org, by, id); err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.DeletedSavedView{Id: req.GetId(), Object: "saved_view", Deleted: true}, nil
}

// edit is the change of the fields that the mask names.
func edit(req *svcv2.UpdateSavedViewRequest) (e store.SavedViewEdit, err error) {
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			e.Name = store.Set(req.GetName())
		case "description":
			e.Description = store.Set(req.Description)
		case "state":
			e.State = store.Set(req.GetState())
		case "visibility":
			e.Visibility = store.Set(req.GetVisibility())
		default:
			return e, fmt.Errorf("savedviews: no update of the field %s", path)
		}
	}
	return e, nil
}

func toProto(r store.SavedView) *svcv2.SavedView {
	p := &svcv2.SavedView{
		Id: publicid.Encode(publicid.SavedView, r.ID), Object: "saved_view", Page: r.Page, Name: r.Name, Description: r.Description,
		State: r.State, Visibility: r.Visibility, CreatedAt: timestamppb.New(r.CreatedAt), UpdatedAt: timestamppb.New(r.UpdatedAt),
	}
	if r.Owner != "" {
		p.Owner = (*string)(&r.Owner)
	}
	return p
}
