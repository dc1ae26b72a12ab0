package errorsums

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse/blocks"
)

// batch is a batch of the pipeline that has only sums.
type batch struct {
	pipeline.Batch
	sums []blocks.ErrorSum
}

func (b batch) ErrorSums() []blocks.ErrorSum { return b.sums }

func of(hash uint64, n int64) pipeline.Batch {
	at := time.Date(2026, 3, 1, 0, 0, 0, int(n), time.UTC).UnixNano()
	return batch{sums: []blocks.ErrorSum{{
		Org: "org_a", Service: "web", Hash: hash, Type: "Oops", Count: n, Weight: float64(n), First: at, Last: at,
		Versions: map[string]int64{"1": at}, Environments: map[string]int64{"": at},
	}}}
}

// database counts by fingerprint, as the store does. After a failure, the flush may have arrived or not.
type database struct {
	counts  map[string]int64
	flushed int64
	// fail is called for each flush; its results say whether the flush arrives, and whether it answers.
	fail func() (arrives, answers bool)
	away bool
}

var errAway = errors.New("the database does not answer")

func (d *database) FlushErrorSums(_ context.Context, _ string, flush int64, sums []store.ErrorSum) error {
	if d.away {
		return errAway
	}
	arrives, answers := true, true
	if d.fail != nil {
		arrives, answers = d.fail()
	}
	if arrives && flush > d.flushed {
		d.flushed = flush
		for _, s := range sums {
			d.counts[s.Hash] += s.Count
		}
	}
	if !answers {
		return errAway
	}
	return nil
}

func (d *database) ErrorSumsFlushed(context.Context, string) (int64, error) {
	if d.away {
		return 0, errAway
	}
	return d.flushed, nil
}

func openLedger(t *testing.T, dir string, d *database, settled int64) *Ledger {
	t.Helper()
	l, err := Open(Config{Dir: dir, Node: "n", Database: d, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.file.Close() })
	if err := l.Restore(settled); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *Ledger) add(t *testing.T, batches ...pipeline.Batch) int64 {
	t.Helper()
	n, err := l.Append(batches)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCrashes plays a pipeline that appends, writes its checkpoint, and dies at any moment, with a database that does not always answer. In
// the end each batch is counted once.
func TestCrashes(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		dir := t.TempDir()
		d := &database{counts: map[string]int64{}}
		d.fail = func() (arrives, answers bool) {
			answers = random.IntN(4) > 0
			return answers || random.IntN(2) == 0, answers
		}
		checkpoint := int64(0)
		want := map[string]int64{}
		l := openLedger(t, dir, d, checkpoint)
		for step := 0; step < 40; {
			hash, n := uint64(1+random.IntN(3)), int64(1+random.IntN(5))
			entry := l.add(t, of(hash, n))
			if random.IntN(5) == 0 { // it dies before the checkpoint, and stores the same batch again
				if random.IntN(2) == 0 {
					tear(t, filepath.Join(dir, name))
				}
				l = openLedger(t, dir, d, checkpoint)
				continue
			}
			checkpoint = entry
			want[strconv.FormatUint(hash, 10)] += n
			step++
			if random.IntN(5) == 0 { // it dies after the checkpoint
				l = openLedger(t, dir, d, checkpoint)
				continue
			}
			l.Settle(entry)
			if random.IntN(3) == 0 {
				_ = l.Flush(t.Context())
			}
		}
		d.fail = nil
		l = openLedger(t, dir, d, checkpoint)
		if err := l.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, d.counts); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, diff)
		}
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() != 0 {
			t.Fatalf("seed %d: the file has %v bytes, %v", seed, info, err)
		}
	}
}

// tear cuts the last bytes of a file off, as a crash in the middle of a write does.
func tear(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, max(info.Size()-3, 0)); err != nil {
		t.Fatal(err)
	}
}

// TestLongOutage fills the ledger while the database does not answer. Entries are joined, groups that are too many become one a
// service, and no occurrence is lost.
func TestLongOutage(t *testing.T) {
	d := &database{counts: map[string]int64{}, away: true}
	l := openLedger(t, t.TempDir(), d, 0)
	total := int64(0)
	for n := range 30 {
		var batches []pipeline.Batch
		for i := range 3000 {
			b := of(uint64(1+n*3000+i), 1).(batch)
			b.sums[0].Message = fmt.Sprintf("%0500d", i)
			batches = append(batches, b)
			total++
		}
		l.Settle(l.add(t, batches...))
		if err := l.Flush(t.Context()); !errors.Is(err, errAway) {
			t.Fatalf("got %v", err)
		}
	}
	if l.size > 80<<20 || len(l.entries) >= 30 {
		t.Errorf("%d bytes wait in %d entries", l.size, len(l.entries))
	}
	d.away = false
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range d.counts {
		sum += n
	}
	if sum != total || d.counts[store.OverflowFingerprint("web")] == 0 {
		t.Errorf("%d of %d occurrences, %d of them without a group", sum, total, d.counts[store.OverflowFingerprint("web")])
	}
}

// TestOverflow sums the groups of a batch that are too many by service.
func TestOverflow(t *testing.T) {
	d := &database{counts: map[string]int64{}}
	l := openLedger(t, t.TempDir(), d, 0)
	l.Settle(l.add(t, of(0, 7), of(5, 1), of(5, 2)))
	if err := l.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{store.OverflowFingerprint("web"): 7, "5": 3}, d.counts); diff != "" {
		t.Error(diff)
	}
}
