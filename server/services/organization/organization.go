// Package organization answers the methods of svc.v2.OrganizationService: the organization, its members and invitations.
package organization

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

// Config holds the dependencies of the service.
type Config struct {
	Store     *store.Store
	Hasher    *auth.Hasher
	SignIn    *auth.SignIn
	Passwords *auth.Passwords
	// BaseURL is the address under which people reach this server, for links.
	BaseURL string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Service implements svcv2connect.OrganizationServiceHandler. It is safe for concurrent use.
type Service struct {
	store     *store.Store
	hasher    *auth.Hasher
	signIn    *auth.SignIn
	passwords *auth.Passwords
	baseURL   string
	now       func() time.Time
}

// New returns the service.
func New(cfg Config) *Service {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{
		store: cfg.Store, hasher: cfg.Hasher, signIn: cfg.SignIn, passwords: cfg.Passwords,
		baseURL: strings.TrimRight(cfg.BaseURL, "/"), now: cfg.Now,
	}
}

// GetOrganization returns the caller's organization.
func (s *Service) GetOrganization(ctx context.Context, _ *svcv2.GetOrganizationRequest) (*svcv2.Organization, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	o, err := s.store.GetOrganization(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(o), nil
}

// UpdateOrganization changes the fields that the mask names.
func (s *Service) UpdateOrganization(ctx context.Context, req *svcv2.UpdateOrganizationRequest) (*svcv2.Organization, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	var edit store.OrganizationEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			edit.Name = store.Set(strings.TrimSpace(req.GetName()))
		case "slug":
			edit.Slug = store.Set(req.GetSlug())
		default:
			return nil, fmt.Errorf("organization: no update of the field %s", path)
		}
	}
	o, err := s.store.EditOrganization(ctx, caller.Org, edit)
	if errors.Is(err, store.ErrConflict) {
		return nil, apierr.New(apierr.InvalidRequest, "`slug` is taken by another organization.", apierr.Param("slug"), apierr.Cause(err))
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	return toProto(o), nil
}

// DeleteOrganization removes the caller's organization. A purge then removes its telemetry: see the tombstones of the store.
func (s *Service) DeleteOrganization(ctx context.Context, req *svcv2.DeleteOrganizationRequest) (*svcv2.DeletedOrganization, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if req.GetConfirm() != string(caller.Org) {
		return nil, apierr.New(apierr.ParameterInvalid,
			fmt.Sprintf("`confirm` must be %s, the id of the organization to delete.", caller.Org),
			apierr.Param("confirm"))
	}
	if err := s.store.DeleteOrganization(ctx, caller.Org); err != nil {
		return nil, failure(ctx, err)
	}
	return &svcv2.DeletedOrganization{Id: string(caller.Org), Object: "organization", Deleted: true}, nil
}

// unrestricted refuses a call by a key with scopes if the call would give a person more rights than the key has.
func unrestricted(caller *principal.Principal, what string) error {
	if caller.Scopes == nil || caller.Kind == principal.KindSession || caller.HasScope("*") {
		return nil
	}
	return apierr.New(apierr.InsufficientScope,
		what+" gives access to everything in the organization, so a key that is restricted to scopes cannot do it.")
}

func resource() storeerr.Resource {
	return storeerr.Resource{
		Unavailable: storeerr.Answer{
			Tag:     apierr.OrganizationPersistence,
			Message: "The organization cannot be read or changed at the moment. Try again.",
		},
	}
}

func failure(ctx context.Context, err error) error {
	if errors.Is(err, store.ErrLastAdministrator) {
		return apierr.New(apierr.LastAdministrator,
			"This is the last administrator of the organization. Make another member administrator first.", apierr.Cause(err))
	}
	return resource().Failure(ctx, err)
}

func toProto(o store.Organization) *svcv2.Organization {
	return &svcv2.Organization{Id: string(o.ID), Object: "organization", Name: &o.Name, Slug: &o.Slug, CreatedAt: timestamppb.New(o.CreatedAt)}
}
