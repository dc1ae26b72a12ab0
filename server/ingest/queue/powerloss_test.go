package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// sector is the number of bytes that a disk writes at once.
const sector = 512

// powerFilesystem remembers what is on stable storage: of a file, the bytes at its last Sync; of a folder, the names at its last
// SyncDir. Everything else may or may not survive when the power goes.
type powerFilesystem struct {
	OSFilesystem
	mu      sync.Mutex
	stable  map[string][]byte // contents by name, also of removed files
	names   map[string]bool   // names at the last SyncDir
	current map[string]bool
}

func newPowerFilesystem() *powerFilesystem {
	return &powerFilesystem{stable: map[string][]byte{}, names: map[string]bool{}, current: map[string]bool{}}
}

func (f *powerFilesystem) Create(path string) (File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := f.OSFilesystem.Create(path)
	name := filepath.Base(path)
	f.current[name], f.stable[name] = true, nil
	return &powerFile{file, f, path}, err
}

// Open opens a file that is on stable storage, unless this run has created it.
func (f *powerFilesystem) Open(path string) (File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if name := filepath.Base(path); !f.current[name] {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f.stable[name], f.names[name], f.current[name] = data, true, true
	}
	file, err := f.OSFilesystem.Open(path)
	return &powerFile{file, f, path}, err
}

func (f *powerFilesystem) Remove(path string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.current, filepath.Base(path))
	return f.OSFilesystem.Remove(path)
}

func (f *powerFilesystem) SyncDir(string) error { // only the test cuts the power, so nothing needs to reach the real disk
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.names)
	for name := range f.current {
		f.names[name] = true
	}
	return nil
}

type powerFile struct {
	File
	fs   *powerFilesystem
	path string
}

func (f *powerFile) WriteBuffers(b [][]byte, off int64) (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.File.WriteBuffers(b, off)
}

func (f *powerFile) Truncate(n int64) error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	return f.File.Truncate(n)
}

func (f *powerFile) Sync() error {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	data, err := os.ReadFile(f.path)
	f.fs.stable[filepath.Base(f.path)] = data
	return err
}

