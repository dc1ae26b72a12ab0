package pack

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// TestCacheDrop deletes the packs of a repository and of an organization, with builds that run.
func TestCacheDrop(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	c := mustOpen(t, CacheConfig{Dir: dir})
	var calls atomic.Int64
	get := func(k Key) {
		p, err := c.Get(t.Context(), k, fetches(t, k, &calls))
		holds(t, p, err, k)
	}
	a1, a2, a3 := Key{"a", "r1", commitID(1)}, Key{"a", "r1", commitID(2)}, Key{"a", "r2", commitID(1)}
	b1 := Key{"b", "r1", commitID(1)}
	for _, k := range []Key{a1, a2, a3, b1} {
		get(k)
	}
	held, err := c.Get(t.Context(), a1, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Drop("a", "r1"); err != nil {
		t.Fatal(err)
	}
	if keys, err := c.Keys(); err != nil || len(keys) != 2 || keys[0].Repository == "r1" && keys[0].Organization == "a" {
		t.Error(keys, err)
	}
	if _, err := c.Peek(t.Context(), a1); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	holds(t, held, nil, a1)
	get(a1)
	if calls.Load() != 5 {
		t.Error(calls.Load())
	}
	// A build that waits for the provider ends, and leaves nothing.
	body := newBlockedBody()
	errs := make(chan error)
	slow := Key{"a", "r3", commitID(3)}
	for range 3 {
		go func() {
			_, err := c.Get(t.Context(), slow, func(context.Context) (io.ReadCloser, error) { return body, nil })
			errs <- err
		}()
	}
	<-body.reading
	for { // until all three wait
		c.mu.Lock()
		waiting := c.running[slow].waiting
		c.mu.Unlock()
		if waiting == 3 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := c.Drop("a", ""); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if err := <-errs; !errors.Is(err, ErrDropped) {
			t.Error(err)
		}
	}
	if files := names(t, dir); len(files) != 1 || files[0] != b1.file() {
		t.Errorf("%q", files)
	}
	get(slow)
	c.Close()
}

// blockedBody is an archive whose bytes never come.
type blockedBody struct {
	reading, closed chan struct{}
	begin, end      sync.Once
}

func newBlockedBody() *blockedBody {
	return &blockedBody{reading: make(chan struct{}), closed: make(chan struct{})}
}

func (b *blockedBody) Read([]byte) (int, error) {
	b.begin.Do(func() { close(b.reading) })
	<-b.closed
	return 0, os.ErrClosed
}

func (b *blockedBody) Close() error {
	b.end.Do(func() { close(b.closed) })
	return nil
}

// TestCacheEndsBuilds ends builds that take too long, and all builds at Close.
func TestCacheEndsBuilds(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	never := func(context.Context) (io.ReadCloser, error) { return newBlockedBody(), nil }
	c := mustOpen(t, CacheConfig{Dir: dir, BuildTime: 20 * time.Millisecond})
	if _, err := c.Get(t.Context(), keyOf(1), never); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrBuilding) {
		t.Error(err)
	}
	c.Close()
	c = mustOpen(t, CacheConfig{Dir: dir, Builds: 1})
	errs := make(chan error)
	for n := range 3 {
		go func() {
			_, err := c.Get(t.Context(), keyOf(n), never)
			errs <- err
		}()
	}
	for {
		c.mu.Lock()
		running := len(c.running)
		c.mu.Unlock()
		if running == 3 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	c.Close()
	for range 3 {
		if err := <-errs; !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}
	if files := names(t, dir); len(files) != 0 {
		t.Errorf("left behind: %q", files)
	}
}

// TestCacheMendsDamage builds a pack again when it turns out to be damaged, at its opening or in a search.
func TestCacheMendsDamage(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	k := keyOf(1)
	fetch := fetches(t, k, &calls)
	c := mustOpen(t, CacheConfig{Dir: dir})
	p, err := c.Get(t.Context(), k, fetch)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, k.file())
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff}, headSize+5); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if _, err := p.Search(t.Context(), Query{Text: "needle"}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if files := names(t, dir); len(files) != 0 {
		t.Errorf("the damaged pack is still there: %q", files)
	}
	again, err := c.Get(t.Context(), k, fetch)
	holds(t, again, err, k)
	// The old pack says once more that it is damaged. The new one stays.
	if _, _, err := p.Read("which.txt"); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	p.Close()
	if files := names(t, dir); len(files) != 1 || calls.Load() != 2 {
		t.Errorf("%q, %d fetches", files, calls.Load())
	}
	c.Close()
	for _, size := range []int64{0, 10, 200} { // as a loss of power may leave it
		if err := os.Truncate(file, size); err != nil {
			t.Fatal(err)
		}
		c = mustOpen(t, CacheConfig{Dir: dir})
		again, err = c.Get(t.Context(), k, fetch)
		holds(t, again, err, k)
		c.Close()
	}
	if calls.Load() != 5 {
		t.Errorf("%d fetches", calls.Load())
	}
}

