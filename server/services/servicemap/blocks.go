package servicemap

import (
	"time"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/query/callhours"
	"github.com/svc-observability/svc/server/query/reads"
)

const (
	// keepFor is how long a block is cached. A late call appears after that time.
	keepFor = limits.MapKept
	// keptRows limits the number of cached calls. They take about 10 MB.
	keptRows = 50_000
)

// blocks caches the calls of whole blocks of time that are over. The organization is part of the key.
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

// key is the key of a part of a window. It reports whether the part's calls may be cached: the part must be a whole block, and it
// must be over.
func (b *blocks) key(org principal.OrgID, p callhours.Part, environment *string) (blockKey, bool) {
	k := blockKey{org: org, start: p.Start.UnixNano(), end: p.End.UnixNano()}
	if environment != nil {
		k.environment = "=" + *environment
	}
	return k, p.Whole && b.now().Sub(p.End) > limits.CallHourSettled
}

func (b *blocks) get(k blockKey) ([]reads.CallRow, bool) { return b.kept.Get(k) }

// put caches calls. Nobody may change them afterwards.
func (b *blocks) put(k blockKey, calls []reads.CallRow) { b.kept.Put(k, calls, len(calls)+1, keepFor) }
