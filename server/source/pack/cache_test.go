package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func mustOpen(tb testing.TB, cfg CacheConfig) *Cache {
	tb.Helper()
	if cfg.MaxBytes == 0 {
		cfg.MaxBytes = 1 << 30
	}
	c, err := OpenCache(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { c.Close() })
	return c
}

func commitID(n int) string { return fmt.Sprintf("%040x", n) }

func keyOf(n int) Key { return Key{Organization: "org_1", Repository: "repo_1", Commit: commitID(n)} }

// fetches returns a Fetch of an archive that names no commit and holds the commit's number, and counts calls.
func fetches(tb testing.TB, k Key, calls *atomic.Int64) Fetch {
	archive := bytes.ReplaceAll(tarOf(tb, archived{name: "top/which.txt", text: "needle of " + k.file() + "\n"}), []byte("comment="+commit),
		[]byte("comment="+strings.Repeat("-", 40)))
	archive = zipped(tb, archive)
	return func(context.Context) (io.ReadCloser, error) {
		calls.Add(1)
		return io.NopCloser(bytes.NewReader(archive)), nil
	}
}

// holds checks that a pack is that of a key, and closes it.
func holds(tb testing.TB, p *Pack, err error, k Key) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
		return
	}
	defer p.Close()
	text, _, err := p.Read("which.txt")
	if err != nil || string(text) != "needle of "+k.file()+"\n" {
		tb.Errorf("%q, %v", text, err)
	}
	if r, err := p.Search(context.Background(), Query{Text: "needle"}); err != nil || r.Matched != 1 {
		tb.Errorf("%+v, %v", r, err)
	}
}

// names lists the files of a folder.
func names(tb testing.TB, dir string) []string {
	tb.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return all
}

func TestCacheBuildsOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	dir := t.TempDir()
	c := mustOpen(t, CacheConfig{Dir: dir})
	var calls atomic.Int64
	var wg sync.WaitGroup
	for i := range 60 {
		k := keyOf(i % 3)
		if i%2 == 0 {
			k.Organization = "org_2" // the same commit of another organization is another pack
		}
		fetch := fetches(t, k, &calls)
		wg.Go(func() {
			p, err := c.Get(t.Context(), k, fetch)
			holds(t, p, err, k)
		})
	}
	wg.Wait()
	if calls.Load() != 6 {
		t.Errorf("%d fetches", calls.Load())
	}
	keys, err := c.Keys()
	packs, size, err2 := c.Usage()
	if err != nil || err2 != nil || len(keys) != 6 || packs != 6 || size < 6*300 {
		t.Error(keys, packs, size, err, err2)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), keyOf(0), nil); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	// The next process finds them.
	c = mustOpen(t, CacheConfig{Dir: dir})
	p, err := c.Get(t.Context(), keyOf(1), fetches(t, keyOf(1), &calls))
	holds(t, p, err, keyOf(1))
	p, err = c.Peek(t.Context(), keyOf(2))
	holds(t, p, err, keyOf(2))
	if _, err := c.Peek(t.Context(), keyOf(9)); !errors.Is(err, ErrMissing) {
		t.Error(err)
	}
	if calls.Load() != 6 {
		t.Errorf("%d fetches", calls.Load())
	}
	c.Close()
}

func TestCacheKeys(t *testing.T) {
	c := mustOpen(t, CacheConfig{Dir: t.TempDir()})
	for _, k := range []Key{
		{},
		{"..", "r", commit},
		{"o", "../..", commit},
		{"o", "r", "main"},
		{"o/p", "r", commit},
		{"o", "r", commit[:39]},
		{".building", "r", commit},
		{"o", "r", strings.ToUpper(commit)},
		{"ö", "r", commit},
		{strings.Repeat("o", 65), "r", commit},
	} {
		if _, err := c.Get(t.Context(), k, nil); err == nil || errors.Is(err, ErrMissing) {
			t.Errorf("%+v: %v", k, err)
		}
	}
	for _, k := range [][2]string{{"", ""}, {"..", ""}, {"o", ".."}, {".", "."}, {"o", "r/s"}} {
		if c.Drop(k[0], k[1]) == nil {
			t.Errorf("Drop(%q)", k)
		}
	}
}

