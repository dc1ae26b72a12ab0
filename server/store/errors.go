package store

import (
	"errors"
	"fmt"

	"entgo.io/ent/dialect/sql/sqlgraph"
	"github.com/svc-observability/svc/ent"
)

// Errors of store methods, besides ErrInvalid.
var (
	// ErrNotFound means that the organization has no such row.
	ErrNotFound = errors.New("not found")
	// ErrConflict means that a row with the same unique value exists.
	ErrConflict = errors.New("already exists")
	// ErrForbidden means that the caller may read the row, but not change it.
	ErrForbidden = errors.New("not allowed")
	// ErrUnavailable means that the database failed for a reason other than the caller's input.
	ErrUnavailable = errors.New("database unavailable")
)

// mapError wraps err in one of these errors and keeps it as the cause, so that context.Canceled stays recognizable.
func mapError(op string, err error) error {
	kind := ErrUnavailable
	switch {
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrConflict), errors.Is(err, ErrUnavailable), errors.Is(err, ErrInvalid),
		errors.Is(err, ErrFenced), errors.Is(err, ErrForbidden):
		return err
	case ent.IsNotFound(err), sqlgraph.IsForeignKeyConstraintError(err):
		kind = ErrNotFound
	case sqlgraph.IsUniqueConstraintError(err):
		kind = ErrConflict
	}
	return fmt.Errorf("store: %s: %w: %w", op, kind, err)
}
