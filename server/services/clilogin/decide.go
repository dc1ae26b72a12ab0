package clilogin

import (
	"context"
	"errors"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
)

// GetCliLogin shows a login to the person who decides about it.
func (s *Service) GetCliLogin(ctx context.Context, req *svcv2.GetCliLoginRequest) (*svcv2.PendingCliLogin, error) {
	_, code, login, err := s.find(ctx, req.GetUserCode())
	if err != nil {
		return nil, err
	}
	return toProto(code, login), nil
}

// ApproveCliLogin gives the waiting program a key.
func (s *Service) ApproveCliLogin(ctx context.Context, req *svcv2.ApproveCliLoginRequest) (*svcv2.PendingCliLogin, error) {
	return s.decide(ctx, req.GetUserCode(), true)
}

// DenyCliLogin refuses the waiting program.
func (s *Service) DenyCliLogin(ctx context.Context, req *svcv2.DenyCliLoginRequest) (*svcv2.PendingCliLogin, error) {
	return s.decide(ctx, req.GetUserCode(), false)
}

func (s *Service) decide(ctx context.Context, text string, approve bool) (*svcv2.PendingCliLogin, error) {
	caller, code, login, err := s.find(ctx, text)
	if err != nil {
		return nil, err
	}
	login, err = s.cfg.Store.DecideDeviceLogin(ctx, caller.Org, caller.User, login.ID, approve)
	switch {
	case errors.Is(err, store.ErrNotFound): // another request decided in the meantime
		return nil, errUnknownCode(err)
	case err != nil:
		return nil, failure(ctx, err)
	}
	return toProto(code, login), nil
}

// find looks up a user code for a signed-in person. Wrong codes are counted, so that a code cannot be guessed.
func (s *Service) find(ctx context.Context, text string) (*principal.Principal, string, store.DeviceLogin, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, "", store.DeviceLogin{}, err
	}
	if caller.Kind != principal.KindSession {
		return nil, "", store.DeviceLogin{}, apierr.New(apierr.ApiKeyNotAccepted,
			"A login is confirmed by a person who is signed in, not by a key.")
	}
	address, account := principal.OriginFrom(ctx).IP, string(caller.User)
	attempt, wait := s.cfg.Guesses.Take(address, account)
	if attempt == nil {
		return nil, "", store.DeviceLogin{}, apierr.New(apierr.SignInThrottled, "Too many codes were wrong. Wait, then try again.",
			apierr.RetryAfter(wait))
	}
	code, ok := readUserCode(text)
	if !ok {
		return nil, "", store.DeviceLogin{}, errUnknownCode(nil)
	}
	login, err := s.cfg.Store.DeviceLoginByUserCode(ctx, s.codeHash(code))
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, "", store.DeviceLogin{}, failure(ctx, err)
	}
	if err != nil || login.Status == store.DeviceLoginRedeemed {
		return nil, "", store.DeviceLogin{}, errUnknownCode(err)
	}
	attempt.GiveBack()
	return caller, code, login, nil
}

func errUnknownCode(cause error) error {
	return apierr.New(
		apierr.CliLoginExpired,
		"This code is unknown. It may be mistyped, used, or older than "+limits.Lasts(limits.CLILogin)+".",
		apierr.Param("user_code"),
		apierr.Cause(cause),
	)
}

func toProto(code string, l store.DeviceLogin) *svcv2.PendingCliLogin {
	return &svcv2.PendingCliLogin{
		Object: "pending_cli_login", UserCode: code, ClientName: l.ClientName, ClientAddress: l.ClientAddress, Status: l.Status,
		CreatedAt: timestamppb.New(l.CreatedAt), ExpiresAt: timestamppb.New(l.ExpiresAt),
	}
}
