package pack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

var (
	// ErrBuilding says that the caller stopped to wait for a pack. The build goes on, and a later Get finds the pack.
	ErrBuilding = errors.New("the pack is being built")
	// ErrMissing says that the cache does not hold a pack.
	ErrMissing = errors.New("the pack is not held")
	// ErrDropped says that the repository or its organization was dropped while a caller waited for a pack.
	ErrDropped = errors.New("the repository was removed")
)

// Key names a pack: a commit of a repository of an organization. Two organizations never share a pack.
type Key struct {
	// Organization and Repository are ids: letters, digits, - and _.
	Organization, Repository string
	// Commit is the whole id of a commit.
	Commit string
}

func (k Key) valid() bool { return isID(k.Organization) && isID(k.Repository) && isCommit(k.Commit) }

func (k Key) check() error {
	if !k.valid() {
		return fmt.Errorf("pack: %+v names no pack", k)
	}
	return nil
}

func isID(s string) bool {
	return s != "" && len(s) <= 64 && !strings.ContainsFunc(s, func(r rune) bool { return r != '-' && (r >= 0x80 || !isWord(byte(r))) })
}

// CacheConfig configures a cache. Dir and MaxBytes are required.
type CacheConfig struct {
	// Dir is made if it does not exist. Several processes may use one folder.
	Dir string
	// MaxBytes bounds the packs of the folder together. Packs that are being built come on top.
	MaxBytes int64
	Limits   Limits
	// Builds bounds the builds at a time in this process, BuildTime one of them with its fetch. Zeros stand for 2 and 5 minutes.
	Builds    int
	BuildTime time.Duration
	Logger    *slog.Logger
}

const (
	defaultBuilds    = 2
	defaultBuildTime = limits.SourceBuildTime
	// maxOpen bounds the packs that stay open between requests, and maxOpenFiles their files: an open pack takes about 150 bytes a file.
	maxOpen      = 16
	maxOpenFiles = 250_000
	// touchEvery is how exact the order of eviction is.
	touchEvery = time.Minute
	// A commit that is too large stays so; the archive of one that could not be read may have been cut on its way.
	refuseTooLarge = limits.SourceTooLarge
	refuseArchive  = limits.SourceUnreadable
	maxRefusals    = 1000
)

// Cache is a folder of packs. It builds a pack once for all that ask for it, and deletes those that were not used for the longest time. It
// is safe for concurrent use.
type Cache struct {
	cfg    CacheConfig
	folder *folder
	slots  chan struct{}
	jobs   sync.WaitGroup
	// room is held while packs are deleted to make room for one. It is locked before mu.
	room sync.Mutex

	mu       sync.Mutex
	closed   bool
	open     map[Key]*opened
	running  map[Key]*job
	refusals map[Key]refusal
	clock    uint64
}

// opened is a pack that stays open.
type opened struct {
	*shared
	stat    os.FileInfo
	touched time.Time
	// used orders the packs by their last use.
	used uint64
}

// job opens or builds one pack. Cache.mu guards it until done is closed.
type job struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	dropped bool
	ended   bool
	pack    *shared
	err     error
}

type refusal struct {
	err   error
	until time.Time
}

