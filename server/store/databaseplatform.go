package store

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/platformdatabase"
	"github.com/svc-observability/svc/ent/platformevent"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/schema"
	"github.com/svc-observability/svc/ent/scrapetarget"
	"github.com/svc-observability/svc/ent/webhookdelivery"
	"github.com/svc-observability/svc/server/principal"
)

// DatabaseBranch is a branch of a database.
type DatabaseBranch = schema.DatabaseBranch

// Sources of events of a database platform.
const (
	EventWebhook  = "webhook"
	EventBackfill = "backfill"
)

// promptDelivery is how old an event may be to count as read because of a delivery.
const promptDelivery = 10 * time.Minute

// PlatformInventory is the result of a synchronization. Target is the scrape target that the account owns; it is made if there is none.
type PlatformInventory struct {
	Databases []PlatformDatabase
	Events    []PlatformEvent
	Target    *ScrapeTarget
}

// SyncPlatform makes the databases of an account those of a complete list, and adds the events that are new. It returns ErrFenced if the
// worker lost its lease. It returns ErrIntegrationChanged if the settings of the account changed since the list was begun.
func (s *Store) SyncPlatform(ctx context.Context, fence Fence, of IntegrationConnection, in PlatformInventory) error {
	return s.fenced(ctx, "store databases of a platform", fence, func(tx *ent.Tx) error {
		row, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
		if err != nil {
			return err
		}
		if row.ExternalID != of.ExternalID || !bytes.Equal(row.Settings, of.Settings) {
			return ErrIntegrationChanged
		}
		if err := s.replaceDatabases(ctx, tx, of, in.Databases); err != nil {
			return err
		}
		if in.Target != nil {
			if err := s.makeManagedTarget(ctx, tx, *in.Target); err != nil {
				return err
			}
		}
		return s.addPlatformEvents(ctx, tx, of, in.Events)
	})
}

func (s *Store) replaceDatabases(ctx context.Context, tx *ent.Tx, of IntegrationConnection, databases []PlatformDatabase) error {
	rows, err := tx.PlatformDatabase.Query().Where(platformdatabase.OrgID(string(of.Org)), platformdatabase.ConnectionID(of.ID)).All(ctx)
	if err != nil {
		return err
	}
	stored := make(map[string]*ent.PlatformDatabase, len(rows))
	for _, row := range rows {
		stored[row.ExternalID] = row
	}
	for _, d := range databases {
		row := stored[d.ExternalID]
		delete(stored, d.ExternalID)
		if row == nil {
			d.Org, d.ConnectionID = of.Org, of.ID
			if _, err := s.insertPlatformDatabase(ctx, tx, d); err != nil {
				return err
			}
			continue
		}
		u := row.Update().SetName(d.Name).SetKind(d.Kind).SetBranches(d.Branches)
		setOr(nonZero(d.State), u.SetState, u.ClearState)
		setOr(nonZero(d.Region), u.SetRegion, u.ClearRegion)
		setOr(nonZero(d.Plan), u.SetPlan, u.ClearPlan)
		if err := u.Exec(ctx); err != nil {
			return err
		}
	}
	for _, row := range stored {
		if err := tx.PlatformDatabase.DeleteOne(row).Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) addPlatformEvents(ctx context.Context, tx *ent.Tx, of IntegrationConnection, events []PlatformEvent) error {
	delivered := time.Time{}
	rows, err := tx.WebhookDelivery.Query().Where(webhookdelivery.Provider(of.Provider), webhookdelivery.Account(of.ExternalID)).
		Order(webhookdelivery.ByCreatedAt(entsql.OrderDesc())).Limit(1).All(ctx)
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		delivered = rows[0].CreatedAt
	}
	for _, e := range events {
		known, err := tx.PlatformEvent.Query().Where(
			platformevent.OrgID(string(of.Org)), platformevent.ConnectionID(of.ID), platformevent.ExternalID(e.ExternalID),
			platformevent.EventType(e.EventType),
		).Exist(ctx)
		if err != nil {
			return err
		}
		if known {
			continue
		}
		e.Org, e.ConnectionID, e.Source = of.Org, of.ID, EventBackfill
		if age := delivered.Sub(e.OccurredAt); age >= 0 && age < promptDelivery {
			e.Source = EventWebhook
		}
		if _, err := s.insertPlatformEvent(ctx, tx, e); err != nil {
			return err
		}
	}
	return nil
}

