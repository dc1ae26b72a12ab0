package store

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"time"

	"entgo.io/ent/dialect"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/integrationidentity"
	"github.com/svc-observability/svc/ent/sourcerepository"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/publicid"
)

// States of a connected account. `server/integrations` moves an account between them.
const (
	IntegrationConnected       = string(integrationconnection.StateConnected)
	IntegrationError           = string(integrationconnection.StateError)
	IntegrationReconnectNeeded = string(integrationconnection.StateReconnectNeeded)
	IntegrationDisconnected    = string(integrationconnection.StateDisconnected)
)

// NewIntegration is an account that a person has connected.
type NewIntegration struct {
	Provider, BaseURL, ExternalID, Name string
	ConnectedBy                         principal.UserID
	Settings                            json.RawMessage
	// Seal returns the sealed credentials for the row with this id; nil for a provider without credentials.
	Seal func(id uuid.UUID) []byte
	// Same reports whether settings are those of this account under another external id: an earlier installation of the app.
	Same func(before json.RawMessage) bool
	// Keep returns the settings of an account that was connected before.
	Keep func(before, now json.RawMessage) (json.RawMessage, error)
}

// ConnectIntegration stores an account that a person has connected. An account that was connected before keeps its id and the rows that
// depend on it, and is connected again. Its first synchronization is due at once.
func (s *Store) ConnectIntegration(ctx context.Context, org principal.OrgID, in NewIntegration) (c IntegrationConnection, err error) {
	err = s.mutate(ctx, "connect integration", func(tx *ent.Tx) (Change, error) {
		row, err := s.connectedBefore(ctx, tx, org, in)
		now := s.stamp()
		switch {
		case err != nil:
			return Change{}, err
		case row != nil:
			settings, err := in.Keep(row.Settings, in.Settings)
			if err != nil {
				return Change{}, err
			}
			u := row.Update().SetExternalID(in.ExternalID).SetName(in.Name).SetState(integrationconnection.StateConnected).ClearReason().
				SetSettings(settings).SetConnectedBy(string(in.ConnectedBy)).SetConnectedAt(now).SetStateChangedAt(now).SetSyncDueAt(now).
				ClearLastSyncError().SetFailures(0).ClearFailingSince().SetUpdatedAt(now)
			if sealed := in.Seal(row.ID); sealed != nil {
				u.SetCredentials(sealed).AddCredentialVersion(1)
			}
			if row, err = u.Save(ctx); err != nil {
				return Change{}, err
			}
			c = toIntegrationConnection(row)
		default:
			id, err := uuid.NewV7()
			if err != nil {
				return Change{}, err
			}
			c, err = s.insertIntegrationConnection(ctx, tx, IntegrationConnection{
				ID: id, Org: org, Shard: ShardOf(WorkIntegrations, id.String()), Provider: in.Provider, BaseURL: in.BaseURL,
				ExternalID: in.ExternalID, Name: in.Name, State: IntegrationConnected, Settings: in.Settings, Credentials: in.Seal(id),
				ConnectedBy: in.ConnectedBy, ConnectedAt: now, StateChangedAt: now, SyncDueAt: &now,
			})
			if err != nil {
				return Change{}, err
			}
		}
		return c.change(), s.audit(ctx, tx, org, c.event("connected", nil, c.auditFields()))
	})
	if err != nil {
		return IntegrationConnection{}, err
	}
	return c, nil
}

// connectedBefore finds and locks the row of an account: the one with its external id, else one of the same account under an earlier id.
func (s *Store) connectedBefore(
	ctx context.Context, tx *ent.Tx, org principal.OrgID, in NewIntegration,
) (*ent.IntegrationConnection, error) {
	q := tx.IntegrationConnection.Query().Where(
		integrationconnection.OrgID(string(org)), integrationconnection.Provider(in.Provider), integrationconnection.BaseURL(in.BaseURL),
	).Order(integrationconnection.ByID())
	if s.dialect == dialect.Postgres {
		q.ForUpdate()
	}
	rows, err := q.All(ctx)
	if err != nil {
		return nil, err
	}
	var earlier *ent.IntegrationConnection
	for _, row := range rows {
		if row.ExternalID == in.ExternalID {
			return row, nil
		}
		if earlier == nil && in.Same(row.Settings) {
			earlier = row
		}
	}
	return earlier, nil
}

// ListIntegrations returns the connected accounts of an organization, oldest first.
func (s *Store) ListIntegrations(ctx context.Context, org principal.OrgID) ([]IntegrationConnection, error) {
	rows, err := s.read.IntegrationConnection.Query().Where(integrationconnection.OrgID(string(org))).
		Order(integrationconnection.ByCreatedAt(), integrationconnection.ByID()).All(ctx)
	return collect("list integrations", toIntegrationConnection, rows, err)
}

