// Package links shares dashboards and widgets by links. It makes, rotates and revokes links, and shows the shared data.
package links

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/dashboards/definition"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// suffixLength is the number of characters at the end of a token by which people recognize a link.
const suffixLength = 6

// Service has the methods of svc.v2.DashboardsService about share links. It is safe for concurrent use.
type Service struct {
	store  *store.Store
	sealer Sealer
	hash   func(token string) string
}

// New returns the service. The sealer encrypts the tokens of links. A lookup finds a token by its keyed hash.
func New(st *store.Store, sealer Sealer, hash func(token string) string) *Service {
	return &Service{store: st, sealer: sealer, hash: hash}
}

// Sealer encrypts tokens. Every read of a link returns the token again.
type Sealer interface {
	Seal(plain []byte, place string) []byte
	Open(sealed []byte, place string) ([]byte, error)
}

// place binds a sealed token to its row.
func place(org principal.OrgID, share uuid.UUID) string { return string(org) + " " + share.String() }

// newToken makes tokens of 256 random bits.
func (s *Service) newToken(org principal.OrgID) store.ShareToken {
	return func(share uuid.UUID) (sealed, hash string) {
		var b [32]byte
		_, _ = rand.Read(b[:]) // never fails: the program ends instead
		token := base64.RawURLEncoding.EncodeToString(b[:])
		return base64.RawURLEncoding.EncodeToString(s.sealer.Seal([]byte(token), place(org, share))), s.hash(token)
	}
}

func (s *Service) shareToProto(share store.DashboardShare) (*svcv2.DashboardShare, error) {
	sealed, err := base64.RawURLEncoding.DecodeString(share.Token)
	if err != nil {
		return nil, apierr.New(apierr.SharePersistence, "The token of the share link cannot be read.", apierr.Cause(err))
	}
	token, err := s.sealer.Open(sealed, place(share.Org, share.ID))
	if err != nil {
		return nil, apierr.New(apierr.SharePersistence,
			"The token of the share link cannot be read: it was stored under another secret key. Rotate it.", apierr.Cause(err))
	}
	out := &svcv2.DashboardShare{
		Id: publicid.Encode(publicid.DashboardShare, share.ID), Object: "dashboard_share",
		DashboardId: publicid.Encode(publicid.Dashboard, share.Dashboard), Mode: share.Mode, Token: string(token),
		TokenSuffix: string(token[max(0, len(token)-suffixLength):]),
		CreatedAt:   timestamppb.New(share.CreatedAt), UpdatedAt: timestamppb.New(share.UpdatedAt),
	}
	if share.Widget != "" {
		out.WidgetId = &share.Widget
	}
	return out, nil
}

// shares maps failures about share links to their API errors.
func shares() storeerr.Resource {
	r := definition.Resource()
	r.Unavailable = storeerr.Answer{Tag: apierr.SharePersistence, Message: "Share links cannot be read or changed at the moment. Try again."}
	return r
}

// ListDashboardShares lists the links of a dashboard.
func (s *Service) ListDashboardShares(
	ctx context.Context, req *svcv2.ListDashboardSharesRequest,
) (*svcv2.ListDashboardSharesResponse, error) {
	caller, id, err := shares().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListDashboardShares(ctx, caller.Org, id)
	if err != nil {
		return nil, shares().Failure(ctx, err)
	}
	res := &svcv2.ListDashboardSharesResponse{}
	for _, row := range rows {
		share, err := s.shareToProto(row)
		if err != nil {
			return nil, err
		}
		res.Shares = append(res.Shares, share)
	}
	return res, nil
}

// GetDashboardShare returns the link of a dashboard.
func (s *Service) GetDashboardShare(ctx context.Context, req *svcv2.GetDashboardShareRequest) (*svcv2.GetDashboardShareResponse, error) {
	share, err := s.share(ctx, req.GetId(), "")
	return &svcv2.GetDashboardShareResponse{Share: share}, err
}

// GetDashboardWidgetShare returns the link of a widget.
func (s *Service) GetDashboardWidgetShare(
	ctx context.Context, req *svcv2.GetDashboardWidgetShareRequest,
) (*svcv2.GetDashboardWidgetShareResponse, error) {
	share, err := s.share(ctx, req.GetId(), req.GetWidgetId())
	return &svcv2.GetDashboardWidgetShareResponse{Share: share}, err
}

