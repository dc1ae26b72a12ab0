// Package hostingplatforms answers the methods of svc.v2.HostingPlatformsService.
package hostingplatforms

import (
	"context"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
	"github.com/svc-observability/svc/server/wording"
)

// Config configures a Service. All fields are required.
type Config struct {
	Store  *store.Store
	Engine *integrations.Engine
	Now    func() time.Time
}

// Service implements svcv2connect.HostingPlatformsServiceHandler. It is safe for concurrent use.
type Service struct{ Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg} }

// platformErrors describes the errors of a platform.
func platformErrors() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.Integration, ID: "a hosting platform", Invalid: apierr.IntegrationsValidation,
		Unavailable: storeerr.Answer{
			Tag: apierr.IntegrationsPersistence, Message: "The hosting platforms cannot be read or changed at the moment. Try again.",
		},
		NotFound: storeerr.Answer{Tag: apierr.IntegrationsNotConnected, Message: "The platform is not connected any more."},
	}
}

// setup finds a platform by its short name.
func (s *Service) setup(name string) (integrations.Setup, error) {
	var known []string
	for _, setup := range s.Engine.Setups() {
		if setup.Class != integrations.ClassHosting {
			continue
		}
		if setup.ID == name {
			return setup, nil
		}
		known = append(known, setup.ID+" ("+setup.Name+")")
	}
	return integrations.Setup{}, apierr.New(apierr.IntegrationsNotFound,
		"The server knows no hosting platform of this name; it knows "+wording.List(known)+".", apierr.Param("platform"))
}

// target is a platform in the organization of the caller.
type target struct {
	org   principal.OrgID
	user  principal.UserID
	setup integrations.Setup
	// row is nil if no account is connected.
	row *store.IntegrationConnection
}

// target finds a platform and its account. An account of the platform's present server is preferred to one of an earlier server.
func (s *Service) target(ctx context.Context, platform string) (target, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return target{}, err
	}
	setup, err := s.setup(platform)
	if err != nil {
		return target{}, err
	}
	rows, err := s.Store.ListIntegrations(ctx, caller.Org)
	if err != nil {
		return target{}, platformErrors().Failure(ctx, err)
	}
	out := target{org: caller.Org, user: caller.User, setup: setup}
	for _, row := range rows {
		if row.Provider != setup.ID {
			continue
		}
		if out.row == nil || setup.Provider != nil && row.BaseURL == setup.Provider.BaseURL() {
			out.row = &row
		}
	}
	return out, nil
}

// connected is target for a platform that must have an account.
func (s *Service) connected(ctx context.Context, platform string) (target, error) {
	t, err := s.target(ctx, platform)
	if err == nil && t.row == nil {
		err = apierr.New(apierr.IntegrationsNotConnected,
			t.setup.Name+" is not connected. An administrator of the organization connects it at /settings/integrations.")
	}
	return t, err
}