// ListPlatformDatabases returns the databases of an account by name.
func (s *Store) ListPlatformDatabases(ctx context.Context, org principal.OrgID, connection uuid.UUID) ([]PlatformDatabase, error) {
	rows, err := s.read.PlatformDatabase.Query().Where(platformdatabase.OrgID(string(org)), platformdatabase.ConnectionID(connection)).
		Order(platformdatabase.ByName(), platformdatabase.ByID()).All(ctx)
	return collect("list databases of a platform", toPlatformDatabase, rows, err)
}

// PlatformEventFilter selects events of an account. Empty fields do not filter.
type PlatformEventFilter struct {
	Connection       uuid.UUID
	Database, Branch string
	Categories       []string
	Start, End       time.Time
}

// ListPlatformEvents returns events, the newest first. Request one more than a page to learn whether there is another page.
func (s *Store) ListPlatformEvents(
	ctx context.Context, org principal.OrgID, f PlatformEventFilter, offset, limit int,
) ([]PlatformEvent, error) {
	where := []predicate.PlatformEvent{
		platformevent.OrgID(string(org)), platformevent.ConnectionID(f.Connection),
		platformevent.OccurredAtGTE(utc(f.Start)), platformevent.OccurredAtLTE(utc(f.End)),
	}
	if f.Database != "" {
		where = append(where, platformevent.DatabaseName(f.Database))
	}
	if f.Branch != "" {
		where = append(where, platformevent.BranchName(f.Branch))
	}
	if len(f.Categories) > 0 {
		where = append(where, platformevent.CategoryIn(f.Categories...))
	}
	rows, err := s.read.PlatformEvent.Query().Where(where...).
		Order(platformevent.ByOccurredAt(entsql.OrderDesc()), platformevent.ByID(entsql.OrderDesc())).Offset(offset).Limit(limit).All(ctx)
	return collect("list events of a platform", toPlatformEvent, rows, err)
}

// SweepPlatformEvents removes events that happened before a time.
func (s *Store) SweepPlatformEvents(ctx context.Context, before time.Time) error {
	return s.tx(ctx, "remove old events of database platforms", func(tx *ent.Tx) error {
		_, err := tx.PlatformEvent.Delete().Where(platformevent.OccurredAtLT(utc(before))).Exec(ctx)
		return err
	})
}

// PlatformChange is a change of a connected platform account by a person.
type PlatformChange struct {
	ExternalID, Name string
	Settings         json.RawMessage
	// Credentials are sealed; nil keeps those of the account.
	Credentials []byte
	// Target is the managed scrape target of the account; its id is used if there is none yet. Nil keeps it.
	Target *ScrapeTarget
}

// ChangePlatform stores a change of a connected platform account, and its managed scrape target, in one transaction. It returns ErrConflict
// if the credentials were renewed since `of` was read. It returns ErrInvalid if the target breaks a rule.
func (s *Store) ChangePlatform(
	ctx context.Context, of IntegrationConnection, in PlatformChange, action string,
) (c IntegrationConnection, err error) {
	err = s.mutate(ctx, "change platform account", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, of.Org, of.ID)
		if err != nil {
			return Change{}, err
		}
		if row.CredentialVersion != of.CredentialVersion {
			return Change{}, ErrConflict
		}
		old := toIntegrationConnection(row)
		u := row.Update().SetSettings(in.Settings).SetExternalID(in.ExternalID).SetName(in.Name).SetUpdatedAt(s.stamp())
		if in.ExternalID != row.ExternalID {
			u.ClearLastSyncAt() // the inventory of another organization is not the one of this
		}
		if in.Credentials != nil {
			u.SetCredentials(in.Credentials).AddCredentialVersion(1)
		}
		if row, err = u.Save(ctx); err != nil {
			return Change{}, err
		}
		c = toIntegrationConnection(row)
		if in.Target != nil {
			if err := s.putManagedTarget(ctx, tx, *in.Target); err != nil {
				return Change{}, err
			}
		}
		return Change{Subject: SubjectScrapeTarget, Org: of.Org}, s.audit(ctx, tx, of.Org, c.event(action, old.auditFields(), c.auditFields()))
	})
	return c, err
}

