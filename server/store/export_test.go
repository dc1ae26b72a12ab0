package store

import "context"

// BreakForTest takes the database away without closing the store.
func (s *Store) BreakForTest() {
	_ = s.writeDB.Close()
	_ = s.readDB.Close()
}

// LookForTest is one poll of the feed of SQLite.
func (s *Store) LookForTest(ctx context.Context) error {
	_, err := s.sqliteVersion(ctx)
	return err
}
