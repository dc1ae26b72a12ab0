package traces

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/paging"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// spansOfTrace is the number of matching spans to read for each wanted trace, before a slice is read.
	spansOfTrace = 4
	// maxListed is the highest number of traces that are looked up by a list of ids. One statement finds larger numbers.
	maxListed = 1000
)

// finder is the common part of the reads of one search's slices.
type finder struct {
	*Service
	org    principal.OrgID
	before *paging.TraceKey
	filter query.Filter
}

// latest walks the window backwards in slices until it has enough traces. A search for the latest 20 traces of a busy week thus
// reads only its last minutes.
func (s *finder) latest(ctx context.Context, w query.Window, want int) ([]reads.TraceRow, error) {
	if s.before != nil && s.before.Start.Before(w.End) {
		w.End = s.before.Start
	}
	length := w.FirstSlice()
	look := want * spansOfTrace
	var rows []reads.TraceRow
	var slice query.Window
	for ; !w.End.Before(w.Start) && len(rows) < want; w.End = slice.Start.Add(-1) {
		slice = w.Last(length)
		missing := want - len(rows)
		var horizon reads.TraceHorizonRow
		var err error
		switch {
		case s.filter.IsZero():
			// Without filters, the list of roots shows for the whole window at once how far back the page reaches.
			slice.Start = w.Start
			if horizon, err = read.One[reads.TraceHorizonRow](ctx, s.warehouse, s.org, reads.TraceHorizon(w, missing)); err != nil {
				return nil, err
			}
			if horizon.Roots == uint64(missing) {
				slice.Start = horizon.Horizon
			}
		case s.filter.Service() != nil:
			// The order of the key shows which spans of a service are its latest.
			if horizon, err = read.One[reads.TraceHorizonRow](ctx, s.warehouse, s.org, reads.SpanHorizon(slice, s.filter, look)); err != nil {
				return nil, err
			}
			if horizon.Roots == uint64(look) {
				slice.Start = horizon.Horizon
			}
			look *= query.SliceGrowth // each trace has more matching spans than expected
		}
		length *= query.SliceGrowth
		found, err := s.slice(ctx, slice, missing)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

// slice finds the latest traces that begin in a slice.
func (s *finder) slice(ctx context.Context, slice query.Window, want int) ([]reads.TraceRow, error) {
	within := reads.TracesWithin(slice, maxListed+1)
	if !s.filter.IsZero() {
		within = reads.MatchingTraces(slice, s.filter, maxListed+1)
	}
	listed, err := read.All[reads.TraceIDRow](ctx, s.warehouse, s.org, within)
	if err != nil {
		return nil, err
	}
	if len(listed) > maxListed {
		return read.All[reads.TraceRow](ctx, s.warehouse, s.org, reads.SearchTraces(reads.TraceSearch{
			Slice: slice, Before: s.before, Filter: s.filter, Limit: want,
		}))
	}
	var rows []reads.TraceRow
	rootless := make([]string, len(listed))
	for i, r := range listed {
		rootless[i] = r.TraceID
	}
	if len(rootless) > 0 {
		roots, err := read.All[reads.TraceRow](ctx, s.warehouse, s.org, reads.RootsOf(rootless, slice))
		if err != nil {
			return nil, err
		}
		withRoot := map[string]bool{}
		for _, r := range roots {
			withRoot[r.TraceID] = true
			if !r.Start.Before(slice.Start) && !r.Start.After(slice.End) {
				rows = append(rows, r)
			}
		}
		rootless = slices.DeleteFunc(rootless, func(id string) bool { return withRoot[id] })
	}
	if len(rootless) > 0 {
		first, err := read.All[reads.TraceRow](ctx, s.warehouse, s.org, reads.FirstSpansOf(rootless, slice))
		if err != nil {
			return nil, err
		}
		rows = append(rows, first...)
	}
	if k := s.before; k != nil {
		rows = slices.DeleteFunc(rows, func(r reads.TraceRow) bool {
			return r.Start.After(k.Start) || r.Start.Equal(k.Start) && r.TraceID >= k.TraceID
		})
	}
	slices.SortFunc(rows, func(a, b reads.TraceRow) int {
		return cmp.Or(b.Start.Compare(a.Start), strings.Compare(b.TraceID, a.TraceID))
	})
	return rows[:min(len(rows), want)], nil
}
