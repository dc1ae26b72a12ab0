package ratelimit

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// take reads and writes each bucket as the time at which it is full again (GCRA), all of them or none. It answers the wait in microseconds.
// The clock is that of Redis.
var take = redis.NewScript(`
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local full, wait = {}, 0
for i, key in ipairs(KEYS) do
  local burst, interval = tonumber(ARGV[2*i-1]), tonumber(ARGV[2*i])
  full[i] = math.max(now, tonumber(redis.call('GET', key) or '0'))
  wait = math.max(wait, full[i] - now - (burst - 1) * interval)
end
if wait > 0 then return wait end
for i, key in ipairs(KEYS) do
  full[i] = full[i] + tonumber(ARGV[2*i])
  redis.call('SET', key, string.format('%.0f', full[i]), 'PX', math.ceil((full[i] - now) / 1000))
end
return 0
`)

// giveBack undoes take. A bucket that has become full is no longer stored.
var giveBack = redis.NewScript(`
for i, key in ipairs(KEYS) do
  local full = redis.call('GET', key)
  if full then redis.call('SET', key, string.format('%.0f', tonumber(full) - tonumber(ARGV[2*i])), 'KEEPTTL') end
end
return 0
`)

// RedisBuckets are Buckets for all nodes that share the Redis. They are safe for concurrent use.
type RedisBuckets struct {
	client *Client
	name   string
}

// Buckets returns buckets under a name. All processes share the bucket of a name and key.
func (c *Client) Buckets(name string) *RedisBuckets { return &RedisBuckets{client: c, name: name} }

// Take takes one attempt from every bucket. If one is empty, it takes none, and wait is the time until each has an attempt. ok is false
// when Redis does not answer: a limit on guesses must hold without Redis, so the caller counts by itself then.
func (b *RedisBuckets) Take(list []Bucket) (wait time.Duration, ok bool) {
	if b.client.paused() {
		return 0, false
	}
	us, err := b.run(take, list)
	return time.Duration(us) * time.Microsecond, err == nil
}

// GiveBack undoes a Take. When Redis does not answer, the attempt stays counted until it expires.
func (b *RedisBuckets) GiveBack(list []Bucket) {
	if !b.client.paused() {
		_, _ = b.run(giveBack, list) // run logs the error
	}
}

func (b *RedisBuckets) run(script *redis.Script, list []Bucket) (int64, error) {
	ctx, cancel := context.WithTimeout(context.Background(), b.client.answer)
	defer cancel()
	keys, args := make([]string, len(list)), make([]any, 0, 2*len(list))
	for i, e := range list {
		keys[i] = b.client.prefix + b.name + ":" + e.Key
		args = append(args, e.Burst, e.Interval.Microseconds())
	}
	out, err := script.Run(ctx, b.client.redis, keys, args...).Int64()
	b.client.observe(err)
	return out, err
}
