package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/svc-observability/svc/server/warehouse"
)

// Warehouse is the Inserter of a warehouse. It posts a table while the columns are written out.
type Warehouse struct{ Warehouse *warehouse.Warehouse }

// Insert stores a table. A second call with the same token stores nothing.
func (w Warehouse) Insert(ctx context.Context, t Table, token string) error {
	return post(ctx, w.Warehouse.Insert, t, token)
}

// InsertIgnoringViews stores a table without the views that fail on its rows.
func (w Warehouse) InsertIgnoringViews(ctx context.Context, t Table, token string) error {
	return post(ctx, w.Warehouse.InsertIgnoringViews, t, token)
}

func post(ctx context.Context, insert func(ctx context.Context, table, columns string, body io.Reader, token string) error, t Table, token string) error {
	r, w := io.Pipe()
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, err := t.WriteTo(w)
		w.CloseWithError(err)
	}()
	err := insert(ctx, t.Name(), t.Columns(), r, token)
	// The writer must not wait for a reader that has left, and the columns are reused as soon as this returns.
	r.CloseWithError(errors.Join(err, io.ErrClosedPipe))
	<-written
	return err
}
