package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/svc-observability/svc/server/ingest/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The header of a test record names its tables ("a,b"), with an owner before them ("owner!a,b") or without. Its payload is its row in
// each table. A payload that starts with "undecodable" cannot be decoded.

func ownerOf(header []byte) []byte {
	owner, _, ok := bytes.Cut(header, []byte("!"))
	if !ok {
		return nil
	}
	return owner
}

type columns struct {
	header, payload string
	released        *atomic.Int64
}

func (c *columns) Bytes() int { return len(c.payload) }
func (c *columns) Release()   { c.released.Add(1) }

type rowBatch struct {
	rows  map[string][]string
	count int
	bytes int
}

func (b *rowBatch) Add(attachment queue.Attachment) error {
	c := attachment.(*columns)
	return b.Decode([]byte(c.header), []byte(c.payload))
}

func (b *rowBatch) Decode(header, payload []byte) error {
	h, p := string(header), string(payload)
	if strings.HasPrefix(p, "undecodable") {
		return errors.New("the payload cannot be decoded")
	}
	if _, tables, ok := strings.Cut(h, "!"); ok {
		h = tables
	}
	for _, t := range strings.Split(h, ",") {
		b.rows[t] = append(b.rows[t], p)
		b.count++
	}
	b.bytes += len(p)
	return nil
}

func (b *rowBatch) Rows() int  { return b.count }
func (b *rowBatch) Bytes() int { return b.bytes }
func (b *rowBatch) Reset()     { clear(b.rows); b.count, b.bytes = 0, 0 }

func (b *rowBatch) Tables() []Table {
	var out []Table
	for name, rows := range b.rows {
		out = append(out, rowTable{name: name, rows: rows})
	}
	return out
}

type rowTable struct {
	name string
	rows []string
}

func (t rowTable) Name() string    { return t.name }
func (t rowTable) Rows() int       { return len(t.rows) }
func (t rowTable) Columns() string { return "row" }
func (t rowTable) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, strings.Join(t.rows, "\n"))
	return int64(n), err
}

type refused struct{}

func (refused) Error() string   { return "a value is out of range" }
func (refused) Retryable() bool { return false }

// warehouse stores rows once per token, and outlives pipelines.
type warehouse struct {
	t      testing.TB
	mu     sync.Mutex
	tokens map[string]string
	rows   map[string][]string
	// before runs ahead of an insert and may refuse it. after runs once the rows are stored and may lose the answer.
	before, after func(table string) error
	inserts       atomic.Int64
}

func newWarehouse(t testing.TB) *warehouse {
	return &warehouse{t: t, tokens: map[string]string{}, rows: map[string][]string{}}
}

func (w *warehouse) hooks(before, after func(string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before, w.after = before, after
}

func (w *warehouse) Insert(ctx context.Context, table Table, token string) error {
	w.mu.Lock()
	before, after := w.before, w.after
	w.mu.Unlock()
	if before != nil {
		if err := before(table.Name()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var text strings.Builder
	if _, err := table.WriteTo(&text); err != nil {
		return err
	}
	rows := strings.Split(text.String(), "\n")
	for _, r := range rows {
		if strings.Contains(r, "poison@"+table.Name()) {
			return refused{}
		}
	}
	w.mu.Lock()
	if old, ok := w.tokens[token]; !ok {
		w.tokens[token] = text.String()
		w.rows[table.Name()] = append(w.rows[table.Name()], rows...)
		w.inserts.Add(1)
	} else if old != text.String() {
		w.t.Errorf("token %s names two different blocks", token)
	}
	w.mu.Unlock()
	if after != nil {
		return after(table.Name())
	}
	return nil
}

func (w *warehouse) stored(table string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.rows[table])
}

// rig is a log with a pipeline, on a warehouse that outlives both.
type rig struct {
	t        testing.TB
	dir      string
	disk     queue.Filesystem
	w        *warehouse
	log      *queue.Log
	p        *Pipeline
	change   func(*Config)
	save     func(string, checkpoint) error
	handed   atomic.Int64
	released atomic.Int64
}

func newRig(t testing.TB, dir string, w *warehouse, change func(*Config)) *rig {
	r := &rig{t: t, dir: dir, w: w, change: change, save: saveCheckpoint}
	r.open()
	return r
}

func (r *rig) open() {
	r.t.Helper()
	log, err := queue.Open(queue.Config{Dir: r.dir, SegmentBytes: 8 << 10, MinFreeBytes: -1, Filesystem: r.disk, Owner: ownerOf})
	if err != nil {
		r.t.Fatal(err)
	}
	cfg := Config{
		Log: log, Inserter: r.w, NewBatch: func() Batch { return &rowBatch{rows: map[string][]string{}} },
		MaxAge: 5 * time.Millisecond, RetryMin: time.Millisecond, RetryMax: 5 * time.Millisecond,
	}
	if r.change != nil {
		r.change(&cfg)
	}
	p, err := start(cfg, r.save)
	if err != nil {
		r.t.Fatal(err)
	}
	r.log, r.p = log, p
}

// crash stops the pipeline without finishing anything that the disk would show.
func (r *rig) crash() {
	r.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.p.Close(ctx) // reports records that wait for the next start, or no error: the tests cover both
	r.closeLog()
}

func (r *rig) close() {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.p.Close(ctx); err != nil {
		r.t.Fatal(err)
	}
	r.closeLog()
}

func (r *rig) closeLog() {
	r.t.Helper()
	if err := r.log.Close(context.Background()); err != nil {
		r.t.Fatal(err)
	}
	if r.handed.Load() != r.released.Load() {
		r.t.Errorf("%d attachments handed over, %d released", r.handed.Load(), r.released.Load())
	}
}

func (r *rig) append(tables, row string, attached bool) queue.Position {
	r.t.Helper()
	rec := queue.Record{Header: []byte(tables), Payload: []byte(row), Owner: string(ownerOf([]byte(tables)))}
	if attached {
		rec.Attachment = &columns{header: tables, payload: row, released: &r.released}
		r.handed.Add(1)
	}
	pos, err := r.log.Append(context.Background(), rec)
	if err != nil {
		r.t.Fatal(err)
	}
	return pos
}

func (r *rig) flushed(pos queue.Position) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.p.Flushed(ctx, pos); err != nil {
		r.t.Fatal(err)
	}
}

func rows(from, to int) []string {
	out := []string{}
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("row %04d", i))
	}
	return out
}

func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }
