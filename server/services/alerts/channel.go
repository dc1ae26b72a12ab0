package alerts

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/storeerr"
)

// checkChannel finds the workspace and the channel of a chat destination, and keeps their names. A destination whose channel stays is not
// checked: it can be renamed and disabled whatever became of its workspace. A new destination names the workspace by
// its public id.
func (s *Destinations) checkChannel(ctx context.Context, d *notify.Destination) error {
	read := uuid.Parse // a stored destination
	if d.Config.Connector == "" {
		read = func(text string) (uuid.UUID, error) { return publicid.Decode(publicid.ChatWorkspace, text) }
	}
	id, err := read(d.Config.Workspace)
	if err != nil {
		return apierr.New(apierr.AlertValidation, "`workspace_id` must be the id of a connected workspace, chatw_…; listChatConnectors shows the ids.",
			apierr.Param("workspace_id"))
	}
	if d.Config.ChannelID == "" {
		return apierr.New(apierr.AlertValidation, "`channel_id` must be the id of a channel; listChatWorkspaceDestinations shows the ids.",
			apierr.Param("channel_id"))
	}
	c, err := s.cfg.Integrations.Workspace(ctx, d.Org, id)
	switch {
	case errors.Is(err, integrations.ErrNoWorkspace):
		return apierr.New(apierr.IntegrationsNotConnected, "This organization has no connected workspace with this `workspace_id`.",
			apierr.Param("workspace_id"))
	case errors.Is(err, integrations.ErrNotSetUp):
		return apierr.New(apierr.IntegrationsNotConnected, "The provider of the workspace is not set up on this server. Its operator sets it up.",
			apierr.Param("workspace_id"))
	case errors.Is(err, integrations.ErrReconnect):
		return apierr.New(apierr.IntegrationsRevoked, "The provider refuses access to the workspace. An administrator connects it again in the settings.",
			apierr.Param("workspace_id"))
	case err != nil:
		return chats().Failure(ctx, err)
	}
	channel, err := s.cfg.Integrations.Channel(ctx, c, d.Config.ChannelID)
	var p *integrations.Problem
	switch {
	case errors.As(err, &p) && (p.Kind == integrations.NotFound || p.Kind == integrations.Invalid):
		return apierr.New(apierr.IntegrationsValidation, "`channel_id` is not a channel that the app can write to. "+p.Text,
			apierr.Param("channel_id"), apierr.Cause(err))
	case errors.As(err, &p) && p.Kind != integrations.Upstream && p.Kind != integrations.RateLimited:
		return apierr.New(apierr.IntegrationsRevoked, p.Text, apierr.Param("workspace_id"), apierr.Cause(err))
	case errors.As(err, &p):
		return apierr.New(apierr.IntegrationsUpstream, p.Text, apierr.RetryAfter(p.RetryAfter), apierr.Cause(err))
	case err != nil:
		return chats().Failure(ctx, err)
	}
	d.Config.Connector, d.Config.Workspace, d.Config.WorkspaceName = c.Provider, c.ID.String(), c.Name
	d.Config.ChannelName = channel.Name
	return nil
}

// sameWorkspace refuses to move a destination to another workspace.
func sameWorkspace(d *notify.Destination, text string) error {
	id, err := publicid.Decode(publicid.ChatWorkspace, text)
	if err != nil || id.String() != d.Config.Workspace {
		return apierr.New(apierr.AlertValidation, "`workspace_id` cannot change. Create another destination for another workspace.",
			apierr.Param("workspace_id"))
	}
	return nil
}

// chats describes the errors of the store about workspaces.
func chats() storeerr.Resource {
	return storeerr.Resource{Unavailable: storeerr.Answer{
		Tag: apierr.IntegrationsPersistence, Message: "The connected workspaces cannot be read at the moment. Try again.",
	}}
}
