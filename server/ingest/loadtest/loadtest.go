// Package loadtest sends generated telemetry to an ingest gateway, remembers which requests were acknowledged, and checks later that
// every item of those is stored exactly once. Benchmarks use it for throughput, with bodies built beforehand; the kill tests use it
// with marked items, where no two are equal.
package loadtest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

// Protocol is how requests are sent.
type Protocol string

// Protocols.
const (
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
	GRPC         Protocol = "grpc"
)

// Config says what to send. A load ends after Requests or after Duration, whichever comes first; one of them must be set.
type Config struct {
	// URL is the ingest address for HTTP (`http://127.0.0.1:4318`); Addr is host:port for gRPC.
	URL, Addr string
	Key       string
	Protocol  Protocol
	Signal    otlp.Signal
	// Gzip compresses bodies.
	Gzip bool
	// Run names the load: every item carries it as the resource attribute RunAttribute. Letters, digits and `-` only.
	Run string
	// Marked makes every item of every request distinct, for Verify. Otherwise a few bodies are built once and sent again and again,
	// which costs the generator next to nothing.
	Marked bool
	// Varied builds a body of its own for each of Requests, with random ids, before the load begins: for what data costs on disk, as
	// nothing in it repeats that would not in life. It does not go with Marked.
	Varied bool
	// Series is how many series the data points of a varied load belong to, as processes that report theirs again and again: each
	// request holds a point of every series of one of Series/Items processes. 0 makes every point the first of its series.
	Series   int
	Workers  int
	Requests int
	Duration time.Duration
	// Items is the number of items in a request. Default 512.
	Items int
	// Rate is the most requests a second, 0 for as many as the workers manage.
	Rate float64
	// Seed varies the values; the same seed gives the same values, but for the times.
	Seed uint64
}

func (c Config) validated() (Config, error) {
	c.Workers, c.Items = cmp.Or(c.Workers, 4), cmp.Or(c.Items, 512)
	switch {
	case c.Requests <= 0 && c.Duration <= 0:
		return c, errors.New("loadtest: set Requests or Duration, or the load would never end")
	case c.Requests >= maxRequests || c.Items > maxItems:
		return c, fmt.Errorf("loadtest: at most %d requests of %d items", maxRequests-1, maxItems)
	case c.Varied && (c.Marked || c.Requests <= 0):
		return c, errors.New("loadtest: Varied needs Requests and does not go with Marked")
	case c.Series != 0 && (!c.Varied || c.Series < c.Items):
		return c, errors.New("loadtest: Series needs Varied, and at least as many as Items")
	case c.Run == "" || !plain(c.Run):
		return c, errors.New("loadtest: Run must be of letters, digits and `-`")
	}
	return c, nil
}

func plain(s string) bool {
	for _, r := range s {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' {
			return false
		}
	}
	return true
}

// Report is what became of a load.
type Report struct {
	Run    string
	Signal otlp.Signal
	// Items is the number of items in each request.
	Items int
	// Requests by outcome. Acknowledged ones must be stored; refused ones must not be; of failed ones (connection cut, no answer)
	// nobody knows.
	Acknowledged, Refused, Failed int
	// Answers counts every other answer than success by its status; Failure is one of the errors behind Failed.
	Answers map[string]int
	Failure error
	// Bytes is what was sent in acknowledged requests, after compression.
	Bytes    int64
	Elapsed  time.Duration
	P50, P99 time.Duration

	acknowledged []int
	// numbers is one more than the highest number of a request that was sent.
	numbers int
}

// AcknowledgedItems is the number of items that must be stored.
func (r *Report) AcknowledgedItems() int { return r.Acknowledged * r.Items }

// String is the report in one line.
func (r *Report) String() string {
	return fmt.Sprintf("%s: %d requests of %d %s acknowledged, %d refused, %d failed in %s (%.0f items/s, %.1f MB/s); ack p50 %s, p99 %s; answers %v",
		r.Run, r.Acknowledged, r.Items, r.Signal, r.Refused, r.Failed, r.Elapsed.Round(time.Millisecond), float64(r.AcknowledgedItems())/r.Elapsed.Seconds(),
		float64(r.Bytes)/1e6/r.Elapsed.Seconds(), r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond), r.Answers)
}

// sender sends one body. refused is the status text of an answer that is no success; err means that no answer came.
type sender interface {
	send(ctx context.Context, body []byte) (refused string, err error)
	close()
}

// pause keeps workers from spinning while the server is away.
const pause = 20 * time.Millisecond

// Load is a load that is ready to send: its bodies are built.
type Load struct {
	cfg Config
	gen *generator
}

// Prepare builds the bodies of a load, which for a varied one takes longer than to send them.
func Prepare(cfg Config) (*Load, error) {
	cfg, err := cfg.validated()
	if err != nil {
		return nil, err
	}
	gen, err := newGenerator(cfg)
	if err != nil {
		return nil, err
	}
	return &Load{cfg, gen}, nil
}

// Bodies are those that the load goes round in, as they are sent. A marked load has none: it makes each as it is sent.
func (l *Load) Bodies() [][]byte { return l.gen.ready }

// Run prepares a load and sends it.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	l, err := Prepare(cfg)
	if err != nil {
		return nil, err
	}
	return l.Run(ctx)
}

// Run sends the load and returns when it is over. A canceled ctx ends it early; that is no error, since the report still holds.
func (l *Load) Run(ctx context.Context) (*Report, error) {
	cfg, gen := l.cfg, l.gen
	out, err := newSender(cfg)
	if err != nil {
		return nil, err
	}
	defer out.close()
	var stop context.CancelFunc = func() {}
	until := ctx
	if cfg.Duration > 0 {
		until, stop = context.WithTimeout(ctx, cfg.Duration)
	}
	defer stop()

	r := &Report{Run: cfg.Run, Signal: cfg.Signal, Items: cfg.Items, Answers: map[string]int{}}
	pace := rate.NewLimiter(rate.Inf, 1)
	if cfg.Rate > 0 {
		pace.SetLimit(rate.Limit(cfg.Rate))
	}
	var (
		next      atomic.Int64
		mu        sync.Mutex
		latencies []time.Duration
		wg        sync.WaitGroup
	)
	started := time.Now()
	for range cfg.Workers {
		wg.Go(func() {
			w := gen.worker()
			for until.Err() == nil {
				n := int(next.Add(1)) - 1
				if cfg.Requests > 0 && n >= cfg.Requests || n >= maxRequests || pace.Wait(until) != nil {
					return
				}
				body := w.body(n)
				sent := time.Now()
				// A request that has begun may end: cutting it would make its outcome unknown for no reason.
				refused, err := out.send(ctx, body)
				took := time.Since(sent)
				mu.Lock()
				r.numbers = max(r.numbers, n+1)
				switch {
				case err != nil:
					r.Failed++
					r.Failure = err
				case refused != "":
					r.Refused++
					r.Answers[refused]++
				default:
					r.Acknowledged++
					r.Bytes += int64(len(body))
					r.acknowledged = append(r.acknowledged, n)
					latencies = append(latencies, took)
				}
				mu.Unlock()
				if err != nil || refused != "" {
					w.abandon()
					wait(until, pause)
				}
			}
		})
	}
	wg.Wait()
	r.Elapsed = time.Since(started)
	slices.Sort(latencies)
	if n := len(latencies); n > 0 {
		r.P50, r.P99 = latencies[n/2], latencies[min(n-1, n*99/100)]
	}
	return r, nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
