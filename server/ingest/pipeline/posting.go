package pipeline

import (
	"context"
	"errors"
	"io"
)

// Poster is the part of *warehouse.Warehouse that takes a table as a stream in ClickHouse's Native format.
type Poster interface {
	Insert(ctx context.Context, table, columns string, body io.Reader, token string) error
	InsertLate(ctx context.Context, table, columns string, body io.Reader, token string) error
	InsertIgnoringViews(ctx context.Context, table, columns string, body io.Reader, token string) error
}

// Posting is the Inserter of a warehouse. It posts a table while the columns are written out.
type Posting struct{ To Poster }

// Insert stores a table. A second call with the same token stores nothing.
func (p Posting) Insert(ctx context.Context, t Table, token string) error {
	return post(ctx, p.To.Insert, t, token)
}

// InsertLate repeats an insert whose token the warehouse may have forgotten.
func (p Posting) InsertLate(ctx context.Context, t Table, token string) error {
	return post(ctx, p.To.InsertLate, t, token)
}

// InsertIgnoringViews stores a table without the views that fail on its rows.
func (p Posting) InsertIgnoringViews(ctx context.Context, t Table, token string) error {
	return post(ctx, p.To.InsertIgnoringViews, t, token)
}

func post(
	ctx context.Context,
	insert func(ctx context.Context, table, columns string, body io.Reader, token string) error,
	t Table,
	token string,
) error {
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
