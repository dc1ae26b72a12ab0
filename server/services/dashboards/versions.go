package dashboards

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/store"
)

// ListDashboardVersions lists the versions of a dashboard, newest first.
func (s *Service) ListDashboardVersions(
	ctx context.Context, req *svcv2.ListDashboardVersionsRequest,
) (*svcv2.ListDashboardVersionsResponse, error) {
	caller, id, err := definition.Resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	limit := paging.Limit(req.Limit)
	below, err := paging.ParseVersion(req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListDashboardVersions(ctx, caller.Org, id, below, limit+1)
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	rows, next := paging.CutAfter(limit, rows, func(last store.DashboardVersion) string { return paging.FormatVersion(last.Number) })
	res := &svcv2.ListDashboardVersionsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, v := range rows {
		res.Data = append(res.Data, &svcv2.DashboardVersion{
			Id: publicid.Encode(publicid.DashboardVersion, v.ID), Object: "dashboard_version", DashboardId: req.GetId(),
			VersionNumber: int32(v.Number), ChangeKind: v.Kind, ChangeSummary: v.Summary, SourceVersionId: restoredID(v),
			CreatedAt: timestamppb.New(v.CreatedAt), CreatedBy: string(v.CreatedBy),
		})
	}
	return res, nil
}

// GetDashboardVersion returns a version with the definition that it had.
func (s *Service) GetDashboardVersion(ctx context.Context, req *svcv2.GetDashboardVersionRequest) (*svcv2.DashboardVersionDetail, error) {
	_, d, v, err := s.version(ctx, req.GetId(), req.GetVersionId())
	if err != nil {
		return nil, err
	}
	d.UpdatedAt = v.CreatedAt
	then, err := definition.Read(v.Snapshot)
	if err != nil {
		return nil, err
	}
	return &svcv2.DashboardVersionDetail{
		Id: req.GetVersionId(), Object: "dashboard_version", DashboardId: req.GetId(), VersionNumber: int32(v.Number), ChangeKind: v.Kind,
		ChangeSummary: v.Summary, SourceVersionId: restoredID(v), CreatedAt: timestamppb.New(v.CreatedAt), CreatedBy: string(v.CreatedBy),
		Snapshot: toProto(d, then),
	}, nil
}

// RestoreDashboardVersion gives a dashboard the definition of one of its versions.
func (s *Service) RestoreDashboardVersion(
	ctx context.Context, req *svcv2.RestoreDashboardVersionRequest,
) (*svcv2.DashboardMutationResponse, error) {
	caller, d, v, err := s.version(ctx, req.GetId(), req.GetVersionId())
	if err != nil {
		return nil, err
	}
	then, err := definition.Read(v.Snapshot)
	if err != nil {
		return nil, err
	}
	return s.edit(ctx, caller, d.ID, func(_ store.Dashboard, def *svcv2.DashboardDefinition) (*store.DashboardChange, error) {
		proto.Reset(def)
		proto.Merge(def, then)
		summary := fmt.Sprintf("Restored from v%d", v.Number)
		return &store.DashboardChange{Action: "version_restored", Kind: definition.KindRestored, Summary: &summary, Restored: &v.ID}, nil
	}, then)
}

// version reads a version and its dashboard, so that the error can name the one that does not exist.
func (s *Service) version(
	ctx context.Context, id, versionID string,
) (caller *principal.Principal, d store.Dashboard, v store.DashboardVersion, err error) {
	caller, key, err := definition.Resource().Target(ctx, id)
	if err != nil {
		return nil, d, v, err
	}
	var versionKey uuid.UUID
	if versionKey, err = publicid.Decode(publicid.DashboardVersion, versionID); err != nil {
		return nil, d, v, apierr.New(apierr.InvalidRequest, fmt.Sprintf("version_id is not the id of a version: %v.", err),
			apierr.Param("version_id"))
	}
	if d, err = s.store.GetDashboard(ctx, caller.Org, key); err != nil {
		return nil, d, v, definition.Resource().Failure(ctx, err)
	}
	v, err = s.store.GetDashboardVersion(ctx, caller.Org, key, versionKey)
	if errors.Is(err, store.ErrNotFound) {
		return nil, d, v, apierr.New(apierr.DashboardVersionNotFound, "This dashboard has no such version.", apierr.Cause(err))
	}
	if err != nil {
		return nil, d, v, definition.Resource().Failure(ctx, err)
	}
	return caller, d, v, nil
}

func restoredID(v store.DashboardVersion) *string {
	if v.Restored == nil {
		return nil
	}
	id := publicid.Encode(publicid.DashboardVersion, *v.Restored)
	return &id
}
