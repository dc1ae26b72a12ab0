// Package auditlog answers the methods of svc.v2.AuditLogService.
package auditlog

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.AuditLogServiceHandler. It is safe for concurrent use.
type Service struct{ store *store.Store }

// New returns the service.
func New(st *store.Store) *Service { return &Service{store: st} }

// ListAuditLogEntries lists entries, newest first. since and until are both inclusive.
func (s *Service) ListAuditLogEntries(
	ctx context.Context, req *svcv2.ListAuditLogEntriesRequest,
) (*svcv2.ListAuditLogEntriesResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	if since, until := req.GetSince(), req.GetUntil(); since != nil && until != nil && until.AsTime().Before(since.AsTime()) {
		return nil, apierr.New(apierr.ParameterInvalid, "`until` must not be before `since`.", apierr.Param("until"))
	}
	rows, err := s.store.ListAuditLogEntries(ctx, caller.Org, filter(req), page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListAuditLogEntriesResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		entry, err := toProto(row)
		if err != nil {
			return nil, err
		}
		res.Data = append(res.Data, entry)
	}
	return res, nil
}

// resource describes the errors of the audit log.
func resource() storeerr.Resource {
	return storeerr.Resource{Unavailable: storeerr.Answer{
		Tag:     apierr.AuditLogPersistence,
		Message: "The audit log cannot be read at the moment. Try again.",
	}}
}

func filter(req *svcv2.ListAuditLogEntriesRequest) store.AuditFilter {
	f := store.AuditFilter{
		ActorType: req.GetActorType(), ActorID: req.GetActorId(), AffectedUser: req.GetAffectedUser(), Action: req.GetAction(),
		Outcome: req.GetOutcome(), ResourceType: req.GetResourceType(), ResourceID: req.GetResourceId(), RequestID: req.GetRequestId(),
		Changed: req.GetChanged(),
	}
	if req.GetSince() != nil {
		at := req.GetSince().AsTime()
		f.Since = &at
	}
	if req.GetUntil() != nil {
		at := req.GetUntil().AsTime()
		f.Until = &at
	}
	return f
}

func toProto(e store.AuditLogEntry) (*svcv2.AuditLogEntry, error) {
	out := &svcv2.AuditLogEntry{
		Id:     publicid.Encode(publicid.AuditLogEntry, e.ID),
		Object: "audit_log_entry", Action: e.Action, Outcome: e.Outcome, DenialReason: e.DenialReason,
		ActorType: e.ActorType, ActorId: e.ActorID, ActorName: e.ActorName, AffectedUser: e.AffectedUser, Source: e.Source,
		ResourceType: e.ResourceType, ResourceId: e.ResourceID, RequestId: e.RequestID, OriginIp: e.OriginIP,
		OriginCountry: e.OriginCountry, ActorAvatarUrl: e.ActorAvatarURL,
		OccurredAt: timestamppb.New(e.OccurredAt), RecordedAt: timestamppb.New(e.RecordedAt),
	}
	var err error
	if e.Metadata != nil {
		if out.Metadata, err = toStruct(e.Metadata); err != nil {
			return nil, err
		}
	}
	if c := e.Changes; c != nil {
		out.Changes = &svcv2.AuditLogChanges{Fields: c.Fields}
		if out.Changes.Before, err = toStruct(c.Before); err != nil {
			return nil, err
		}
		if out.Changes.After, err = toStruct(c.After); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// toStruct converts through JSON, because a Struct takes fewer Go types than JSON does.
func toStruct(v map[string]any) (*structpb.Struct, error) {
	if v == nil {
		v = map[string]any{}
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("auditlog: entry: %w", err)
	}
	out := &structpb.Struct{}
	if err := out.UnmarshalJSON(text); err != nil {
		return nil, fmt.Errorf("auditlog: entry: %w", err)
	}
	return out, nil
}