// TestCacheSharedFolder opens one folder twice, as two processes do.
func TestCacheSharedFolder(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	k := keyOf(1)
	fetch := fetches(t, k, &calls)
	one, two := mustOpen(t, CacheConfig{Dir: dir}), mustOpen(t, CacheConfig{Dir: dir})
	p, err := one.Get(t.Context(), k, fetch)
	holds(t, p, err, k)
	p, err = two.Get(t.Context(), k, fetch)
	holds(t, p, err, k)
	if calls.Load() != 1 {
		t.Error(calls.Load())
	}
	// A file that one cache deletes is gone for the other, although it had the file open.
	if err := one.Drop(k.Organization, k.Repository); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Peek(t.Context(), k); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	p, err = two.Get(t.Context(), k, fetch)
	holds(t, p, err, k)
	// A third one that starts leaves the file of a build that runs alone, and deletes that of a build that was killed.
	body := newBlockedBody()
	go func() {
		_, err := one.Get(t.Context(), keyOf(2), func(context.Context) (io.ReadCloser, error) { return body, nil })
		if !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}()
	<-body.reading
	if err := os.WriteFile(filepath.Join(dir, building, "dead.pack"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	mustOpen(t, CacheConfig{Dir: dir})
	if files := names(t, filepath.Join(dir, building)); len(files) != 1 || files[0] == "dead.pack" {
		t.Errorf("%q", files)
	}
	one.Close()
}

// TestCacheLeavesOtherFiles counts and deletes packs only.
func TestCacheLeavesOtherFiles(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	for _, name := range []string{"notes.txt", "org_1/notes.pack", "org_1/repo_1/x.pack", "org_1/repo_1/deep/" + commit + ".pack"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, make([]byte, 1000), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(outside, "repo_1"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "org_2")); err != nil {
		t.Fatal(err)
	}
	c := mustOpen(t, CacheConfig{Dir: dir, MaxBytes: 1})
	if packs, size, err := c.Usage(); packs != 0 || size != 0 || err != nil {
		t.Error(packs, size, err)
	}
	if files := names(t, dir); len(files) != 5 {
		t.Errorf("%q", files)
	}
	// A link that leads out of the folder is not followed.
	var calls atomic.Int64
	k := Key{"org_2", "repo_1", commitID(1)}
	if _, err := c.Get(t.Context(), k, fetches(t, k, &calls)); err == nil {
		t.Error("a pack was written through a link")
	}
	if err := c.Drop("org_2", ""); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(outside, "repo_1")); err != nil {
		t.Error(err)
	}
}

// TestCacheEmptiedFolder deletes all files while the cache runs, as operators do with a cache.
func TestCacheEmptiedFolder(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	c := mustOpen(t, CacheConfig{Dir: dir})
	for range 2 {
		p, err := c.Get(t.Context(), keyOf(1), fetches(t, keyOf(1), &calls))
		holds(t, p, err, keyOf(1))
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
	}
	if calls.Load() != 2 {
		t.Errorf("%d fetches", calls.Load())
	}
}
