package organization

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/store"
)

// PreviewInvitation shows the organization and role that a link offers.
func (s *Service) PreviewInvitation(ctx context.Context, req *svcv2.PreviewInvitationRequest) (*svcv2.InvitationPreview, error) {
	inv, org, err := s.store.InvitationByHash(ctx, s.hasher.Hash(req.GetToken()))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, failure(ctx, err)
	}
	if err != nil || !inv.Pending(s.now()) {
		return nil, errNoInvitation(err)
	}
	return &svcv2.InvitationPreview{
		Object: "invitation_preview", OrganizationName: org.Name, Role: string(inv.Role), Email: inv.Email,
		ExpiresAt: timestamppb.New(inv.ExpiresAt),
	}, nil
}
