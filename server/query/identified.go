package query

import (
	"fmt"

	"github.com/svc-observability/svc/server/query/sqlbuild"
)

// identity reports whether a field needs identified.
func identity(f Field) bool {
	if f.Scope != Builtin {
		return false
	}
	known, _ := findBuiltin(ProductEvents, f.Key)
	return known.identity
}

// identities reports whether a query needs to know the person of each event.
func (q *Spec) identities() bool {
	if q.Source != ProductEvents {
		return false
	}
	return q.Aggregation.Value != nil && identity(*q.Aggregation.Value) || !q.uses(func(f Field) bool { return !identity(f) })
}

// identified prints product_events with Key, KnownUser and KnownVisitor, computed as lists and funnels do. It also returns the
// conditions that must be checked on those columns. Every event of the window counts for finding the user of a visitor, whatever
// the filter.
func (b planner) identified(q *Spec, w Window) (table string, c sqlbuild.Conditions) {
	by := ByUser
	person := func(f Field) bool { return f == Field{Key: "person"} }
	if q.Aggregation.Value != nil && person(*q.Aggregation.Value) || !q.uses(func(f Field) bool { return !person(f) }) {
		by = ByPerson
	}
	a := NewActors(b.Builder, w, by, ProductSessionFilters{})
	inside, filter := a.Inside(), b.filter(q.Source, q.Filter)
	early := true
	q.Filter.Matches(func(m *Match) bool {
		early = !identity(m.Field)
		return early
	})
	if early {
		inside = inside.With(filter...)
	} else {
		c = filter
	}
	return a.Keyed(fmt.Sprintf(`(
    SELECT *
    FROM product_events
    WHERE %s
)`, inside.Join(8))), c
}
