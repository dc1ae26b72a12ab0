package scrape

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/store"
)

// scheduled is a target with the state of its scrapes. Fields above the line belong to the lock of the Scraper, those below to the scrape
// that runs, or to the lock when none runs.
type scheduled struct {
	Target
	row   store.ScrapeTarget
	lease store.Fence
	due   time.Time
	index int // in the heap, or -1
	// running is closed when the scrape that runs has ended; nil when none runs.
	running chan struct{}
	// handed says that the target was deleted, paused or edited while a scrape ran. The end of the scrape hands its state to the
	// successor, nil for none.
	handed    bool
	successor *scheduled
	// until is the end of a pause that the target asked for.
	until time.Time
	// ----
	id        *identity
	public    string
	client    *http.Client
	series    []uint64
	kept      []byte // the page that has these series, compressed
	keptType  string
	failures  int // answers 429 and 503 in a row
	recorded  time.Time
	problem   string
	everSaved bool
	// members are set for a target that stands for several endpoints.
	members members
}

func (s *Scraper) newScheduled(row *store.ScrapeTarget, lease store.Fence) *scheduled {
	target, err := s.cfg.Vault.Target(*row)
	if err != nil {
		target.Problem = err.Error()
	}
	t := &scheduled{Target: target, row: *row, lease: lease, index: -1, public: publicid.Encode(publicid.ScrapeTarget, row.ID)}
	t.id = newIdentity(&t.Target)
	t.client = newClient(s.cfg.Guard, t.Timeout(), limits.ScrapeConnection)
	if row.LastScrapeError != nil {
		t.problem = *row.LastScrapeError
	}
	if row.LastScrapeAt != nil {
		t.recorded, t.everSaved = *row.LastScrapeAt, true
	}
	return t
}

// same reports whether two targets have the same series.
func (t *scheduled) same(old *scheduled) bool {
	return old.Name == t.Name && old.Service == t.Service && old.URL == t.URL && maps.Equal(old.Labels, t.Labels)
}

// succeed takes over the state of the target before an edit. The caller holds the lock, and neither has a scrape that runs.
func (t *scheduled) succeed(old *scheduled) {
	t.until, t.failures = old.until, old.failures
	if t.same(old) && t.members.of == nil {
		t.members.of = old.members.of // the next scrape reads the list anew, and ends what no longer fits
	}
	if t.same(old) && t.series == nil {
		t.series, t.kept, t.keptType = old.series, old.kept, old.keptType
	}
}

// schedule is a heap of targets by their next scrape.
type schedule []*scheduled

func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].due.Before(s[j].due) }

func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

// Push implements heap.Interface.
func (s *schedule) Push(x any) {
	t, _ := x.(*scheduled)
	t.index = len(*s)
	*s = append(*s, t)
}

// Pop implements heap.Interface.
func (s *schedule) Pop() any {
	last := len(*s) - 1
	t := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	t.index = -1
	return t
}

// keyed bounds what runs at once for each key.
type keyed struct {
	limit int
	mu    sync.Mutex
	of    map[string]*places
}

type places struct {
	free  chan struct{}
	users int
}

func newKeyed(limit int) *keyed { return &keyed{limit: limit, of: map[string]*places{}} }

// enter waits for a place. It reports false if ctx ended first.
func (k *keyed) enter(ctx context.Context, key string) bool {
	k.mu.Lock()
	p := k.of[key]
	if p == nil {
		p = &places{free: make(chan struct{}, k.limit)}
		k.of[key] = p
	}
	p.users++
	k.mu.Unlock()
	select {
	case p.free <- struct{}{}:
		return true
	case <-ctx.Done():
		k.gone(key, p)
		return false
	}
}

func (k *keyed) leave(key string) {
	k.mu.Lock()
	p := k.of[key]
	k.mu.Unlock()
	<-p.free
	k.gone(key, p)
}

func (k *keyed) gone(key string, p *places) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p.users--; p.users == 0 {
		delete(k.of, key)
	}
}
