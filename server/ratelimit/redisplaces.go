package ratelimit

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// enter puts a holder into the set of a key, if it has a free place. The score of a holder is the time at which its place is free again
// in any case, by the clock of Redis.
var enter = redis.NewScript(`
local most, longest = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= most then return 0 end
redis.call('ZADD', KEYS[1], now + longest, ARGV[3])
redis.call('PEXPIRE', KEYS[1], longest)
return 1
`)

// A caller without a place asks again after a pause, which grows from shortestPause to longestPause. A caller asks only while it holds a
// place in its process, so few of them ask.
const (
	shortestPause = 5 * time.Millisecond
	longestPause  = 80 * time.Millisecond
)

// Places bounds the work that is done at once for a key, on all nodes that share the Redis. It is safe for concurrent use.
type Places struct {
	client  *Client
	name    string
	most    int
	longest time.Duration
}

// Places returns so many places for each key. Places of one name are shared. A place that was not given back, because its process ended, is
// free after the longest time that work takes.
func (c *Client) Places(name string, most int, longest time.Duration) *Places {
	return &Places{client: c, name: name, most: most, longest: longest}
}

// Take waits for a place. The caller calls release once, after its work. The error is that of the context. While Redis does not answer,
// every caller gets a place: the bound of its process still holds.
func (p *Places) Take(ctx context.Context, key string) (release func(), err error) {
	holder, pause := rand.Text(), shortestPause
	for {
		taken, counted := p.try(key, holder)
		switch {
		case !counted:
			return func() {}, nil
		case taken:
			return func() { p.leave(key, holder) }, nil
		}
		timer := time.NewTimer(pause/2 + mathrand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		pause = min(2*pause, longestPause)
	}
}

func (p *Places) key(key string) string { return p.client.prefix + p.name + ":" + key }

// try asks once for a place. Counted is false when Redis does not answer.
func (p *Places) try(key, holder string) (taken, counted bool) {
	c := p.client
	if c.paused() {
		return false, false
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.answer)
	defer cancel()
	n, err := enter.Run(ctx, c.redis, []string{p.key(key)}, p.most, strconv.FormatInt(p.longest.Milliseconds(), 10), holder).Int()
	c.observe(err)
	return n == 1, err == nil
}

func (p *Places) leave(key, holder string) {
	c := p.client
	if c.paused() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.answer)
	defer cancel()
	c.observe(c.redis.ZRem(ctx, p.key(key), holder).Err())
}
