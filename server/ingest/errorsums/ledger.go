// Package errorsums carries sums of errors from the ingest pipeline to the issues in the relational database, each exactly once.
//
// The pipeline appends the sums of stored batches to a file, and then writes its checkpoint, which names the last entry. A crash between
// the two leaves an entry that no checkpoint names: the next start drops it, and the pipeline stores its batch and appends its sums again.
// The ledger flushes only entries that a checkpoint names. A flush has the number of its last entry, which the database stores in the same
// transaction, so entries that it has are never flushed again.
package errorsums

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// Database keeps the sums. *store.Store is one.
type Database interface {
	FlushErrorSums(ctx context.Context, node string, flush int64, sums []store.ErrorSum) error
	ErrorSumsFlushed(ctx context.Context, node string) (int64, error)
}

// Summed is a batch of the pipeline with sums.
type Summed interface{ ErrorSums() []blocks.ErrorSum }

// Config configures a Ledger.
type Config struct {
	// Dir is the folder of the queue; Node is the id of the queue.
	Dir, Node string
	Database  Database
	Logger    *slog.Logger
}

// Ledger is the file of sums. It is the Ledger of a pipeline.
type Ledger struct {
	cfg  Config
	file *os.File

	mu      sync.Mutex
	entries []entry
	size    int64
	last    int64 // the number of the last entry
	settled int64 // the last entry that a checkpoint names
	// known is set while flushed is the number in the database.
	known   bool
	flushed int64
	// tried is the last entry that a flush may have stored.
	tried int64

	stop, done chan struct{}
	once       sync.Once
}

type entry struct {
	Number int64 `json:"number"`
	Sums   []sum `json:"sums"`
}

// sum is a store.ErrorSum with its organization.
type sum struct {
	Org principal.OrgID `json:"org"`
	store.ErrorSum
}

const name = "errors"

// Open opens the ledger of a queue. Give it to the pipeline, and then call Run.
func Open(cfg Config) (*Ledger, error) {
	f, err := os.OpenFile(filepath.Join(cfg.Dir, name), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the sums of errors: %w", err)
	}
	return &Ledger{cfg: cfg, file: f, stop: make(chan struct{}), done: make(chan struct{})}, nil
}

// Restore reads the entries that a checkpoint names, and drops the others. The pipeline calls it before any Append.
func (l *Ledger) Restore(settled int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.settled, l.tried = settled, settled, settled
	var end int64
	for {
		e, n, err := read(l.file)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.cfg.Logger.Error("some sums of errors cannot be read; issues may count too few occurrences", "error", err)
			break
		}
		if e.Number > settled {
			break // its batch is stored and summed again
		}
		end += n
		l.entries = append(l.entries, e)
	}
	l.size = end
	if err := l.file.Truncate(end); err != nil {
		return fmt.Errorf("cut the sums of errors: %w", err)
	}
	return nil
}

// frameHead is the length of an entry and its checksum.
const frameHead = 8

func read(f io.Reader) (entry, int64, error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return entry{}, 0, io.EOF // a torn entry was never named by a checkpoint
	}
	n := binary.LittleEndian.Uint32(head[:])
	if int64(n) > limits.ErrorSumsMemory {
		return entry{}, 0, errors.New("an entry is damaged: its length")
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(f, body); err != nil {
		return entry{}, 0, io.EOF
	}
	if crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)) != binary.LittleEndian.Uint32(head[4:]) {
		return entry{}, 0, errors.New("an entry is damaged: its checksum")
	}
	var e entry
	if err := json.Unmarshal(body, &e); err != nil {
		return entry{}, 0, err
	}
	return e, frameHead + int64(n), nil
}

func frame(e *entry) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	out := make([]byte, frameHead, frameHead+len(body))
	binary.LittleEndian.PutUint32(out, uint32(len(body)))
	binary.LittleEndian.PutUint32(out[4:], crc32.Checksum(body, crc32.MakeTable(crc32.Castagnoli)))
	return append(out, body...), nil
}

// Append makes the sums of batches durable and returns the number of the last entry. Batches without errors cost nothing. A repetition
// after a failure appends the same again, which Settle then names alone.
func (l *Ledger) Append(batches []pipeline.Batch) (int64, error) {
	var all []sum
	for _, b := range batches {
		s, ok := b.(Summed)
		if !ok {
			continue
		}
		for _, row := range s.ErrorSums() {
			all = append(all, convert(&row))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all) == 0 {
		return l.last, nil
	}
	// The clock keeps the numbers ascending when a checkpoint was lost.
	e := entry{Number: max(l.last+1, time.Now().UnixMicro()), Sums: merge(all)}
	body, err := frame(&e)
	if err != nil {
		return 0, err
	}
	if _, err = l.file.WriteAt(body, l.size); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return 0, errors.Join(err, l.file.Truncate(l.size))
	}
	l.size += int64(len(body))
	l.last = e.Number
	l.entries = append(l.entries, e)
	return l.last, nil
}

// Settle notes that a checkpoint names an entry: now it may be flushed.
func (l *Ledger) Settle(number int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settled = max(l.settled, number)
}

func convert(r *blocks.ErrorSum) sum {
	out := sum{principal.OrgID(r.Org), store.ErrorSum{
		Hash: strconv.FormatUint(r.Hash, 10), Service: r.Service, Type: r.Type, Message: r.Message, Label: r.Label, Frame: r.Frame,
		Grouping: r.Grouping, Count: r.Count, Weight: r.Weight, First: time.Unix(0, r.First).UTC(), Last: time.Unix(0, r.Last).UTC(),
		Versions: times(r.Versions), Environments: times(r.Environments),
	}}
	if r.Hash == 0 {
		out.Hash, out.Label = store.OverflowFingerprint(r.Service), store.OverflowLabel
	}
	return out
}

func times(names map[string]int64) map[string]time.Time {
	out := make(map[string]time.Time, len(names))
	for name, at := range names {
		out[name] = time.Unix(0, at).UTC()
	}
	return out
}

type key struct {
	org  principal.OrgID
	hash string
}

// merge joins the sums of a group.
func merge(all []sum) []sum {
	index := map[key]int{}
	var out []sum
	for _, s := range all {
		k := key{s.Org, s.Hash}
		if at, ok := index[k]; ok {
			out[at].Add(&s.ErrorSum)
			continue
		}
		index[k] = len(out)
		out = append(out, s)
	}
	return out
}
