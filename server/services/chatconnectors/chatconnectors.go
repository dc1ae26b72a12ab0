// Package chatconnectors answers the methods of svc.v2.ChatConnectorsService.
package chatconnectors

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
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
}

// Service implements svcv2connect.ChatConnectorsServiceHandler. It is safe for concurrent use.
type Service struct{ Config }

// New returns the service.
func New(cfg Config) *Service { return &Service{cfg} }

func persistence() storeerr.Answer {
	return storeerr.Answer{
		Tag:     apierr.IntegrationsPersistence,
		Message: "The chat workspaces cannot be read or changed at the moment. Try again.",
	}
}

// workspaceErrors describes the errors of a workspace.
func workspaceErrors() storeerr.Resource {
	return storeerr.Resource{
		Prefix: publicid.ChatWorkspace, ID: "a chat workspace", Unavailable: persistence(), Invalid: apierr.IntegrationsValidation,
		NotFound: storeerr.Answer{Tag: apierr.IntegrationsNotFound, Message: "The organization has no chat workspace with this id."},
	}
}

// setups lists the chat services that the server knows.
func (s *Service) setups() (out []integrations.Setup) {
	for _, setup := range s.Engine.Setups() {
		if setup.Class == integrations.ClassChat {
			out = append(out, setup)
		}
	}
	return out
}

// connector finds a chat service by its short name. The operator may not have set it up.
func (s *Service) connector(name string) (integrations.Setup, error) {
	var known []string
	for _, setup := range s.setups() {
		if setup.ID == name {
			return setup, nil
		}
		known = append(known, setup.ID)
	}
	return integrations.Setup{}, apierr.New(apierr.IntegrationsNotFound,
		"The server knows no chat connector of this name; it knows "+wording.List(known)+".", apierr.Param("connector"))
}

// ListChatConnectors lists the chat services with their workspaces.
func (s *Service) ListChatConnectors(ctx context.Context, _ *svcv2.ListChatConnectorsRequest) (*svcv2.ListChatConnectorsResponse, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.Store.ListIntegrations(ctx, caller.Org)
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	res := &svcv2.ListChatConnectorsResponse{Object: "chat_connector_list"}
	for _, setup := range s.setups() {
		c := &svcv2.ChatConnector{Id: setup.ID, Object: "chat_connector", Name: setup.Name, Available: setup.Provider != nil}
		_, c.SupportsIdentity = setup.Provider.(integrations.Identifier)
		for _, row := range rows {
			if row.Provider == setup.ID {
				shown, err := workspaceToProto(row)
				if err != nil {
					return nil, workspaceErrors().Failure(ctx, err)
				}
				c.Workspaces = append(c.Workspaces, shown)
			}
		}
		if caller.Kind == principal.KindSession {
			who, err := s.Store.IntegrationIdentityOf(ctx, caller.Org, caller.User, setup.ID)
			switch {
			case errors.Is(err, store.ErrNotFound):
			case err != nil:
				return nil, workspaceErrors().Failure(ctx, err)
			default:
				c.Identity = &svcv2.ChatIdentity{ExternalUserId: who.ExternalUserID, CreatedAt: timestamppb.New(who.CreatedAt)}
				if who.DisplayName != "" {
					c.Identity.DisplayName = &who.DisplayName
				}
			}
		}
		res.Data = append(res.Data, c)
	}
	return res, nil
}

func workspaceToProto(c store.IntegrationConnection) (*svcv2.ChatWorkspace, error) {
	out := &svcv2.ChatWorkspace{
		Id: publicid.Encode(publicid.ChatWorkspace, c.ID), Object: "chat_workspace", Connector: c.Provider, ExternalWorkspaceId: c.ExternalID,
		Name: c.Name, CreatedAt: timestamppb.New(c.CreatedAt), Status: c.State,
	}
	if err := json.Unmarshal(c.Settings, &out.Settings); err != nil {
		return nil, fmt.Errorf("chatconnectors: settings of a workspace: %w", err)
	}
	if c.LastSyncError != "" {
		out.Error = &c.LastSyncError
	}
	if c.LastSyncAt != nil {
		out.SyncedAt = timestamppb.New(*c.LastSyncAt)
	}
	return out, nil
}