// cut writes to a folder what a disk may hold after a power loss at this moment: everything stable, and any of the sectors and names
// that were on their way.
func (f *powerFilesystem) cut(t *testing.T, from, to string, r *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]bool{}
	for name := range f.names {
		all[name] = f.current[name] || r.IntN(2) == 0 // a removal that was not synced
	}
	for name := range f.current {
		all[name] = f.names[name] || r.IntN(2) == 0 // a creation that was not synced
	}
	for name, kept := range all {
		if !kept {
			continue
		}
		data := slices.Clone(f.stable[name])
		if now, err := os.ReadFile(filepath.Join(from, name)); err == nil && r.IntN(4) > 0 {
			if len(now) > len(data) {
				data = append(data, make([]byte, len(now)-len(data))...)
			}
			for at := 0; at < len(now); at += sector {
				if r.IntN(2) == 0 {
					copy(data[at:], now[at:min(at+sector, len(now))])
				}
			}
		}
		if err := os.WriteFile(filepath.Join(to, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPowerLoss cuts the power at random moments while callers append and segments are released. After the next start, every record
// that was acknowledged and not released is there once, and nothing is there that nobody sent. A kill of the process cannot show this,
// because the page cache outlives it.
func TestPowerLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	released := Position{}
	sent, acked := map[string]bool{}, map[string]Position{}
	checked := 0
	for round := range 150 {
		fs := newPowerFilesystem()
		l := mustOpen(t, Config{Dir: dir, Filesystem: fs, SegmentBytes: 8 << 10})
		seen := map[string]bool{}
		for _, text := range contents(t, l, Position{}) {
			if seen[text] || !sent[text] {
				t.Fatalf("round %d: %q is there twice, or nobody sent it", round, text)
			}
			seen[text] = true
		}
		for text, at := range acked {
			if !at.Before(released) && !seen[text] {
				t.Fatalf("round %d: %q at %v was acknowledged and is lost (released until %v)", round, text, at, released)
			}
			checked++
		}
		if l.Tail().Before(released) {
			released = l.Tail()
		}
		var mu sync.Mutex
		var wg sync.WaitGroup
		var stop atomic.Bool
		enough := make(chan struct{})
		left := 5 + r.IntN(25)
		for caller := range 3 {
			wg.Go(func() {
				for n := 0; !stop.Load(); n++ {
					text := fmt.Sprintf("%d-%d-%d %0*d", round, caller, n, 1+(n*977+caller*131)%1500, 0)
					mu.Lock()
					sent[text] = true
					mu.Unlock()
					p, err := l.Append(context.Background(), Record{Header: []byte("h:" + text), Payload: []byte(text)})
					mu.Lock()
					if err == nil && !stop.Load() {
						acked[text] = p
					}
					if left--; left == 0 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		if round%3 == 0 {
			mu.Lock()
			to := l.Tail()
			mu.Unlock()
			if err := l.Release(to); err != nil {
				t.Fatal(err)
			}
			released = to
		}
		next := t.TempDir()
		mu.Lock()
		stop.Store(true) // what is acknowledged after this line may be lost
		mu.Unlock()
		fs.cut(t, dir, next, r)
		wg.Wait()
		mustClose(t, l)
		for text, at := range acked {
			if at.Before(released) {
				delete(acked, text)
			}
		}
		dir = next
	}
	if checked < 1000 {
		t.Errorf("only %d acknowledged records were looked for", checked)
	}
}

// nthFilesystem fails one operation of the disk: the n-th of all.
type nthFilesystem struct {
	OSFilesystem
	left atomic.Int64
	op   atomic.Pointer[string] // the operation that failed
}

func (f *nthFilesystem) fail(op string) error {
	if f.left.Add(-1) != 0 {
		return nil
	}
	f.op.Store(&op)
	return syscall.EIO
}

func (f *nthFilesystem) Create(path string) (File, error) {
	if err := f.fail("create"); err != nil {
		return nil, err
	}
	file, err := f.OSFilesystem.Create(path)
	return &nthFile{file, f}, err
}

func (f *nthFilesystem) Open(path string) (File, error) {
	if err := f.fail("open"); err != nil {
		return nil, err
	}
	file, err := f.OSFilesystem.Open(path)
	return &nthFile{file, f}, err
}

func (f *nthFilesystem) Remove(path string) error {
	return errors.Join(f.fail("remove"), f.OSFilesystem.Remove(path))
}
func (f *nthFilesystem) SyncDir(string) error { return f.fail("sync folder") }
func (f *nthFilesystem) Free(dir string) (uint64, error) {
	if err := f.fail("free"); err != nil {
		return 0, err
	}
	return f.OSFilesystem.Free(dir)
}

type nthFile struct {
	File
	fs *nthFilesystem
}

func (f *nthFile) WriteBuffers(b [][]byte, off int64) (int64, error) {
	if err := f.fs.fail("write"); err != nil {
		return 0, err
	}
	return f.File.WriteBuffers(b, off)
}
func (f *nthFile) Sync() error { return f.fs.fail("sync") }
func (f *nthFile) Truncate(n int64) error {
	if err := f.fs.fail("truncate"); err != nil {
		return err
	}
	return f.File.Truncate(n)
}

func (f *nthFile) Preallocate(n int64) error {
	if err := f.fs.fail("reserve"); err != nil {
		return err
	}
	return f.File.Preallocate(n)
}

func (f *nthFile) Size() (int64, error) {
	if err := f.fs.fail("size"); err != nil {
		return 0, err
	}
	return f.File.Size()
}

func (f *nthFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.fs.fail("read"); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *nthFile) Close() error { return errors.Join(f.fs.fail("close"), f.File.Close()) }

// TestEachErrorOnce runs the same life of a queue again and again, and fails another operation of the disk each time: the first, the
// second, and so on. Every record that was acknowledged is there afterwards, in order, and no record that was refused.
func TestEachErrorOnce(t *testing.T) {
	failed := map[string]int{}
	for n := int64(1); ; n++ {
		dir := t.TempDir()
		fs := &nthFilesystem{}
		fs.left.Store(n)
		var acked []string
		refused := map[string]bool{}
		for start := range 3 {
			l, err := Open(Config{Dir: dir, Filesystem: fs, SegmentBytes: 1 << 10, MinFreeBytes: 1})
			if err != nil {
				if !errors.Is(err, syscall.EIO) {
					t.Fatalf("operation %d: %v", n, err)
				}
				continue // the next start finds a disk that works
			}
			for i := range 4 {
				text := fmt.Sprintf("%d-%d %0300d", start, i, 0)
				if _, err := l.Append(context.Background(), Record{Header: []byte("h:" + text), Payload: []byte(text)}); err == nil {
					acked = append(acked, text)
				} else {
					refused[text] = true
				}
			}
			_ = l.Close(context.Background())
		}
		l := mustOpen(t, Config{Dir: dir})
		got := contents(t, l, Position{})
		mustClose(t, l)
		op := fs.op.Load()
		if !slices.Equal(got, acked) {
			t.Errorf("operation %d (%v): %d of %d acknowledged records are there", n, op, len(got), len(acked))
		}
		if len(refused) > 4 {
			t.Errorf("operation %d (%v): one error refuses %d records", n, op, len(refused))
		}
		if op == nil {
			t.Logf("%d operations failed once: %v", n-1, failed)
			if n < 20 || failed["write"] == 0 || failed["sync"] == 0 || failed["sync folder"] == 0 || failed["create"] == 0 {
				t.Errorf("too few operations failed")
			}
			return
		}
		failed[*op]++
	}
}
