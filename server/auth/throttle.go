package auth

import (
	"crypto/sha256"
	"net/netip"
	"sync"
	"time"
)

// Throttle bounds attempts to sign in, by address and by account. Only failures count in the end: who succeeds gets the attempt back.
// It is safe for concurrent use, and its memory is bounded.
//
// Whoever keeps failing on somebody's account from many addresses keeps that account from signing in with a password as long as it
// goes on; sessions that exist are not touched.
type Throttle struct {
	now     func() time.Time
	mu      sync.Mutex
	buckets map[bucketKey]bucket
}

// A bucket of attempts holds burst and gets one back every interval.
type allowance struct {
	burst    int
	interval time.Duration
}

// maxBuckets bounds the memory to a few MiB.
const maxBuckets = 50_000

func addressAllowance() allowance { return allowance{burst: 30, interval: 3 * time.Second} }
func accountAllowance() allowance { return allowance{burst: 10, interval: 10 * time.Second} }

type bucketKey [16]byte

// bucket is empty until the time at which it would be full again, less what it holds (GCRA): one time says it all.
type bucket struct {
	full     time.Time
	interval time.Duration
}

// NewThrottle returns a Throttle; now is its clock, nil for time.Now.
func NewThrottle(now func() time.Time) *Throttle {
	if now == nil {
		now = time.Now
	}
	return &Throttle{now: now, buckets: map[bucketKey]bucket{}}
}

// Take counts an attempt from an address on an account. When either has none left, nothing is counted, and retryAfter is the wait.
func (t *Throttle) Take(address, account string) (ok bool, retryAfter time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	a, b := addressKey(address), accountKey(account)
	retryAfter = max(t.wait(a, addressAllowance(), now), t.wait(b, accountAllowance(), now))
	if retryAfter > 0 {
		return false, retryAfter
	}
	t.spend(a, addressAllowance(), now)
	t.spend(b, accountAllowance(), now)
	return true, 0
}

// GiveBack undoes a Take, for an attempt that was no failure.
func (t *Throttle) GiveBack(address, account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, k := range []bucketKey{addressKey(address), accountKey(account)} {
		if b, ok := t.buckets[k]; ok {
			b.full = b.full.Add(-b.interval)
			t.buckets[k] = b
		}
	}
}

func (t *Throttle) wait(k bucketKey, a allowance, now time.Time) time.Duration {
	spent := max(0, t.buckets[k].full.Sub(now))
	return max(0, spent-time.Duration(a.burst-1)*a.interval)
}

func (t *Throttle) spend(k bucketKey, a allowance, now time.Time) {
	b, known := t.buckets[k]
	if !known {
		t.makeRoom(now)
	}
	if b.full.Before(now) {
		b.full = now
	}
	t.buckets[k] = bucket{full: b.full.Add(a.interval), interval: a.interval}
}

// makeRoom drops buckets that are full again, and if all are in use, some that are not: whoever fills the table is then held by the
// bound on password checks alone.
func (t *Throttle) makeRoom(now time.Time) {
	if len(t.buckets) < maxBuckets {
		return
	}
	for k, b := range t.buckets {
		if !b.full.After(now) {
			delete(t.buckets, k)
		}
	}
	for k := range t.buckets {
		if len(t.buckets) < maxBuckets*9/10 {
			return
		}
		delete(t.buckets, k)
	}
}

// addressKey takes the half of an IPv6 address that one subscriber has for itself as one.
func addressKey(address string) bucketKey {
	if ip, err := netip.ParseAddr(address); err == nil && ip.Is6() {
		if p, err := ip.WithZone("").Prefix(64); err == nil {
			address = p.String()
		}
	}
	return keyOf("address", address)
}

func accountKey(account string) bucketKey { return keyOf("account", account) }

func keyOf(kind, text string) bucketKey {
	sum := sha256.Sum256([]byte(kind + " " + text))
	return bucketKey(sum[:16])
}
