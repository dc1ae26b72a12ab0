// Package integrationlist answers the methods of svc.v2.IntegrationsService.
package integrationlist

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/source"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
	"github.com/svc-observability/svc/server/wording"
)

// Store is the part of the relational store that the list needs.
type Store interface {
	ListIntegrations(ctx context.Context, org principal.OrgID) ([]store.IntegrationConnection, error)
	ListLogpushConnectors(ctx context.Context, org principal.OrgID) ([]store.LogpushConnector, error)
}

// Service implements svcv2connect.IntegrationsServiceHandler. It is safe for concurrent use.
type Service struct {
	store  Store
	setups []integrations.Setup
}

// New returns the service.
func New(s Store, setups []integrations.Setup) *Service { return &Service{s, setups} }

// settingsPage is where accounts are connected.
const settingsPage = "/settings/integrations"

// ListIntegrations lists the providers with their connected accounts.
func (s *Service) ListIntegrations(ctx context.Context, _ *svcv2.ListIntegrationsRequest) (*svcv2.ListIntegrationsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	connections, err := s.store.ListIntegrations(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	res := &svcv2.ListIntegrationsResponse{Object: "list"}
	for _, setup := range s.setups {
		found := false
		for _, c := range connections {
			if c.Provider != setup.ID {
				continue
			}
			found = true
			row, err := connected(setup, c)
			if err != nil {
				return nil, failure(ctx, err)
			}
			res.Data = append(res.Data, row)
		}
		if !found {
			res.Data = append(res.Data, unconnected(setup, caller))
		}
	}
	pushes, err := s.store.ListLogpushConnectors(ctx, caller.Org)
	if err != nil {
		return nil, failure(ctx, err)
	}
	appendLogpush(res, pushes)
	return res, nil
}

func failure(ctx context.Context, err error) error {
	return storeerr.Resource{Unavailable: storeerr.Answer{
		Tag: apierr.IntegrationsPersistence, Message: "The integrations cannot be read at the moment. Try again.",
	}}.Failure(ctx, err)
}

func base(setup integrations.Setup) *svcv2.Integration {
	return &svcv2.Integration{Object: "integration", Provider: setup.ID, Name: setup.Name, Class: setup.Class, Tools: setup.Tools}
}

// unconnected is a provider without an account. Only administrators learn which settings an operator has to give.
func unconnected(setup integrations.Setup, caller *principal.Principal) *svcv2.Integration {
	row := base(setup)
	switch {
	case setup.Provider != nil:
		row.Status = "available"
		row.NextAction = new("An administrator of the organization connects an account at " + settingsPage + ".")
	case caller.IsAdmin():
		row.Status = "not_configured"
		row.NextAction = new("The operator of this server sets " + setup.Name + " up with the settings " + wording.List(setup.Settings) + ".")
	default:
		row.Status = "not_configured"
		row.NextAction = new("The operator of this server has to set " + setup.Name + " up first.")
	}
	return row
}

func connected(setup integrations.Setup, c store.IntegrationConnection) (*svcv2.Integration, error) {
	row := base(setup)
	prefix := publicid.Integration
	if setup.Class == integrations.ClassChat {
		prefix = publicid.ChatWorkspace
	}
	row.Id, row.Account = new(publicid.Encode(prefix, c.ID)), &c.Name
	row.Status, row.Connected = c.State, c.State == store.IntegrationConnected || c.State == store.IntegrationError
	row.ConnectedAt = timestamppb.New(c.ConnectedAt)
	if c.LastSyncAt != nil {
		row.LastSyncAt = timestamppb.New(*c.LastSyncAt)
	}
	if c.LastSyncError != "" {
		row.Error = &c.LastSyncError
	}
	if setup.Class == integrations.ClassSource {
		account, err := source.ReadAccount(c.Settings)
		if err != nil {
			return nil, err
		}
		row.MissingPermissions = account.Missing
	}
	switch c.State {
	case store.IntegrationReconnectNeeded, store.IntegrationDisconnected:
		row.NextAction = new("An administrator of the organization connects " + c.Name + " again at " + settingsPage + ".")
	case store.IntegrationError:
		row.NextAction = new("The server tries again by itself. If it goes on, look at the status page of " + setup.Name + ".")
	default:
		if len(row.MissingPermissions) > 0 {
			row.NextAction = new("The owner of " + c.Name + " grants " + wording.List(row.MissingPermissions) + " to the app at " + setup.Name + ".")
		}
	}
	return row, nil
}

// appendLogpush adds the connectors of log push, doors through which a CDN pushes its request logs.
func appendLogpush(res *svcv2.ListIntegrationsResponse, pushes []store.LogpushConnector) {
	setup := integrations.Setup{ID: "logpush", Name: "Cloudflare log push", Class: integrations.ClassCDN}
	for _, p := range pushes {
		row := base(setup)
		row.Id, row.Account, row.ConnectedAt = new(publicid.Encode(publicid.LogpushConnector, p.ID)), &p.ZoneName, timestamppb.New(p.CreatedAt)
		row.Status, row.Connected = "connected", true
		row.Error = p.LastError
		if p.DisabledAt != nil {
			row.Status, row.Connected = "disconnected", false
			row.NextAction = new("An administrator of the organization switches the connector on at " + settingsPage + ".")
		}
		res.Data = append(res.Data, row)
	}
}