// TestCacheWait ends the wait of callers, and not the build.
func TestCacheWait(t *testing.T) {
	defer goleak.VerifyNone(t)
	c := mustOpen(t, CacheConfig{Dir: t.TempDir()})
	var calls atomic.Int64
	k := keyOf(1)
	fetch, release := fetches(t, k, &calls), make(chan struct{})
	slow := func(ctx context.Context) (io.ReadCloser, error) {
		<-release
		return fetch(ctx)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Get(ctx, k, slow); !errors.Is(err, ErrBuilding) || !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	var wg sync.WaitGroup
	for range 5 {
		wg.Go(func() {
			p, err := c.Get(t.Context(), k, slow)
			holds(t, p, err, k)
		})
	}
	close(release)
	wg.Wait()
	if calls.Load() != 1 {
		t.Error(calls.Load(), "fetches")
	}
	c.mu.Lock()
	if n := c.open[k].uses.Load(); n != 1 {
		t.Errorf("%d uses remain", n)
	}
	c.mu.Unlock()
	c.Close()
}

// TestCacheEvicts keeps the bytes within the bound and deletes the packs that were not used for the longest time.
func TestCacheEvicts(t *testing.T) {
	dir := t.TempDir()
	var calls atomic.Int64
	c := mustOpen(t, CacheConfig{Dir: dir})
	get := func(n int) {
		p, err := c.Get(t.Context(), keyOf(n), fetches(t, keyOf(n), &calls))
		holds(t, p, err, keyOf(n))
	}
	get(0)
	_, size, _ := c.Usage()
	c.Close()
	c = mustOpen(t, CacheConfig{Dir: dir, MaxBytes: 4*size + size/2})
	for n := range 4 {
		get(n)
	}
	// 2 was used last, then 0, 3, 1.
	for ago, n := range []int{2, 0, 3, 1} {
		at := time.Now().Add(-time.Duration(ago+1) * time.Hour)
		if err := os.Chtimes(filepath.Join(dir, keyOf(n).file()), at, at); err != nil {
			t.Fatal(err)
		}
	}
	held, err := c.Get(t.Context(), keyOf(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	get(4)
	get(5)
	keys, err := c.Keys()
	if err != nil || len(keys) != 4 || calls.Load() != 6 {
		t.Fatal(keys, err, calls.Load())
	}
	for _, k := range keys {
		if k == keyOf(1) || k == keyOf(3) {
			t.Errorf("%v is still held", k)
		}
	}
	holds(t, held, nil, keyOf(1)) // a search that runs is not disturbed
	get(1)
	if calls.Load() != 7 {
		t.Error(calls.Load())
	}
	// A smaller bound holds from the start.
	c.Close()
	c = mustOpen(t, CacheConfig{Dir: dir, MaxBytes: 2*size + size/2})
	if packs, bytes, err := c.Usage(); err != nil || packs != 2 || bytes > 2*size+size/2 {
		t.Error(packs, bytes, err)
	}
	p, err := c.Peek(t.Context(), keyOf(1))
	holds(t, p, err, keyOf(1))
}

// TestCacheOpenPacks closes packs that are not used, so that their number does not grow.
func TestCacheOpenPacks(t *testing.T) {
	c := mustOpen(t, CacheConfig{Dir: t.TempDir()})
	var calls atomic.Int64
	for n := range 3 * maxOpen {
		p, err := c.Get(t.Context(), keyOf(n), fetches(t, keyOf(n), &calls))
		holds(t, p, err, keyOf(n))
	}
	if len(c.open) != maxOpen {
		t.Errorf("%d packs are open", len(c.open))
	}
	p, err := c.Get(t.Context(), keyOf(0), nil)
	holds(t, p, err, keyOf(0))
}

func TestCacheRefuses(t *testing.T) {
	dir := t.TempDir()
	c := mustOpen(t, CacheConfig{Dir: dir, MaxBytes: 5000, Limits: Limits{TextBytes: 100}})
	for name, test := range map[string]struct {
		archive []byte
		want    error
		again   int64
	}{
		"too large":     {archiveOf(t, archived{name: "top/a", text: strings.Repeat("x", 101)}), ErrTooLarge, 1},
		"no archive":    {[]byte("<html>"), ErrArchive, 1},
		"wrong commit":  {archiveOf(t, archived{name: "top/a", text: "x"}), ErrArchive, 1},
		"no connection": {nil, errConnection, 2},
	} {
		t.Run(name, func(t *testing.T) {
			var calls int64
			k := keyOf(len(name))
			for range 2 {
				_, err := c.Get(t.Context(), k, func(context.Context) (io.ReadCloser, error) {
					calls++
					if test.archive == nil {
						return nil, errConnection
					}
					return io.NopCloser(bytes.NewReader(test.archive)), nil
				})
				if !errors.Is(err, test.want) {
					t.Error(err)
				}
			}
			if calls != test.again {
				t.Errorf("%d fetches", calls)
			}
		})
	}
	large := archived{name: "top/a.bin", text: "\x00"}
	var entries []archived
	for i := range 2000 {
		large.name = fmt.Sprintf("top/%d-%d", i, rand.Uint64())
		entries = append(entries, large)
	}
	_, err := c.Get(t.Context(), Key{"o", "r", commit}, func(context.Context) (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(archiveOf(t, entries...))), nil
	})
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "all packs may have 5000") {
		t.Error(err)
	}
	if files := names(t, dir); len(files) != 0 {
		t.Errorf("left behind: %q", files)
	}
}

// TestCacheOpenFiles closes packs with many files, because their directories are held in memory.
func TestCacheOpenFiles(t *testing.T) {
	c := mustOpen(t, CacheConfig{Dir: t.TempDir()})
	entries := make([]archived, 90_000)
	for i := range entries {
		entries[i] = archived{name: fmt.Sprintf("top/%d", i)}
	}
	archive := bytes.ReplaceAll(tarOf(t, entries...), []byte("comment="+commit), []byte("comment="+strings.Repeat("-", 40)))
	archive = zipped(t, archive)
	for n := range 4 {
		p, err := c.Get(t.Context(), keyOf(n), func(context.Context) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(archive)), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		p.Close()
	}
	if len(c.open) != maxOpenFiles/len(entries) {
		t.Errorf("%d packs are open", len(c.open))
	}
}
