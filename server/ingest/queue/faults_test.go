package queue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// faultyFilesystem is the real disk with failures on demand.
type faultyFilesystem struct {
	OSFilesystem
	syncs, dirSyncs atomic.Int64

	mu                                         sync.Mutex
	writeErr, syncErr, truncateErr, reserveErr error
	// short makes the next write stop after this many bytes.
	short int64
	free  uint64
}

func (f *faultyFilesystem) set(change func(f *faultyFilesystem)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(f)
}

func (f *faultyFilesystem) SyncDir(dir string) error {
	f.dirSyncs.Add(1)
	return f.OSFilesystem.SyncDir(dir)
}

func (f *faultyFilesystem) Free(dir string) (uint64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.free > 0 {
		return f.free, nil
	}
	return f.OSFilesystem.Free(dir)
}

func (f *faultyFilesystem) Create(path string) (File, error) {
	file, err := f.OSFilesystem.Create(path)
	return &faultyFile{File: file, fs: f}, err
}

func (f *faultyFilesystem) Open(path string) (File, error) {
	file, err := f.OSFilesystem.Open(path)
	return &faultyFile{File: file, fs: f}, err
}

type faultyFile struct {
	File
	fs *faultyFilesystem
}

func (f *faultyFile) WriteBuffers(b [][]byte, off int64) (int64, error) {
	f.fs.mu.Lock()
	err, short := f.fs.writeErr, f.fs.short
	f.fs.short = 0
	f.fs.mu.Unlock()
	if short > 0 || err != nil {
		var all []byte
		for _, p := range b {
			all = append(all, p...)
		}
		n := min(short, int64(len(all)))
		if short == 0 {
			n = int64(len(all)) / 2 // a failing write may leave any part of the bytes behind
		}
		if _, werr := f.File.WriteBuffers([][]byte{all[:n]}, off); werr != nil {
			return 0, werr
		}
		return n, err
	}
	return f.File.WriteBuffers(b, off)
}

func (f *faultyFile) Sync() error {
	f.fs.syncs.Add(1)
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.syncErr != nil {
		return f.fs.syncErr
	}
	return f.File.Sync()
}

func (f *faultyFile) Truncate(n int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.truncateErr != nil {
		return f.fs.truncateErr
	}
	return f.File.Truncate(n)
}

func (f *faultyFile) Preallocate(n int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.reserveErr != nil {
		return f.fs.reserveErr
	}
	return f.File.Preallocate(n)
}

func mustOpen(t testing.TB, cfg Config) *Log {
	t.Helper()
	if cfg.MinFreeBytes == 0 {
		cfg.MinFreeBytes = -1
	}
	l, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustClose(t testing.TB, l *Log) {
	t.Helper()
	if err := l.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func mustAppend(t testing.TB, l *Log, text string) Position {
	t.Helper()
	p, err := l.Append(context.Background(), Record{Header: []byte("h:" + text), Payload: []byte(text)})
	if err != nil {
		t.Fatalf("append %q: %v", text, err)
	}
	return p
}

// contents reads every record's payload behind from, and checks the headers and the chain of positions.
func contents(t testing.TB, l *Log, from Position) []string {
	t.Helper()
	r := l.Reader(from)
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	out := []string{}
	last := from
	for {
		c, err := r.Next()
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			return out
		}
		if c.Position.Before(last) || c.Position.Seq < last.Seq || !c.Position.Before(c.Next) {
			t.Fatalf("record at %v (next %v) does not follow %v", c.Position, c.Next, last)
		}
		if string(c.Header) != "h:"+string(c.Payload) {
			t.Fatalf("header %q of payload %q", c.Header, c.Payload)
		}
		last = c.Next
		out = append(out, string(c.Payload))
	}
}

func texts(from, to int) []string {
	out := []string{}
	for i := from; i < to; i++ {
		out = append(out, fmt.Sprintf("record %04d", i))
	}
	return out
}
