package store

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/integrationconnection"
	"github.com/svc-observability/svc/ent/integrationlogin"
	"github.com/svc-observability/svc/ent/predicate"
	"github.com/svc-observability/svc/ent/webhookdelivery"
	"github.com/svc-observability/svc/server/principal"
)

// BeginIntegrationLogin stores an attempt to connect an account.
func (s *Store) BeginIntegrationLogin(ctx context.Context, org principal.OrgID, in IntegrationLogin) error {
	in.Org = org
	return s.tx(ctx, "begin integration login", func(tx *ent.Tx) error {
		if _, err := s.insertIntegrationLogin(ctx, tx, in); err != nil {
			return err
		}
		return s.audit(ctx, tx, org, AuditEvent{Action: "integration.login_started", Metadata: map[string]any{"provider": in.Provider}})
	})
}

// IntegrationLoginByState finds the attempt with this hash of its state, whatever its age.
func (s *Store) IntegrationLoginByState(ctx context.Context, org principal.OrgID, provider, hash string) (IntegrationLogin, error) {
	row, err := s.read.IntegrationLogin.Query().Where(
		integrationlogin.StateHash(hash), integrationlogin.OrgID(string(org)), integrationlogin.Provider(provider),
	).Only(ctx)
	return single("find integration login", toIntegrationLogin, row, err)
}

// UseIntegrationLogin marks an attempt as used, by a person in a session. From then on nobody else may finish it. It returns ErrConflict if
// it was used before.
func (s *Store) UseIntegrationLogin(ctx context.Context, org principal.OrgID, id uuid.UUID, by principal.UserID, session string) error {
	return s.tx(ctx, "use integration login", func(tx *ent.Tx) error {
		n, err := tx.IntegrationLogin.Update().
			Where(integrationlogin.ID(id), integrationlogin.OrgID(string(org)), integrationlogin.UsedAtIsNil()).
			SetUsedAt(s.stamp()).SetUserID(string(by)).SetSessionID(session).Save(ctx)
		if err == nil && n == 0 {
			return ErrConflict
		}
		return err
	})
}

// OfferIntegrationAccounts keeps the accounts that the person can choose from.
func (s *Store) OfferIntegrationAccounts(ctx context.Context, org principal.OrgID, id uuid.UUID, offer []byte) error {
	return s.tx(ctx, "offer accounts", func(tx *ent.Tx) error {
		return tx.IntegrationLogin.Update().Where(integrationlogin.ID(id), integrationlogin.OrgID(string(org))).SetOffer(offer).Exec(ctx)
	})
}

// EndIntegrationLogin removes an attempt. It returns ErrConflict if it is already gone, so another request has used it.
func (s *Store) EndIntegrationLogin(ctx context.Context, org principal.OrgID, id uuid.UUID) error {
	return s.tx(ctx, "end integration login", func(tx *ent.Tx) error {
		n, err := tx.IntegrationLogin.Delete().Where(integrationlogin.ID(id), integrationlogin.OrgID(string(org))).Exec(ctx)
		if err == nil && n == 0 {
			return ErrConflict
		}
		return err
	})
}

// NewWebhookDelivery is a delivery whose signature is good.
type NewWebhookDelivery struct {
	Provider, BaseURL, DeliveryID, Kind, Account string
	// Sync says that the account has to be read again.
	Sync bool
	// Repository names a repository to look at again, and PullRequest a pull request of it to read again; 0 for none.
	Repository  string
	PullRequest int64
	// Pause is the least time between the last reading of the account and the one that the delivery makes due.
	Pause time.Duration
}

// ReceiveWebhook makes the accounts, the repository and the linked pull requests of a delivery due, in every organization that connected
// the account. It returns the number of accounts. It keeps a delivery that made something due. It returns ErrConflict if the delivery was
// received before, and nothing happens.
func (s *Store) ReceiveWebhook(ctx context.Context, in NewWebhookDelivery) (connections int, err error) {
	err = s.mutate(ctx, "receive webhook", func(tx *ent.Tx) (change Change, err error) {
		connections = 0
		now, pulls, repositories := s.stamp(), 0, 0
		if in.Account != "" && in.Repository != "" {
			if repositories, err = s.makeRepositoriesDue(ctx, tx, in, now); err != nil {
				return Change{}, err
			}
		}
		if in.Account != "" && in.PullRequest != 0 {
			if pulls, err = s.makePullRequestsDue(ctx, tx, in, now); err != nil {
				return Change{}, err
			}
		}
		if in.Account != "" && in.Sync {
			if connections, err = s.makeAccountsDue(ctx, tx, in, now); err != nil {
				return Change{}, err
			}
		}
		if connections+pulls+repositories == 0 {
			return Change{}, nil
		}
		if connections > 0 {
			change = Change{Subject: SubjectIntegration}
		}
		_, err = s.insertWebhookDelivery(ctx, tx, WebhookDelivery{
			Provider: in.Provider, DeliveryID: in.DeliveryID, Kind: in.Kind, Account: in.Account, Connections: connections,
		})
		return change, err
	})
	return connections, err
}

// makeAccountsDue makes the synchronization of the accounts of a delivery due. One that is due already gets a new time too, so that a
// synchronization that runs at this moment is not the last one.
func (s *Store) makeAccountsDue(ctx context.Context, tx *ent.Tx, in NewWebhookDelivery, now time.Time) (int, error) {
	account := []predicate.IntegrationConnection{
		integrationconnection.Provider(in.Provider), integrationconnection.BaseURL(in.BaseURL), integrationconnection.ExternalID(in.Account),
	}
	if in.Pause == 0 {
		return tx.IntegrationConnection.Update().Where(account...).SetSyncDueAt(now).Save(ctx)
	}
	rows, err := tx.IntegrationConnection.Query().Where(account...).All(ctx)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		if err := row.Update().SetSyncDueAt(dueAfter(row, in.Pause, now)).Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// dueAfter is the time of the next synchronization of an account after a delivery. The pause of an account that fails is not ended.
func dueAfter(row *ent.IntegrationConnection, pause time.Duration, now time.Time) time.Time {
	due := now
	if row.LastSyncAt != nil && row.LastSyncAt.Add(pause).After(now) {
		due = utc(row.LastSyncAt.Add(pause))
	}
	if row.FailingSince != nil && row.SyncDueAt != nil && row.SyncDueAt.After(due) {
		due = utc(*row.SyncDueAt)
		if latest := now.Add(pause); due.After(latest) {
			due = latest
		}
	}
	return due
}

// SweepIntegrations removes attempts that expired and deliveries that were received before a time.
func (s *Store) SweepIntegrations(ctx context.Context, before time.Time) error {
	return s.tx(ctx, "remove old logins and deliveries of integrations", func(tx *ent.Tx) error {
		if _, err := tx.IntegrationLogin.Delete().Where(integrationlogin.ExpiresAtLT(s.stamp())).Exec(ctx); err != nil {
			return err
		}
		_, err := tx.WebhookDelivery.Delete().Where(webhookdelivery.CreatedAtLT(utc(before))).Exec(ctx)
		return err
	})
}
