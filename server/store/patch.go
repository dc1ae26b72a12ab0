package store

// Patch is one field of a partial update. The zero value keeps the stored value.
type Patch[T any] struct {
	Set   bool
	Value T
}

// Set is a Patch that writes v; a nil pointer clears the column.
func Set[T any](v T) Patch[T] { return Patch[T]{Set: true, Value: v} }

// apply writes the new value over the old one.
func (p Patch[T]) apply(to *T) {
	if p.Set {
		*to = p.Value
	}
}
