package store

import (
	"context"
	"encoding/json"
	"fmt"

	"entgo.io/ent/dialect"
	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
)

// channel is the PostgreSQL notification channel for announcements.
const channel = "svc_changes"

// announcement is a Change on its way to other processes.
type announcement struct {
	// Origin is the store that made the change. It has already notified its own subscribers.
	Origin  string           `json:"origin"`
	Subject Subject          `json:"subject"`
	Org     principal.OrgID  `json:"org,omitempty"`
	Hash    string           `json:"hash,omitempty"`
	User    principal.UserID `json:"user,omitempty"`
	Gone    bool             `json:"gone,omitempty"`
}

// announce notifies other processes of a change when the transaction commits. SQLite needs no announcement: see followSQLite.
func (s *Store) announce(ctx context.Context, tx *ent.Tx, c Change) error {
	if s.dialect != dialect.Postgres {
		return nil
	}
	text, err := json.Marshal(announcement{Origin: s.origin, Subject: c.Subject, Org: c.Org, Hash: c.Hash, User: c.User, Gone: c.Gone})
	if err != nil {
		return fmt.Errorf("announce a change: %w", err)
	}
	if _, err := tx.ExecContext(ctx, "SELECT pg_notify($1, $2)", channel, string(text)); err != nil {
		return fmt.Errorf("announce a change: %w", err)
	}
	return nil
}