// OpenCache opens a cache. It deletes what processes left that were killed during a build.
func OpenCache(cfg CacheConfig) (*Cache, error) {
	if cfg.Dir == "" || cfg.MaxBytes <= 0 {
		return nil, errors.New("pack: a cache needs a folder and a bound of bytes")
	}
	if cfg.Builds <= 0 {
		cfg.Builds = defaultBuilds
	}
	if cfg.BuildTime <= 0 {
		cfg.BuildTime = defaultBuildTime
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	f, err := openFolder(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("open the folder of source packs: %w", err)
	}
	c := &Cache{
		cfg: cfg, folder: f, slots: make(chan struct{}, cfg.Builds),
		open: map[Key]*opened{}, running: map[Key]*job{}, refusals: map[Key]refusal{},
	}
	if err := errors.Join(f.sweep(), c.makeRoom(0, Key{})); err != nil {
		return nil, errors.Join(fmt.Errorf("tidy the folder of source packs: %w", err), f.root.Close())
	}
	return c, nil
}

// Close ends all builds and waits for them. Packs that callers hold stay open until they close them.
func (c *Cache) Close() error {
	c.mu.Lock()
	c.closed = true
	for _, j := range c.running {
		j.cancel()
	}
	c.mu.Unlock()
	c.jobs.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.open {
		c.forget(key)
	}
	return c.folder.root.Close()
}

// Fetch returns the archive of a commit. Its context ends when the build must end, and not with the request that began it.
type Fetch func(ctx context.Context) (io.ReadCloser, error)

// Get returns a pack; the caller closes it. If the cache does not hold it, Get fetches the archive and builds it, once for all callers that
// wait. When ctx ends first, Get returns ErrBuilding with the error of ctx, and the build goes on.
//
// Other errors are those of fetch and of Build. ErrTooLarge and ErrArchive are remembered for a while, so that a commit that cannot be
// packed is not fetched at each request.
func (c *Cache) Get(ctx context.Context, key Key, fetch Fetch) (*Pack, error) {
	for {
		p, err := c.get(ctx, key, fetch)
		if fetch != nil && errors.Is(err, ErrMissing) {
			continue // this call joined one of Peek
		}
		return p, err
	}
}

// Peek returns a pack if the cache holds it or is building it, and ErrMissing otherwise.
func (c *Cache) Peek(ctx context.Context, key Key) (*Pack, error) { return c.get(ctx, key, nil) }

func (c *Cache) get(ctx context.Context, key Key, fetch Fetch) (*Pack, error) {
	if err := key.check(); err != nil {
		return nil, err
	}
	p, j, err := c.enter(ctx, key, fetch)
	if p != nil || err != nil {
		return p, err
	}
	select {
	case <-j.done:
	case <-ctx.Done():
		c.mu.Lock()
		ended := j.ended
		if !ended {
			j.waiting--
		}
		c.mu.Unlock()
		if !ended {
			return nil, fmt.Errorf("%w: %w", ErrBuilding, ctx.Err())
		}
	}
	if j.err != nil {
		return nil, j.err
	}
	return &Pack{shared: j.pack}, nil
}

// enter returns a pack that is open, or the job that opens or builds it.
func (c *Cache) enter(ctx context.Context, key Key, fetch Fetch) (*Pack, *job, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	if s := c.held(key); s != nil {
		return &Pack{shared: s}, nil, nil
	}
	j := c.running[key]
	if j == nil {
		if r, ok := c.refusals[key]; ok && fetch != nil && time.Now().Before(r.until) {
			return nil, nil, r.err
		}
		if fetch == nil && !c.folder.has(key) {
			return nil, nil, ErrMissing
		}
		// The build belongs to all that ask for the pack, so it does not end with the request that happens to be the first.
		building, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.cfg.BuildTime)
		j = &job{done: make(chan struct{}), cancel: cancel}
		c.running[key] = j
		c.jobs.Go(func() {
			defer cancel()
			c.run(building, key, j, fetch)
		})
	}
	j.waiting++
	return nil, j, nil
}

// held returns a pack that is open, with one use more. It requires mu. A pack whose file another process has deleted is forgotten.
func (c *Cache) held(key Key) *shared {
	o := c.open[key]
	if o == nil {
		return nil
	}
	stat, err := c.folder.root.Stat(key.file())
	if err != nil || !os.SameFile(stat, o.stat) || !o.retain() {
		c.forget(key)
		return nil
	}
	c.use(key, o)
	return o.shared
}

// use notes a use of an open pack, for the order of eviction. It requires mu.
func (c *Cache) use(key Key, o *opened) {
	c.clock++
	o.used = c.clock
	if now := time.Now(); now.Sub(o.touched) > touchEvery {
		o.touched = now
		if err := c.folder.root.Chtimes(key.file(), now, now); err != nil && !errors.Is(err, os.ErrNotExist) {
			c.cfg.Logger.Warn("use of a source pack not noted", slog.String("pack", key.file()), slog.Any("error", err))
		}
	}
}

// forget ends the cache's own use of an open pack. It requires mu.
func (c *Cache) forget(key Key) {
	if o := c.open[key]; o != nil {
		delete(c.open, key)
		if err := o.release(); err != nil {
			c.cfg.Logger.Warn("source pack not closed", slog.String("pack", key.file()), slog.Any("error", err))
		}
	}
}

// retain adds a user, unless the last one has left.
func (s *shared) retain() bool {
	for {
		n := s.uses.Load()
		if n == 0 {
			return false
		}
		if s.uses.CompareAndSwap(n, n+1) {
			return true
		}
	}
}
