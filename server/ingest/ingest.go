// Package ingest takes telemetry in. HTTP and OTLP over gRPC are two doors to one path: the key admits a request, the body is read within
// bounds, walked once into warehouse columns, and appended to the durable queue. Only then the request is acknowledged.
//
// The checks have a fixed order, and a request fails on the first one that it does not pass: path and method, key, the signals of the key,
// its rate, the open requests of its organization, size, media type, body, plan, queue.
//
// Six places can refuse a request or make it wait. Each bounds something else, so none can stand for another. A request passes them in this
// order:
//
//   - ratelimit.PerSecond bounds the requests per second of a custom key, by the limit of the key. It refuses (429).
//   - inFlight bounds the open requests of an organization, by Limits.InFlight. It refuses (429).
//   - budget bounds the bytes of bodies in memory, by Limits.Buffered for all organizations together. It never waits, because a waiting
//     request holds memory. It refuses (429 for the share of the organization, 503 for all).
//   - backoff remembers, for each organization, the time until which the queue asked it to wait. It refuses a request that comes earlier
//     (429) before its body is decompressed, if the queue would refuse it still.
//   - decodePermit is the right to decompress and walk one body. A small body waits in decoderSlots, which bounds the bodies that are
//     decoded at once by Limits.Decoders and the reserved slots. A body of largeFrom bytes or more waits in largeQueue, which decodes one
//     at a time and refuses (429) when largeWaitingOrg of the organization or largeWaiting of all wait. In both, fair.Queue decides whose
//     turn it is: organizations take turns by bytes.
//   - queue.Log bounds the bytes on the disk and in memory before it. An organization waits for its turn at the disk, and is refused (429,
//     503) when the queue or its share is full.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/health"

	"github.com/svc-observability/svc/server/ingest/browsersdk"
	"github.com/svc-observability/svc/server/ingest/logpush"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/processors"
	"github.com/svc-observability/svc/server/ratelimit"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// TestKey is the key that anyone may use. The contract promises success for every request with it, and nothing is stored. The
// payload is still checked: the success reports its errors as rejected items do.
const TestKey = "SVC_TEST"

// Keys resolves ingest keys.
type Keys interface {
	// AuthenticateIngest returns the key with this secret. An *apierr.Error is the answer to the sender (IngestUnauthorized for a
	// key that is unknown, disabled, expired or of another region). Any other error means that the lookup failed and the sender
	// should try again. For a known key that is disabled or expired, the returned Key has Org and PublicID together with the
	// IngestUnauthorized.
	AuthenticateIngest(ctx context.Context, secret string) (Key, error)
}

// Key is a valid ingest key.
type Key struct {
	// Origin is stamped on the telemetry.
	otlp.Origin
	// PublicID is the public id of a key of any type. Usage and outcomes are recorded under it.
	PublicID string
	// RateLimit is in requests per second over all nodes. 0 means no limit.
	RateLimit float64
	// Signals lists the signals that the key may send ("traces", "logs", "metrics", …). Nil allows all.
	Signals []string
}

// Connectors resolves log push connectors.
type Connectors interface {
	// AuthenticateConnector returns the connector with this public id and secret. It returns errors as Keys does. A wrong id and
	// a wrong secret give the same error.
	AuthenticateConnector(ctx context.Context, id, secret string) (Connector, error)
	// Delivered records the outcome of a push. The problem is empty if everything was stored. Delivered does not wait.
	Delivered(c Connector, problem string)
}

// Connector is a valid log push connector.
type Connector struct {
	Org principal.OrgID
	// ID is the connector's public id (`cfp_…`).
	ID     string
	Source logpush.Source
}

// Queue is the durable queue, *queue.Log.
type Queue interface {
	// Append returns nil once the record is on disk. The attachment, a *blocks.Set, then belongs to the queue. After an error
	// nothing is stored, now or later, and the attachment still belongs to the caller. After queue.ErrUndecided the record may or
	// may not be stored, and everything in it belongs to the queue.
	Append(ctx context.Context, rec queue.Record) (queue.Position, error)
	// Admits returns the error with which Append would refuse a record of that size at once, or nil.
	Admits(owner string, public bool, size int) error
}

