// Package databaseplatform answers the methods of svc.v2.DatabasePlatformService.
package databaseplatform

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/integrations/planetscale"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Config configures a Service. All fields are required.
type Config struct {
	Store  *store.Store
	Engine *integrations.Engine
	Now    func() time.Time
}

// Service implements svcv2connect.DatabasePlatformServiceHandler. It is safe for concurrent use.
type Service struct {
	Config

	insights *cache.Cache[question, []planetscale.Insight]
}

// maxQuestions bounds the answers about queries that are kept.
const maxQuestions = 1000

// New returns the service.
func New(cfg Config) *Service {
	return &Service{Config: cfg, insights: cache.New[question, []planetscale.Insight](maxQuestions, cfg.Now)}
}

func failure(ctx context.Context, err error) error {
	return storeerr.Resource{Unavailable: storeerr.Answer{
		Tag: apierr.IntegrationsPersistence, Message: "The database platform cannot be read or changed at the moment. Try again.",
	}, Invalid: apierr.ScrapeTargetValidation}.Failure(ctx, err)
}

func targetFailure(ctx context.Context, err error) error {
	return storeerr.Resource{Unavailable: storeerr.Answer{
		Tag: apierr.ScrapeTargetPersistence, Message: "The scrape target cannot be read at the moment. Try again.",
	}}.Failure(ctx, err)
}

// provider is PlanetScale, if the operator has set it up.
func (s *Service) provider() (*planetscale.App, integrations.Setup) {
	setup, _ := s.Engine.Provider(planetscale.ID)
	app, _ := setup.Provider.(*planetscale.App)
	return app, setup
}

// account is the connected account of the caller's organization.
type account struct {
	planetscale.Account

	app *planetscale.App
	row store.IntegrationConnection
}

// connected finds the account. The error is IntegrationsNotConnected if there is none.
func (s *Service) connected(ctx context.Context, org principal.OrgID) (account, error) {
	app, _ := s.provider()
	row, err := s.Store.IntegrationOf(ctx, org, planetscale.ID)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && row.State == store.IntegrationDisconnected, err == nil && app == nil:
		return account{}, apierr.New(apierr.IntegrationsNotConnected,
			"PlanetScale is not connected. An administrator connects it in the settings.")
	case err != nil:
		return account{}, failure(ctx, err)
	}
	a, err := planetscale.ReadAccount(row.Settings)
	if err != nil {
		return account{}, failure(ctx, err)
	}
	return account{a, app, row}, nil
}

// usable is connected for requests that ask the provider.
func (s *Service) usable(ctx context.Context, org principal.OrgID) (account, integrations.Connection, error) {
	a, err := s.connected(ctx, org)
	if err != nil {
		return a, integrations.Connection{}, err
	}
	if a.row.State == store.IntegrationReconnectNeeded {
		return a, integrations.Connection{}, revoked("PlanetScale no longer accepts our access. An administrator connects it again in the settings.")
	}
	opened, err := s.Engine.Open(a.row)
	if err != nil {
		return a, integrations.Connection{}, s.upstream(ctx, a.row, err)
	}
	return a, opened, nil
}

func revoked(text string) error { return apierr.New(apierr.IntegrationsRevoked, text) }

// upstream is a failure of the provider in the words of the contract.
func (s *Service) upstream(ctx context.Context, row store.IntegrationConnection, err error) error {
	var p *integrations.Problem
	if !errors.As(err, &p) {
		return failure(ctx, err)
	}
	switch p.Kind {
	case integrations.Unauthorized, integrations.Suspended, integrations.Gone:
		s.Engine.Refused(ctx, row)
		return apierr.New(apierr.IntegrationsRevoked, p.Text, apierr.Cause(err))
	case integrations.Forbidden, integrations.NotFound, integrations.Invalid, integrations.Upstream, integrations.RateLimited:
	}
	return apierr.New(apierr.IntegrationsUpstream, p.Text, apierr.RetryAfter(p.RetryAfter), apierr.Cause(err))
}

