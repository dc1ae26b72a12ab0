package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/svc-observability/svc/server/outage"
)

// errPaused means that Redis is not asked, because it did not answer a moment ago.
var errPaused = errors.New("redis does not answer")

const (
	// answerTimeout is the longest time that a request waits for Redis. After it, the request is allowed.
	answerTimeout = 250 * time.Millisecond
	// pauseAfterFailure is the time after a failure in which no request asks Redis: an outage must not slow every request down.
	pauseAfterFailure = time.Second
)

// count is the sliding log of a Window: the times of the last allowed requests, newest first, at most as many as the limit. A request is
// allowed when the oldest time of a full log has left the window. A refused request leaves no trace. The clock is that of Redis, because
// the clocks of nodes differ, and time never runs backwards within a key.
var count = redis.NewScript(`
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])
local newest = tonumber(redis.call('LINDEX', KEYS[1], 0) or '0')
if newest > now then now = newest end
local oldest = redis.call('LINDEX', KEYS[1], limit - 1)
if oldest and tonumber(oldest) > now - window then return 0 end
redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
redis.call('LTRIM', KEYS[1], 0, limit - 1)
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000))
return 1
`)

// Client is a connection to Redis that several limiters share. Close it.
type Client struct {
	redis  *redis.Client
	prefix string
	logger *slog.Logger
	// answer is answerTimeout, except in tests.
	answer time.Duration

	mu       sync.Mutex
	pausedTo time.Time

	down outage.Outage
	// unlimited counts the requests that were allowed without counting.
	unlimited atomic.Int64
}

// Open reads a Redis URL, `redis://user:password@host:port/db` or `rediss://` for TLS. It does not wait for Redis: while Redis does not
// answer, requests are allowed. The namespace keeps installations that share a Redis apart.
func Open(text, namespace string, logger *slog.Logger) (*Client, error) {
	options, err := redis.ParseURL(text)
	var unreadable *url.Error
	switch {
	case errors.As(err, &unreadable): // its text would repeat the password
		return nil, errors.New("not a URL")
	case err != nil:
		return nil, fmt.Errorf("not the URL of a Redis: %w", err)
	}
	options.ContextTimeoutEnabled = true
	options.DialTimeout, options.DialerRetries = answerTimeout, 1
	options.MaxRetries = -1 // a request whose answer was lost would count twice
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return &Client{redis: redis.NewClient(options), prefix: "svc:" + namespace + ":rate:", logger: logger, answer: answerTimeout}, nil
}

// Ping reports whether Redis answers.
func (c *Client) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.answer)
	defer cancel()
	return c.redis.Ping(ctx).Err()
}

// Close closes the connections.
func (c *Client) Close() error { return c.redis.Close() }

var (
	unlimitedDesc = prometheus.NewDesc("svc_rate_limit_unlimited_requests_total",
		"Requests that were allowed without counting because Redis did not answer.", nil, nil)
	downDesc = prometheus.NewDesc("svc_rate_limit_redis_down",
		"1 while Redis does not answer, so that requests are not limited.", nil, nil)
)

// Describe sends the descriptions of the metrics.
func (c *Client) Describe(ch chan<- *prometheus.Desc) { ch <- unlimitedDesc; ch <- downDesc }

// Collect reads the metrics.
func (c *Client) Collect(ch chan<- prometheus.Metric) {
	ch <- prometheus.MustNewConstMetric(unlimitedDesc, prometheus.CounterValue, float64(c.unlimited.Load()))
	down := 0.0
	if c.down.Down() {
		down = 1
	}
	ch <- prometheus.MustNewConstMetric(downDesc, prometheus.GaugeValue, down)
}

// redisWindow is a Window for all nodes that share the Redis. It is safe for concurrent use.
type redisWindow struct {
	client *Client
	name   string
	limit  int
	window time.Duration
}

// Window returns a limiter. Limiters of one name share their counts.
func (c *Client) Window(name string, limit int, window time.Duration) Limiter {
	return &redisWindow{client: c, name: name, limit: limit, window: window}
}

// Allow counts a request and reports whether it is within the limit. If it is not, the delay is the length of the window. While Redis does
// not answer, every request is allowed: a limit protects the service and must not take it down.
func (l *redisWindow) Allow(key string, _ time.Time) (bool, time.Duration) {
	c := l.client
	if c.paused() {
		c.unlimited.Add(1)
		return true, 0
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.answer)
	defer cancel()
	allowed, err := count.Run(ctx, c.redis, []string{c.prefix + l.name + ":" + key}, l.limit,
		strconv.FormatInt(l.window.Microseconds(), 10)).Int()
	c.observe(err)
	switch {
	case err != nil:
		c.unlimited.Add(1)
		return true, 0
	case allowed == 0:
		return false, l.window
	default:
		return true, 0
	}
}

func (c *Client) paused() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Before(c.pausedTo)
}

// observe logs once that Redis stops answering, and once that it answers again.
func (c *Client) observe(err error) {
	if err != nil {
		c.mu.Lock()
		c.pausedTo = time.Now().Add(pauseAfterFailure)
		c.mu.Unlock()
	}
	switch c.down.Observe(err) {
	case outage.Began:
		c.logger.Error("redis does not answer: requests are not limited until it does", "error", err)
	case outage.Ended:
		c.logger.Info("redis answers again: requests are limited", "unlimited_requests", c.unlimited.Load())
	case outage.None:
	}
}