// makeManagedTarget adds the target of an account that has none.
func (s *Store) makeManagedTarget(ctx context.Context, tx *ent.Tx, t ScrapeTarget) error {
	known, err := tx.ScrapeTarget.Query().Where(scrapetarget.OrgID(string(t.Org)), scrapetarget.ManagedBy(t.ManagedBy)).Exist(ctx)
	if err != nil || known {
		return err
	}
	if t.ID, err = uuid.NewV7(); err != nil {
		return err
	}
	return s.putManagedTarget(ctx, tx, t)
}

// putManagedTarget writes the target of an account, which has one at most.
func (s *Store) putManagedTarget(ctx context.Context, tx *ent.Tx, t ScrapeTarget) error {
	var c checker
	t.check(&c)
	if err := c.err(); err != nil {
		return err
	}
	row, err := tx.ScrapeTarget.Query().Where(scrapetarget.OrgID(string(t.Org)), scrapetarget.ManagedBy(t.ManagedBy)).Only(ctx)
	switch {
	case ent.IsNotFound(err):
		t.Shard = ShardOf(WorkScrape, t.ID.String())
		if t, err = s.insertScrapeTarget(ctx, tx, t); err != nil {
			return err
		}
		return s.audit(ctx, tx, t.Org, t.event("created", nil, t.auditFields()))
	case err != nil:
		return err
	}
	u := row.Update().SetURL(t.URL).SetEnabled(t.Enabled).SetIncludeBranches(t.IncludeBranches).SetExcludeBranches(t.ExcludeBranches).
		SetUpdatedAt(s.stamp())
	if t.IncludeBranches == nil {
		u.ClearIncludeBranches()
	}
	if t.ExcludeBranches == nil {
		u.ClearExcludeBranches()
	}
	setOr(t.OrganizationName, u.SetOrganizationName, u.ClearOrganizationName)
	return u.Exec(ctx)
}

// ManagedScrapeTarget finds the scrape target of an integration. It returns ErrNotFound if it has none.
func (s *Store) ManagedScrapeTarget(ctx context.Context, org principal.OrgID, managedBy string) (ScrapeTarget, error) {
	row, err := s.read.ScrapeTarget.Query().Where(scrapetarget.OrgID(string(org)), scrapetarget.ManagedBy(managedBy)).Only(ctx)
	return single("find a managed scrape target", toScrapeTarget, row, err)
}

// DisconnectPlatform deletes a connected platform account with its databases, events and scrape target.
func (s *Store) DisconnectPlatform(ctx context.Context, org principal.OrgID, id uuid.UUID, managedBy string) error {
	return s.mutate(ctx, "disconnect platform account", func(tx *ent.Tx) (Change, error) {
		row, err := s.lockIntegrationConnection(ctx, tx, org, id)
		if err != nil {
			return Change{}, err
		}
		c := toIntegrationConnection(row)
		_, err = tx.ScrapeTarget.Delete().Where(scrapetarget.OrgID(string(org)), scrapetarget.ManagedBy(managedBy)).Exec(ctx)
		if err != nil {
			return Change{}, err
		}
		if err := s.audit(ctx, tx, org, c.event("disconnected", c.auditFields(), nil)); err != nil {
			return Change{}, err
		}
		return Change{Subject: SubjectScrapeTarget, Org: org}, tx.IntegrationConnection.DeleteOne(row).Exec(ctx)
	})
}

// IntegrationOf finds the account of a provider that an organization has connected, the oldest one. It returns ErrNotFound if there is
// none.
func (s *Store) IntegrationOf(ctx context.Context, org principal.OrgID, provider string) (IntegrationConnection, error) {
	row, err := s.read.IntegrationConnection.Query().Where(
		integrationconnection.OrgID(string(org)), integrationconnection.Provider(provider),
	).Order(integrationconnection.ByCreatedAt(), integrationconnection.ByID()).First(ctx)
	return single("find an integration", toIntegrationConnection, row, err)
}
