package blocks

import (
	"maps"
	"slices"
)

// Bounds of ErrorSums.
const (
	// errorGroups is the number of groups of an organization. The occurrences of further groups are summed by service.
	errorGroups = 512
	// errorNames is the number of versions, and of environments, of a group. Those seen last stay.
	errorNames   = 8
	errorSumSize = 512
)

// ErrorSum sums occurrences of a group of errors.
type ErrorSum struct {
	Org, Service string
	// Hash is the fingerprint; 0 for the occurrences of groups that were too many.
	Hash                        uint64
	Type, Message, Label, Frame string
	// Grouping says why the occurrences are one group, as JSON.
	Grouping []byte
	Count    int64
	// Weight is the count, corrected for sampling.
	Weight float64
	// First and Last are the times of the first and of the last occurrence, in nanoseconds since 1970.
	First, Last int64
	// Versions and Environments have the time of the last occurrence by name.
	Versions, Environments map[string]int64
}

func (e *ErrorSum) add(o *ErrorSum) {
	e.Count += o.Count
	e.Weight += o.Weight
	e.First = min(e.First, o.First)
	if o.Last >= e.Last {
		e.Last, e.Message = o.Last, o.Message
	}
	addNames(e.Versions, o.Versions)
	addNames(e.Environments, o.Environments)
}

func addNames(into, names map[string]int64) {
	for name, at := range names {
		into[name] = max(into[name], at)
	}
	for len(into) > errorNames {
		delete(into, slices.MinFunc(slices.Sorted(maps.Keys(into)), func(a, b string) int { return int(min(max(into[a]-into[b], -1), 1)) }))
	}
}

type errorKey struct {
	org  string
	hash uint64
	// service is set for groups that were too many.
	service string
}

// ErrorSums sums the errors of the rows of a set by group. It is not a table: the sums go to the issues.
type ErrorSums struct {
	index  map[errorKey]int32
	groups map[string]int // by organization
	rows   []ErrorSum
}

// Has reports whether a group has a sum.
func (s *ErrorSums) Has(org string, hash uint64) bool {
	_, ok := s.index[errorKey{org: org, hash: hash}]
	return ok
}

// Add adds a sum. It keeps the maps of a new group.
func (s *ErrorSums) Add(o *ErrorSum) {
	key := errorKey{org: o.Org, hash: o.Hash}
	if o.Hash == 0 {
		key.service = o.Service
	}
	at, ok := s.index[key]
	if !ok && o.Hash != 0 && s.groups[o.Org] >= errorGroups {
		rest := *o
		rest.Hash, rest.Type, rest.Message, rest.Label, rest.Frame, rest.Grouping = 0, "", "", "", "", nil
		s.Add(&rest)
		return
	}
	if ok {
		s.rows[at].add(o)
		return
	}
	if s.index == nil {
		s.index, s.groups = map[errorKey]int32{}, map[string]int{}
	}
	if o.Hash != 0 {
		s.groups[o.Org]++
	}
	s.index[key] = int32(len(s.rows))
	s.rows = append(s.rows, *o)
}

// AppendFrom adds the sums of another set, which stays unchanged.
func (s *ErrorSums) AppendFrom(other *ErrorSums) {
	for i := range other.rows {
		o := other.rows[i]
		o.Versions, o.Environments = maps.Clone(o.Versions), maps.Clone(o.Environments)
		s.Add(&o)
	}
}

// Rows returns the sums, in the order in which the groups were met.
func (s *ErrorSums) Rows() []ErrorSum { return s.rows }

// Reset forgets all sums.
func (s *ErrorSums) Reset() {
	if len(s.rows) == 0 {
		return
	}
	clear(s.groups)
	clear(s.rows)
	s.index, s.rows = resetIndex(s.index, s.rows)
	if s.index == nil {
		s.groups = nil
	}
}

func (s *ErrorSums) bytes() int { return errorSumSize * len(s.rows) }
