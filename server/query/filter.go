package query

import "github.com/svc-observability/svc/server/limits"

// Op compares a field with values.
type Op string

// Operators of the query language.
const (
	OpEqual          Op = "="
	OpNotEqual       Op = "!="
	OpGreater        Op = ">"
	OpLess           Op = "<"
	OpGreaterOrEqual Op = ">="
	OpLessOrEqual    Op = "<="
	OpContains       Op = "contains"
	OpNotContains    Op = "!contains"
	OpExists         Op = "exists"
	OpNotExists      Op = "!exists"
	OpIn             Op = "in"
	OpNotIn          Op = "!in"
)

// Ops lists all operators in the order in which messages list them.
func Ops() []Op {
	return []Op{
		OpEqual,
		OpNotEqual,
		OpGreater,
		OpLess,
		OpGreaterOrEqual,
		OpLessOrEqual,
		OpContains,
		OpNotContains,
		OpExists,
		OpNotExists,
		OpIn,
		OpNotIn,
	}
}

// opposite is the operator that this one negates. It is false for an operator that does not negate another.
func (o Op) opposite() (Op, bool) {
	switch o {
	case OpNotEqual:
		return OpEqual, true
	case OpNotContains:
		return OpContains, true
	case OpNotExists:
		return OpExists, true
	case OpNotIn:
		return OpIn, true
	default:
		return o, false
	}
}

// ordered reports whether the operator compares numbers.
func (o Op) ordered() bool {
	return o == OpGreater || o == OpLess || o == OpGreaterOrEqual || o == OpLessOrEqual
}

// Filter is a tree of conditions. At most one of its fields is set. The zero Filter holds for every row.
type Filter struct {
	All, Any []Filter
	Not      *Filter
	Match    *Match
}

// Match is one condition: a field, an operator and its values. The operator exists takes no value, and in takes several. A row without the
// field passes negated conditions and fails all others. Comparisons of numbers fail for a value that is not a number.
type Match struct {
	Field  Field
	Op     Op
	Values []string
}

// Limits of a filter.
const (
	maxFilterDepth   = limits.FilterDepth
	maxFilterMatches = limits.FilterConditions
	maxInValues      = limits.FilterValues
	maxFilterText    = limits.FilterValue
)

// IsZero reports whether the filter holds for every row.
func (f Filter) IsZero() bool {
	return len(f.All) == 0 && len(f.Any) == 0 && f.Not == nil && f.Match == nil
}

// And is the filter that holds where all of the filters hold.
func And(filters ...Filter) Filter {
	var all []Filter
	for _, f := range filters {
		switch {
		case f.IsZero():
		case len(f.All) > 0:
			all = append(all, f.All...)
		default:
			all = append(all, f)
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	return Filter{All: all}
}

// Matches calls yield with every condition of the tree.
func (f Filter) Matches(yield func(*Match) bool) {
	f.matches(yield)
}

func (f Filter) matches(yield func(*Match) bool) bool {
	if f.Match != nil && !yield(f.Match) {
		return false
	}
	for _, list := range [][]Filter{f.All, f.Any} {
		for _, child := range list {
			if !child.matches(yield) {
				return false
			}
		}
	}
	return f.Not == nil || f.Not.matches(yield)
}

// Required is the part of the filter that every row must meet by itself: conditions that no OR and no NOT makes optional.
func (f Filter) Required() Filter {
	if f.Match != nil {
		if _, negated := f.Match.Op.opposite(); negated {
			return Filter{}
		}
		return f
	}
	var all []Filter
	for _, child := range f.All {
		all = append(all, child.Required())
	}
	return And(all...)
}

// narrows reports whether every row that passes meets a condition for which known is true.
func (f Filter) narrows(known func(*Match) bool) bool {
	switch {
	case f.Match != nil:
		_, negated := f.Match.Op.opposite()
		return !negated && known(f.Match)
	case len(f.Any) > 0:
		for _, child := range f.Any {
			if !child.narrows(known) {
				return false
			}
		}
		return true
	default:
		for _, child := range f.All {
			if child.narrows(known) {
				return true
			}
		}
		return false
	}
}
