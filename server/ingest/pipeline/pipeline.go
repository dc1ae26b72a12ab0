// Package pipeline carries committed records from the ingest queue into the warehouse. It gathers them into large batches in log
// order, inserts each batch with deduplication tokens and advances a checkpoint.
//
// A batch is a range of the log. The pipeline records the range durably before the first insert, and the checkpoint after the
// last. After a crash it builds the same range again and inserts it with the same tokens, so nothing is lost and nothing is
// stored twice. Normally records come with their decoded columns attached and are not decoded again. While the warehouse is slow
// or down, columns beyond a memory bound are dropped, and the records are read from the log later.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
)

// Batch accumulates decoded records, in order, for all tables. Only one goroutine uses it at a time.
type Batch interface {
	// Add adds the decoded columns of one record. The attachment still belongs to the caller. On an error the batch is unchanged.
	Add(attachment queue.Attachment) error
	// Decode adds one record from its header and payload, which are valid only during the call. It gives the same tables as Add. On
	// an error the batch is unchanged.
	Decode(header, payload []byte) error
	Rows() int
	Bytes() int
	// Tables returns the tables to insert. Tables without rows are skipped.
	Tables() []Table
	Reset()
}

// Table holds the rows of one batch for one table.
type Table interface {
	Name() string
	Rows() int
	// Columns returns the column list of the INSERT. WriteTo writes the data in the Native format, and is called again for a
	// retry.
	Columns() string
	WriteTo(w io.Writer) (int64, error)
}

// Inserter stores a table. A second insert with the same token must add nothing. The pipeline retries a failed insert forever,
// with two exceptions. An error with a method Retryable() bool that returns false means that these rows are refused; the pipeline
// then searches for the bad record. Errors of the table or the server (unknown table, wrong password) must be retryable. An error
// with a method Suspect() bool that returns true may come from the rows or from the server. The pipeline retries it only for a
// while, because one block must not stop all later ones.
type Inserter interface {
	Insert(ctx context.Context, table Table, token string) error
}

// ViewIgnorer is an Inserter that can also store a table without the views that fail on its rows. It gets the token of the failed
// insert and stores nothing twice.
type ViewIgnorer interface {
	InsertIgnoringViews(ctx context.Context, table Table, token string) error
}

// LateInserter is an Inserter that can repeat an insert although the warehouse may have forgotten its token: it finds the rows
// that an earlier attempt has stored. That costs more than an insert, so only late attempts use it.
type LateInserter interface {
	InsertLate(ctx context.Context, table Table, token string) error
}

// Ledger keeps the sums of batches, beside the tables. An entry counts once the checkpoint names it.
type Ledger interface {
	// Restore is called once, before all other methods, with the number of the last entry that counts. Later entries belong to spans that
	// are inserted again; the ledger drops them.
	Restore(number int64) error
	// Append makes the sums of stored batches durable, and returns the number of the last entry.
	Append(batches []Batch) (int64, error)
	// Settle says that entries up to this number count.
	Settle(number int64)
}

// Defaults of Config.
const (
	DefaultMaxRows   = 100_000
	DefaultMaxBytes  = 64 << 20
	DefaultMaxAge    = time.Second
	DefaultMaxMemory = 32 << 20
	DefaultLaneRows  = 50_000
	DefaultRetryMin  = 250 * time.Millisecond
	DefaultRetryMax  = 30 * time.Second
)

// growth is the factor by which a batch may exceed MaxRows while the previous one is being inserted.
const growth = 2

