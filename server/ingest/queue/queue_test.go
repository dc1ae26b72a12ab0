package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReopenKeepsRecordsAndOrder(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir, SegmentBytes: 4 << 10})
	id := l.ID()
	var last Position
	for _, s := range texts(0, 300) {
		p := mustAppend(t, l, s)
		if !last.Before(p) || p.Seq <= last.Seq && !last.IsZero() {
			t.Fatalf("position %v after %v", p, last)
		}
		last = p
	}
	if s := l.Stats(); s.Segments < 3 || s.Records != 300 || s.Appended != 300 || s.OldestSegment.IsZero() {
		t.Errorf("stats %+v", s)
	}
	mustClose(t, l)
	if _, err := l.Append(context.Background(), Record{}); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close: %v", err)
	}

	l = mustOpen(t, Config{Dir: dir, SegmentBytes: 4 << 10})
	defer mustClose(t, l)
	if l.ID() != id {
		t.Errorf("id %s became %s", id, l.ID())
	}
	if diff := cmp.Diff(texts(0, 300), contents(t, l, Position{})); diff != "" {
		t.Error(diff)
	}
	p := mustAppend(t, l, "record 0300")
	if !last.Before(p) || p.Seq != last.Seq+1 {
		t.Errorf("position %v after reopen, %v before", p, last)
	}
	if diff := cmp.Diff(texts(299, 301), contents(t, l, last)); diff != "" {
		t.Error(diff)
	}
	if d := l.Damage(); len(d) > 0 {
		t.Errorf("damage %+v", d)
	}
}

func TestReaderFollowsWriter(t *testing.T) {
	l := mustOpen(t, Config{Dir: t.TempDir(), SegmentBytes: 4 << 10})
	defer mustClose(t, l)
	r := l.Reader(Position{})
	defer r.Close()
	for _, want := range texts(0, 200) {
		if _, err := r.Next(); err == nil || err.Error() != "EOF" {
			t.Fatalf("at the end: %v", err)
		}
		mustAppend(t, l, want)
		c, err := r.Next()
		if err != nil || string(c.Payload) != want {
			t.Fatalf("%q %v, want %q", c.Payload, err, want)
		}
	}
}

func TestFolderInUse(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir})
	_, err := Open(Config{Dir: dir})
	if !errors.Is(err, ErrInUse) || err.Error() != "the queue folder "+dir+" is in use by another process" {
		t.Errorf("second open: %v", err)
	}
	mustClose(t, l)
	mustClose(t, mustOpen(t, Config{Dir: dir}))
}

func TestConfigRefused(t *testing.T) {
	for _, cfg := range []Config{{}, {Dir: t.TempDir(), SegmentBytes: -1}, {Dir: t.TempDir(), MaxBytes: -1}} {
		if l, err := Open(cfg); err == nil {
			mustClose(t, l)
			t.Errorf("%+v accepted", cfg)
		}
	}
}

func TestReleaseDeletesOldSegmentsOnly(t *testing.T) {
	dir := t.TempDir()
	l := mustOpen(t, Config{Dir: dir, SegmentBytes: 4 << 10})
	var at []Position
	for _, s := range texts(0, 300) {
		at = append(at, mustAppend(t, l, s))
	}
	if err := l.Release(at[150]); err != nil {
		t.Fatal(err)
	}
	rest := contents(t, l, Position{})
	if len(rest) < 150 || len(rest) == 300 || rest[len(rest)-1] != "record 0299" {
		t.Errorf("%d records left", len(rest))
	}
	if diff := cmp.Diff(texts(150, 300), contents(t, l, at[150])); diff != "" {
		t.Error(diff)
	}
	if err := l.Release(l.Tail()); err != nil {
		t.Fatal(err)
	}
	tail := l.Tail()
	mustClose(t, l)
	// Numbers continue even if every record is released and the log was opened twice since.
	for range 2 {
		l = mustOpen(t, Config{Dir: dir, SegmentBytes: 4 << 10})
		if err := l.Release(l.Tail()); err != nil {
			t.Fatal(err)
		}
		mustClose(t, l)
	}
	l = mustOpen(t, Config{Dir: dir, SegmentBytes: 4 << 10})
	defer mustClose(t, l)
	if p := mustAppend(t, l, "new"); p.Seq < tail.Seq || p.Before(tail) {
		t.Errorf("position %v, tail was %v", p, tail)
	}
}

