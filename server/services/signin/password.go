package signin

import (
	"context"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/principal"
)

// ChangePassword replaces the password of the session's user and ends the user's other sessions.
func (s *Service) ChangePassword(ctx context.Context, req *svcv2.ChangePasswordRequest) (*svcv2.ChangedPassword, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if caller.Kind != principal.KindSession {
		return nil, apierr.New(apierr.ApiKeyNotAccepted, "A password is changed by a person who is signed in, not by a key.")
	}
	session, err := sessionID(caller)
	if err != nil {
		return nil, err
	}
	user, err := s.store.GetUser(ctx, caller.User)
	if err != nil {
		return nil, failure(ctx, err)
	}
	if user.PasswordHash == "" {
		return nil, apierr.New(apierr.InvalidRequest, "Your account has no password: it signs in with the identity provider only.")
	}
	if _, err := s.signIn.CheckPassword(ctx, user.Email, req.GetCurrentPassword()); err != nil {
		if apierr.From(err).Tag == apierr.SignInFailed {
			// This is not a 401, because the session is still valid.
			return nil, apierr.New(apierr.InvalidRequest, "`current_password` is not your password.", apierr.Param("current_password"))
		}
		return nil, err
	}
	if req.GetNewPassword() == req.GetCurrentPassword() {
		return nil, apierr.New(apierr.InvalidRequest, "`new_password` must differ from the current one.", apierr.Param("new_password"))
	}
	hash, err := s.passwords.New(ctx, req.GetNewPassword(), "new_password")
	if err != nil {
		return nil, err
	}
	ended, err := s.store.ChangePassword(ctx, user.ID, hash, session)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.ChangedPassword{Object: "password", User: userToProto(user), SessionsEnded: int32(ended)}, nil
}
