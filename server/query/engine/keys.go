package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/nearest"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// maxKnownKeys is the largest number of a signal's keys with which the keys of a request are compared. With more keys
	// there is no warning.
	maxKnownKeys = limits.KnownNames
	// keysFor is how long a list of keys is cached.
	keysFor     = time.Minute
	maxKeyLists = 256
)

// keysOf identifies a list of attribute keys in the cache. The hours of its window stand for the window.
type keysOf struct {
	org        principal.OrgID
	signal     string
	start, end int64
}

// unknownKeys lists the attributes of a request that nobody sent in its window, each with the most similar key that was sent.
func (e *Engine) unknownKeys(ctx context.Context, org principal.OrgID, r *query.Request) []string {
	var out []string
	for i := range r.Queries {
		q := &r.Queries[i].Spec
		fields := attributesOf(q)
		if len(fields) == 0 {
			continue
		}
		known, cached, err := e.knownKeys(ctx, org, string(q.Source), r.Window, true)
		isUnknown := func(f query.Field) bool { return unknownKey(q.Source, f, known) != "" }
		if err == nil && cached && slices.ContainsFunc(fields, isUnknown) { // it may have come since
			known, _, err = e.knownKeys(ctx, org, string(q.Source), r.Window, false)
		}
		if err != nil || len(known) == 0 || len(known) >= maxKnownKeys {
			continue
		}
		for _, f := range fields {
			if w := unknownKey(q.Source, f, known); w != "" && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

func attributesOf(q *query.Spec) []query.Field {
	var out []query.Field
	add := func(f query.Field) {
		if f.Scope != query.Builtin && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	q.Filter.Matches(func(m *query.Match) bool { add(m.Field); return true })
	for _, f := range q.GroupBy {
		add(f)
	}
	if q.Aggregation.Value != nil {
		add(*q.Aggregation.Value)
	}
	return out
}

// knownKeys lists the keys of a window, from the cache as names does.
func (e *Engine) knownKeys(
	ctx context.Context, org principal.OrgID, signal string, w query.Window, mayCache bool,
) (rows []reads.AttributeKeyRow, cached bool, err error) {
	at := keysOf{org: org, signal: signal, start: w.Start.Unix() / 3600, end: w.End.Unix() / 3600}
	if rows, cached = e.keys.Get(at); cached && mayCache {
		return rows, true, nil
	}
	release, err := e.slots.Acquire(ctx, org)
	if err != nil {
		return nil, false, err
	}
	defer release()
	rows, err = read.All[reads.AttributeKeyRow](
		ctx, e.warehouse, org, reads.ListAttributeKeys(reads.AttributeKeyList{Window: w, Signal: signal, Limit: maxKnownKeys}),
	)
	if err != nil {
		return nil, false, err
	}
	e.keys.Put(at, rows, 1, keysFor)
	return rows, false, nil
}

// scopeOf is the scope under which the list of keys has a field.
func scopeOf(s query.Source, f query.Field) string {
	switch f.Scope {
	case query.ResourceAttribute:
		return "resource"
	case query.EventAttribute:
		return "event"
	default:
		return s.OwnScope()
	}
}

// unknownKey describes an attribute that is not among the known keys.
func unknownKey(s query.Source, f query.Field, known []reads.AttributeKeyRow) string {
	scope := scopeOf(s, f)
	same := query.SameAttribute(f.Key)
	elsewhere, likely, distance := "", "", len(f.Key)/3+2
	for _, k := range known {
		switch {
		case slices.Contains(same, k.Key) && k.Scope == scope:
			return ""
		case slices.Contains(same, k.Key):
			elsewhere = k.Scope
		default:
			if d := nearest.Distance(strings.ToLower(f.Key), strings.ToLower(k.Key)); d < distance {
				likely, distance = k.Key, d
			}
		}
	}
	text := fmt.Sprintf("No %s attribute %q was received in this window", scope, f.Key)
	switch {
	case elsewhere != "":
		return fmt.Sprintf("%s, but there is a %s attribute of that name.", text, elsewhere)
	case likely != "":
		return fmt.Sprintf("%s; the nearest name is %q.", text, likely)
	default:
		return text + "."
	}
}