// share returns nil if there is no link.
func (s *Service) share(ctx context.Context, id, widget string) (*svcv2.DashboardShare, error) {
	caller, key, err := shares().Target(ctx, id)
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetDashboardShare(ctx, caller.Org, key, widget)
	if err != nil {
		return nil, shares().Failure(ctx, err)
	}
	if row == nil {
		return nil, nil
	}
	return s.shareToProto(*row)
}

// UpsertDashboardShare shares a dashboard.
func (s *Service) UpsertDashboardShare(ctx context.Context, req *svcv2.UpsertDashboardShareRequest) (*svcv2.DashboardShare, error) {
	return s.upsert(ctx, req.GetId(), "", req.GetMode())
}

// UpsertDashboardWidgetShare shares a widget.
func (s *Service) UpsertDashboardWidgetShare(
	ctx context.Context, req *svcv2.UpsertDashboardWidgetShareRequest,
) (*svcv2.DashboardShare, error) {
	caller, id, err := shares().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.store.GetDashboard(ctx, caller.Org, id)
	if err != nil {
		return nil, definition.Resource().Failure(ctx, err)
	}
	def, err := definition.Read(row.Definition)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(def.GetWidgets(), func(w *svcv2.Widget) bool { return w.GetId() == req.GetWidgetId() }) {
		return nil, apierr.New(apierr.ShareWidgetNotFound, "This dashboard has no such widget.", apierr.Param("widget_id"))
	}
	return s.upsert(ctx, req.GetId(), req.GetWidgetId(), req.GetMode())
}

func (s *Service) upsert(ctx context.Context, id, widget, mode string) (*svcv2.DashboardShare, error) {
	caller, key, err := shares().Target(ctx, id)
	if err != nil {
		return nil, err
	}
	row, err := s.store.UpsertDashboardShare(ctx, caller.Org, key, widget, mode, caller.User, s.newToken(caller.Org))
	if err != nil {
		return nil, shares().Failure(ctx, err)
	}
	return s.shareToProto(row)
}

// RotateDashboardShare gives the link of a dashboard a new token.
func (s *Service) RotateDashboardShare(ctx context.Context, req *svcv2.RotateDashboardShareRequest) (*svcv2.DashboardShare, error) {
	return s.rotate(ctx, req.GetId(), "")
}

// RotateDashboardWidgetShare gives the link of a widget a new token.
func (s *Service) RotateDashboardWidgetShare(
	ctx context.Context, req *svcv2.RotateDashboardWidgetShareRequest,
) (*svcv2.DashboardShare, error) {
	return s.rotate(ctx, req.GetId(), req.GetWidgetId())
}

func (s *Service) rotate(ctx context.Context, id, widget string) (*svcv2.DashboardShare, error) {
	caller, key, err := shares().Target(ctx, id)
	if err != nil {
		return nil, err
	}
	row, err := s.store.RotateDashboardShare(ctx, caller.Org, key, widget, s.newToken(caller.Org))
	if err != nil {
		return nil, shares().Failure(ctx, err)
	}
	if row == nil {
		return nil, apierr.New(apierr.ShareNotFound, "There is no such share link.")
	}
	return s.shareToProto(*row)
}

// RevokeDashboardShare ends the link of a dashboard.
func (s *Service) RevokeDashboardShare(ctx context.Context, req *svcv2.RevokeDashboardShareRequest) (*svcv2.DeletedDashboardShare, error) {
	return s.revoke(ctx, req.GetId(), "")
}

// RevokeDashboardWidgetShare ends the link of a widget.
func (s *Service) RevokeDashboardWidgetShare(
	ctx context.Context, req *svcv2.RevokeDashboardWidgetShareRequest,
) (*svcv2.DeletedDashboardShare, error) {
	return s.revoke(ctx, req.GetId(), req.GetWidgetId())
}

func (s *Service) revoke(ctx context.Context, id, widget string) (*svcv2.DeletedDashboardShare, error) {
	caller, key, err := shares().Target(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteDashboardShare(ctx, caller.Org, key, widget); err != nil {
		return nil, shares().Failure(ctx, err)
	}
	return &svcv2.DeletedDashboardShare{DashboardId: id, Object: "dashboard_share", Deleted: true}, nil
}
