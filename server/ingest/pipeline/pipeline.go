// Package pipeline carries committed records from the ingest queue into the warehouse: it gathers them into large batches in log
// order, inserts each batch with deduplication tokens and advances a checkpoint.
//
// A batch is a range of the log. The range is recorded durably before the first insert and the checkpoint after the last, so that
// after a crash the same range is built again and inserted with the same tokens: nothing is lost and nothing is stored twice. In
// the normal run records come with their decoded columns attached and are not decoded again. When the warehouse is slow or down, columns
// beyond a memory bound are dropped, and the records are read from the log later.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
)

// Batch accumulates decoded records, in order, for all tables. It is used by one goroutine at a time.
type Batch interface {
	// Add adds one record. With an attachment, header and payload are nil and the attachment holds the decoded columns, which
	// stay the caller's; without, the record is decoded from header and payload, which are good only during the call. The same
	// records in the same order must give the same tables either way. On an error the batch is as it was before.
	Add(header, payload []byte, attachment any) error
	Rows() int
	Bytes() int
	// Tables returns what to insert; tables without rows are passed over.
	Tables() []Table
	Reset()
}

// Table is the rows of one batch for one table.
type Table interface {
	Name() string
	Rows() int
	// Columns is the column list of the INSERT, WriteTo the data in the Native format. WriteTo is called again when an insert is
	// retried.
	Columns() string
	WriteTo(w io.Writer) (int64, error)
}

// Inserter stores a table. A second insert with the same token must add nothing. An insert that fails is retried for ever, with two
// exceptions. An error with a method Retryable() bool that returns false means that these rows are refused; the pipeline then searches for
// the bad record. Errors of the table or the server (unknown table, wrong password) must be retryable. An error with a method Suspect() bool
// that returns true may come from the rows or from the server. It is retried for a while only, since one block must not stop all later
// ones.
type Inserter interface {
	Insert(ctx context.Context, table Table, token string) error
}

// ViewIgnorer is an Inserter that can also store a table without the views that fail on the rows. It gets the token of the failed insert and
// stores nothing twice.
type ViewIgnorer interface {
	InsertIgnoringViews(ctx context.Context, table Table, token string) error
}

// Defaults of Config.
const (
	DefaultMaxRows   = 100_000
	DefaultMaxBytes  = 64 << 20
	DefaultMaxAge    = time.Second
	DefaultMaxMemory = 32 << 20
	DefaultRetryMin  = 250 * time.Millisecond
	DefaultRetryMax  = 30 * time.Second
)

// growth is how many times MaxRows a batch may reach while the one before it is being inserted.
const growth = 2

