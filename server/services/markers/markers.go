// Package markers answers the methods of svc.v2.MarkersService.
package markers

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.MarkersServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// resource describes the errors of a marker.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Marker, ID: "a marker", Invalid: apierr.MarkerValidation,
		NotFound:    storeerr.Answer{Tag: apierr.MarkerNotFound, Message: "This organization has no such marker."},
		Unavailable: storeerr.Answer{Tag: apierr.MarkerPersistence, Message: "Markers cannot be read or changed at the moment. Try again."},
	}
}

// ListMarkers lists the markers of the organization; the latest comes first.
func (s *Service) ListMarkers(ctx context.Context, req *svcv2.ListMarkersRequest) (*svcv2.ListMarkersResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	f := store.MarkerFilter{
		Start: instant(req.GetStartTime()), End: instant(req.GetEndTime()), Kind: req.GetKind(), Service: req.ServiceName,
		Environment: req.DeploymentEnvironment,
	}
	if !f.Start.IsZero() && !f.End.IsZero() && f.End.Before(f.Start) {
		return nil, apierr.New(apierr.TimeRangeInvalid, "end_time must not be before start_time.", apierr.Param("end_time"))
	}
	rows, err := s.store.ListMarkers(ctx, caller.Org, f, page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListMarkersResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// CreateMarker creates a marker.
func (s *Service) CreateMarker(ctx context.Context, req *svcv2.CreateMarkerRequest) (*svcv2.Marker, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	r, err := s.store.CreateMarker(ctx, caller.Org, caller.User, store.Marker{
		Kind: req.GetKind(), Title: req.GetTitle(), Description: req.Description, OccurredAt: instant(req.GetOccurredAt()),
		EndedAt: end(req.GetEndedAt()), ServiceName: req.ServiceName, DeploymentEnvironment: req.DeploymentEnvironment, URL: req.Url,
	})
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(r), nil
}

// GetMarker returns one marker.
func (s *Service) GetMarker(ctx context.Context, req *svcv2.GetMarkerRequest) (*svcv2.Marker, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	r, err := s.store.GetMarker(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(r), nil
}

// UpdateMarker changes the fields that the mask names.
func (s *Service) UpdateMarker(ctx context.Context, req *svcv2.UpdateMarkerRequest) (*svcv2.Marker, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	change, err := edit(req)
	if err != nil {
		return nil, err
	}
	r, err := s.store.EditMarker(ctx, caller.Org, id, change)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(r), nil
}

// DeleteMarker deletes a marker.
func (s *Service) DeleteMarker(ctx context.Context, req *svcv2.DeleteMarkerRequest) (*svcv2.DeletedMarker, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteMarker(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedMarker{Id: req.GetId(), Object: "marker", Deleted: true}, nil
}

// edit is the change of the fields that the mask names.
func edit(req *svcv2.UpdateMarkerRequest) (e store.MarkerEdit, err error) {
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "kind":
			e.Kind = store.Set(req.GetKind())
		case "title":
			e.Title = store.Set(req.GetTitle())
		case "description":
			e.Description = store.Set(req.Description)
		case "occurred_at":
			e.OccurredAt = store.Set(instant(req.GetOccurredAt()))
		case "ended_at":
			e.EndedAt = store.Set(end(req.GetEndedAt()))
		case "service_name":
			e.ServiceName = store.Set(req.ServiceName)
		case "deployment_environment":
			e.Environment = store.Set(req.DeploymentEnvironment)
		case "url":
			e.Address = store.Set(req.Url)
		default:
			return e, fmt.Errorf("markers: no update of the field %s", path)
		}
	}
	return e, nil
}

// instant is the zero time without a timestamp.
func instant(t *timestamppb.Timestamp) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.AsTime()
}

func end(t *timestamppb.Timestamp) *time.Time {
	if t == nil {
		return nil
	}
	at := t.AsTime()
	return &at
}

func toProto(r store.Marker) *svcv2.Marker {
	p := &svcv2.Marker{
		Id: publicid.Encode(publicid.Marker, r.ID), Object: "marker", Kind: r.Kind, Title: r.Title, Description: r.Description,
		OccurredAt: timestamppb.New(r.OccurredAt), ServiceName: r.ServiceName, DeploymentEnvironment: r.DeploymentEnvironment, Url: r.URL,
		CreatedAt: timestamppb.New(r.CreatedAt), UpdatedAt: timestamppb.New(r.UpdatedAt),
	}
	if r.EndedAt != nil {
		p.EndedAt = timestamppb.New(*r.EndedAt)
	}
	if r.CreatedBy != "" {
		p.CreatedBy = (*string)(&r.CreatedBy)
	}
	return p
}
