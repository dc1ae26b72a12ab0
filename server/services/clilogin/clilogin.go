// Package clilogin answers the methods of svc.v2.CliService. A program without a browser gets an API key after a person with a
// browser has compared a code and confirmed it (RFC 8628).
package clilogin

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/store"
)

const (
	// lifetime limits how long the codes work.
	lifetime = limits.CLILogin
	// interval is the least time between two polls. A poll may come half a second early, because clocks and networks are not exact.
	interval = limits.CLILoginPoll
	grace    = 500 * time.Millisecond
	// keyLifetime is the time after which the key of a login expires.
	keyLifetime = limits.CLIKey
	// codeAttempts bounds the attempts to find a free user code. A collision happens once in millions.
	codeAttempts = 5
)

// Description is the description of a key that a login made.
const Description = "Made by svc login"

// Config holds the dependencies of the service.
type Config struct {
	Store  *store.Store
	Hasher *auth.Hasher
	// ByAddress limits the starts of logins.
	ByAddress ratelimit.Limiter
	// Guesses bounds the unknown codes of an address and of a user.
	Guesses *auth.Throttle
	// BaseURL is the address under which people reach this server.
	BaseURL string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service implements svcv2connect.CliServiceHandler. It is safe for concurrent use.
type Service struct {
	cfg     Config
	baseURL string
	now     func() time.Time
}

// New returns the service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg: cfg, baseURL: strings.TrimRight(cfg.BaseURL, "/"), now: cfg.Now}
}

// StartCliLogin makes the two codes of a login.
func (s *Service) StartCliLogin(ctx context.Context, req *svcv2.StartCliLoginRequest) (*svcv2.CliLogin, error) {
	name := printable(req.GetClientName())
	if name == "" {
		return nil, apierr.New(apierr.InvalidRequest, "`client_name` must hold at least one character that is not white space.",
			apierr.Param("client_name"))
	}
	origin := principal.OriginFrom(ctx)
	if ok, after := s.cfg.ByAddress.Allow(origin.IP, s.now()); !ok {
		return nil, apierr.New(apierr.RateLimit, "Too many logins were started from this address. Wait, then try again.",
			apierr.RetryAfter(after))
	}
	secret := auth.NewSecret(auth.PrefixDevice)
	for attempt := 1; ; attempt++ {
		code := newUserCode()
		_, err := s.cfg.Store.CreateDeviceLogin(ctx, store.NewDeviceLogin{
			DeviceCodeHash: s.cfg.Hasher.Hash(secret), UserCodeHash: s.codeHash(code), ClientName: name, ClientAddress: origin.IP,
			ExpiresAt: s.now().Add(lifetime),
		})
		if errors.Is(err, store.ErrConflict) && attempt < codeAttempts {
			continue
		}
		if err != nil {
			return nil, failure(ctx, err)
		}
		return &svcv2.CliLogin{
			Object: "cli_login", DeviceCode: secret, UserCode: code, VerificationUri: s.baseURL + "/cli",
			VerificationUriComplete: s.baseURL + "/cli?" + url.Values{"code": {code}}.Encode(),
			ExpiresIn:               uint32(lifetime / time.Second), Interval: uint32(interval / time.Second),
		}, nil
	}
}

// RedeemCliLogin returns the key of a confirmed login, once.
func (s *Service) RedeemCliLogin(ctx context.Context, req *svcv2.RedeemCliLoginRequest) (*svcv2.CliCredential, error) {
	login, err := s.cfg.Store.PollDeviceLogin(ctx, s.cfg.Hasher.Hash(req.GetDeviceCode()))
	if errors.Is(err, store.ErrNotFound) {
		return nil, errEnded(err)
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	now := s.now()
	switch {
	case login.Status == store.DeviceLoginDenied:
		return nil, errDenied(nil)
	case login.Status == store.DeviceLoginRedeemed, !now.Before(login.ExpiresAt):
		return nil, errEnded(nil)
	case login.PolledAt != nil && now.Sub(*login.PolledAt) < interval-grace:
		return nil, apierr.New(apierr.CliLoginSlowDown,
			"Poll less often: wait "+limits.Lasts(limits.CLILoginSlowDown)+" longer between requests from now on.")
	case login.Status == store.DeviceLoginPending:
		return nil, apierr.New(apierr.CliLoginPending, "This login is not confirmed yet.")
	}
	return s.redeem(ctx, login, now)
}

func (s *Service) redeem(ctx context.Context, login store.DeviceLogin, now time.Time) (*svcv2.CliCredential, error) {
	text, description, expires := auth.NewSecret(auth.PrefixAPIKey), Description, now.Add(keyLifetime)
	made, err := s.cfg.Store.RedeemDeviceLogin(ctx, login.ID, store.NewApiKey{
		Name: "svc login on " + login.ClientName, Description: &description, Kind: store.ApiKeyStandard, Secret: s.cfg.Hasher.Secret(text),
		CreatedAt: now, ExpiresAt: &expires,
	})
	switch {
	case errors.Is(err, store.ErrNoAdministrator):
		return nil, errDenied(err)
	case errors.Is(err, store.ErrNotFound): // another request was faster
		return nil, errEnded(err)
	case err != nil:
		return nil, failure(ctx, err)
	}
	out := &svcv2.CliCredential{
		Object: "cli_credential", Token: text, KeyId: publicid.Encode(publicid.APIKey, made.Key.ID), KeyPrefix: made.Key.KeyPrefix,
		ExpiresAt: timestamppb.New(*made.Key.ExpiresAt),
		User:      &svcv2.User{Id: string(made.User.ID), Object: "user", Email: made.User.Email},
		Organization: &svcv2.SessionOrganization{
			Id: string(made.Organization.ID), Object: "organization", Name: made.Organization.Name, Slug: made.Organization.Slug,
			Role: string(principal.RoleRoot),
		},
	}
	if made.User.Name != "" {
		out.User.Name = &made.User.Name
	}
	return out, nil
}

// EndCliLogin revokes the key of the call.
func (s *Service) EndCliLogin(ctx context.Context, _ *svcv2.EndCliLoginRequest) (*svcv2.EndedCliLogin, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	id, err := publicid.Decode(publicid.APIKey, caller.CredentialID)
	if err != nil {
		return nil, errNoLogin(err)
	}
	key, err := s.cfg.Store.GetApiKey(ctx, caller.Org, id)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, failure(ctx, err)
	}
	if err != nil || key.Description == nil || *key.Description != Description {
		return nil, errNoLogin(err)
	}
	if _, _, err := s.cfg.Store.RevokeApiKey(ctx, caller.Org, id); err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.EndedCliLogin{Object: "cli_credential", KeyId: caller.CredentialID, Deleted: true}, nil
}

func errNoLogin(cause error) error {
	return apierr.New(apierr.InvalidRequest,
		"This credential was not made by a command-line login. Revoke an API key by its id, or sign out.", apierr.Cause(cause))
}

func errEnded(cause error) error {
	return apierr.New(apierr.CliLoginExpired, "This login does not exist, was used, or has expired. Run `svc login` again.",
		apierr.Cause(cause))
}

func errDenied(cause error) error {
	return apierr.New(apierr.CliLoginDenied, "This login was refused.", apierr.Cause(cause))
}

func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return apierr.From(ctx.Err())
	}
	return apierr.New(apierr.ApiKeyPersistence, "Logins and API keys cannot be read or made at the moment. Try again.", apierr.Cause(err))
}
