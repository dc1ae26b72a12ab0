package servicemap

import (
	"sync"
	"time"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// block is how windows are cut besides: the calls of a whole block are kept, so that a map that is looked at again costs its ends.
	block = 6 * time.Hour
	// settled is how long after its end a block gets nothing new but what comes very late.
	settled = 10 * time.Minute
	// keepFor is when a block is read again: what came late shows then.
	keepFor = 10 * time.Minute
	// keptRows bounds what is kept, to some 10 MB.
	keptRows = 50_000
)

// blocks keeps the calls of whole blocks of time that are over. Keys hold the organization.
type blocks struct {
	now func() time.Time

	mu   sync.Mutex
	rows int
	kept map[blockKey]keptBlock
}

type blockKey struct {
	org         principal.OrgID
	environment string
	start, end  int64
}

type keptBlock struct {
	calls []reads.CallRow
	until time.Time
}

// key is of a part of a window, if its calls may be kept: other windows have the same part, and it is over.
func (b *blocks) key(org principal.OrgID, p part, environment *string) (blockKey, bool) {
	k := blockKey{org: org, start: p.Start.UnixNano(), end: p.End.UnixNano()}
	if environment != nil {
		k.environment = "=" + *environment
	}
	return k, p.whole && b.now().Sub(p.End) > settled
}

func (b *blocks) get(k blockKey) ([]reads.CallRow, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	kept, ok := b.kept[k]
	if !ok || b.now().After(kept.until) {
		return nil, false
	}
	return kept.calls, true
}

// put keeps calls, which nobody may change from here on. When there are too many, all are forgotten.
func (b *blocks) put(k blockKey, calls []reads.CallRow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	cost := len(calls) + 1
	if b.kept == nil || b.rows+cost > keptRows {
		b.kept, b.rows = map[blockKey]keptBlock{}, 0
	}
	if cost > keptRows {
		return
	}
	if old, again := b.kept[k]; again {
		b.rows -= len(old.calls) + 1
	}
	b.kept[k] = keptBlock{calls, b.now().Add(keepFor)}
	b.rows += cost
}
