package store

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/integrationconnection"
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
	// Keep returns the settings of an account that was connected before.
	Keep func(before, now json.RawMessage) (json.RawMessage, error)
}

// ConnectIntegration stores an account that a person has connected. An account that was connected before keeps its id and what depends on
// it, and is connected again. Its first synchronization is due at once.
func (s *Store) ConnectIntegration(ctx context.Context, org principal.OrgID, in NewIntegration) (c IntegrationConnection, err error) {
	err = s.mutate(ctx, "connect integration", func(tx *ent.Tx) (Change, error) {
		row, err := tx.IntegrationConnection.Query().Where(
			integrationconnection.OrgID(string(org)), integrationconnection.Provider(in.Provider),
			integrationconnection.BaseURL(in.BaseURL), integrationconnection.ExternalID(in.ExternalID),
		).Only(ctx)
		now := s.stamp()
		switch {
		case err == nil:
			settings, err := in.Keep(row.Settings, in.Settings)
			if err != nil {
				return Change{}, err
			}
			row, err = row.Update().SetName(in.Name).SetState(integrationconnection.StateConnected).ClearReason().SetSettings(settings).
				SetConnectedBy(string(in.ConnectedBy)).SetConnectedAt(now).SetStateChangedAt(now).SetSyncDueAt(now).ClearLastSyncError().
				SetFailures(0).ClearFailingSince().SetUpdatedAt(now).Save(ctx)
			if err != nil {
				return Change{}, err
			}
			c = toIntegrationConnection(row)
		case ent.IsNotFound(err):
			id, err := uuid.NewV7()
			if err != nil {
				return Change{}, err
			}
			c, err = s.insertIntegrationConnection(ctx, tx, IntegrationConnection{
				ID: id, Org: org, Shard: ShardOf(WorkIntegrations, id.String()), Provider: in.Provider, BaseURL: in.BaseURL,
				ExternalID: in.ExternalID, Name: in.Name, State: IntegrationConnected, Settings: in.Settings, ConnectedBy: in.ConnectedBy,
				ConnectedAt: now, StateChangedAt: now, SyncDueAt: &now,
			})
			if err != nil {
				return Change{}, err
			}
		default:
			return Change{}, err
		}
		return c.change(), s.audit(ctx, tx, org, c.event("connected", nil, c.auditFields()))
	})
	if err != nil {
		return IntegrationConnection{}, err
	}
	return c, nil
}

// ListIntegrations returns the connected accounts of an organization, oldest first.
func (s *Store) ListIntegrations(ctx context.Context, org principal.OrgID) ([]IntegrationConnection, error) {
	rows, err := s.read.IntegrationConnection.Query().Where(integrationconnection.OrgID(string(org))).
		Order(integrationconnection.ByCreatedAt(), integrationconnection.ByID()).All(ctx)
	return collect("list integrations", toIntegrationConnection, rows, err)
}

// EditIntegration calls change with the newest settings of a connected account and stores what it makes of them.
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
		if bytes.Equal(c.Settings, old.Settings) {
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

// DisconnectIntegration deletes a connected account and its repositories.
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

func mapErrorOrNil(op string, err error) error {
	if err == nil {
		return nil
	}
	return mapError(op, err)
}

// RecordIntegration stores what a worker found out about an account: its name, state, reason, settings, and the fields of its
// synchronization. A synchronization that was requested meanwhile stays due. ErrFenced: the worker lost its lease. ErrNotFound: the
// account was disconnected.
func (s *Store) RecordIntegration(ctx context.Context, fence Fence, before, after IntegrationConnection) error {
	return s.fenced(ctx, "record integration", fence, func(tx *ent.Tx) error {
		row, err := s.lockIntegrationConnection(ctx, tx, after.Org, after.ID)
		if err != nil {
			return err
		}
		stored := toIntegrationConnection(row)
		u := row.Update().SetName(after.Name).SetState(integrationconnection.State(after.State)).
			SetFailures(after.Failures).SetUpdatedAt(s.stamp())
		if !bytes.Equal(before.Settings, after.Settings) && bytes.Equal(stored.Settings, before.Settings) {
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
			return u.Exec(ctx)
		}
		if err := u.SetStateChangedAt(s.stamp()).Exec(ctx); err != nil {
			return err
		}
		return s.audit(ctx, tx, after.Org, after.event("state_changed", stored.auditFields(), after.auditFields()))
	})
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

func (r *IntegrationConnection) event(verb string, before, after map[string]any) AuditEvent {
	return AuditEvent{
		Action: "integration." + verb, ResourceID: publicid.Encode(publicid.Integration, r.ID), Before: before, After: after,
		Metadata: map[string]any{"provider": r.Provider, "account": r.Name},
	}
}

func (r *IntegrationConnection) auditFields() map[string]any {
	return map[string]any{"name": r.Name, "state": r.State, "reason": r.Reason, "settings": string(r.Settings)}
}