// GetPlanetScaleIntegration returns the state of the account.
func (s *Service) GetPlanetScaleIntegration(
	ctx context.Context, _ *svcv2.GetPlanetScaleIntegrationRequest,
) (*svcv2.PlanetScaleIntegration, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	row, err := s.Store.IntegrationOf(ctx, caller.Org, planetscale.ID)
	if errors.Is(err, store.ErrNotFound) {
		return &svcv2.PlanetScaleIntegration{Object: "planetscale_integration", MetricsAuth: planetscale.MetricsMissing}, nil
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return s.status(ctx, row)
}

func (s *Service) status(ctx context.Context, row store.IntegrationConnection) (*svcv2.PlanetScaleIntegration, error) {
	a, err := planetscale.ReadAccount(row.Settings)
	if err != nil {
		return nil, failure(ctx, err)
	}
	out := &svcv2.PlanetScaleIntegration{
		Object: "planetscale_integration", Connected: row.State == store.IntegrationConnected || row.State == store.IntegrationError,
		DetectedPermissions: a.Permissions(), MetricsAuth: a.Metrics,
	}
	out.PendingOrgSelection = out.Connected && a.Organization == ""
	if a.Organization != "" {
		out.Organization = &a.Organization
	}
	if row.ConnectedBy != "" {
		out.ConnectedByUserId = new(string(row.ConnectedBy))
	}
	if row.LastSyncAt != nil && a.Organization != "" {
		out.LastInventoryAt = timestamppb.New(*row.LastSyncAt)
	}
	if row.LastSyncError != "" {
		out.LastInventoryError = &row.LastSyncError
	}
	if row.State == store.IntegrationReconnectNeeded || row.State == store.IntegrationDisconnected {
		out.RevokedAt = timestamppb.New(row.StateChangedAt)
	}
	if opened, err := s.Engine.Open(row); err == nil {
		if t, err := planetscale.ReadTokens(opened.Credentials); err == nil && t.ExpiresAt.After(t.From) {
			out.ExpiresAt = timestamppb.New(t.ExpiresAt)
		}
	}
	target, err := s.Store.ManagedScrapeTarget(ctx, row.Org, planetscale.ManagedBy(row))
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, targetFailure(ctx, err)
	default:
		out.ScrapeTarget = &svcv2.PlanetScaleScrapeTarget{
			Id: publicid.Encode(publicid.ScrapeTarget, target.ID), Object: "planetscale_integration.scrape_target", Enabled: target.Enabled,
			ScrapeIntervalSeconds: int32(target.ScrapeIntervalSeconds), IncludeBranches: target.IncludeBranches,
			ExcludeBranches: target.ExcludeBranches, LastScrapeError: target.LastScrapeError,
		}
		if target.LastScrapeAt != nil {
			out.ScrapeTarget.LastScrapeAt = timestamppb.New(*target.LastScrapeAt)
		}
	}
	return out, nil
}

// ConnectPlanetScaleIntegration starts to connect an account.
func (s *Service) ConnectPlanetScaleIntegration(
	ctx context.Context, req *svcv2.ConnectPlanetScaleIntegrationRequest,
) (*svcv2.PlanetScaleConnect, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	_, setup := s.provider()
	to, _, err := s.Engine.Start(ctx, caller, setup, req.GetReturnTo())
	if err != nil {
		return nil, failure(ctx, err)
	}
	u, err := url.Parse(to)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.PlanetScaleConnect{Object: "planetscale_integration.connect", RedirectUrl: to, State: u.Query().Get("state")}, nil
}

func invalid(field, reason string) error {
	return storeerr.Invalid(apierr.IntegrationsValidation, &store.InvalidError{Violations: []store.Violation{{Field: field, Reason: reason}}})
}

