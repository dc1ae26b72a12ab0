package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ratelimit"
)

// Buckets holds attempts for several nodes together; *ratelimit.Buckets is one.
type Buckets interface {
	// Take takes one attempt from every bucket, or none when one is empty: wait is then how long until each has one. ok is false when
	// nobody can say.
	Take(list []ratelimit.Bucket) (wait time.Duration, ok bool)
	// GiveBack undoes a Take.
	GiveBack(list []ratelimit.Bucket)
}

// Throttle bounds attempts to sign in, by address and by account. Only failures count in the end: who succeeds gives the attempt back.
// It is safe for concurrent use, and its memory is bounded.
//
// An address from which an account has signed in has attempts of its own on that account, so whoever keeps failing on somebody's
// account from elsewhere does not lock the person out. Sessions that exist are not touched.
type Throttle struct {
	name   string
	shared Buckets
	now    func() time.Time
	mu     sync.Mutex
	// buckets are those of this process, used when nothing is shared, or while what is shared does not answer.
	buckets map[string]bucket
	// familiar are addresses with accounts that signed in from there, and when last.
	familiar map[string]time.Time
}

const (
	// maxBuckets bounds the memory to a few MiB.
	maxBuckets = 50_000
	// maxFamiliar bounds it likewise. Whoever fills this table has signed in as often.
	maxFamiliar = 20_000
	// familiarFor is how long an address stays known: as long as a session.
	familiarFor = SessionLifetime
)

func addressBucket(key string) ratelimit.Bucket {
	return ratelimit.Bucket{Key: key, Burst: 30, Interval: 3 * time.Second}
}

func accountBucket(key string) ratelimit.Bucket {
	return ratelimit.Bucket{Key: key, Burst: 10, Interval: 10 * time.Second}
}

// bucket is empty until the time at which it would be full again, less what it holds (GCRA): one time says it all.
type bucket struct{ full time.Time }

// NewThrottle returns a Throttle. Those of one name on all nodes count together when shared is not nil; now is the clock of this
// process's own count, nil for time.Now.
func NewThrottle(name string, shared Buckets, now func() time.Time) *Throttle {
	if now == nil {
		now = time.Now
	}
	return &Throttle{name: name, shared: shared, now: now, buckets: map[string]bucket{}, familiar: map[string]time.Time{}}
}

// Attempt is one that was counted.
type Attempt struct {
	throttle *Throttle
	list     []ratelimit.Bucket
	pair     string
	shared   bool
	// Familiar says that the account has signed in from this address before.
	Familiar bool
}

// Take counts an attempt from an address on an account. When either has none left, nothing is counted, and retryAfter is the wait.
func (t *Throttle) Take(address, account string) (a *Attempt, retryAfter time.Duration) {
	from, on := t.key("address", subscriber(address)), t.key("account", account)
	a = &Attempt{throttle: t, pair: t.key("pair", subscriber(address)+" "+account)}
	t.mu.Lock()
	at, known := t.familiar[a.pair]
	a.Familiar = known && t.now().Sub(at) < familiarFor
	t.mu.Unlock()
	if a.Familiar {
		on = a.pair
	}
	a.list = []ratelimit.Bucket{addressBucket(from), accountBucket(on)}
	if t.shared != nil {
		if wait, ok := t.shared.Take(a.list); ok {
			if wait > 0 {
				return nil, wait
			}
			a.shared = true
			return a, 0
		}
	}
	if wait := t.takeHere(a.list); wait > 0 {
		return nil, wait
	}
	return a, 0
}

// GiveBack undoes the Take, for an attempt that was no failure.
func (a *Attempt) GiveBack() {
	if a.shared {
		a.throttle.shared.GiveBack(a.list)
		return
	}
	t := a.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range a.list {
		if held, ok := t.buckets[b.Key]; ok {
			t.buckets[b.Key] = bucket{held.full.Add(-b.Interval)}
		}
	}
}

// Succeeded gives the attempt back and keeps the address as one from which the account signs in.
func (a *Attempt) Succeeded() {
	a.GiveBack()
	t := a.throttle
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if _, known := t.familiar[a.pair]; !known && len(t.familiar) >= maxFamiliar {
		makeRoom(t.familiar, maxFamiliar, func(at time.Time) bool { return now.Sub(at) >= familiarFor })
	}
	t.familiar[a.pair] = now
}

func (t *Throttle) takeHere(list []ratelimit.Bucket) (wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	for _, b := range list {
		spent := max(0, t.buckets[b.Key].full.Sub(now))
		wait = max(wait, spent-time.Duration(b.Burst-1)*b.Interval)
	}
	if wait > 0 {
		return wait
	}
	for _, b := range list {
		held, known := t.buckets[b.Key]
		if !known && len(t.buckets) >= maxBuckets {
			makeRoom(t.buckets, maxBuckets, func(b bucket) bool { return !b.full.After(now) })
		}
		if held.full.Before(now) {
			held.full = now
		}
		t.buckets[b.Key] = bucket{held.full.Add(b.Interval)}
	}
	return 0
}

// makeRoom drops what is idle, and if nearly all is in use, some that is not: whoever fills the table is then held by the bound on
// password checks alone.
func makeRoom[V any](table map[string]V, limit int, idle func(V) bool) {
	for k, v := range table {
		if idle(v) {
			delete(table, k)
		}
	}
	for k := range table {
		if len(table) < limit*9/10 {
			return
		}
		delete(table, k)
	}
}

// subscriber takes the half of an IPv6 address that one subscriber has for itself as one.
func subscriber(address string) string {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			return p.String()
		}
	}
	return address
}

// key names a bucket. It is a hash, so that no address or account is readable where buckets are shared.
func (t *Throttle) key(kind, text string) string {
	sum := sha256.Sum256([]byte(t.name + " " + kind + " " + text))
	return hex.EncodeToString(sum[:16])
}
