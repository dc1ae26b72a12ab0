// Package logpushconnectors answers the methods of svc.v2.LogpushConnectorsService.
package logpushconnectors

import (
	"context"
	"fmt"
	"net/url"

	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/storeerr"
)

const object = "logpush_connector"

// Config configures a Service. Store and Secret are required.
type Config struct {
	Store *store.Store
	// Secret makes the secret of a connector: its text, which is shown once, and the form that is stored.
	Secret func() (text string, stored store.Secret)
	// IngestURL is the address at which a CDN reaches the ingest gateway; empty if it is not known.
	IngestURL string
}

// Service implements svcv2connect.LogpushConnectorsServiceHandler. It is safe for concurrent use.
type Service struct{ Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg} }

func resource() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.LogpushConnector, ID: "a log push connector", Invalid: apierr.IntegrationsValidation,
		Unavailable: storeerr.Answer{
			Tag: apierr.IntegrationsPersistence, Message: "The log push connectors cannot be read or changed at the moment. Try again.",
		},
		NotFound: storeerr.Answer{Tag: apierr.IntegrationsNotFound, Message: "No log push connector of the organization has this id."},
	}
}

// Destination is the address that a CDN pushes to.
func Destination(ingestURL, id, secret string) string {
	return ingestURL + "/v1/logpush/cloudflare/http_requests/" + id + "?secret=" + url.QueryEscape(secret)
}

// addressed fails if the server does not know where its ingest gateway is. A secret without its address would be lost.
func (s *Service) addressed() error {
	if s.IngestURL != "" {
		return nil
	}
	return apierr.New(apierr.IntegrationsConfiguration,
		"The server does not know the address of its ingest gateway. Its operator gives the setting ingest-public-url.")
}

// ListLogpushConnectors lists the connectors, oldest first.
func (s *Service) ListLogpushConnectors(
	ctx context.Context, req *svcv2.ListLogpushConnectorsRequest,
) (*svcv2.ListLogpushConnectorsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	page, err := paging.NewPage(req.Limit, req.Cursor)
	if err != nil {
		return nil, err
	}
	all, err := s.Store.ListLogpushConnectors(ctx, caller.Org)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	rows, next := paging.Part(page, all)
	res := &svcv2.ListLogpushConnectorsResponse{Object: "list", HasMore: next != nil, NextCursor: next}
	for _, row := range rows {
		res.Data = append(res.Data, ToConnector(row))
	}
	return res, nil
}

// CreateLogpushConnector creates a connector and returns its destination with the secret, which is not stored.
func (s *Service) CreateLogpushConnector(
	ctx context.Context, req *svcv2.CreateLogpushConnectorRequest,
) (*svcv2.LogpushConnectorWithSetup, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.addressed(); err != nil {
		return nil, err
	}
	text, secret := s.Secret()
	row, err := s.Store.CreateLogpushConnector(ctx, caller.Org, store.NewLogpushConnector{
		Name: req.GetName(), ZoneName: req.GetZoneName(), ServiceName: req.GetServiceName(), Secret: secret, CreatedBy: caller.User,
	})
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return s.withSetup(row, text), nil
}

// GetLogpushConnector returns one connector.
func (s *Service) GetLogpushConnector(ctx context.Context, req *svcv2.GetLogpushConnectorRequest) (*svcv2.LogpushConnector, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	row, err := s.Store.GetLogpushConnector(ctx, caller.Org, id)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToConnector(row), nil
}

// UpdateLogpushConnector changes the fields that the mask names.
func (s *Service) UpdateLogpushConnector(ctx context.Context, req *svcv2.UpdateLogpushConnectorRequest) (*svcv2.LogpushConnector, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	var edit store.LogpushConnectorEdit
	for _, path := range req.GetUpdateMask().GetPaths() {
		switch path {
		case "name":
			edit.Name = store.Set(req.GetName())
		case "zone_name":
			edit.ZoneName = store.Set(req.GetZoneName())
		case "service_name":
			edit.ServiceName = store.Set(req.GetServiceName())
		case "enabled":
			edit.Enabled = store.Set(req.GetEnabled())
		default:
			return nil, fmt.Errorf("logpushconnectors: no update of the field %s", path)
		}
	}
	row, err := s.Store.EditLogpushConnector(ctx, caller.Org, id, edit)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return ToConnector(row), nil
}

// RotateLogpushConnector gives a connector a new secret. Its id and settings stay.
func (s *Service) RotateLogpushConnector(
	ctx context.Context, req *svcv2.RotateLogpushConnectorRequest,
) (*svcv2.LogpushConnectorWithSetup, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.addressed(); err != nil {
		return nil, err
	}
	text, secret := s.Secret()
	row, err := s.Store.RollLogpushConnector(ctx, caller.Org, id, secret)
	if err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return s.withSetup(row, text), nil
}

// DeleteLogpushConnector deletes a connector. The logs that it brought stay.
func (s *Service) DeleteLogpushConnector(
	ctx context.Context, req *svcv2.DeleteLogpushConnectorRequest,
) (*svcv2.DeletedLogpushConnector, error) {
	caller, id, err := resource().Target(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.Store.DeleteLogpushConnector(ctx, caller.Org, id); err != nil {
		return nil, resource().Failure(ctx, err)
	}
	return &svcv2.DeletedLogpushConnector{Id: req.GetId(), Object: object, Deleted: true}, nil
}

// ToConnector returns a connector as the API shows it.
func ToConnector(c store.LogpushConnector) *svcv2.LogpushConnector {
	out := &svcv2.LogpushConnector{
		Id: publicid.Encode(publicid.LogpushConnector, c.ID), Object: object, Name: c.Name, ZoneName: c.ZoneName, ServiceName: c.ServiceName,
		Dataset: c.Dataset, Enabled: c.DisabledAt == nil, SecretPrefix: c.SecretPrefix, LastError: c.LastError,
		CreatedAt: timestamppb.New(c.CreatedAt), UpdatedAt: timestamppb.New(c.UpdatedAt),
	}
	if c.LastReceivedAt != nil {
		out.LastReceivedAt = timestamppb.New(*c.LastReceivedAt)
	}
	if c.SecretRotatedAt != nil {
		out.SecretRotatedAt = timestamppb.New(*c.SecretRotatedAt)
	}
	if c.CreatedBy != "" {
		out.CreatedBy = new(string(c.CreatedBy))
	}
	return out
}

func (s *Service) withSetup(row store.LogpushConnector, secret string) *svcv2.LogpushConnectorWithSetup {
	c := ToConnector(row)
	return &svcv2.LogpushConnectorWithSetup{
		Id: c.Id, Object: c.Object, Name: c.Name, ZoneName: c.ZoneName, ServiceName: c.ServiceName, Dataset: c.Dataset, Enabled: c.Enabled,
		SecretPrefix: c.SecretPrefix, LastReceivedAt: c.LastReceivedAt, LastError: c.LastError, SecretRotatedAt: c.SecretRotatedAt,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, CreatedBy: c.CreatedBy,
		Setup: &svcv2.LogpushSetup{DestinationConf: Destination(s.IngestURL, c.Id, secret), Secret: secret, Dataset: c.Dataset},
	}
}
