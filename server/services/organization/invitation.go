package organization

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// invitationLifetime limits how long a link works.
const invitationLifetime = limits.InvitationLink

// CreateInvitation makes a link. Only this answer holds it.
func (s *Service) CreateInvitation(ctx context.Context, req *svcv2.CreateInvitationRequest) (*svcv2.InvitationWithLink, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := unrestricted(caller, "An invitation"); err != nil {
		return nil, err
	}
	role := principal.RoleMember
	if req.Role != nil {
		role = principal.Role(req.GetRole())
	}
	token := auth.NewSecret(auth.PrefixInvitation)
	i, err := s.store.CreateInvitation(ctx, caller.Org, store.NewInvitation{
		Email: req.Email, Role: role, TokenHash: s.hasher.Hash(token), ExpiresAt: s.now().Add(invitationLifetime), CreatedBy: caller.User,
	})
	if errors.Is(err, store.ErrConflict) {
		return nil, apierr.New(apierr.InvalidRequest, "`email` is the address of a member of this organization.",
			apierr.Param("email"), apierr.Cause(err))
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	p := s.invitationToProto(i)
	return &svcv2.InvitationWithLink{
		Id: p.Id, Object: p.Object, Email: p.Email, Role: p.Role, Status: p.Status, CreatedAt: p.CreatedAt, CreatedBy: p.CreatedBy,
		ExpiresAt: p.ExpiresAt,
		Link:      s.baseURL + "/invite/" + token,
	}, nil
}

// ListInvitations lists invitations, newest first.
func (s *Service) ListInvitations(ctx context.Context, req *svcv2.ListInvitationsRequest) (*svcv2.ListInvitationsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListInvitations(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListInvitationsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, s.invitationToProto(row))
	}
	return res, nil
}

// RevokeInvitation revokes a link.
func (s *Service) RevokeInvitation(ctx context.Context, req *svcv2.RevokeInvitationRequest) (*svcv2.Invitation, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := publicid.Decode(publicid.Invitation, req.GetId())
	if err != nil {
		return nil, apierr.New(apierr.InvalidRequest, fmt.Sprintf("id is not the id of an invitation: %v.", err), apierr.Param("id"))
	}
	i, err := s.store.RevokeInvitation(ctx, caller.Org, id)
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.InvitationNotFound, "This organization has no such invitation, or it was accepted.", apierr.Param("id"),
			apierr.Cause(err))
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return s.invitationToProto(i), nil
}

// AcceptInvitation makes a member of the caller, or of the user with the given email address and password.
func (s *Service) AcceptInvitation(ctx context.Context, req *svcv2.AcceptInvitationRequest) (*svcv2.AcceptedInvitation, error) {
	inv, org, err := s.store.InvitationByHash(ctx, s.hasher.Hash(req.GetToken()))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, failure(ctx, err)
	}
	if err != nil || !inv.Pending(s.now()) {
		return nil, errNoInvitation(err)
	}
	who, create, err := s.accepting(ctx, req, inv)
	if err != nil {
		return nil, err
	}
	user, err := s.store.AcceptInvitation(ctx, inv, who, create)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, errNoInvitation(err)
	case errors.Is(err, store.ErrConflict):
		return nil, apierr.New(apierr.InvalidRequest, "You are a member of this organization already: sign in.", apierr.Cause(err))
	case err != nil:
		return nil, failure(ctx, err)
	}
	out := &svcv2.AcceptedInvitation{
		Object: "accepted_invitation",
		User:   &svcv2.User{Id: string(user.ID), Object: "user", Email: user.Email},
		Organization: &svcv2.SessionOrganization{
			Id: string(org.ID), Object: "organization", Name: org.Name, Slug: org.Slug, Role: string(inv.Role),
		},
	}
	if user.Name != "" {
		out.User.Name = &user.Name
	}
	return out, nil
}

// errNoInvitation is the same error for a link that is unknown, used, revoked or expired.
func errNoInvitation(cause error) error {
	return apierr.New(apierr.InvitationNotFound, "This invitation does not exist, was used or revoked, or has expired. Ask for a new one.",
		apierr.Param("token"), apierr.Cause(cause))
}

// accepting finds the user who accepts the invitation, or describes the user to create.
func (s *Service) accepting(
	ctx context.Context, req *svcv2.AcceptInvitationRequest, inv store.Invitation,
) (principal.UserID, *store.NewUser, error) {
	if req.Email == nil {
		caller, ok := principal.From(ctx)
		switch {
		case !ok || caller.Kind != principal.KindSession:
			return "", nil, apierr.New(apierr.InvalidRequest,
				"Send `email` and `password`, or the token of your session as `Authorization: Bearer`.", apierr.Param("email"))
		case !addressed(inv, caller.Email):
			return "", nil, errAddress()
		}
		return caller.User, nil, nil
	}
	if !addressed(inv, req.GetEmail()) {
		return "", nil, errAddress()
	}
	_, err := s.store.UserByEmail(ctx, req.GetEmail())
	if err == nil {
		user, err := s.signIn.CheckPassword(ctx, req.GetEmail(), req.GetPassword())
		return user.ID, nil, err
	}
	if !errors.Is(err, store.ErrNotFound) {
		return "", nil, failure(ctx, err)
	}
	hash, err := s.passwords.New(ctx, req.GetPassword(), "password")
	if err != nil {
		return "", nil, err
	}
	return "", &store.NewUser{Email: req.GetEmail(), Name: strings.TrimSpace(req.GetName()), PasswordHash: hash}, nil
}

func addressed(inv store.Invitation, email string) bool {
	return inv.Email == nil || *inv.Email == strings.ToLower(strings.TrimSpace(email))
}

func errAddress() error {
	return apierr.New(apierr.OrganizationForbidden, "The invitation is for another email address.", apierr.Param("email"))
}

func (s *Service) invitationToProto(i store.Invitation) *svcv2.Invitation {
	out := &svcv2.Invitation{
		Id: publicid.Encode(publicid.Invitation, i.ID), Object: "invitation", Email: i.Email, Role: string(i.Role), Status: "expired",
		CreatedAt: timestamppb.New(i.CreatedAt), CreatedBy: string(i.CreatedBy), ExpiresAt: timestamppb.New(i.ExpiresAt),
	}
	switch {
	case i.AcceptedAt != nil:
		out.Status, out.AcceptedAt = "accepted", timestamppb.New(*i.AcceptedAt)
		if i.AcceptedBy != nil {
			by := string(*i.AcceptedBy)
			out.AcceptedBy = &by
		}
	case i.RevokedAt != nil:
		out.Status, out.RevokedAt = "revoked", timestamppb.New(*i.RevokedAt)
	case i.Pending(s.now()):
		out.Status = "pending"
	}
	return out
}
