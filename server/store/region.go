package store

import (
	"context"
	"errors"
	"fmt"
)

// ErrOtherRegion: the database belongs to another region.
var ErrOtherRegion = errors.New("the database belongs to another region")

// ClaimRegion records the region that everything in the database belongs to, its credentials above all, or holds the one that was recorded
// first against it: ErrOtherRegion, whose message names it. Servers that start together agree.
func (s *Store) ClaimRegion(ctx context.Context, region string) error {
	const op = "claim the region"
	if _, err := s.writeDB.ExecContext(ctx, `INSERT INTO installation (id, region) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`, region); err != nil {
		return mapError(op, err)
	}
	var recorded string
	if err := s.writeDB.QueryRowContext(ctx, `SELECT region FROM installation WHERE id = 1`).Scan(&recorded); err != nil {
		return mapError(op, err)
	}
	if recorded != region {
		return fmt.Errorf("%w: %s, not %s", ErrOtherRegion, recorded, region)
	}
	return nil
}
