package store

import (
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/svc-observability/svc/ent"
)

// The ways in which a store method fails, beside ErrInvalid.
var (
	// ErrNotFound: no such row in this organization.
	ErrNotFound = errors.New("not found")
	// ErrConflict: a row with the same unique value exists.
	ErrConflict = errors.New("already exists")
	// ErrUnavailable: the database did not do it, for a reason that is not the caller's input.
	ErrUnavailable = errors.New("database unavailable")
)

// mapError gives err one of the identities and keeps it as the cause, so context.Canceled stays recognisable.
func mapError(op string, err error) error {
	kind := ErrUnavailable
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict), errors.Is(err, ErrUnavailable), errors.Is(err, ErrInvalid):
		return err
	case ent.IsNotFound(err), sqlgraph.IsForeignKeyConstraintError(err):
		kind = ErrNotFound
	case sqlgraph.IsUniqueConstraintError(err):
		kind = ErrConflict
	}
	return fmt.Errorf("store: %s: %w: %w", op, kind, err)
}
