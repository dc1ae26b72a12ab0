package store

import (
	"context"
	"time"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/ent/oauthclient"
	"github.com/svc-observability/svc/server/limits"
)

// OAuthClient is a program that registered itself.
type OAuthClient struct {
	// ID is the client_id.
	ID           string
	Name, URI    string
	RedirectURIs []string
	CreatedAt    time.Time
}

// CreateOAuthClient registers a program. At most limit registrations exist. A new one replaces the oldest registration that never got a
// grant, so that a flood of registrations cannot lock others out. It returns ErrConflict if there is no registration to replace.
func (s *Store) CreateOAuthClient(ctx context.Context, in OAuthClient, limit int) (OAuthClient, error) {
	const op = "register an OAuth client"
	var out OAuthClient
	err := s.tx(ctx, op, func(tx *ent.Tx) error {
		now := s.stamp()
		_, err := tx.OAuthClient.Delete().Where(oauthclient.Or(
			oauthclient.And(oauthclient.UsedAtIsNil(), oauthclient.CreatedAtLT(now.Add(-limits.OAuthClientUntried))),
			oauthclient.UsedAtLT(now.Add(-limits.OAuthClientUnused)),
		)).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := tx.OAuthClient.Query().Count(ctx)
		if err != nil {
			return err
		}
		if n >= limit {
			oldest, err := tx.OAuthClient.Query().Where(oauthclient.UsedAtIsNil(), oauthclient.CreatedAtLT(now.Add(-limits.OAuthConsent))).
				Order(ent.Asc(oauthclient.FieldCreatedAt, oauthclient.FieldID)).FirstID(ctx)
			if ent.IsNotFound(err) {
				return ErrConflict
			}
			if err == nil {
				err = tx.OAuthClient.DeleteOneID(oldest).Exec(ctx)
			}
			if err != nil {
				return err
			}
		}
		row, err := tx.OAuthClient.Create().SetID(in.ID).SetName(in.Name).SetURI(in.URI).SetRedirectUris(in.RedirectURIs).SetCreatedAt(now).
			Save(ctx)
		if err != nil {
			return err
		}
		out = toOAuthClient(row)
		return nil
	})
	return out, err
}

// OAuthClientByID finds a registered program.
func (s *Store) OAuthClientByID(ctx context.Context, id string) (OAuthClient, error) {
	row, err := s.read.OAuthClient.Get(ctx, id)
	return single("find OAuth client", toOAuthClient, row, err)
}

func toOAuthClient(row *ent.OAuthClient) OAuthClient {
	return OAuthClient{ID: row.ID, Name: row.Name, URI: row.URI, RedirectURIs: row.RedirectUris, CreatedAt: utc(row.CreatedAt)}
}
