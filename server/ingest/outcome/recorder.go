package outcome

import (
	"cmp"
	"container/list"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// Config configures a Recorder. Store and Node are required.
type Config struct {
	Store Store
	// Node names this node among all that write to the store. It must stay the same over restarts.
	Node string
	// SaveEvery is the interval for saving keys with new problems. Default 5 s.
	SaveEvery time.Duration
	// SaveCleanEvery is the interval for saving keys whose unsaved outcomes are all successes. Default 30 s.
	SaveCleanEvery time.Duration
	// Keep is how long the store keeps the history of an unused key. Default 30 days.
	Keep time.Duration
	// CallTimeout bounds one call of the store. Default 10 s.
	CallTimeout time.Duration
	// MaxKeys bounds the keys in memory. The least recently used key makes room for a new one. Default 1,024, which takes 30 MB
	// at most.
	MaxKeys int
	Logger  *slog.Logger
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Recorder is safe for concurrent use. The caller must Close it.
type Recorder struct {
	cfg  Config
	stop chan struct{}
	done chan struct{}
	once sync.Once

	mu   sync.Mutex
	keys map[string]*history // by id, which is unique across organizations
	// used is ordered by use, with the most recently used history in front.
	used  list.List
	stats Stats
}

// Stats is a snapshot for metrics. Its counters start at Start.
type Stats struct {
	Keys int
	// Oldest is the age of the oldest unsaved outcome, or 0 if all are saved.
	Oldest time.Duration
	// Saved counts saved histories. SaveFailures counts store calls that failed.
	Saved, SaveFailures int64
	// Evicted counts keys that made room for others. Unsaved counts the evicted keys with unsaved outcomes.
	Evicted, Unsaved int64
}

// Start starts a recorder.
func Start(cfg Config) (*Recorder, error) {
	if cfg.Store == nil || cfg.Node == "" {
		return nil, errors.New("outcome: Store and Node are required")
	}
	cfg.SaveEvery = cmp.Or(cfg.SaveEvery, limits.OutcomeSave)
	cfg.SaveCleanEvery = cmp.Or(cfg.SaveCleanEvery, limits.OutcomeSaveClean)
	cfg.Keep = cmp.Or(cfg.Keep, limits.OutcomeRetention)
	cfg.CallTimeout = cmp.Or(cfg.CallTimeout, 10*time.Second)
	cfg.MaxKeys = cmp.Or(cfg.MaxKeys, 1024)
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	r := &Recorder{cfg: cfg, stop: make(chan struct{}), done: make(chan struct{}), keys: map[string]*history{}}
	go r.work()
	return r, nil
}

// Record adds an answer with the current time.
func (r *Recorder) Record(key Key, o Outcome) {
	o.At = r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.keys[key.ID]
	if h == nil {
		h = r.admit(key)
	}
	r.used.MoveToFront(h.place)
	if o.Agent == h.agent || len(o.Agent) > maxAgent && cut(o.Agent, maxAgent) == h.agent {
		o.Agent = h.agent
	} else {
		h.agent = strings.Clone(cut(o.Agent, maxAgent))
		o.Agent = h.agent
	}
	if o.Reason == h.reason {
		o.Reason = h.reason
	} else {
		h.reason = cut(o.Reason, maxReason)
		o.Reason = h.reason
	}
	h.add(&o)
	if !h.unsaved.any() {
		h.unsaved.since = o.At
	}
	h.unsaved.problem = h.unsaved.problem || !o.clean()
}

// admit makes room for a key.
func (r *Recorder) admit(key Key) *history {
	if len(r.keys) >= r.cfg.MaxKeys {
		last := r.used.Back()
		oldest := r.used.Remove(last).(*history)
		delete(r.keys, oldest.key.ID)
		r.stats.Evicted++
		if oldest.unsaved.any() {
			r.stats.Unsaved++
		}
	}
	h := &history{key: key}
	h.place = r.used.PushFront(h)
	r.keys[key.ID] = h
	return h
}

// Stats returns a snapshot.
func (r *Recorder) Stats() Stats {
	now := r.cfg.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Keys = len(r.keys)
	for _, h := range r.keys {
		if h.unsaved.any() {
			s.Oldest = max(s.Oldest, now.Sub(h.unsaved.since))
		}
	}
	return s
}
