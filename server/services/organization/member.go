package organization

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// ListMembers lists the members, oldest membership first.
func (s *Service) ListMembers(ctx context.Context, req *svcv2.ListMembersRequest) (*svcv2.ListMembersResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.store.ListMembers(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListMembersResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, memberToProto(row))
	}
	return res, nil
}

// UpdateMember changes a member's role.
func (s *Service) UpdateMember(ctx context.Context, req *svcv2.UpdateMemberRequest) (*svcv2.Member, error) {
	caller, id, err := member(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if principal.Role(req.GetRole()) == principal.RoleAdmin {
		if err := unrestricted(caller, "An administrator's role"); err != nil {
			return nil, err
		}
	}
	m, err := s.store.SetRole(ctx, caller.Org, id, principal.Role(req.GetRole()))
	if err != nil {
		return nil, memberFailure(ctx, err)
	}
	return memberToProto(m), nil
}

// RemoveMember ends a membership.
func (s *Service) RemoveMember(ctx context.Context, req *svcv2.RemoveMemberRequest) (*svcv2.RemovedMember, error) {
	caller, id, err := member(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.store.DeleteMembership(ctx, caller.Org, id); err != nil {
		return nil, memberFailure(ctx, err)
	}
	return &svcv2.RemovedMember{Id: req.GetId(), Object: "organization_member", Deleted: true}, nil
}

func member(ctx context.Context, id string) (*principal.Principal, principal.UserID, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, "", err
	}
	if _, err := publicid.Decode("user", id); err != nil {
		return nil, "", apierr.New(apierr.InvalidRequest, fmt.Sprintf("id is not the id of a user: %v.", err), apierr.Param("id"))
	}
	return caller, principal.UserID(id), nil
}

// memberFailure gives the same error for a user of another organization and for an unknown user.
func memberFailure(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return apierr.New(apierr.MemberNotFound, "This organization has no such member.", apierr.Param("id"), apierr.Cause(err))
	}
	return failure(ctx, err)
}

func memberToProto(m store.Member) *svcv2.Member {
	out := &svcv2.Member{
		Id: string(m.User), Object: "organization_member", Email: m.Email, Role: string(m.Role), CreatedAt: timestamppb.New(m.JoinedAt),
	}
	if m.Name != "" {
		out.Name = &m.Name
	}
	return out
}