// Limits bound the cost of requests. A zero field has its default.
type Limits struct {
	// InFlight is the number of requests that one organization may have open. Default limits.IngestRequests.
	InFlight int
	// Body bounds an HTTP body as sent, compressed or not. Default limits.IngestBody.
	Body int
	// GRPCMessage bounds a gRPC message as sent. Default limits.GRPCMessage, which OTLP recommends.
	GRPCMessage int
	// Decompressed bounds a body after decompression, on both doors. Default limits.IngestDecompressed.
	Decompressed int
	// Recording bounds a chunk of a session's recording after decompression. The gateway never holds the whole chunk. Default
	// limits.Recording.
	Recording int
	// Buffered bounds the bytes of all bodies in memory at one time, compressed and decompressed. One organization may hold as much of it
	// as it leaves free. Default 512 MiB.
	Buffered int
	// Columns bounds the rows that one request creates. Default otlp.DefaultMaxBytes.
	Columns int
	// Request is the time that a request may take. Default limits.IngestTime.
	Request time.Duration
	// Decoders is the number of requests that are decompressed and walked at one time. A few reserved slots come on top, for
	// organizations that hold none. Default processors.Count: the work needs only a processor, so more at a time would only make
	// others wait.
	Decoders int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		InFlight:     cmp.Or(l.InFlight, limits.IngestRequests),
		Body:         cmp.Or(l.Body, limits.IngestBody),
		GRPCMessage:  cmp.Or(l.GRPCMessage, limits.GRPCMessage),
		Decompressed: cmp.Or(l.Decompressed, limits.IngestDecompressed),
		Recording:    cmp.Or(l.Recording, limits.Recording),
		Buffered:     cmp.Or(l.Buffered, 512<<20),
		Columns:      cmp.Or(l.Columns, otlp.DefaultMaxBytes),
		Request:      cmp.Or(l.Request, limits.IngestTime),
		Decoders:     cmp.Or(l.Decoders, processors.Count()),
	}
}

// Config configures a Gateway. Keys, Queue and Sets are required.
type Config struct {
	Keys Keys
	// Connectors is nil for a gateway without the endpoints of log push connectors.
	Connectors Connectors
	Queue      Queue
	// Sets is the pool of attachments. The consumer of the queue returns them there.
	Sets    *blocks.Pool
	Limits  Limits
	Logger  *slog.Logger
	Metrics prometheus.Registerer
	// Now is the clock that stamps records. Default time.Now.
	Now func() time.Time
	// Usage counts accepted items and enforces plans. Nil means neither.
	Usage *usage.Meter
	// Outcomes remembers the last answers to each key. Nil means that none are kept.
	Outcomes *outcome.Recorder
	// Nodes is the number of ingest nodes, which share the rate limits of keys. Default 1. SetNodes changes it.
	Nodes int
	// Region appears in the refusal of a key, because this region does not know the keys of other regions.
	Region string
	// SDK has the files of the browser SDK. Nil means that the program was built without them.
	SDK *browsersdk.Files
}

// Gateway is the ingest gateway. It is safe for concurrent use and starts no goroutines.
type Gateway struct {
	keys       Keys
	connectors Connectors
	queue      Queue
	sets       *blocks.Pool
	limits     Limits
	logger     *slog.Logger
	// noSniff is the value of X-Content-Type-Options in every answer. All answers share this slice.
	noSniff []string
	metrics *metrics
	now     func() time.Time
	region  string
	sdk     *browsersdk.Files

	usage    *usage.Meter
	outcomes *outcome.Recorder
	rates    *ratelimit.PerSecond

	inFlight inFlight
	decoders *decoderSlots
	large    *largeQueue
	budget   *budget
	backoff  backoff
	buffers  bufferPool
	gunzips  sync.Pool
	packer   *zstd.Encoder
	warnings warnings
	health   *health.Server
	draining atomic.Bool
}

// SetNodes changes the number of ingest nodes, which share the rate limits of keys.
func (g *Gateway) SetNodes(n int) { g.rates.SetNodes(n) }

// New makes a gateway.
func New(cfg Config) (*Gateway, error) {
	if cfg.Keys == nil || cfg.Queue == nil || cfg.Sets == nil {
		return nil, errors.New("ingest: Keys, Queue and Sets are required")
	}
	packer, err := newPacker()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(cfg.Metrics)
	if err != nil {
		return nil, err
	}
	limits := cfg.Limits.withDefaults()
	g := &Gateway{
		backoff: newBackoff(time.Now),
		keys:    cfg.Keys, connectors: cfg.Connectors, queue: cfg.Queue, sets: cfg.Sets, limits: limits, metrics: m, packer: packer,
		logger: cfg.Logger, noSniff: []string{"nosniff"}, now: cfg.Now, region: cfg.Region, sdk: cfg.SDK,
		usage: cfg.Usage, outcomes: cfg.Outcomes, rates: ratelimit.NewPerSecond(cfg.Nodes),
		inFlight: inFlight{limit: limits.InFlight, of: map[share]*atWork{}},
		decoders: newDecoderSlots(limits.Decoders), large: newLargeQueue(), budget: newBudget(limits.Buffered),
		health: newHealth(),
	}
	if cfg.Metrics != nil {
		for _, c := range g.loadSeries() {
			if err := cfg.Metrics.Register(c); err != nil {
				return nil, fmt.Errorf("ingest: metrics: %w", err)
			}
		}
	}
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if g.now == nil {
		g.now = time.Now
	}
	return g, nil
}

// Drain makes both health checks fail, so that load balancers send new requests elsewhere. Requests are still served.
func (g *Gateway) Drain() {
	g.draining.Store(true)
	g.health.Shutdown()
}
