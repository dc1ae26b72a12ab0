package engine

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/nearest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// nearNames is the number of similar names in a warning, and listedNames the number of names up to which it lists all of them.
	nearNames, listedNames = 3, 12
)

// unknownNames returns a warning for each service, environment, operation and product event of a request that its window does not
// have. It checks only queries without values, because a name with values exists.
func (e *Engine) unknownNames(ctx context.Context, org principal.OrgID, r *query.Request, answers []queryAnswer) []string {
	var out []string
	for i, answer := range answers {
		q := &r.Queries[i].Spec
		for _, asked := range asksFor(q.Source, q.Filter) {
			if len(asked.values) == 1 && !answer.silent() {
				continue
			}
			known, cached, err := e.names(ctx, org, asked.kind, r.Window, true)
			if err == nil && cached && len(asked.unknown(known)) > 0 { // it may have come since
				known, _, err = e.names(ctx, org, asked.kind, r.Window, false)
			}
			if err != nil || len(known) >= maxKnownKeys {
				continue // a warning less; the values themselves are right
			}
			for _, w := range asked.unknown(known) {
				if !slices.Contains(out, w) {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

// unmatchedFor bounds the reads of Unmatched: the search has its answer, which must not wait for long.
const unmatchedFor = 2 * time.Second

// Unmatched explains why a filter found nothing in a window: a warning for each attribute, service, environment, operation and product
// event that every row must have and nobody sent. It is a help for the reader, so a failure of its reads gives no warning instead of an
// error.
func (e *Engine) Unmatched(ctx context.Context, org principal.OrgID, w query.Window, s query.Source, f query.Filter) []string {
	ctx, cancel := context.WithTimeout(ctx, unmatchedFor)
	defer cancel()
	r := &query.Request{Window: w, Queries: []query.Query{{Spec: query.Spec{Source: s, Filter: f.Required()}}}}
	return append(e.unknownKeys(ctx, org, r), e.unknownNames(ctx, org, r, make([]queryAnswer, 1))...)
}

// asked is a condition that a name of some kind must meet.
type asked struct {
	kind   reads.Named
	values []string
	// part is true when the name only has to contain the value.
	part bool
}

// unknown returns a warning for each value that is not among the known names.
func (a *asked) unknown(known []string) []string {
	var out []string
	for _, name := range a.values {
		lower := strings.ToLower(name)
		if a.part && slices.ContainsFunc(known, func(k string) bool { return strings.Contains(strings.ToLower(k), lower) }) {
			continue
		}
		if w := Unknown(a.kind, name, known); w != "" {
			out = append(out, w)
		}
	}
	return out
}

// asksFor lists the names that a row must have to pass the filter.
func asksFor(s query.Source, f query.Filter) []asked {
	kinds := map[string]reads.Named{"service.name": reads.NamedService}
	switch s {
	case query.Traces:
		kinds["deployment.environment"], kinds["span.name"] = reads.NamedEnvironment, reads.NamedOperation
	case query.Logs:
		kinds["deployment.environment"] = reads.NamedEnvironment
	case query.ProductEvents:
		kinds["event.name"] = reads.NamedEvent
	}
	var out []asked
	for m := range f.Matches {
		kind, ok := kinds[m.Field.Key]
		exact := m.Op == query.OpEqual || m.Op == query.OpIn
		if ok && m.Field.Scope == query.Builtin && (exact || m.Op == query.OpContains) && !slices.Contains(m.Values, "") {
			out = append(out, asked{kind, m.Values, !exact})
		}
	}
	return out
}

// silent reports whether a query has no value other than 0.
func (a *queryAnswer) silent() bool {
	none := func(v float64) bool { return v == 0 || math.IsNaN(v) }
	return !slices.ContainsFunc(a.series, func(r query.SeriesRow) bool { return !none(r.Value) }) &&
		!slices.ContainsFunc(a.groups, func(r query.GroupRow) bool { return !none(r.Value) })
}

// names lists the names of a window. With mayCache, the list may come from the cache: it is then up to keysFor old, and of a window that
// begins and ends in the same hours.
func (e *Engine) names(
	ctx context.Context, org principal.OrgID, kind reads.Named, w query.Window, mayCache bool,
) (names []string, cached bool, err error) {
	at := keysOf{org: org, signal: string(kind), start: w.Start.Unix() / 3600, end: w.End.Unix() / 3600}
	if names, cached = e.named.Get(at); cached && mayCache {
		return names, true, nil
	}
	release, err := e.slots.Acquire(ctx, org)
	if err != nil {
		return nil, false, err
	}
	defer release()
	rows, err := read.All[reads.NameRow](
		ctx, e.warehouse, org, reads.Names(reads.NameList{Window: w, Kind: kind, Limit: maxKnownKeys, Rollups: e.rollups}),
	)
	if err != nil {
		return nil, false, err
	}
	names = make([]string, len(rows))
	for i, row := range rows {
		names[i] = row.Name
	}
	if len(names) > 0 { // an empty result is not cached: data may arrive at any moment
		e.named.Put(at, names, 1, keysFor)
	}
	return names, false, nil
}

// UnknownEvents returns a warning for each product event that was not received in a window.
func UnknownEvents(ctx context.Context, w read.Warehouse, org principal.OrgID, window query.Window, names []string) ([]string, error) {
	return unknown(ctx, w, org, reads.NameList{Window: window, Kind: reads.NamedEvent}, names)
}

// UnknownService returns a warning for a service that sent nothing in a window, or an empty text.
func UnknownService(
	ctx context.Context, w read.Warehouse, org principal.OrgID, window query.Window, rollups query.Rollups, name string,
) (string, error) {
	list := reads.NameList{Window: window, Kind: reads.NamedService, Rollups: rollups}
	out, err := unknown(ctx, w, org, list, []string{name})
	return strings.Join(out, ""), err
}

func unknown(ctx context.Context, w read.Warehouse, org principal.OrgID, l reads.NameList, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, nil
	}
	l.Limit = maxKnownKeys
	rows, err := read.All[reads.NameRow](ctx, w, org, reads.Names(l).Until(l.Window.End))
	if err != nil || len(rows) >= maxKnownKeys {
		return nil, err // a list that is cut does not show that a name is unknown
	}
	known := make([]string, len(rows))
	for i, row := range rows {
		known[i] = row.Name
	}
	var out []string
	for _, name := range names {
		if text := Unknown(l.Kind, name, known); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// Unknown returns a sentence about a name that is not among the known names of its kind. It suggests similar names. For a known
// name, it returns an empty text.
func Unknown(kind reads.Named, name string, known []string) string {
	if slices.Contains(known, name) {
		return ""
	}
	text := fmt.Sprintf("No %s %q was received in this window", kind, name)
	switch near := nearest.Few(name, known, nearNames); {
	case len(known) == 0:
		return fmt.Sprintf("%s, and no other %s either.", text, kind)
	case len(near) > 0:
		text += meant(near)
	default:
		text += "."
	}
	if len(known) <= listedNames {
		text += " The names in this window are " + strings.Join(known, ", ") + "."
	}
	return text
}

// meant ends a sentence with the names that were probably meant.
func meant(near []string) string {
	if len(near) == 1 {
		return fmt.Sprintf("; the nearest name is %q.", near[0])
	}
	quoted := make([]string, len(near))
	for i, name := range near {
		quoted[i] = strconv.Quote(name)
	}
	return "; the nearest names are " + strings.Join(quoted, ", ") + "."
}
