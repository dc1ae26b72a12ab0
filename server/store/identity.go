package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
)

// Identity says which warehouse, queues and secret key belong to the database.
type Identity struct {
	// Installation is the random id that the warehouse and the queues record too.
	Installation string
	// SecretKey is the fingerprint of the key that the hashes of the credentials were made with.
	SecretKey string
}

const selectIdentity = `SELECT installation, secret_key FROM installation_identity WHERE id = 1`

// Identity returns the recorded identity. It returns ErrNotFound if no server has been started on the database yet, or only older versions.
func (s *Store) Identity(ctx context.Context) (id Identity, err error) {
	const op = "get the identity of the installation"
	err = s.readDB.QueryRowContext(ctx, selectIdentity).Scan(&id.Installation, &id.SecretKey)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return id, fmt.Errorf("store: %s: %w", op, ErrNotFound)
	case err != nil:
		return id, mapError(op, err)
	}
	return id, nil
}

// ClaimIdentity returns the recorded identity. If none is recorded, it records a new id and the fingerprint of the secret key.
// Servers that start together agree on one identity.
func (s *Store) ClaimIdentity(ctx context.Context, secretKey string) (id Identity, err error) {
	const op = "claim the identity of the installation"
	if _, err := s.writeDB.ExecContext(ctx,
		`INSERT INTO installation_identity (id, installation, secret_key) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING`,
		strings.ToLower(rand.Text()), secretKey); err != nil {
		return id, mapError(op, err)
	}
	if err := s.writeDB.QueryRowContext(ctx, selectIdentity).Scan(&id.Installation, &id.SecretKey); err != nil {
		return id, mapError(op, err)
	}
	return id, nil
}

// ReplaceSecretKey records that the secret key with this fingerprint replaces a lost one, and writes an entry to the audit log of
// every organization. No credential that was made with the lost key works any more.
func (s *Store) ReplaceSecretKey(ctx context.Context, secretKey string) error {
	id, err := s.ClaimIdentity(ctx, secretKey)
	if err != nil || id.SecretKey == secretKey {
		return err
	}
	return s.tx(ctx, "replace the secret key", func(tx *ent.Tx) error {
		if _, err := tx.ExecContext(ctx, `UPDATE installation_identity SET secret_key = $1 WHERE id = 1`, secretKey); err != nil {
			return err
		}
		all, err := tx.Organization.Query().IDs(ctx)
		if err != nil {
			return err
		}
		event := AuditEvent{
			Action: "secret_key.replaced",
			Before: map[string]any{"fingerprint": id.SecretKey}, After: map[string]any{"fingerprint": secretKey},
		}
		for _, org := range all {
			if err := s.audit(ctx, tx, principal.OrgID(org), event); err != nil {
				return err
			}
		}
		return nil
	})
}
