package store

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/chatchannel"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/integrationidentity"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/server/principal"
)

// ListChatChannels returns channels of a workspace by name. A text selects the channels whose name holds it, in any case. It also selects
// the channel whose id it is.
func (s *Store) ListChatChannels(
	ctx context.Context, org principal.OrgID, workspace uuid.UUID, text string, limit int,
) ([]ChatChannel, error) {
	where := []predicate.ChatChannel{chatchannel.OrgID(string(org)), chatchannel.ConnectionID(workspace)}
	if text != "" {
		where = append(where, chatchannel.Or(chatchannel.NameContainsFold(text), chatchannel.ExternalID(text)))
	}
	rows, err := s.read.ChatChannel.Query().Where(where...).Order(chatchannel.ByName(), chatchannel.ByID()).Limit(limit).All(ctx)
	return collect("list chat channels", toChatChannel, rows, err)
}

// ChatChannelByID finds a channel of a workspace by its id at the provider.
func (s *Store) ChatChannelByID(ctx context.Context, org principal.OrgID, workspace uuid.UUID, externalID string) (ChatChannel, error) {
	row, err := s.read.ChatChannel.Query().Where(
		chatchannel.OrgID(string(org)), chatchannel.ConnectionID(workspace), chatchannel.ExternalID(externalID),
	).Only(ctx)
	return single("find chat channel", toChatChannel, row, err)
}

// KeepChatChannel stores a channel that the provider described outside a complete list.
func (s *Store) KeepChatChannel(ctx context.Context, of IntegrationConnection, c ChatChannel) error {
	return s.tx(ctx, "keep chat channel", func(tx *ent.Tx) error {
		if _, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID); err != nil {
			return err
		}
		row, err := tx.ChatChannel.Query().Where(
			chatchannel.OrgID(string(of.Org)), chatchannel.ConnectionID(of.ID), chatchannel.ExternalID(c.ExternalID),
		).Only(ctx)
		switch {
		case ent.IsNotFound(err):
			c.Org, c.ConnectionID, c.SeenAt = of.Org, of.ID, s.stamp()
			_, err = s.insertChatChannel(ctx, tx, c)
			return err
		case err != nil:
			return err
		}
		return row.Update().SetName(c.Name).SetIsPrivate(c.IsPrivate).SetIsMember(c.IsMember).SetSeenAt(s.stamp()).Exec(ctx)
	})
}

// SyncChatChannels makes the channels of a workspace those of a complete list of the provider. It returns ErrFenced if the worker lost its
// lease. It returns ErrIntegrationChanged if the workspace was connected again since the list was begun.
func (s *Store) SyncChatChannels(ctx context.Context, fence Fence, of IntegrationConnection, complete []ChatChannel, at time.Time) error {
	return s.fenced(ctx, "store chat channels", fence, func(tx *ent.Tx) error {
		row, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
		if err != nil {
			return err
		}
		if row.ExternalID != of.ExternalID || !bytes.Equal(row.Credentials, of.Credentials) {
			return ErrIntegrationChanged
		}
		rows, err := tx.ChatChannel.Query().Where(chatchannel.OrgID(string(of.Org)), chatchannel.ConnectionID(of.ID)).All(ctx)
		if err != nil {
			return err
		}
		stored := make(map[string]*ent.ChatChannel, len(rows))
		for _, row := range rows {
			stored[row.ExternalID] = row
		}
		var created []ChatChannel
		for _, c := range complete {
			row := stored[c.ExternalID]
			delete(stored, c.ExternalID)
			switch {
			case row == nil:
				created = append(created, c)
			case row.Name != c.Name || row.IsPrivate != c.IsPrivate || row.IsMember != c.IsMember:
				if err := row.Update().SetName(c.Name).SetIsPrivate(c.IsPrivate).SetIsMember(c.IsMember).SetSeenAt(utc(at)).Exec(ctx); err != nil {
					return err
				}
			}
		}
		gone := slices.Collect(maps.Values(stored))
		for part := range slices.Chunk(gone, channelsAtOnce) {
			ids := make([]uuid.UUID, len(part))
			for i, row := range part {
				ids[i] = row.ID
			}
			if _, err := tx.ChatChannel.Delete().Where(chatchannel.IDIn(ids...)).Exec(ctx); err != nil {
				return err
			}
		}
		return s.insertChatChannels(ctx, tx, of, created, at)
	})
}

