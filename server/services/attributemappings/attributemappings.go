// Package attributemappings answers the methods of svc.v2.AttributeMappingsService (rest-wire.md section 12).
package attributemappings

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

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
func (s *Service) ListAttributeMappings(ctx context.Context, req *svcv2.ListAttributeMappingsRequest) (*svcv2.ListAttributeMappingsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	// All of them are read, because the order counts and ingest reads all of them anyway.
	rows, err := s.store.ListAttributeMappings(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Part(page, rows)
	res := &svcv2.ListAttributeMappingsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// CreateAttributeMapping creates a mapping, which runs after those that exist.
func (s *Service) CreateAttributeMapping(ctx context.Context, req *svcv2.CreateAttributeMappingRequest) (*svcv2.AttributeMapping, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	m, err := s.store.CreateAttributeMapping(ctx, caller.Org, store.NewAttributeMapping{
		Name: req.GetName(), Source: store.MappingSource(req.GetSourceContext()), SourceKey: req.GetSourceKey(), TargetKey: req.GetTargetKey(),
		Operation: store.MappingOperation(req.GetOperation()), Disabled: req.Enabled != nil && !req.GetEnabled(),
	})
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(m), nil
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
	return toProto(m), nil
}

// UpdateAttributeMapping changes the fields that the mask names.
func (s *Service) UpdateAttributeMapping(ctx context.Context, req *svcv2.UpdateAttributeMappingRequest) (*svcv2.AttributeMapping, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var edit store.AttributeMappingEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			edit.Name = store.Set(req.GetName())
		case "source_context":
			edit.Source = store.Set(store.MappingSource(req.GetSourceContext()))
		case "source_key":
			edit.SourceKey = store.Set(req.GetSourceKey())
		case "target_key":
			edit.TargetKey = store.Set(req.GetTargetKey())
		case "operation":
			edit.Operation = store.Set(store.MappingOperation(req.GetOperation()))
		case "enabled":
			edit.Enabled = store.Set(req.GetEnabled())
		default:
			return nil, fmt.Errorf("attributemappings: no way to change %s", path)
		}
	}
	m, err := s.store.EditAttributeMapping(ctx, caller.Org, id, edit)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(m), nil
}

// DeleteAttributeMapping deletes a mapping.
func (s *Service) DeleteAttributeMapping(ctx context.Context, req *svcv2.DeleteAttributeMappingRequest) (*svcv2.DeletedAttributeMapping, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteAttributeMapping(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedAttributeMapping{Id: req.GetId(), Object: "attribute_mapping", Deleted: true}, nil
}

// resource gives failures their errors.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.AttributeMapping, ID: "an attribute mapping", Invalid: apierr.IngestAttributeMappingValidation,
		NotFound:    storeerr.Answer{Tag: apierr.IngestAttributeMappingNotFound, Message: "This organization has no such attribute mapping."},
		Unavailable: storeerr.Answer{Tag: apierr.IngestAttributeMappingPersistence, Message: "Attribute mappings cannot be read or changed at the moment. Try again."},
	}
}

func toProto(m store.AttributeMapping) *svcv2.AttributeMapping {
	return &svcv2.AttributeMapping{
		Id: publicid.Encode(publicid.AttributeMapping, m.ID), Object: "attribute_mapping", Name: m.Name, SourceContext: string(m.Source),
		SourceKey: m.SourceKey, TargetKey: m.TargetKey, Operation: string(m.Operation), Enabled: m.Enabled,
		CreatedAt: timestamppb.New(m.CreatedAt), UpdatedAt: timestamppb.New(m.UpdatedAt),
	}
}
