package auth

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"time"

	"github.com/svc-observability/svc/server/cache"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/ratelimit"
)

// Buckets counts attempts for several nodes together; *ratelimit.RedisBuckets is one.
type Buckets interface {
	// Take takes one attempt from every bucket. If one is empty, it takes none, and wait is the time until each has an attempt. ok
	// is false when the store of the buckets does not answer.
	Take(list []ratelimit.Bucket) (wait time.Duration, ok bool)
	// GiveBack undoes a Take.
	GiveBack(list []ratelimit.Bucket)
}

// Throttle bounds attempts to sign in, by address and by account. Only failures count in the end: a success gives the attempt
// back. It is safe for concurrent use, and its memory is bounded.
//
// An address from which an account has signed in has its own attempts on that account. So a stranger who keeps failing on the
// account from another address does not lock the person out. Existing sessions are not affected.
type Throttle struct {
	name   string
	shared Buckets
	// local counts in this process, if there is no shared store or while that store does not answer.
	local *ratelimit.LocalBuckets
	// familiar has the addresses with the accounts that signed in from there.
	familiar *cache.Cache[string, struct{}]
}

const (
	// maxBuckets bounds the memory to a few MiB.
	maxBuckets = 50_000
	// maxFamiliar bounds the table of familiar addresses. To fill it, a caller must sign in that often.
	maxFamiliar = 20_000
	// familiarFor is how long an address stays known: as long as a session lasts.
	familiarFor = SessionLifetime
)

func addressBucket(key string) ratelimit.Bucket {
	return ratelimit.Bucket{Key: key, Burst: limits.SignInAddressAttempts, Interval: limits.SignInAddressInterval}
}

func accountBucket(key string) ratelimit.Bucket {
	return ratelimit.Bucket{Key: key, Burst: limits.SignInAccountAttempts, Interval: limits.SignInAccountInterval}
}

// NewThrottle returns a Throttle. Throttles of one name on all nodes count together when shared is not nil. now is the clock of
// the count in this process, nil for time.Now.
func NewThrottle(name string, shared Buckets, now func() time.Time) *Throttle {
	if now == nil {
		now = time.Now
	}
	return &Throttle{
		name: name, shared: shared, local: ratelimit.NewLocalBuckets(maxBuckets, now), familiar: cache.New[string, struct{}](maxFamiliar, now),
	}
}

// Attempt is a counted attempt.
type Attempt struct {
	throttle *Throttle
	list     []ratelimit.Bucket
	pair     string
	shared   bool
	// Familiar says that the account has signed in from this address before.
	Familiar bool
}

// Take counts an attempt from an address on an account. If either has no attempt left, nothing is counted, and retryAfter is the wait.
func (t *Throttle) Take(address, account string) (a *Attempt, retryAfter time.Duration) {
	from, on := t.key("address", subscriber(address)), t.key("account", account)
	a = &Attempt{throttle: t, pair: t.key("pair", subscriber(address)+" "+account)}
	if _, a.Familiar = t.familiar.Get(a.pair); a.Familiar {
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
	if wait := t.local.Take(a.list); wait > 0 {
		return nil, wait
	}
	return a, 0
}

// GiveBack undoes the Take, for an attempt that did not fail.
func (a *Attempt) GiveBack() {
	if a.shared {
		a.throttle.shared.GiveBack(a.list)
		return
	}
	a.throttle.local.GiveBack(a.list)
}

// Succeeded gives the attempt back and keeps the address as one from which the account signs in.
func (a *Attempt) Succeeded() {
	a.GiveBack()
	a.throttle.familiar.Put(a.pair, struct{}{}, 1, familiarFor)
}

// subscriber is the address, or the /64 prefix of an IPv6 address: one subscriber has the whole prefix.
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
