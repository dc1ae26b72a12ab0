package servicemap

import (
	"time"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// block is a part of a window. The calls of whole blocks are kept, so that a second read of a map reads only the ends of its window.
	block = 6 * time.Hour
	// settled is the time after the end of a block in which most of its calls arrive. Only very late calls arrive after it.
	settled = 10 * time.Minute
	// keepFor is how long a block is kept. Late calls show after it.
	keepFor = 10 * time.Minute
	// keptRows bounds the kept calls, to about 10 MB.
	keptRows = 50_000
)

// blocks keeps the calls of whole blocks of time that are over. Keys hold the organization.
type blocks struct {
	now  func() time.Time
	kept *cache.Cache[blockKey, []reads.CallRow]
}

type blockKey struct {
	org         principal.OrgID
	environment string
	start, end  int64
}

func newBlocks(now func() time.Time) blocks {
	return blocks{now, cache.New[blockKey, []reads.CallRow](keptRows, now)}
}

// key is of a part of a window. It reports whether its calls may be kept: the part is a whole block, and it is over.
func (b *blocks) key(org principal.OrgID, p part, environment *string) (blockKey, bool) {
	k := blockKey{org: org, start: p.Start.UnixNano(), end: p.End.UnixNano()}
	if environment != nil {
		k.environment = "=" + *environment
	}
	return k, p.whole && b.now().Sub(p.End) > settled
}

func (b *blocks) get(k blockKey) ([]reads.CallRow, bool) { return b.kept.Get(k) }

// put keeps calls. From here on nobody may change them.
func (b *blocks) put(k blockKey, calls []reads.CallRow) { b.kept.Put(k, calls, len(calls)+1, keepFor) }
