package ratelimit

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// enter puts a holder into the set of a key, if it has a free place. The score of a holder is the end of its lease, by the clock of Redis.
// stay moves the end of a lease that has not passed.
var (
	enter = redis.NewScript(`
local most, lease = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= most then return 0 end
redis.call('ZADD', KEYS[1], now + lease, ARGV[3])
redis.call('PEXPIRE', KEYS[1], lease)
return 1
`)
	stay = redis.NewScript(`
local lease = tonumber(ARGV[1])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
redis.call('ZADD', KEYS[1], 'XX', now + lease, ARGV[2])
redis.call('PEXPIRE', KEYS[1], lease)
return 1
`)
)

const (
	// placeLease is how long the place of a process that has ended stays taken. Work that takes longer moves the end of its lease every
	// placeRenewal.
	placeLease   = 10 * time.Second
	placeRenewal = 3 * time.Second
	// placePause is the mean time until a caller without a place asks again. It does not grow, so that all who wait have equal chances. A
	// caller asks only while it holds a place in its process, so few of them ask.
	placePause = 20 * time.Millisecond
)

// Places bounds the work that is done at once for a key, on all nodes that share the Redis. It is safe for concurrent use.
type Places struct {
	client *Client
	name   string
	most   int
	// lease and renewal are placeLease and placeRenewal, except in tests.
	lease, renewal time.Duration
}

// Places returns so many places for each key. Places of one name are shared.
func (c *Client) Places(name string, most int) *Places {
	return &Places{client: c, name: name, most: most, lease: placeLease, renewal: placeRenewal}
}

// Take waits for a place. The caller calls release once, after its work. The error is that of the context. While Redis does not answer,
// every caller gets a place: the bound of its process still holds.
func (p *Places) Take(ctx context.Context, key string) (release func(), err error) {
	h := p.holder(key)
	for {
		if taken, counted := h.enter(); taken || !counted {
			h.renewLater()
			return h.leave, nil
		}
		timer := time.NewTimer(placePause/2 + mathrand.N(placePause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
	}
}

func (p *Places) holder(key string) *holder {
	return &holder{places: p, key: p.client.prefix + p.name + ":" + key, id: rand.Text()}
}

// holder is one caller with a place, or without one while Redis does not answer.
type holder struct {
	places  *Places
	key, id string

	mu    sync.Mutex
	left  bool
	timer *time.Timer
}

// enter asks once for a place. Counted is false when Redis does not answer. Redis may have given the place even so, and answered too late.
func (h *holder) enter() (taken, counted bool) {
	n, err := h.run(enter, h.places.most, h.places.lease.Milliseconds(), h.id)
	return n == 1, err == nil
}

func (h *holder) run(script *redis.Script, args ...any) (int, error) {
	c := h.places.client
	if c.paused() {
		return 0, errPaused
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.answer)
	defer cancel()
	n, err := script.Run(ctx, c.redis, []string{h.key}, args...).Int()
	c.observe(err)
	return n, err
}

func (h *holder) renewLater() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.left {
		return
	}
	h.timer = time.AfterFunc(h.places.renewal, func() {
		_, _ = h.run(stay, h.places.lease.Milliseconds(), h.id) // run logs the error
		h.renewLater()
	})
}

// leave gives the place back. If Redis does not answer, leave tries once more after the pause. After that, the lease ends.
func (h *holder) leave() {
	h.mu.Lock()
	h.left = true
	h.timer.Stop()
	h.mu.Unlock()
	c := h.places.client
	if !c.paused() {
		err := h.remove()
		c.observe(err)
		if err == nil {
			return
		}
	}
	time.AfterFunc(2*pauseAfterFailure, func() { _ = h.remove() })
}

func (h *holder) remove() error {
	c := h.places.client
	ctx, cancel := context.WithTimeout(context.Background(), c.answer)
	defer cancel()
	return c.redis.ZRem(ctx, h.key, h.id).Err()
}