// InstallChatConnector starts to connect a workspace.
func (s *Service) InstallChatConnector(ctx context.Context, req *svcv2.InstallChatConnectorRequest) (*svcv2.ChatConnectorInstall, error) {
	caller, err := principal.Caller(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := s.connector(req.GetConnector())
	if err != nil {
		return nil, err
	}
	url, _, err := s.Engine.Start(ctx, caller, setup, req.GetReturnTo())
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	return &svcv2.ChatConnectorInstall{Object: "chat_connector.install", Url: url}, nil
}

func invalidSettings(reason string) error {
	return storeerr.Invalid(apierr.IntegrationsValidation, &store.InvalidError{Violations: []store.Violation{{
		Field:  "settings",
		Reason: reason,
	}}})
}

// person returns the signed-in person, and refuses a key whatever it asks for.
func person(ctx context.Context) (*principal.Principal, error) {
	caller, err := principal.Caller(ctx)
	if err == nil && caller.Kind != principal.KindSession {
		err = apierr.New(apierr.ApiKeyNotAccepted, "An identity belongs to a person who is signed in, not to a key.")
	}
	return caller, err
}

// StartChatIdentityLink starts to link the identity of the caller.
func (s *Service) StartChatIdentityLink(ctx context.Context, req *svcv2.StartChatIdentityLinkRequest) (*svcv2.ChatIdentityLink, error) {
	caller, err := person(ctx)
	if err != nil {
		return nil, err
	}
	setup, err := s.connector(req.GetConnector())
	if err != nil {
		return nil, err
	}
	url, err := s.Engine.StartIdentity(ctx, caller, setup, req.GetReturnTo())
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	return &svcv2.ChatIdentityLink{Object: "chat_connector.identity_link", Url: url}, nil
}

// DeleteChatIdentity unlinks the identity of the caller.
func (s *Service) DeleteChatIdentity(ctx context.Context, req *svcv2.DeleteChatIdentityRequest) (*svcv2.DeletedChatIdentity, error) {
	caller, err := person(ctx)
	if err != nil {
		return nil, err
	}
	// An identity of a connector that is no longer set up can be removed.
	if _, err := s.connector(req.GetConnector()); err != nil {
		return nil, err
	}
	found, err := s.Store.UnlinkIntegrationIdentity(ctx, caller.Org, caller.User, req.GetConnector())
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	return &svcv2.DeletedChatIdentity{Object: "chat_connector.identity", Deleted: found}, nil
}

// settingDefaultChannel is a setting of a workspace. The other one is integrations.SettingPictures.
const settingDefaultChannel = "default_channel"

// UpdateChatWorkspace replaces the settings of a workspace.
func (s *Service) UpdateChatWorkspace(ctx context.Context, req *svcv2.UpdateChatWorkspaceRequest) (*svcv2.ChatWorkspace, error) {
	caller, row, err := s.workspace(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if len(req.GetSettings()) == 0 && len(req.GetUpdateMask().GetPaths()) == 0 {
		return nil, invalidSettings("must be given; an empty object removes all settings")
	}
	for name, value := range req.GetSettings() {
		switch name {
		case integrations.SettingPictures:
			if value != integrations.PicturesOn && value != integrations.PicturesOff {
				return nil, invalidSettings("has a value of " + name + " other than " + integrations.PicturesOn + " and " + integrations.PicturesOff)
			}
			continue
		case settingDefaultChannel:
		default:
			return nil, invalidSettings("has no " + fmt.Sprintf("%q", name) + "; the settings are " +
				wording.List([]string{settingDefaultChannel, integrations.SettingPictures}))
		}
		if _, err := s.Store.ChatChannelByID(ctx, caller.Org, row.ID, value); errors.Is(err, store.ErrNotFound) {
			return nil, invalidSettings("names a " + settingDefaultChannel + " that listChatWorkspaceDestinations does not show")
		} else if err != nil {
			return nil, workspaceErrors().Failure(ctx, err)
		}
	}
	settings := req.GetSettings()
	if settings == nil {
		settings = map[string]string{}
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("chatconnectors: %w", err)
	}
	row, err = s.Store.EditIntegration(ctx, caller.Org, row.ID, func(c *store.IntegrationConnection) error {
		c.Settings = text
		return nil
	})
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	return workspaceToProto(row)
}

// workspace finds a workspace of the caller's organization; accounts of other classes do not exist here.
func (s *Service) workspace(ctx context.Context, text string) (*principal.Principal, store.IntegrationConnection, error) {
	caller, id, err := workspaceErrors().Target(ctx, text)
	if err != nil {
		return nil, store.IntegrationConnection{}, err
	}
	c, err := s.find(ctx, caller.Org, id)
	if err != nil {
		return nil, store.IntegrationConnection{}, workspaceErrors().Failure(ctx, err)
	}
	return caller, c, nil
}

func (s *Service) find(ctx context.Context, org principal.OrgID, id uuid.UUID) (store.IntegrationConnection, error) {
	c, err := s.Store.GetIntegrationConnection(ctx, org, id)
	if err == nil {
		if setup, _ := s.Engine.Provider(c.Provider); setup.Class != integrations.ClassChat {
			err = store.ErrNotFound
		}
	}
	return c, err
}

// DeleteChatWorkspace disconnects a workspace.
func (s *Service) DeleteChatWorkspace(ctx context.Context, req *svcv2.DeleteChatWorkspaceRequest) (*svcv2.DeletedChatWorkspace, error) {
	caller, row, err := s.workspace(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if err := s.Engine.Disconnect(ctx, caller.Org, row.ID, s.Store.DisconnectIntegration); err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	return &svcv2.DeletedChatWorkspace{Id: req.GetId(), Object: "chat_workspace", Deleted: true}, nil
}

// ListChatWorkspaceDestinations lists channels of a workspace from the server's copy. An id that is not there is asked for at the provider.
func (s *Service) ListChatWorkspaceDestinations(ctx context.Context, req *svcv2.ListChatWorkspaceDestinationsRequest) (
	*svcv2.ListChatWorkspaceDestinationsResponse, error,
) {
	caller, row, err := s.workspace(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if row.State == store.IntegrationDisconnected || row.State == store.IntegrationReconnectNeeded {
		return nil, apierr.New(apierr.IntegrationsNotConnected, "The workspace is not connected any more. An administrator connects it again "+
			"in the settings.")
	}
	text := strings.TrimPrefix(strings.TrimSpace(req.GetQ()), "#")
	channels, err := s.Store.ListChatChannels(ctx, caller.Org, row.ID, text, limits.ChatChannels)
	if err != nil {
		return nil, workspaceErrors().Failure(ctx, err)
	}
	if len(channels) == 0 && isChannelID(text) {
		// A failure of the provider is not a failure of the list.
		if found, err := s.Engine.Channel(ctx, row, text); err == nil {
			channels = append(channels, found)
		}
	}
	res := &svcv2.ListChatWorkspaceDestinationsResponse{Object: "chat_workspace.destination_list"}
	for _, c := range channels {
		res.Destinations = append(res.Destinations, &svcv2.ChatWorkspaceDestination{Id: c.ExternalID, Name: c.Name, Private: c.IsPrivate})
	}
	if row.LastSyncAt != nil {
		res.SyncedAt = timestamppb.New(*row.LastSyncAt)
	}
	return res, nil
}

// isChannelID reports whether a text looks like the id of a channel, so that typing a name asks no provider.
func isChannelID(text string) bool {
	return len(text) >= 9 && len(text) <= 20 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}
