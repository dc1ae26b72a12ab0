// Package scrapetargets answers the methods of svc.v2.ScrapeTargetsService.
package scrapetargets

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/egress"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Prober scrapes a target once and stores nothing.
type Prober interface {
	Probe(ctx context.Context, t scrape.Target) error
}

// Config configures a Service. All fields are required.
type Config struct {
	Store     *store.Store
	Vault     scrape.Vault
	Guard     *egress.Guard
	Prober    Prober
	Warehouse read.Warehouse
	Logger    *slog.Logger
	Now       func() time.Time
}

// Service implements svcv2connect.ScrapeTargetsServiceHandler. It is safe for concurrent use; Close it.
type Service struct {
	Config
	// probes are the probes of new targets that run.
	probes sync.WaitGroup
	stop   context.Context // ends the probes when the service is closed
	cancel context.CancelFunc
	slots  chan struct{}
}

// probesAtOnce bounds the probes of new targets that run at once. Further ones are left to the first scrape.
const probesAtOnce = 16

// New returns the service.
func New(cfg Config) *Service {
	stop, cancel := context.WithCancel(context.Background())
	return &Service{Config: cfg, stop: stop, cancel: cancel, slots: make(chan struct{}, probesAtOnce)}
}

// Close ends the probes that run. No call may follow.
func (s *Service) Close() {
	s.cancel()
	s.probes.Wait()
}

// ListScrapeTargets lists the targets of the organization, newest first.
func (s *Service) ListScrapeTargets(ctx context.Context, req *svcv2.ListScrapeTargetsRequest) (*svcv2.ListScrapeTargetsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListScrapeTargets(ctx, caller.Org, page.Offset, page.Want())
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Cut(page, rows)
	res := &svcv2.ListScrapeTargetsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, toProto(row))
	}
	return res, nil
}

// GetScrapeTarget returns one target.
func (s *Service) GetScrapeTarget(ctx context.Context, req *svcv2.GetScrapeTargetRequest) (*svcv2.ScrapeTarget, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.GetScrapeTarget(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(row), nil
}

// CreateScrapeTarget creates a target and starts a probe of it.
func (s *Service) CreateScrapeTarget(ctx context.Context, req *svcv2.CreateScrapeTargetRequest) (*svcv2.ScrapeTarget, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if req.GetTargetType() == store.ScrapePlanetscale {
		if req.Url != nil {
			return nil, invalid("url", "must be left out for the target_type planetscale: the integration knows the address")
		}
		return nil, apierr.New(apierr.IntegrationsNotConnected,
			"The integration with the database platform is not connected, so it has no targets. Create a target of the type prometheus for an "+
				"endpoint of your own.",
			apierr.Param("target_type"))
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	row := store.ScrapeTarget{
		ID: id, Name: req.GetName(), ServiceName: req.ServiceName, URL: req.GetUrl(), TargetType: store.ScrapePrometheus,
		OrganizationName: req.Organization, IncludeBranches: req.GetIncludeBranches(), ExcludeBranches: req.GetExcludeBranches(),
		ScrapeIntervalSeconds: int(limits.DefaultScrapeInterval / time.Second), LabelsJSON: req.LabelsJson, AuthType: store.ScrapeAuthNone,
		Enabled: req.Enabled == nil || req.GetEnabled(), CreatedBy: caller.User, UpdatedBy: caller.User,
	}
	if req.ScrapeIntervalSeconds != nil {
		row.ScrapeIntervalSeconds = int(req.GetScrapeIntervalSeconds())
	}
	if req.GetAuthType() != "" {
		row.AuthType = req.GetAuthType()
	}
	if err := s.checkAddress(row.URL); err != nil {
		return nil, err
	}
	if req.AuthCredentials != nil {
		if row.Credentials, err = s.seal(caller.Org, id, row.AuthType, req.GetAuthCredentials()); err != nil {
			return nil, err
		}
	}
	row, err = s.Store.CreateScrapeTarget(ctx, caller.Org, row)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	s.probeSoon(row)
	return toProto(row), nil
}

// checkAddress refuses an address that a scrape could never reach. Texts that are no URL are left to the store, which names all faults.
func (s *Service) checkAddress(text string) error {
	var refused *egress.RefusedError
	if _, err := s.Guard.CheckURL(text, true); errors.As(err, &refused) && refused.Host != "" {
		if u, err := url.Parse(text); err == nil && u.User == nil && (u.Scheme == "http" || u.Scheme == "https") {
			return invalid("url", "leads to "+refused.Error())
		}
	}
	return nil
}

func (s *Service) seal(org principal.OrgID, id uuid.UUID, authType, text string) ([]byte, error) {
	c, err := scrape.ParseCredentials(authType, text)
	if err != nil {
		return nil, invalid("auth_credentials", err.Error())
	}
	return s.Vault.Seal(org, id, c)
}

func invalid(field, reason string) error {
	return storeerr.Invalid(apierr.ScrapeTargetValidation, &store.InvalidError{Violations: []store.Violation{{Field: field, Reason: reason}}})
}

// UpdateScrapeTarget changes the fields that the mask names.
func (s *Service) UpdateScrapeTarget(ctx context.Context, req *svcv2.UpdateScrapeTargetRequest) (*svcv2.ScrapeTarget, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.EditScrapeTarget(ctx, caller.Org, id, caller.User, func(t *store.ScrapeTarget) error {
		return s.edit(t, req)
	})
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return toProto(row), nil
}

// DeleteScrapeTarget deletes a target.
func (s *Service) DeleteScrapeTarget(ctx context.Context, req *svcv2.DeleteScrapeTargetRequest) (*svcv2.DeletedScrapeTarget, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.Store.DeleteScrapeTarget(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedScrapeTarget{Id: req.GetId(), Object: "scrape_target", Deleted: true}, nil
}

// resource describes the errors of a target.
func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.ScrapeTarget, ID: "a scrape target", Invalid: apierr.ScrapeTargetValidation,
		NotFound: storeerr.Answer{Tag: apierr.ScrapeTargetNotFound, Message: "This organization has no such scrape target."},
		Taken: storeerr.Answer{
			Tag:     apierr.ScrapeTargetValidation,
			Message: "`name` is taken by another scrape target. It is the attribute job of the points, so each target needs its own.",
		},
		Unavailable: storeerr.Answer{
			Tag: apierr.ScrapeTargetPersistence, Message: "Scrape targets cannot be read or changed at the moment. Try again.",
		},
	}
}