// Config configures a pipeline.
type Config struct {
	Log *queue.Log
	// NewBatch makes an empty batch. Several goroutines may call it.
	NewBatch func() Batch
	Inserter Inserter
	// Ledger may be nil.
	Ledger Ledger
	// A batch is inserted when it reaches MaxRows or MaxBytes, or MaxAge after its first record arrived. While Parallel batches are
	// being inserted, it continues to grow: up to MaxBytes, twice MaxRows, or the rows of two seconds if those are fewer.
	MaxRows  int
	MaxBytes int
	MaxAge   time.Duration
	// Parallel is how many batches are inserted at once. The rows of an owner arrive in order only if it is 1, the default.
	Parallel int
	// MaxMemory bounds the attachments that wait to be added to a batch.
	MaxMemory int64
	// When the oldest record that the main cursor has not handed on is older than LaneAge, the owner with most of the unread bytes gets a
	// lane, if these are at least LaneBytes. At most MaxLanes are open. While a lane is open, a cut has about LaneRows, and fewer if
	// the warehouse stores fewer in a second.
	LaneAge   time.Duration
	LaneBytes int64
	LaneRows  int
	MaxLanes  int
	RetryMin  time.Duration
	RetryMax  time.Duration
	Logger    *slog.Logger
	// Now is the clock by which the age of an insert is measured. The default is time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() (Config, error) {
	if c.Log == nil || c.NewBatch == nil || c.Inserter == nil {
		return c, errors.New("pipeline: Log, NewBatch and Inserter are required")
	}
	if c.MaxRows <= 0 {
		c.MaxRows = DefaultMaxRows
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.MaxAge <= 0 {
		c.MaxAge = DefaultMaxAge
	}
	if c.Parallel <= 0 {
		c.Parallel = 1
	}
	if c.MaxMemory <= 0 {
		c.MaxMemory = DefaultMaxMemory
	}
	if c.LaneAge <= 0 {
		c.LaneAge = limits.LaneAge
	}
	if c.LaneBytes <= 0 {
		c.LaneBytes = limits.LaneBytes
	}
	if c.LaneRows <= 0 {
		c.LaneRows = DefaultLaneRows
	}
	if c.MaxLanes == 0 {
		c.MaxLanes = limits.Lanes
	}
	if c.RetryMin <= 0 {
		c.RetryMin = DefaultRetryMin
	}
	if c.RetryMax <= 0 {
		c.RetryMax = DefaultRetryMax
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c, nil
}

// Pipeline is a running pipeline. It releases every attachment that it receives once. Its methods are safe for concurrent use.
type Pipeline struct {
	cfg    Config
	log    *queue.Log
	logger *slog.Logger
	save   func(dir string, c checkpoint) error

	// ctx ends when the pipeline gives up its work.
	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	wake   chan struct{}
	cuts   chan *cut
	free   chan Batch
	slots  chan struct{} // one for each flight
	done   sync.WaitGroup
	once   sync.Once

	mu sync.Mutex
	// seen is the end of the newest record that the sink received. The log's own tail may be ahead of it for a moment. Using the
	// tail would read records from disk whose columns are about to arrive.
	seen queue.Position
	// newest is the owner of that record.
	newest  string
	pending []pendingRecord
	memory  int64
	state   checkpoint
	moved   chan struct{}
	// gathering is the time of the oldest record in the batch being filled.
	gathering time.Time
	// flights are the cuts that are being inserted, in the order in which they were made.
	flights []*flight
	started time.Time
	stats   Stats
	// beside holds the owners that have a lane, and laneOldest the time from which on their lanes have unread records.
	beside     []string
	laneOldest time.Time

	// rate is about how many rows the warehouse stores in a second, or 0 while that is unknown.
	rate atomic.Int64

	// mixed is the time of the last record whose owner was not that of the record before, in nanoseconds.
	mixed atomic.Int64

	// resumeTo is the end of the records of earlier runs. No batch crosses it, so all rows of a batch belong either to earlier
	// runs or to this one.
	resumeTo queue.Position

	// saving serializes checkpoint writes of tables that are split at the same time.
	saving sync.Mutex

	// Only the assembling goroutine uses the fields below. cursor is the main cursor.
	cursor   queue.Position
	lanes    []*lane
	laneNext bool
	caughtUp bool
	// owner is the owner of the last record.
	owner    string
	looked   time.Time
	reader   *queue.Reader
	readerAt queue.Position
}

// Start resumes the work at the checkpoint and subscribes to the log. Call it before the first Append.
func Start(cfg Config) (*Pipeline, error) { return start(cfg, saveCheckpoint) }

func start(cfg Config, save func(string, checkpoint) error) (*Pipeline, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	state, err := loadCheckpoint(cfg.Log.Dir(), cfg.Log.ID(), cfg.Logger)
	if err != nil {
		return nil, fmt.Errorf("read the ingest checkpoint: %w", err)
	}
	if cfg.Ledger != nil {
		if err := cfg.Ledger.Restore(state.Ledger); err != nil {
			return nil, err
		}
	}
	p := &Pipeline{
		cfg: cfg, log: cfg.Log, logger: cfg.Logger, save: save,
		stop: make(chan struct{}), wake: make(chan struct{}, 1), cuts: make(chan *cut),
		free: make(chan Batch, cfg.Parallel+1), slots: make(chan struct{}, cfg.Parallel),
		state: state, moved: make(chan struct{}), started: time.Now(),
	}
	p.stand(state.places())
	p.stats.Rows, p.stats.Resumed, p.stats.Refused = map[string]int64{}, map[string]int64{}, map[string]int64{}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for range cfg.Parallel + 1 {
		p.free <- cfg.NewBatch()
	}
	end := p.cursor
	for _, in := range state.Intents {
		if end.Before(in.To) {
			end = in.To
		}
	}
	p.log.EnsureAfter(end)
	// Records that an earlier run stored must not use any share of the queue.
	if err := p.log.Release(state.Done); err != nil {
		p.logger.Warn("queue segments not released, next batch tries again", slog.Any("error", err))
	}
	p.seen = p.log.Tail()
	p.resumeTo = p.seen
	p.log.Subscribe(p.accept)
	p.done.Go(p.assemble)
	p.done.Go(p.insertAll)
	p.done.Go(p.retryQuarantined)
	return p, nil
}

// ErrBacklog means that Close left records in the log, which the next Start stores. They are as safe as before.
var ErrBacklog = errors.New("telemetry waits in the ingest queue for the next start")

// Close inserts the records committed so far, writes the checkpoint and stops. If ctx ends first, Close gives up at once with
// ErrBacklog, and the next start reads the rest from the log. Stop appending before Close, and close the log after it.
func (p *Pipeline) Close(ctx context.Context) error {
	p.once.Do(func() { close(p.stop) })
	finished := make(chan struct{})
	go func() { p.done.Wait(); close(finished) }()
	var err error
	select {
	case <-finished:
	case <-ctx.Done():
		err = fmt.Errorf("close the ingest pipeline: %w: %w", ErrBacklog, ctx.Err())
		p.cancel()
		<-finished
	}
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.pending {
		if r.attachment != nil {
			r.attachment.Release()
		}
	}
	p.pending, p.memory = nil, 0
	return err
}

// Flushed waits until the record at pos is in the warehouse (or quarantined).
func (p *Pipeline) Flushed(ctx context.Context, pos queue.Position) error {
	for {
		p.mu.Lock()
		done, moved := p.state.Done, p.moved
		p.mu.Unlock()
		if pos.Before(done) {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		case <-p.ctx.Done():
			p.mu.Lock()
			defer p.mu.Unlock()
			if pos.Before(p.state.Done) {
				return nil
			}
			return errors.New("the ingest pipeline has stopped")
		}
	}
}

// Stats is a snapshot for metrics. Its counters start at Start.
type Stats struct {
	// Rows counts inserted rows by table. Rows that an earlier run acknowledged or set aside count in Resumed too.
	Rows, Resumed map[string]int64
	// Refused counts rows, by table, that this run acknowledged and the warehouse refused. Rows of a record that cannot be
	// decoded are not counted, because their number is unknown.
	Refused map[string]int64
	Batches int64
	Retries int64
	// StoredWithoutViews counts inserts that were stored without the views that failed on their rows.
	StoredWithoutViews int64
	// Replayed counts records that were read from the log instead of taken from memory. Spilled counts attachments that were
	// dropped to save memory.
	Replayed    int64
	Spilled     int64
	Quarantined int64
	// MemoryBytes is the memory of waiting attachments.
	MemoryBytes int64
	// Failing is the error of the inserts that are being repeated, since FailingSince. It is nil while inserts succeed.
	Failing      error
	FailingSince time.Time
	// OldestUnflushed is the age of the oldest record that is not yet inserted, or 0 if all are inserted. For records that must
	// still be read from the log, it is a lower bound: the time since Start.
	OldestUnflushed time.Duration
	// Lanes is the number of open lanes. OldestOutsideLanes is OldestUnflushed without the records that wait for a lane.
	Lanes              int
	OldestOutsideLanes time.Duration
	// Beside are the owners of the lanes.
	Beside []string
	// Caught is true when the records of earlier runs are inserted. Only then are the ages exact.
	Caught bool
	// Done is the checkpoint: every record before it is inserted.
	Done queue.Position
}

// Stats returns a snapshot.
func (p *Pipeline) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Rows, s.Resumed, s.Refused = maps.Clone(s.Rows), maps.Clone(s.Resumed), maps.Clone(s.Refused)
	s.MemoryBytes, s.Done = p.memory, p.state.Done
	s.Lanes, s.Beside, s.Caught = len(p.beside), slices.Clone(p.beside), !p.state.Done.Before(p.resumeTo)
	age := func(t time.Time) time.Duration {
		if t.IsZero() {
			return 0
		}
		return time.Since(t)
	}
	s.OldestOutsideLanes = age(p.gathering)
	for _, f := range p.flights {
		s.OldestUnflushed = max(s.OldestUnflushed, age(f.age))
		if f.pick.Owner == "" {
			s.OldestOutsideLanes = max(s.OldestOutsideLanes, age(f.age))
		}
	}
	if len(p.pending) > 0 && p.pending[0].attachment != nil {
		s.OldestOutsideLanes = max(s.OldestOutsideLanes, age(p.pending[0].time))
	}
	s.OldestUnflushed = max(s.OldestUnflushed, s.OldestOutsideLanes, age(p.laneOldest))
	if s.OldestUnflushed == 0 && p.state.Done.Before(p.seen) {
		s.OldestUnflushed = time.Since(p.started)
	}
	return s
}

func (p *Pipeline) count(change func(s *Stats)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.stats)
}
