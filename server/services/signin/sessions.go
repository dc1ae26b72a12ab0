// Package signin answers the methods of svc.v2.SessionsService: sign-in, sign-out, and a description of the credential of a
// request.
package signin

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Service implements svcv2connect.SessionsServiceHandler. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	signIn    *auth.SignIn
	passwords *auth.Passwords
}

// New returns the service.
func New(st *store.Store, signIn *auth.SignIn, passwords *auth.Passwords) *Service {
	return &Service{store: st, signIn: signIn, passwords: passwords}
}

// SignIn checks a password and starts a session.
func (s *Service) SignIn(ctx context.Context, req *svcv2.SignInRequest) (*svcv2.SessionWithToken, error) {
	in, err := s.signIn.Password(ctx, req.GetEmail(), req.GetPassword(), principal.OrgID(req.GetOrgId()))
	if err != nil {
		return nil, err
	}
	out := &svcv2.SessionWithToken{
		Object: "session", Credential: "session", User: userToProto(in.User), ExpiresAt: timestamppb.New(in.Session.ExpiresAt), Token: in.Token,
	}
	for _, o := range in.Organizations {
		p := organizationToProto(o.Organization, o.Role)
		out.Organizations = append(out.Organizations, p)
		if o.ID == in.Session.Org {
			out.Organization = p
		}
	}
	return out, nil
}

// GetSession describes the credential of the call.
func (s *Service) GetSession(ctx context.Context, _ *svcv2.GetSessionRequest) (*svcv2.Session, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	out := &svcv2.Session{Object: "session", Credential: string(caller.Kind), Scopes: caller.Scopes}
	if caller.Org != "" { // else the person has not chosen one yet
		org, err := s.store.GetOrganization(ctx, caller.Org)
		if err != nil {
			return nil, failure(ctx, err)
		}
		out.Organization = organizationToProto(org, caller.Role)
	}
	user, err := s.store.GetUser(ctx, caller.User)
	switch {
	case err == nil:
		out.User = userToProto(user)
	case !errors.Is(err, store.ErrNotFound): // a key can outlive the user who made it
		return nil, failure(ctx, err)
	}
	if caller.Kind == principal.KindSession {
		err = s.completeSession(ctx, caller, out)
	} else if id, derr := publicid.Decode(publicid.APIKey, caller.CredentialID); derr == nil {
		err = s.completeKey(ctx, caller, id, out)
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out, nil
}

func (s *Service) completeSession(ctx context.Context, caller *principal.Principal, out *svcv2.Session) error {
	id, err := sessionID(caller)
	if err != nil {
		return err
	}
	session, err := s.store.GetSession(ctx, caller.User, id)
	if err != nil {
		return err
	}
	out.ExpiresAt = timestamppb.New(session.ExpiresAt)
	orgs, err := s.store.OrganizationsOf(ctx, caller.User)
	if err != nil {
		return err
	}
	for _, o := range orgs {
		out.Organizations = append(out.Organizations, organizationToProto(o.Organization, o.Role))
	}
	return nil
}

func (s *Service) completeKey(ctx context.Context, caller *principal.Principal, id uuid.UUID, out *svcv2.Session) error {
	key, err := s.store.GetApiKey(ctx, caller.Org, id)
	if err != nil {
		return err
	}
	out.KeyId = &caller.CredentialID
	if key.ExpiresAt != nil {
		out.ExpiresAt = timestamppb.New(*key.ExpiresAt)
	}
	return nil
}

// SignOut ends the session of the call.
func (s *Service) SignOut(ctx context.Context, _ *svcv2.SignOutRequest) (*svcv2.EndedSession, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if caller.Kind != principal.KindSession {
		return nil, apierr.New(apierr.ApiKeyNotAccepted, "This credential is not a session, so it cannot sign out. Revoke the key instead.")
	}
	id, err := sessionID(caller)
	if err != nil {
		return nil, err
	}
	if err := s.store.RevokeSession(ctx, caller.User, id); err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.EndedSession{Object: "session", Deleted: true}, nil
}

func sessionID(caller *principal.Principal) (uuid.UUID, error) {
	id, err := uuid.Parse(caller.CredentialID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("signin: the credential has no id: %w", err)
	}
	return id, nil
}

// failure maps a missing row to a lost session: it existed when the call was authenticated, so it was just deleted.
func failure(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return apierr.New(apierr.InvalidCredentials, "The session has just ended.", apierr.Cause(err))
	}
	return storeerr.Resource{
		Unavailable: storeerr.Answer{
			Tag:     apierr.AuthorizationUnavailable,
			Message: "Sessions cannot be read or changed at the moment. Try again.",
		},
	}.Failure(ctx, err)
}

func userToProto(u store.User) *svcv2.User {
	out := &svcv2.User{Id: string(u.ID), Object: "user", Email: u.Email}
	if u.Name != "" {
		out.Name = &u.Name
	}
	return out
}

func organizationToProto(o store.Organization, role principal.Role) *svcv2.SessionOrganization {
	return &svcv2.SessionOrganization{Id: string(o.ID), Object: "organization", Name: o.Name, Slug: o.Slug, Role: string(role)}
}
