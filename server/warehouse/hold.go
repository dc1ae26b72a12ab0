package warehouse

import (
	"errors"
	"fmt"
)

// ErrHeld means that the warehouse is on hold; see Hold.
var ErrHeld = errors.New("the warehouse is not open")

// Hold makes reads, inserts and Ping fail as ErrUnavailable until Release, because the schema is not known to be right: rows would be
// refused, or stored without the columns of later versions. Migrate still works.
func (w *Warehouse) Hold(cause error) {
	w.held.Store(&Error{
		Kind: ErrUnavailable, Message: cause.Error(), RetryAfter: unavailableRetryAfter,
		cause: fmt.Errorf("%w: %w", ErrHeld, cause),
	})
}

// Release ends a Hold.
func (w *Warehouse) Release() { w.held.Store(nil) }

// usable returns the error of a Hold.
func (w *Warehouse) usable() error {
	if held := w.held.Load(); held != nil {
		return held
	}
	return nil
}