// GetHostingPlatform returns a platform with its account.
func (s *Service) GetHostingPlatform(ctx context.Context, req *svcv2.GetHostingPlatformRequest) (*svcv2.HostingPlatform, error) {
	t, err := s.target(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	return s.platformToProto(ctx, t)
}

// ConnectHostingPlatform connects the account of a token.
func (s *Service) ConnectHostingPlatform(ctx context.Context, req *svcv2.ConnectHostingPlatformRequest) (*svcv2.HostingPlatform, error) {
	t, err := s.target(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	provider, ok := t.setup.Provider.(integrations.TokenProvider)
	if !ok {
		return nil, apierr.New(apierr.IntegrationsConfiguration,
			t.setup.Name+" is switched off on this server. Its operator gives the setting "+wording.List(t.setup.Settings)+".")
	}
	token := strings.TrimSpace(req.GetToken())
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, invalid("token", "must be a token of "+t.setup.Name+", without spaces")
	}
	found, err := provider.Check(ctx, token, strings.TrimSpace(req.GetTeam()))
	if err != nil {
		return nil, checkFailure(ctx, t.setup, err)
	}
	if t.row != nil && t.row.State != store.IntegrationDisconnected && t.row.BaseURL == provider.BaseURL() &&
		t.row.ExternalID != found.ExternalID {
		return nil, invalid("token", "is that of another account. Disconnect "+t.row.Name+" first")
	}
	row, err := s.Engine.ConnectToken(ctx, t.org, provider, found, t.user)
	if err != nil {
		return nil, platformErrors().Failure(ctx, err)
	}
	t.row = &row
	return s.platformToProto(ctx, t)
}

// checkFailure is the answer to a token that the platform did not accept.
func checkFailure(ctx context.Context, setup integrations.Setup, err error) error {
	if ctx.Err() != nil {
		return apierr.From(ctx.Err())
	}
	var p *integrations.Problem
	if !errors.As(err, &p) {
		return apierr.New(apierr.IntegrationsUpstream, setup.Name+" failed.", apierr.Cause(err))
	}
	switch p.Kind {
	case integrations.Unauthorized, integrations.Forbidden, integrations.Suspended, integrations.Gone:
		return invalid("token", "is not accepted: "+p.Text)
	case integrations.Invalid, integrations.NotFound:
		return invalid("team", "is needed or wrong: "+p.Text)
	case integrations.RateLimited:
		return apierr.New(apierr.IntegrationsUpstream, p.Text, apierr.Cause(err), apierr.RetryAfter(p.RetryAfter))
	case integrations.Upstream:
	}
	return apierr.New(apierr.IntegrationsUpstream, p.Text, apierr.Cause(err))
}

func invalid(field, reason string) error {
	return storeerr.Invalid(apierr.IntegrationsValidation, &store.InvalidError{Violations: []store.Violation{{Field: field, Reason: reason}}})
}

// SyncHostingPlatform reads an account now.
func (s *Service) SyncHostingPlatform(ctx context.Context, req *svcv2.SyncHostingPlatformRequest) (*svcv2.HostingSync, error) {
	t, err := s.connected(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	began := s.Now()
	row, running, err := s.Engine.SyncNow(ctx, t.org, t.row.ID, limits.HostingSyncWait)
	if err != nil {
		return nil, platformErrors().Failure(ctx, err)
	}
	t.row = &row
	shown, err := s.platformToProto(ctx, t)
	if err != nil {
		return nil, err
	}
	return &svcv2.HostingSync{Object: "hosting_platform.sync", StartedAt: timestamppb.New(began), Running: running, Platform: shown}, nil
}

// DisconnectHostingPlatform deletes an account with its projects and deployments.
func (s *Service) DisconnectHostingPlatform(ctx context.Context, req *svcv2.DisconnectHostingPlatformRequest) (
	*svcv2.DisconnectedHostingPlatform, error,
) {
	t, err := s.connected(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	if err := s.Engine.Disconnect(ctx, t.org, t.row.ID, s.Store.DisconnectIntegration); err != nil {
		return nil, platformErrors().Failure(ctx, err)
	}
	return &svcv2.DisconnectedHostingPlatform{Id: t.setup.ID, Object: "hosting_platform", Deleted: true}, nil
}

// ListHostingProjects lists the projects of an account.
func (s *Service) ListHostingProjects(ctx context.Context, req *svcv2.ListHostingProjectsRequest) (
	*svcv2.ListHostingProjectsResponse, error,
) {
	t, err := s.target(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	var rows []store.HostingProject
	if t.row != nil {
		if rows, err = s.Store.ListHostingProjects(ctx, t.org, t.row.ID, page.Offset, page.Want()); err != nil {
			return nil, platformErrors().Failure(ctx, err)
		}
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListHostingProjectsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, projectToProto(row))
	}
	return res, nil
}

// ListHostingDeployments lists the deployments of an account.
func (s *Service) ListHostingDeployments(ctx context.Context, req *svcv2.ListHostingDeploymentsRequest) (
	*svcv2.ListHostingDeploymentsResponse, error,
) {
	t, err := s.target(ctx, req.GetPlatform())
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	var rows []store.HostingDeployment
	if t.row != nil {
		rows, err = s.Store.ListHostingDeployments(ctx, t.org, t.row.ID, req.GetProjectId(), page.Offset, page.Want())
		if err != nil {
			return nil, platformErrors().Failure(ctx, err)
		}
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListHostingDeploymentsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, deploymentToProto(row))
	}
	return res, nil
}
