// Package attributemappings answers the methods of svc.v2.AttributeMappingsService.
package attributemappings

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.AttributeMappingsServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// ListAttributeMappings lists the mappings in the order in which they run.
func (s *Service) ListAttributeMappings(
	ctx context.Context, req *svcv2.ListAttributeMappingsRequest,
) (*svcv2.ListAttributeMappingsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	// The service reads all mappings, because their order matters and ingest reads all of them anyway.
	rows, err := s.store.ListAttributeMappings(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Part(page, rows)
	res := &svcv2.ListAttributeMappingsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, ToProto(row))
	}
	return res, nil
}

// CreateAttributeMapping creates a mapping. It runs after the existing ones.
func (s *Service) CreateAttributeMapping(ctx context.Context, req *svcv2.CreateAttributeMappingRequest) (*svcv2.AttributeMapping, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.store.CreateAttributeMapping(ctx, caller.Org, creation(req))
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToProto(m), nil
}

// GetAttributeMapping returns one mapping.
func (s *Service) GetAttributeMapping(ctx context.Context, req *svcv2.GetAttributeMappingRequest) (*svcv2.AttributeMapping, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	m, err := s.store.GetAttributeMapping(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToProto(m), nil
}

// UpdateAttributeMapping changes the fields that the mask names.
func (s *Service) UpdateAttributeMapping(ctx context.Context, req *svcv2.UpdateAttributeMappingRequest) (*svcv2.AttributeMapping, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	change, err := edit(req)
	if err != nil {
		return nil, err
	}
	m, err := s.store.EditAttributeMapping(ctx, caller.Org, id, change)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToProto(m), nil
}

// DeleteAttributeMapping deletes a mapping.
func (s *Service) DeleteAttributeMapping(
	ctx context.Context, req *svcv2.DeleteAttributeMappingRequest,
) (*svcv2.DeletedAttributeMapping, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteAttributeMapping(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedAttributeMapping{Id: req.GetId(), Object: "attribute_mapping", Deleted: true}, nil
}

// resource describes the errors of an attribute mapping.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AttributeMapping, ID: "an attribute mapping", Invalid: apierr.IngestAttributeMappingValidation,
		NotFound: storeerr.Answer{Tag: apierr.IngestAttributeMappingNotFound, Message: "This organization has no such attribute mapping."},
		Unavailable: storeerr.Answer{
			Tag:     apierr.IngestAttributeMappingPersistence,
			Message: "Attribute mappings cannot be read or changed at the moment. Try again.",
		},
	}
}
