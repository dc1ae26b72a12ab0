package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/svc-observability/svc/ent"
	"github.com/svc-observability/svc/server/principal"
)

// ErrOtherRegion means that the database belongs to another region.
var ErrOtherRegion = errors.New("the database belongs to another region")

// ClaimRegion records the region to which everything in the database belongs, above all the credentials. If another region is
// already recorded, it returns ErrOtherRegion, whose message names the recorded region. Servers that start together agree on one
// region.
func (s *Store) ClaimRegion(ctx context.Context, region string) error {
	const op = "claim the region"
	if _, err := s.writeDB.ExecContext(ctx, `INSERT INTO installation (id, region) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`,
		region); err != nil {
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

// Region returns the recorded region. It returns ErrNotFound if no server has been started on the database yet.
func (s *Store) Region(ctx context.Context) (region string, err error) {
	const op = "get the region"
	err = s.readDB.QueryRowContext(ctx, `SELECT region FROM installation WHERE id = 1`).Scan(&region)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", fmt.Errorf("store: %s: %w", op, ErrNotFound)
	case err != nil:
		return "", mapError(op, err)
	}
	return region, nil
}

// ChangeRegion replaces a region that was recorded by mistake, and writes an entry to the audit log of every organization. Running servers
// notice the change only at their next start. It returns ErrOtherRegion if the recorded region is not `from`. It returns ErrNotFound if no
// region is recorded.
func (s *Store) ChangeRegion(ctx context.Context, from, to string) error {
	recorded, err := s.Region(ctx)
	if err != nil {
		return err
	}
	changed := false
	err = s.tx(ctx, "change the region", func(tx *ent.Tx) error {
		done, err := tx.ExecContext(ctx, `UPDATE installation SET region = $1 WHERE id = 1 AND region = $2`, to, from)
		if err != nil {
			return err
		}
		n, err := done.RowsAffected()
		if changed = n > 0; err != nil || !changed || from == to {
			return err
		}
		all, err := tx.Organization.Query().IDs(ctx)
		if err != nil {
			return err
		}
		event := AuditEvent{Action: "region.updated", Before: map[string]any{"region": from}, After: map[string]any{"region": to}}
		for _, id := range all {
			if err := s.audit(ctx, tx, principal.OrgID(id), event); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && !changed {
		return fmt.Errorf("%w: %s, not %s", ErrOtherRegion, recorded, from)
	}
	return err
}