// ListPlanetScaleOrganizations asks for the organizations of the account.
func (s *Service) ListPlanetScaleOrganizations(ctx context.Context, _ *svcv2.ListPlanetScaleOrganizationsRequest) (
	*svcv2.ListPlanetScaleOrganizationsResponse, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	a, opened, err := s.usable(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	list, err := a.app.Organizations(ctx, opened)
	if err != nil {
		return nil, s.upstream(ctx, a.row, err)
	}
	res := &svcv2.ListPlanetScaleOrganizationsResponse{Object: "planetscale_integration.organization_list"}
	for _, o := range list {
		res.Organizations = append(res.Organizations, &svcv2.PlanetScaleOrganization{Id: o.ID, Name: o.Name})
	}
	return res, nil
}

// SelectPlanetScaleOrganization selects an organization that the account reaches, and makes its scrape target.
func (s *Service) SelectPlanetScaleOrganization(ctx context.Context, req *svcv2.SelectPlanetScaleOrganizationRequest) (
	*svcv2.PlanetScaleIntegration, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	a, opened, err := s.usable(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	list, err := a.app.Organizations(ctx, opened)
	if err != nil {
		return nil, s.upstream(ctx, a.row, err)
	}
	if !slices.ContainsFunc(list, func(o planetscale.Organization) bool { return o.Name == req.GetOrganization() }) {
		return nil, invalid("organization", "is not an organization that the account can reach; listPlanetScaleOrganizations shows those")
	}
	for field, patterns := range map[string][]string{
		"include_branches": req.GetIncludeBranches(),
		"exclude_branches": req.GetExcludeBranches(),
	} {
		if err := planetscale.CheckPatterns(patterns); err != nil {
			return nil, invalid(field, err.Error())
		}
	}
	tokens, err := planetscale.ReadTokens(opened.Credentials)
	if err != nil {
		return nil, s.upstream(ctx, a.row, err)
	}
	if a.Organization != req.GetOrganization() {
		a.Metrics = planetscale.MetricsMissing
	}
	a.Organization = req.GetOrganization()
	if a.Metrics == planetscale.MetricsMissing {
		if err := a.app.Reaches(ctx, tokens, a.Organization); err == nil {
			a.Metrics = tokens.MetricsAuth()
		} else if integrations.IsKind(err, integrations.Upstream) || integrations.IsKind(err, integrations.RateLimited) {
			return nil, s.upstream(ctx, a.row, err)
		}
	}
	row, err := s.change(ctx, caller, a, nil, &branches{req.GetIncludeBranches(), req.GetExcludeBranches()}, "organization_selected")
	if err != nil {
		return nil, err
	}
	return s.status(ctx, row)
}

// branches are the patterns of the branches to scrape.
type branches struct{ include, exclude []string }

// change stores new settings and credentials of an account, and its scrape target, and reads the account at once.
func (s *Service) change(ctx context.Context, by *principal.Principal, a account, sealed []byte, of *branches, action string) (
	store.IntegrationConnection, error,
) {
	settings, err := a.JSON()
	if err != nil {
		return a.row, failure(ctx, err)
	}
	target, err := s.Store.ManagedScrapeTarget(ctx, a.row.Org, planetscale.ManagedBy(a.row))
	if errors.Is(err, store.ErrNotFound) {
		id, failed := uuid.NewV7()
		if failed != nil {
			return a.row, failed
		}
		target, err = planetscale.NewTarget(a.row, a.Account), nil
		target.ID, target.CreatedBy, target.UpdatedBy = id, by.User, by.User
	}
	if err != nil {
		return a.row, targetFailure(ctx, err)
	}
	target.URL = planetscale.NewTarget(a.row, a.Account).URL
	target.OrganizationName, target.Enabled = &a.Organization, a.Metrics != planetscale.MetricsMissing
	if of != nil {
		target.IncludeBranches, target.ExcludeBranches = of.include, of.exclude
	}
	change := store.PlatformChange{ExternalID: a.Organization, Name: a.Organization, Settings: settings, Credentials: sealed, Target: &target}
	row, err := s.Store.ChangePlatform(ctx, a.row, change, action)
	if errors.Is(err, store.ErrConflict) {
		return a.row, apierr.New(apierr.IntegrationsPersistence, "The access to PlanetScale was renewed at this moment. Try again.",
			apierr.Cause(err))
	}
	if err != nil {
		return a.row, failure(ctx, err)
	}
	if err := s.Store.MakeIntegrationDue(ctx, row.Org, row.ID); err != nil {
		return row, failure(ctx, err)
	}
	return row, nil
}

// SetPlanetScaleMetricsToken checks and stores a service token for metrics.
func (s *Service) SetPlanetScaleMetricsToken(
	ctx context.Context, req *svcv2.SetPlanetScaleMetricsTokenRequest,
) (*svcv2.PlanetScaleIntegration, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	a, opened, err := s.usable(ctx, caller.Org)
	if err != nil {
		return nil, err
	}
	if a.Organization == "" {
		return nil, invalid("token_id", "can be set once an organization is selected")
	}
	tokens, err := planetscale.ReadTokens(opened.Credentials)
	if err != nil {
		return nil, s.upstream(ctx, a.row, err)
	}
	tokens.MetricsID, tokens.MetricsSecret = req.GetTokenId(), req.GetTokenSecret()
	err = a.app.Reaches(ctx, tokens, a.Organization)
	var p *integrations.Problem
	switch {
	case errors.As(err, &p) && (p.Kind == integrations.Upstream || p.Kind == integrations.RateLimited):
		return nil, s.upstream(ctx, a.row, err)
	case err != nil:
		return nil, apierr.New(apierr.IntegrationsValidation,
			"PlanetScale does not accept the token for metrics of "+a.Organization+". It needs the permission read_metrics_endpoints.",
			apierr.Param("token_secret"), apierr.Cause(err))
	}
	a.Metrics = planetscale.MetricsToken
	text, err := json.Marshal(tokens)
	if err != nil {
		return nil, failure(ctx, err)
	}
	row, err := s.change(ctx, caller, a, s.Engine.Seal(a.row, text), nil, "metrics_token_set")
	if err != nil {
		return nil, err
	}
	return s.status(ctx, row)
}

// DisconnectPlanetScaleIntegration deletes the account.
func (s *Service) DisconnectPlanetScaleIntegration(ctx context.Context, _ *svcv2.DisconnectPlanetScaleIntegrationRequest) (
	*svcv2.PlanetScaleDisconnect, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	row, err := s.Store.IntegrationOf(ctx, caller.Org, planetscale.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, apierr.New(apierr.IntegrationsNotConnected, "PlanetScale is not connected.")
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	err = s.Engine.Disconnect(ctx, caller.Org, row.ID, func(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
		return s.Store.DisconnectPlatform(ctx, org, id, planetscale.ManagedBy(row))
	})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.PlanetScaleDisconnect{Object: "planetscale_integration"}, nil
}

// GetPlanetScaleWebhookConfig returns the address for deliveries.
func (s *Service) GetPlanetScaleWebhookConfig(ctx context.Context, _ *svcv2.GetPlanetScaleWebhookConfigRequest) (
	*svcv2.PlanetScaleWebhookConfig, error,
) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	out := &svcv2.PlanetScaleWebhookConfig{Object: "planetscale_integration.webhook_config"}
	row, err := s.Store.IntegrationOf(ctx, caller.Org, planetscale.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
	case err != nil:
		return nil, failure(ctx, err)
	default:
		out.Configured, out.Url = s.Engine.Reachable(), new(s.Engine.HookURL(row))
	}
	return out, nil
}