// EditIntegration calls change with the newest settings of a connected account and stores the result.
func (s *Store) EditIntegration(ctx context.Context, org principal.OrgID, id uuid.UUID, change func(*IntegrationConnection) error) (
	c IntegrationConnection, err error,
) {
	err = s.tx(ctx, "edit integration", func(tx *ent.Tx) error {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return err
		}
		old := toIntegrationConnection(row)
		c = old
		if err := change(&c); err != nil {
			return err
		}
		if sameJSON(c.Settings, old.Settings) {
			return nil
		}
		if row, err = row.Update().SetSettings(c.Settings).SetUpdatedAt(s.stamp()).Save(ctx); err != nil {
			return err
		}
		c = toIntegrationConnection(row)
		return s.audit(ctx, tx, org, c.event("updated", old.auditFields(), c.auditFields()))
	})
	if err != nil {
		return IntegrationConnection{}, err
	}
	return c, nil
}

// MakeIntegrationDue makes the synchronization of a connected account due, because something was seen that does not fit its state.
func (s *Store) MakeIntegrationDue(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "make the synchronization of an integration due", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		c := toIntegrationConnection(row)
		return c.change(), row.Update().SetSyncDueAt(s.stamp()).Exec(ctx)
	})
}

// RecordPictureFailure remembers when a chat service could not fetch a picture of a message.
func (s *Store) RecordPictureFailure(ctx context.Context, org principal.OrgID, id uuid.UUID, at time.Time) error {
	return s.mutate(ctx, "record the failure of a picture", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		c := toIntegrationConnection(row)
		return c.change(), row.Update().SetPictureFailedAt(at).Exec(ctx)
	})
}

// RequestIntegrationSync makes the synchronization of a connected account due.
func (s *Store) RequestIntegrationSync(ctx context.Context, org principal.OrgID, id uuid.UUID) (c IntegrationConnection, err error) {
	err = s.mutate(ctx, "request the synchronization of an integration", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		if row, err = row.Update().SetSyncDueAt(s.stamp()).Save(ctx); err != nil {
			return Change{}, err
		}
		c = toIntegrationConnection(row)
		return c.change(), s.audit(ctx, tx, org, c.event("sync_requested", nil, nil))
	})
	if err != nil {
		return IntegrationConnection{}, err
	}
	return c, nil
}

