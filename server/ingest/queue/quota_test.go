package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ownerOf reads the owner from a header of these tests.
func ownerOf(header []byte) []byte {
	owner, _, _ := bytes.Cut(header, []byte("/"))
	return owner
}

func appendFor(ctx context.Context, l *Log, owner string, size int) (Position, error) {
	return l.Append(ctx, Record{Header: []byte(owner + "/"), Owner: owner, Payload: make([]byte, size)})
}

func (l *Log) holding(owner string) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ledger.held(owner)
}

func TestOwnerQuota(t *testing.T) {
	dir := t.TempDir()
	cfg := Config{Dir: dir, MaxBytes: 1 << 20, MaxBytesPerOwner: 100 << 10, Owner: ownerOf}
	l := mustOpen(t, cfg)
	n := 0
	for ; ; n++ {
		if _, err := appendFor(t.Context(), l, "a", 9<<10); errors.Is(err, ErrOwnerFull) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if held := l.holding("a"); n != 11 || held > 100<<10 {
		t.Errorf("%d records of 9 KiB, %d bytes held", n, held)
	}
	tail := l.Tail()
	if _, err := appendFor(t.Context(), l, "a", 9<<10); !errors.Is(err, ErrOwnerFull) || errors.Is(err, ErrUnavailable) || l.Tail() != tail {
		t.Errorf("over the quota: %v, tail %v, was %v", err, l.Tail(), tail)
	}
	// Other owners have their own share, which takes even a single larger record. Records without an owner count to no share.
	for _, owner := range []string{"b", "", ""} {
		if _, err := appendFor(t.Context(), l, owner, 120<<10); err != nil {
			t.Errorf("owner %q: %v", owner, err)
		}
	}
	if _, err := appendFor(t.Context(), l, "b", 1); !errors.Is(err, ErrOwnerFull) {
		t.Errorf("behind the large record: %v", err)
	}
	mustClose(t, l)
	// The share is known again after a restart, and Release frees it.
	l = mustOpen(t, cfg)
	defer mustClose(t, l)
	if _, err := appendFor(t.Context(), l, "a", 9<<10); !errors.Is(err, ErrOwnerFull) {
		t.Errorf("after a restart: %v", err)
	}
	if err := l.Release(l.Tail()); err != nil {
		t.Fatal(err)
	}
	if _, err := appendFor(t.Context(), l, "a", 99<<10); err != nil {
		t.Errorf("after the release: %v", err)
	}
}

// TestPublicHalf: records of public keys leave half of the owner's share to the other keys, and those may use all of it.
func TestPublicHalf(t *testing.T) {
	l := mustOpen(t, Config{Dir: t.TempDir(), MaxBytes: 1 << 20, MaxBytesPerOwner: 100 << 10, Owner: ownerOf})
	defer mustClose(t, l)
	send := func(owner string, public bool) error {
		_, err := l.Append(t.Context(), Record{Header: []byte(owner + "/"), Owner: owner, Public: public, Payload: make([]byte, 9<<10)})
		return err
	}
	count := func(owner string, public bool) (n int) {
		err := send(owner, public)
		for ; err == nil; n++ {
			err = send(owner, public)
		}
		if !errors.Is(err, ErrOwnerFull) || !errors.Is(l.Admits(owner, public, 9<<10), ErrOwnerFull) {
			t.Errorf("%v", err)
		}
		return n
	}
	for _, c := range []struct {
		owner  string
		public bool
		want   int
	}{{"a", true, 5}, {"a", false, 6}, {"a", true, 0}, {"b", false, 11}, {"c", true, 5}} {
		if n := count(c.owner, c.public); n != c.want {
			t.Errorf("%s, public %t: %d records, want %d", c.owner, c.public, n, c.want)
		}
	}
}

func TestDefaultQuota(t *testing.T) {
	for _, c := range []struct{ maxBytes, set, want int64 }{
		{16 << 30, 0, 1 << 30},
		{4 << 30, 0, 1 << 30},
		{1 << 30, 0, 256 << 20},
		{16 << 30, 3 << 30, 3 << 30},
		{16 << 30, -1, -1},
	} {
		l := mustOpen(t, Config{Dir: t.TempDir(), MaxBytes: c.maxBytes, MaxBytesPerOwner: c.set})
		if got := l.Stats().MaxBytesPerOwner; got != c.want {
			t.Errorf("MaxBytes %d, MaxBytesPerOwner %d: %d, want %d", c.maxBytes, c.set, got, c.want)
		}
		mustClose(t, l)
	}
}

// TestQuotaHoldsAmongConcurrentAppends: bytes are reserved before they are written.
func TestQuotaHoldsAmongConcurrentAppends(t *testing.T) {
	const quota, size = 64 << 10, 1000
	l := mustOpen(t, Config{Dir: t.TempDir(), MaxBytes: 16 << 20, MaxBytesPerOwner: quota})
	defer mustClose(t, l)
	var stored, refused atomic.Int64
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range 4 {
				switch _, err := appendFor(t.Context(), l, "a", size); {
				case err == nil:
					stored.Add(1)
				case errors.Is(err, ErrOwnerFull):
					refused.Add(1)
				default:
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if want := int64(quota / (frameHeadSize + 2 + size)); stored.Load() != want || refused.Load() != 256-want ||
		l.Stats().Refused != 256-want {
		t.Errorf("%d stored, %d refused, want %d stored", stored.Load(), refused.Load(), want)
	}
	if s := l.Stats(); s.LargestOwnerBytes > quota || s.WaitingBytes != 0 {
		t.Errorf("%+v", s)
	}
}

// TestOrderOfRefusals: the owner's share is checked first, then the state of the whole queue, then the disk.
func TestOrderOfRefusals(t *testing.T) {
	for _, c := range []struct {
		name                     string
		share, backedUp, failing bool
		want, not                error
	}{
		{"share", true, false, false, ErrOwnerFull, ErrUnavailable},
		{"share before backlog", true, true, false, ErrOwnerFull, ErrBackedUp},
		{"share before disk", true, false, true, ErrOwnerFull, ErrUnavailable},
		{"backlog", false, true, false, ErrBackedUp, ErrUnavailable},
		{"backlog before disk", false, true, true, ErrBackedUp, ErrUnavailable},
		{"disk", false, false, true, ErrUnavailable, ErrBackedUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			fs := &faultyFilesystem{}
			l := mustOpen(t, Config{Dir: t.TempDir(), MaxBytes: 1 << 20, MaxBytesPerOwner: 200 << 10, Filesystem: fs})
			defer mustClose(t, l)
			fill := func(owner string) {
				if _, err := appendFor(t.Context(), l, owner, 199<<10); err != nil {
					t.Fatal(err)
				}
			}
			if c.share {
				fill("a")
			}
			others := 0
			if c.backedUp {
				others = 4
			}
			if c.share && c.backedUp {
				others = 3
			}
			for i := range others {
				fill(fmt.Sprint("other", i))
			}
			size := 20 << 10
			if c.backedUp {
				size = 150 << 10
			}
			fs.set(func(f *faultyFilesystem) {
				if c.failing {
					f.writeErr = syscall.EIO
				}
			})
			tail := l.Tail()
			if _, err := appendFor(t.Context(), l, "a", size); !errors.Is(err, c.want) || errors.Is(err, c.not) || l.Tail() != tail {
				t.Errorf("%v", err)
			}
		})
	}
}

// stalled returns a log whose disk has taken one record, "first", and hangs.
func stalled(t *testing.T, cfg Config) (l *Log, fs *blockingSync, first chan error) {
	t.Helper()
	fs = &blockingSync{entered: make(chan struct{}), goOn: make(chan struct{})}
	cfg.Dir, cfg.Filesystem = t.TempDir(), fs
	l = mustOpen(t, cfg)
	first = make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	t.Cleanup(cancel)
	go func() {
		_, err := appendFor(ctx, l, "first", 10)
		first <- err
	}()
	<-fs.entered // the head of the segment
	return l, fs, first
}

// release lets this sync and all later ones end.
func (b *blockingSync) release(done <-chan struct{}) {
	go func() {
		for {
			select {
			case b.goOn <- struct{}{}:
			case <-b.entered:
			case <-done:
				return
			}
		}
	}()
}

// TestStalledDisk: the backlog for the disk is bounded, no caller waits beyond its deadline, and all appends are accounted for
// when the disk works again.
func TestStalledDisk(t *testing.T) {
	l, fs, first := stalled(t, Config{MaxWaitingBytes: 10 << 10})
	if err := <-first; !errors.Is(err, ErrUndecided) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the one that the disk has: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	late := make(chan error, 1)
	go func() {
		_, err := appendFor(ctx, l, "late", 9<<10)
		late <- err
	}()
	for l.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	if _, err := appendFor(t.Context(), l, "more", 9<<10); !errors.Is(err, ErrBackedUp) {
		t.Errorf("more than may wait: %v", err)
	}
	if err := <-late; errors.Is(err, ErrUndecided) || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the one that waited: %v", err)
	}
	if s := l.Stats(); s.Waiting != 0 || l.holding("late") != 0 {
		t.Errorf("after it was withdrawn: %+v", s)
	}
	done := make(chan struct{})
	defer close(done)
	fs.release(done)
	if _, err := appendFor(t.Context(), l, "after", 10); err != nil {
		t.Error(err)
	}
	if s := l.Stats(); s.WaitingBytes != 0 || s.Records != 2 || l.holding("first") == 0 {
		t.Errorf("%+v", s)
	}
	if err := l.Release(l.Tail()); err != nil {
		t.Fatal(err)
	}
	if s := l.Stats(); s.HeldBytes != 0 {
		t.Errorf("%d bytes leaked", s.HeldBytes)
	}
	mustClose(t, l)
}

// TestOwnersTakeTurnsAtTheDisk: a record waits for one group of another owner's flood, not for all of it.
func TestOwnersTakeTurnsAtTheDisk(t *testing.T) {
	l, fs, _ := stalled(t, Config{MaxBytesPerOwner: -1})
	var order []string
	l.Subscribe(func(cs []Committed) {
		for _, c := range cs {
			order = append(order, string(ownerOf(c.Header)))
		}
	})
	var wg sync.WaitGroup
	waiting := 0
	send := func(owner string, size int) {
		wg.Go(func() {
			if _, err := appendFor(context.Background(), l, owner, size); err != nil {
				t.Error(err)
			}
		})
		waiting++
		for l.Stats().Waiting < waiting {
			time.Sleep(time.Millisecond)
		}
	}
	for range 20 {
		send("flood", 1<<20)
	}
	send("quiet", 100)
	done := make(chan struct{})
	defer close(done)
	fs.release(done)
	wg.Wait()
	at := -1
	for i, owner := range order {
		if owner == "quiet" {
			at = i
		}
	}
	if at < 0 || at > 2 {
		t.Errorf("the quiet owner's record came as number %d: %v", at, order)
	}
	mustClose(t, l)
}

// TestLedgerNeverLeaks runs random operations on a log and compares the ledger's count for each owner with the records.
func TestLedgerNeverLeaks(t *testing.T) {
	var met sync.Map
	t.Run("seed", func(t *testing.T) {
		for seed := range uint64(6) {
			t.Run(fmt.Sprint(seed), func(t *testing.T) { t.Parallel(); wander(t, rand.New(rand.NewPCG(seed, 1)), &met) })
		}
	})
	for _, err := range outcomes() {
		if _, ok := met.Load(fmt.Sprint(err)); !ok {
			t.Errorf("no append ended with %v: the test shows less than it means to", err)
		}
	}
}

func outcomes() []error {
	return []error{nil, context.Canceled, ErrOwnerFull, ErrBackedUp, ErrUnavailable}
}

func wander(t *testing.T, r *rand.Rand, met *sync.Map) {
	fs := &faultyFilesystem{}
	cfg := Config{
		Dir: t.TempDir(), MaxBytes: 256 << 10, SegmentBytes: 16 << 10, MaxBytesPerOwner: 60 << 10, Owner: ownerOf, Filesystem: fs,
	}
	l := mustOpen(t, cfg)
	owners := []string{"a", "b", "c", "d", "e"}
	var done Position
	for step := range 60 {
		switch r.IntN(6) {
		case 0: // the disk fails for a while
			fs.set(func(f *faultyFilesystem) { f.syncErr = syscall.EIO })
		case 1: // the consumer advances to the end of some record
			done = somewhere(l, done, r)
			if err := l.Release(done); err != nil {
				t.Fatal(err)
			}
		case 2: // a restart, after which the checkpoint is applied again
			fs.set(func(f *faultyFilesystem) { f.syncErr = nil })
			mustClose(t, l)
			l = mustOpen(t, cfg)
			if err := l.Release(done); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		for range 1 + r.IntN(20) {
			owner, size, cut := owners[r.IntN(len(owners))], r.IntN(6000), r.IntN(4) == 0
			wg.Go(func() {
				ctx, cancel := context.WithCancel(context.Background())
				if cut {
					go cancel()
				}
				_, err := appendFor(ctx, l, owner, size)
				cancel()
				for _, e := range outcomes() {
					if errors.Is(err, e) {
						met.Store(fmt.Sprint(e), true)
						return
					}
				}
				t.Errorf("unexpected: %v", err)
			})
		}
		wg.Wait()
		fs.set(func(f *faultyFilesystem) { f.syncErr = nil })
		agree(t, l, done, step)
	}
	if err := l.Release(l.Tail()); err != nil {
		t.Fatal(err)
	}
	l.mu.Lock()
	if n := len(l.ledger.holders) + len(l.ledger.ranges); n != 0 || l.ledger.total != 0 || l.ledger.reserved != 0 {
		t.Errorf("left in the ledger: %+v", l.ledger)
	}
	l.mu.Unlock()
	mustClose(t, l)
}

// somewhere returns the end of a random record behind from.
func somewhere(l *Log, from Position, r *rand.Rand) Position {
	rd := l.Reader(from)
	defer rd.Close()
	for range r.IntN(60) {
		c, err := rd.Next()
		if err != nil {
			break
		}
		from = c.Next
	}
	return from
}

// agree compares the ledger with the records behind done. A range is freed as a whole, so an owner's count may be a little
// higher.
func agree(t *testing.T, l *Log, done Position, step int) {
	t.Helper()
	want := map[string]int64{}
	rd := l.Reader(done)
	defer rd.Close()
	for {
		c, err := rd.Next()
		if err != nil {
			break
		}
		want[string(ownerOf(c.Header))] += frameHeadSize + int64(len(c.Header)+len(c.Payload))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	const slack = minLedgerRange + 6100
	got := map[string]int64{}
	for owner, h := range l.ledger.holders {
		got[owner] = h.bytes
		if over := h.bytes - want[owner]; over >= 0 && over <= slack {
			want[owner] = h.bytes
		}
	}
	for owner, n := range want {
		if n == 0 {
			delete(want, owner)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || l.ledger.reserved != 0 || l.waitingBytes != 0 || l.waiting.Len() != 0 {
		t.Fatalf("step %d: the ledger says otherwise than the log (-log +ledger): %s; reserved %d, waiting %d bytes", step, diff,
			l.ledger.reserved, l.waitingBytes)
	}
}
