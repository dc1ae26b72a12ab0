// Package loadtest sends generated telemetry to an ingest gateway and remembers which requests were acknowledged. Later it checks
// that every item of those requests is stored exactly once. Benchmarks use it for throughput, with bodies built beforehand. The
// kill tests use it with marked items, which are all different.
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

// Protocol is the protocol and encoding of requests.
type Protocol string

// The protocols.
const (
	HTTPProtobuf Protocol = "http/protobuf"
	HTTPJSON     Protocol = "http/json"
	GRPC         Protocol = "grpc"
)

// Config sets what to send. A load ends after Requests or after Duration, whichever comes first. At least one of them must be
// set.
type Config struct {
	// URL is the ingest address for HTTP (`http://127.0.0.1:4318`). Addr is host:port for gRPC.
	URL, Addr string
	Key       string
	Protocol  Protocol
	Signal    otlp.Signal
	// Gzip compresses bodies.
	Gzip bool
	// Run names the load. Every item carries it as the resource attribute RunAttribute. Only letters, digits and `-` are allowed.
	Run string
	// Marked makes every item of every request distinct, for Verify. Otherwise a few bodies are built once and sent repeatedly,
	// which costs the generator next to nothing.
	Marked bool
	// Varied builds a separate body for each of Requests, with random ids, before the load begins. It serves to measure the cost
	// of data on disk, because its data repeats no more than real data. It cannot be combined with Marked.
	Varied bool
	// Series is the number of series of a varied load's data points. They resemble processes that report the same series again
	// and again: each request holds a point of every series of one of Series/Items processes. With 0, every point is the first of
	// its series.
	Series int
	// Fleet makes the items of a varied load of spans or log records resemble those of a fleet of SDKs: a request holds what one of many
	// instances collected in some seconds, traces have 5 to 30 spans, and some spans have exceptions, events and links.
	Fleet    bool
	Workers  int
	Requests int
	Duration time.Duration
	// Items is the number of items in a request. Default 512.
	Items int
	// Rate is the maximum number of requests per second. With 0 the workers send as fast as they can.
	Rate float64
	// Seed varies the values. The same seed gives the same values, except for the times.
	Seed uint64

	// began is when a fleet began to send.
	began time.Time
}

func (c Config) validated() (Config, error) {
	c.Workers, c.Items, c.began = cmp.Or(c.Workers, 4), cmp.Or(c.Items, 512), time.Now()
	switch {
	case c.Requests <= 0 && c.Duration <= 0:
		return c, errors.New("loadtest: set Requests or Duration, or the load would never end")
	case c.Requests >= maxRequests || c.Items > maxItems:
		return c, fmt.Errorf("loadtest: at most %d requests of %d items", maxRequests-1, maxItems)
	case c.Varied && (c.Marked || c.Requests <= 0):
		return c, errors.New("loadtest: Varied needs Requests and does not go with Marked")
	case c.Series != 0 && (!c.Varied || c.Series < c.Items):
		return c, errors.New("loadtest: Series needs Varied, and at least as many as Items")
	case c.Fleet && (!c.Varied || c.Signal == otlp.Metrics):
		return c, errors.New("loadtest: Fleet needs Varied, and spans or log records")
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

// Report is the result of a load.
type Report struct {
	Run    string
	Signal otlp.Signal
	// Items is the number of items in each request.
	Items int
	// Requests by outcome. Acknowledged ones must be stored. Refused ones must not be stored. The outcome of failed ones
	// (connection cut, no answer) is unknown.
	Acknowledged, Refused, Failed int
	// Answers counts responses other than success by status. Failure is one of the errors behind Failed.
	Answers map[string]int
	Failure error
	// Bytes is the size of all acknowledged requests after compression.
	Bytes    int64
	Elapsed  time.Duration
	P50, P99 time.Duration

	acknowledged []int
	// numbers is one more than the highest request number that was sent.
	numbers int
}

// AcknowledgedItems is the number of items that must be stored.
func (r *Report) AcknowledgedItems() int { return r.Acknowledged * r.Items }

// String returns the report in one line.
func (r *Report) String() string {
	return fmt.Sprintf("%s: %d requests of %d %s acknowledged, %d refused, %d failed in %s (%.0f items/s, %.1f MB/s); ack p50 %s, p99 %s; answers %v",
		r.Run, r.Acknowledged, r.Items, r.Signal, r.Refused, r.Failed, r.Elapsed.Round(time.Millisecond),
		float64(r.AcknowledgedItems())/r.Elapsed.Seconds(),
		float64(r.Bytes)/1e6/r.Elapsed.Seconds(), r.P50.Round(10*time.Microsecond), r.P99.Round(10*time.Microsecond), r.Answers)
}

// sender sends one body. refused is the status text of a response other than success. An err means that no response came.
type sender interface {
	send(ctx context.Context, body []byte) (refused string, err error)
	close()
}

// pause keeps workers from spinning while the server is down.
const pause = 20 * time.Millisecond

// Load is a load with finished bodies, ready to send.
type Load struct {
	cfg Config
	gen *generator
}

// Prepare builds the bodies of a load. For a varied load this takes longer than sending them.
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

// Bodies returns the bodies that the load sends in turn. For a marked load it returns nil, because each body is made when it is
// sent.
func (l *Load) Bodies() [][]byte { return l.gen.ready }

// Run prepares a load and sends it.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	l, err := Prepare(cfg)
	if err != nil {
		return nil, err
	}
	return l.Run(ctx)
}

// Run sends the load and returns at its end. A canceled ctx ends the load early. That is not an error, because the report is
// still valid.
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
				// A request under way may finish. Cutting it would make its outcome unknown for no reason.
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