// DisconnectIntegration deletes a connected account, and its repositories or channels, and the identities that members have there.
func (s *Store) DisconnectIntegration(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.mutate(ctx, "disconnect integration", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		c := toIntegrationConnection(row)
		if err := s.audit(ctx, tx, org, c.event("disconnected", c.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		if _, err := tx.IntegrationIdentity.Delete().Where(
			integrationidentity.OrgID(string(org)), integrationidentity.Provider(c.Provider), integrationidentity.ExternalAccount(c.ExternalID),
		).Exec(ctx); err != nil {
			return Change{}, err
		}
		return c.change(), tx.IntegrationConnection.DeleteOne(row).Exec(ctx)
	})
}

// DueIntegrations returns the accounts of a shard whose synchronization is due, the longest due first.
func (s *Store) DueIntegrations(ctx context.Context, shard int, now time.Time, limit int) ([]IntegrationConnection, error) {
	rows, err := s.read.IntegrationConnection.Query().
		Where(integrationconnection.Shard(shard), integrationconnection.SyncDueAtLTE(utc(now))).
		Order(integrationconnection.BySyncDueAt(), integrationconnection.ByID()).Limit(limit).All(ctx)
	return collect("list due integrations", toIntegrationConnection, rows, err)
}

// NextIntegrationDue returns the time of the next synchronization of a shard; zero if there is no account.
func (s *Store) NextIntegrationDue(ctx context.Context, shard int) (time.Time, error) {
	rows, err := s.read.IntegrationConnection.Query().
		Where(integrationconnection.Shard(shard), integrationconnection.SyncDueAtNotNil()).
		Order(integrationconnection.BySyncDueAt()).Limit(1).All(ctx)
	if err != nil || len(rows) == 0 {
		return time.Time{}, mapErrorOrNil("find the next synchronization", err)
	}
	return utc(*rows[0].SyncDueAt), nil
}

// RenewIntegrationCredentials stores renewed credentials of an account. It needs no lease: the provider may have ended the old ones, so the
// new ones count, with or without a lease. It returns ErrIntegrationChanged if the account was connected again, or another process renewed
// its credentials.
func (s *Store) RenewIntegrationCredentials(
	ctx context.Context, of IntegrationConnection, sealed []byte,
) (c IntegrationConnection, err error) {
	err = s.tx(ctx, "renew credentials", func(tx *ent.Tx) error {
		row, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
		if err != nil {
			return err
		}
		if row.CredentialVersion != of.CredentialVersion {
			return ErrIntegrationChanged
		}
		row, err = row.Update().SetCredentials(sealed).AddCredentialVersion(1).SetUpdatedAt(s.stamp()).Save(ctx)
		if err == nil {
			c = toIntegrationConnection(row)
		}
		return err
	})
	return c, err
}

func mapErrorOrNil(op string, err error) error {
	if err == nil {
		return nil
	}
	return mapError(op, err)
}

// RecordIntegration stores what a worker found out about an account: its name, state, reason, settings, and the fields of its
// synchronization. The repositories of an account that became disconnected become removed. A synchronization that was requested meanwhile
// stays due. It returns ErrFenced if the worker lost its lease. It returns ErrNotFound if the account was disconnected by a person.
func (s *Store) RecordIntegration(ctx context.Context, fence Fence, before, after IntegrationConnection) error {
	return s.mutate(ctx, "record integration", func(tx *ent.Tx) (Change, error) {
		if err := s.hold(ctx, tx, fence); err != nil {
			return Change{}, err
		}
		row, err := s.lockIntegrationConnection(ctx, tx, after.Org, after.ID)
		if err != nil {
			return Change{}, err
		}
		if row.ExternalID != before.ExternalID || row.CredentialVersion != before.CredentialVersion {
			return Change{}, nil // connected again meanwhile: the new access is used next
		}
		stored := toIntegrationConnection(row)
		u := row.Update().SetName(after.Name).SetState(integrationconnection.State(after.State)).
			SetFailures(after.Failures).SetUpdatedAt(s.stamp())
		if !sameJSON(before.Settings, after.Settings) && bytes.Equal(stored.Settings, before.Settings) {
			u.SetSettings(after.Settings)
		}
		setOr(nonZero(after.Reason), u.SetReason, u.ClearReason)
		setOr(utcPtr(after.LastSyncAt), u.SetLastSyncAt, u.ClearLastSyncAt)
		setOr(nonZero(after.LastSyncError), u.SetLastSyncError, u.ClearLastSyncError)
		setOr(utcPtr(after.FailingSince), u.SetFailingSince, u.ClearFailingSince)
		if sameTime(stored.SyncDueAt, before.SyncDueAt) {
			setOr(utcPtr(after.SyncDueAt), u.SetSyncDueAt, u.ClearSyncDueAt)
		}
		if stored.State == after.State {
			return Change{}, u.Exec(ctx)
		}
		if err := u.SetStateChangedAt(s.stamp()).Exec(ctx); err != nil {
			return Change{}, err
		}
		if after.State == IntegrationDisconnected {
			if err := s.removeRepositories(ctx, tx, after); err != nil {
				return Change{}, err
			}
			if err := tx.IntegrationConnection.UpdateOneID(after.ID).ClearCredentials().Exec(ctx); err != nil {
				return Change{}, err
			}
		}
		return after.change(), s.audit(ctx, tx, after.Org, after.event("state_changed", stored.auditFields(), after.auditFields()))
	})
}

// removeRepositories marks the active repositories of an account as removed.
func (s *Store) removeRepositories(ctx context.Context, tx *ent.Tx, of IntegrationConnection) error {
	rows, err := tx.SourceRepository.Query().Where(
		sourcerepository.ConnectionID(of.ID), sourcerepository.OrgID(string(of.Org)),
		sourcerepository.StatusEQ(sourcerepository.StatusActive),
	).All(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := s.removeRepository(ctx, tx, row, "The provider no longer gives access to the account."); err != nil {
			return err
		}
	}
	return nil
}

// sameJSON compares texts of which one may come from PostgreSQL, which writes spaces and orders keys in its own way.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}

func (r *IntegrationConnection) change() Change {
	return Change{Subject: SubjectIntegration, Org: r.Org}
}

// PublicID is the id by which the API calls the account: a chat workspace has a prefix of its own.
func (r *IntegrationConnection) PublicID() string {
	if r.Provider == "slack" || r.Provider == "discord" {
		return publicid.Encode(publicid.ChatWorkspace, r.ID)
	}
	return publicid.Encode(publicid.Integration, r.ID)
}

func (r *IntegrationConnection) event(verb string, before, after map[string]any) AuditEvent {
	return AuditEvent{
		Action: "integration." + verb, ResourceID: r.PublicID(), Before: before, After: after,
		Metadata: map[string]any{"provider": r.Provider, "account": r.Name},
	}
}

func (r *IntegrationConnection) auditFields() map[string]any {
	return map[string]any{"name": r.Name, "state": r.State, "reason": r.Reason, "settings": string(r.Settings)}
}
