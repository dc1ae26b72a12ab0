package store

import (
	"context"

	"github.com/google/uuid"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
)

// BreakForTest closes the database without closing the store.
func (s *Store) BreakForTest() {
	_ = s.writeDB.Close()
	_ = s.readDB.Close()
}

// LookForTest is one poll of the feed of SQLite.
func (s *Store) LookForTest(ctx context.Context) error {
	_, err := s.sqliteVersion(ctx)
	return err
}

// TxForTest runs fn in a transaction that has locked the rows of two dashboards, one after the other.
func (s *Store) TxForTest(ctx context.Context, org principal.OrgID, first, second uuid.UUID, between func()) error {
	return s.tx(ctx, "test", func(tx *ent.Tx) error {
		if _, err := s.lockDashboard(ctx, tx, org, first); err != nil {
			return err
		}
		between()
		_, err := s.lockDashboard(ctx, tx, org, second)
		return err
	})
}

// InsertSavedViewsForTest inserts views without a check, in one transaction.
func (s *Store) InsertSavedViewsForTest(ctx context.Context, views []SavedView) error {
	return s.tx(ctx, "test", func(tx *ent.Tx) error {
		for _, v := range views {
			if _, err := s.insertSavedView(ctx, tx, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// FreshConnectionForTest makes a read open a connection.
func FreshConnectionForTest(ctx context.Context, s *Store) error {
	s.writeDB.SetMaxIdleConns(0)
	_, err := s.read.Organization.Query().Count(ctx)
	return err
}