func TestEnsureAfter(t *testing.T) {
	l := mustOpen(t, Config{Dir: t.TempDir()})
	defer mustClose(t, l)
	done := Position{Segment: 7, Offset: 900, Seq: 55}
	l.EnsureAfter(done)
	p := mustAppend(t, l, "a")
	if p.Before(done) || p.Seq < 55 {
		t.Errorf("position %v", p)
	}
	if diff := cmp.Diff([]string{"a"}, contents(t, l, done)); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentAppendsShareSyncsAndKeepOrder(t *testing.T) {
	fs := &faultyFilesystem{}
	l := mustOpen(t, Config{Dir: t.TempDir(), SegmentBytes: 64 << 10, Filesystem: fs})
	defer mustClose(t, l)
	var sunk []string
	var end Position
	l.Subscribe(func(cs []Committed) {
		for _, c := range cs {
			if c.After != end {
				t.Errorf("record at %v says it follows %v, the last one ended at %v", c.Position, c.After, end)
			}
			end = c.Next
			if c.Attachment != text(c.Payload) || string(c.Header) != "h:"+string(c.Payload) {
				t.Errorf("payload %q header %q attachment %v", c.Payload, c.Header, c.Attachment)
			}
			sunk = append(sunk, string(c.Payload))
		}
	})
	before := fs.syncs.Load()
	var wg sync.WaitGroup
	for w := range 16 {
		wg.Go(func() {
			var buf []byte // reused after each append, as the handlers do
			for i := range 100 {
				buf = fmt.Appendf(buf[:0], "%d/%d %s", w, i, strings.Repeat("x", i))
				if _, err := l.Append(context.Background(), Record{
					Header: []byte("h:" + string(buf)), Payload: buf,
					Attachment: text(buf),
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(sunk, contents(t, l, Position{})); diff != "" || len(sunk) != 1600 {
		t.Errorf("%d records; sink and log differ: %s", len(sunk), diff)
	}
	if n := fs.syncs.Load() - before; n >= 1600 {
		t.Errorf("%d syncs for 1600 records: no group commit", n)
	}
	if fs.dirSyncs.Load() < int64(l.Stats().Segments) {
		t.Errorf("%d folder syncs for %d segments", fs.dirSyncs.Load(), l.Stats().Segments)
	}
}

// blockingSync blocks every sync until the test releases it.
type blockingSync struct {
	OSFilesystem
	entered chan struct{}
	goOn    chan struct{}
}

func (b *blockingSync) Create(path string) (File, error) {
	f, err := b.OSFilesystem.Create(path)
	if strings.HasSuffix(path, segmentSuffix) {
		return &blockingFile{File: f, b: b}, err
	}
	return f, err
}

type blockingFile struct {
	File
	b *blockingSync
}

func (f *blockingFile) Sync() error {
	f.b.entered <- struct{}{}
	<-f.b.goOn
	return f.File.Sync()
}

func TestWithdrawnBeforeTakenCompletedAfter(t *testing.T) {
	fs := &blockingSync{entered: make(chan struct{}), goOn: make(chan struct{})}
	l := mustOpen(t, Config{Dir: t.TempDir(), Filesystem: fs})
	ctx, cancel := context.WithCancel(context.Background())
	first := make(chan error)
	go func() {
		_, err := l.Append(ctx, Record{Header: []byte("h:taken"), Payload: []byte("taken")})
		first <- err
	}()
	<-fs.entered // the head of the new segment
	second := make(chan error)
	ctx2, cancel2 := context.WithCancel(context.Background())
	go func() {
		_, err := l.Append(ctx2, Record{Header: []byte("h:late"), Payload: []byte("late")})
		second <- err
	}()
	for l.Stats().Waiting == 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	cancel2()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting append: %v", err)
	}
	fs.goOn <- struct{}{}
	<-fs.entered
	fs.goOn <- struct{}{}
	if err := <-first; err != nil {
		t.Errorf("an append the writer had taken: %v", err)
	}
	if diff := cmp.Diff([]string{"taken"}, contents(t, l, Position{})); diff != "" {
		t.Error(diff)
	}
	mustClose(t, l)
}

func TestFailingDisk(t *testing.T) {
	tests := map[string]struct {
		fail func(*faultyFilesystem)
		full bool
	}{
		"write fails":              {fail: func(f *faultyFilesystem) { f.writeErr = syscall.EIO }},
		"no space":                 {fail: func(f *faultyFilesystem) { f.writeErr = syscall.ENOSPC }, full: true},
		"short write":              {fail: func(f *faultyFilesystem) { f.short = 20 }},
		"sync fails":               {fail: func(f *faultyFilesystem) { f.syncErr = syscall.EIO }},
		"sync and truncate fail":   {fail: func(f *faultyFilesystem) { f.syncErr, f.truncateErr = syscall.EIO, syscall.EIO }},
		"write and truncate fail":  {fail: func(f *faultyFilesystem) { f.writeErr, f.truncateErr = syscall.ENOSPC, syscall.EIO }, full: true},
		"write and reserving fail": {fail: func(f *faultyFilesystem) { f.writeErr, f.reserveErr = syscall.ENOSPC, syscall.ENOSPC }, full: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fs := &faultyFilesystem{}
			l := mustOpen(t, Config{Dir: dir, Filesystem: fs})
			sunk := 0
			l.Subscribe(func(c []Committed) { sunk += len(c) })
			mustAppend(t, l, "before")
			fs.set(tt.fail)
			n := 3
			if name == "short write" {
				n = 1
			}
			for i := range n {
				_, err := l.Append(context.Background(), Record{Header: []byte("h:refused"), Payload: []byte("refused"), Attachment: text("1")})
				if !errors.Is(err, ErrUnavailable) || i == 0 && errors.Is(err, ErrFull) != tt.full {
					t.Fatalf("append on a failing disk: %v", err)
				}
			}
			fs.set(func(f *faultyFilesystem) {
				f.writeErr, f.syncErr, f.truncateErr, f.reserveErr, f.short = nil, nil, nil, nil, 0
			})
			mustAppend(t, l, "after")
			want := []string{"before", "after"}
			if diff := cmp.Diff(want, contents(t, l, Position{})); diff != "" || sunk != 2 {
				t.Errorf("%d handed to the sink; %s", sunk, diff)
			}
			mustClose(t, l)
			l = mustOpen(t, Config{Dir: dir})
			defer mustClose(t, l)
			if diff := cmp.Diff(want, contents(t, l, Position{})); diff != "" || len(l.Damage()) > 0 {
				t.Errorf("after reopening: %s, damage %+v", diff, l.Damage())
			}
		})
	}
}

func TestBoundAndRecovery(t *testing.T) {
	l := mustOpen(t, Config{Dir: t.TempDir(), MaxBytes: 64 << 10, HighWaterBytes: -1})
	defer mustClose(t, l)
	payload := bytes.Repeat([]byte("x"), 3000)
	n := 0
	for {
		_, err := l.Append(context.Background(), Record{Payload: payload})
		if err != nil {
			if !errors.Is(err, ErrFull) || !errors.Is(err, ErrUnavailable) {
				t.Fatal(err)
			}
			break
		}
		n++
	}
	if s := l.Stats(); n < 15 || s.Bytes > s.MaxBytes {
		t.Errorf("%d records, %d bytes", n, s.Bytes)
	}
	if _, err := l.Append(context.Background(), Record{Payload: make([]byte, 70<<10)}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a record beyond the bound: %v", err)
	}
	if err := l.Release(l.Tail()); err != nil {
		t.Fatal(err)
	}
	// Even a record that needs nearly the whole bound fits once everything before it is consumed, again and again.
	for range 3 {
		if _, err := l.Append(context.Background(), Record{Payload: make([]byte, 60<<10)}); err != nil {
			t.Fatalf("after release: %v", err)
		}
		if err := l.Release(l.Tail()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestReserveOnDisk(t *testing.T) {
	fs := &faultyFilesystem{free: 100 << 20}
	l := mustOpen(t, Config{Dir: t.TempDir(), Filesystem: fs, MinFreeBytes: 50 << 20})
	defer mustClose(t, l)
	if _, err := l.Append(context.Background(), Record{}); !errors.Is(err, ErrFull) {
		t.Errorf("64 MiB segment, 50 MiB reserve, 100 MiB free: %v", err)
	}
	fs.set(func(f *faultyFilesystem) { f.free = 120 << 20 })
	mustAppend(t, l, "fits")
}

func TestLostID(t *testing.T) {
	for name, damage := range map[string]func(string) error{
		"missing": os.Remove,
		"garbage": func(p string) error { return os.WriteFile(p, []byte("?"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			l := mustOpen(t, Config{Dir: dir})
			id := l.ID()
			mustAppend(t, l, "a")
			mustClose(t, l)
			if err := damage(filepath.Join(dir, "id")); err != nil {
				t.Fatal(err)
			}
			l = mustOpen(t, Config{Dir: dir})
			defer mustClose(t, l)
			if diff := cmp.Diff([]string{"a"}, contents(t, l, Position{})); diff != "" || l.ID() != id {
				t.Errorf("id %s, was %s; %s", l.ID(), id, diff)
			}
		})
	}
}

// text is an attachment that takes no memory.
type text string

func (text) Bytes() int { return 0 }
func (text) Release()   {}