// Config says what a pipeline works with.
type Config struct {
	Log *queue.Log
	// NewBatch makes an empty batch; it may be called from several goroutines.
	NewBatch func() Batch
	Inserter Inserter
	// A batch is inserted when it has MaxRows or MaxBytes, or MaxAge after its first record came in. While the one before it is still
	// being inserted it goes on growing, to MaxBytes or twice MaxRows.
	MaxRows  int
	MaxBytes int
	MaxAge   time.Duration
	// MaxMemory bounds the attachments that wait to be added to a batch.
	MaxMemory int64
	// AttachmentBytes returns the memory an attachment holds; ReleaseAttachment gives it back to its pool. The pipeline calls
	// ReleaseAttachment exactly once for every attachment it was handed; it must not block.
	AttachmentBytes   func(any) int
	ReleaseAttachment func(any)
	RetryMin          time.Duration
	RetryMax          time.Duration
	Logger            *slog.Logger
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
	if c.MaxMemory <= 0 {
		c.MaxMemory = DefaultMaxMemory
	}
	if c.RetryMin <= 0 {
		c.RetryMin = DefaultRetryMin
	}
	if c.RetryMax <= 0 {
		c.RetryMax = DefaultRetryMax
	}
	if c.AttachmentBytes == nil {
		c.AttachmentBytes = func(any) int { return 0 }
	}
	if c.ReleaseAttachment == nil {
		c.ReleaseAttachment = func(any) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Pipeline is a running pipeline. Its methods may be called from any goroutine.
type Pipeline struct {
	cfg    Config
	log    *queue.Log
	logger *slog.Logger
	save   func(dir string, c checkpoint) error

	// ctx ends when the pipeline gives up what it is doing.
	ctx    context.Context
	cancel context.CancelFunc
	stop   chan struct{}
	wake   chan struct{}
	cuts   chan *cut
	free   chan Batch
	done   sync.WaitGroup
	once   sync.Once

	mu sync.Mutex
	// seen is the end of the newest record handed over. The log's own tail may be ahead of it for a moment; taking that would
	// read records from disk whose columns are about to arrive.
	seen    queue.Position
	pending []pendingRecord
	memory  int64
	state   checkpoint
	moved   chan struct{}
	// since are the times of the oldest records in the batch being filled and in the one being inserted.
	since   [2]time.Time
	started time.Time
	stats   Stats

	// resumeTo is where the records of earlier runs end. No batch reaches over it, so that the rows of a batch are all theirs or all ours.
	resumeTo queue.Position

	// saving serialises checkpoint writes of tables that are split at the same time.
	saving sync.Mutex

	// The rest belongs to the assembling goroutine.
	cursor   queue.Position
	reader   *queue.Reader
	readerAt queue.Position
}

// Start takes up the work where the checkpoint left it and subscribes to the log. Call it before the first Append.
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
	p := &Pipeline{
		cfg: cfg, log: cfg.Log, logger: cfg.Logger, save: save,
		stop: make(chan struct{}), wake: make(chan struct{}, 1), cuts: make(chan *cut), free: make(chan Batch, 2),
		state: state, moved: make(chan struct{}), cursor: state.Done,
		started: time.Now(),
	}
	p.stats.Rows, p.stats.Resumed, p.stats.Refused = map[string]int64{}, map[string]int64{}, map[string]int64{}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.free <- cfg.NewBatch()
	p.free <- cfg.NewBatch()
	end := state.Done
	if state.Intent != nil && end.Before(state.Intent.To) {
		end = state.Intent.To
	}
	p.log.EnsureAfter(end)
	// Records that an earlier run stored use no share of the queue any more.
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

// Close inserts what has been committed so far, checkpoints and stops. When ctx ends first, it gives up at once; the rest is in
// the log for the next start. Stop appending before, and close the log after the pipeline.
func (p *Pipeline) Close(ctx context.Context) error {
	p.once.Do(func() { close(p.stop) })
	finished := make(chan struct{})
	go func() { p.done.Wait(); close(finished) }()
	var err error
	select {
	case <-finished:
	case <-ctx.Done():
		err = fmt.Errorf("close the ingest pipeline: telemetry waits in the queue for the next start: %w", ctx.Err())
		p.cancel()
		<-finished
	}
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.pending {
		p.cfg.ReleaseAttachment(r.attachment)
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

// Stats is a snapshot for metrics; counters count since Start.
type Stats struct {
	// Rows inserted, by table. Rows that an earlier run acknowledged or set aside are counted in Resumed, too.
	Rows, Resumed map[string]int64
	// Refused are rows, by table, that this run acknowledged and the warehouse refuses. Rows of a record that cannot be decoded are not
	// counted, because their number is unknown.
	Refused map[string]int64
	Batches int64
	Retries int64
	// Salvaged are inserts stored without the views that failed on their rows.
	Salvaged int64
	// Replayed records were read from the log instead of taken from memory; Spilled attachments were given up for memory.
	Replayed    int64
	Spilled     int64
	Quarantined int64
	// MemoryBytes are held by attachments that wait.
	MemoryBytes int64
	// OldestUnflushed is the age of the oldest record that is not yet inserted, 0 when there is none. Of records that are still to
	// be read from the log only a lower bound is known: they have waited since Start.
	OldestUnflushed time.Duration
	// Done is the checkpoint.
	Done queue.Position
}

// Stats returns a snapshot.
func (p *Pipeline) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.stats
	s.Rows, s.Resumed, s.Refused = maps.Clone(s.Rows), maps.Clone(s.Resumed), maps.Clone(s.Refused)
	s.MemoryBytes, s.Done = p.memory, p.state.Done
	times := p.since[:]
	if len(p.pending) > 0 {
		times = append(times[:len(times):len(times)], p.pending[0].time)
	}
	for _, t := range times {
		if !t.IsZero() {
			s.OldestUnflushed = max(s.OldestUnflushed, time.Since(t))
		}
	}
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