// channelsAtOnce is the channels of one statement: 8 values of each are within the limits of both databases.
const channelsAtOnce = 1000

func (s *Store) insertChatChannels(ctx context.Context, tx *ent.Tx, of IntegrationConnection, all []ChatChannel, at time.Time) error {
	now := s.stamp()
	for part := range slices.Chunk(all, channelsAtOnce) {
		rows := make([]*ent.ChatChannelCreate, len(part))
		for i, c := range part {
			id, err := uuid.NewV7()
			if err != nil {
				return err
			}
			rows[i] = tx.ChatChannel.Create().SetID(id).SetOrgID(string(of.Org)).SetConnectionID(of.ID).SetExternalID(c.ExternalID).
				SetName(c.Name).SetIsPrivate(c.IsPrivate).SetIsMember(c.IsMember).SetCreatedAt(now).SetSeenAt(utc(at))
		}
		if err := tx.ChatChannel.CreateBulk(rows...).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

// IntegrationSharedWith reports whether another organization has connected the same account.
func (s *Store) IntegrationSharedWith(ctx context.Context, of IntegrationConnection) (bool, error) {
	found, err := s.read.IntegrationConnection.Query().Where(
		integrationconnection.Provider(of.Provider), integrationconnection.BaseURL(of.BaseURL), integrationconnection.ExternalID(of.ExternalID),
		integrationconnection.OrgIDNEQ(string(of.Org)), integrationconnection.StateNEQ(integrationconnection.StateDisconnected),
	).Exist(ctx)
	return found, mapErrorOrNil("find who shares an account", err)
}

// LinkIntegrationIdentity links a member with a person of a provider. It replaces an earlier link of the member there.
func (s *Store) LinkIntegrationIdentity(
	ctx context.Context, org principal.OrgID, in IntegrationIdentity,
) (out IntegrationIdentity, err error) {
	in.Org = org
	err = s.tx(ctx, "link an identity", func(tx *ent.Tx) error {
		if _, err := tx.IntegrationIdentity.Delete().Where(identityOf(org, in.User, in.Provider)...).Exec(ctx); err != nil {
			return err
		}
		if out, err = s.insertIntegrationIdentity(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "integration.identity_linked", ResourceID: string(in.User),
			Metadata: map[string]any{"provider": in.Provider, "external_user_id": in.ExternalUserID},
		})
	})
	return out, err
}

// IntegrationIdentityOf finds the identity of a member at a provider.
func (s *Store) IntegrationIdentityOf(
	ctx context.Context, org principal.OrgID, user principal.UserID, provider string,
) (IntegrationIdentity, error) {
	row, err := s.read.IntegrationIdentity.Query().Where(identityOf(org, user, provider)...).Only(ctx)
	return single("find an identity", toIntegrationIdentity, row, err)
}

// UnlinkIntegrationIdentity removes the identity of a member at a provider. It reports whether there was one.
func (s *Store) UnlinkIntegrationIdentity(
	ctx context.Context, org principal.OrgID, user principal.UserID, provider string,
) (found bool, err error) {
	err = s.tx(ctx, "unlink an identity", func(tx *ent.Tx) error {
		n, err := tx.IntegrationIdentity.Delete().Where(identityOf(org, user, provider)...).Exec(ctx)
		if found = n > 0; err != nil || !found {
			return err
		}
		return s.audit(ctx, tx, org, AuditEvent{
			Action: "integration.identity_unlinked", ResourceID: string(user), Metadata: map[string]any{"provider": provider},
		})
	})
	return found, err
}

func identityOf(org principal.OrgID, user principal.UserID, provider string) []predicate.IntegrationIdentity {
	return []predicate.IntegrationIdentity{
		integrationidentity.OrgID(string(org)), integrationidentity.UserID(string(user)), integrationidentity.Provider(provider),
	}
}
