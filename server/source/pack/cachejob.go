package pack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"
)

// run opens or builds a pack and hands it to all that wait.
func (c *Cache) run(ctx context.Context, key Key, j *job, fetch Fetch) {
	s, stat, err := c.load(key)
	if s == nil && err == nil {
		err = ErrMissing
		if fetch != nil {
			s, stat, err = c.build(ctx, key, j, fetch)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(j.done)
	if j.dropped {
		if err == nil {
			err = s.release()
		}
		err = errors.Join(ErrDropped, err)
	} else {
		delete(c.running, key)
	}
	if err != nil && c.closed {
		err = errors.Join(ErrClosed, err)
	}
	j.ended = true
	if err != nil {
		c.refuse(key, err)
		j.err = err
		return
	}
	j.pack = s
	s.uses.Add(int64(j.waiting)) // the first use is that of the cache
	s.damaged = func() { c.damaged(key, s, stat) }
	c.forget(key)
	o := &opened{shared: s, stat: stat}
	c.open[key] = o
	c.use(key, o)
	c.closeLeastUsed()
}

// refuse remembers the failure of a build that would fail again. It requires mu.
func (c *Cache) refuse(key Key, err error) {
	var wait time.Duration
	switch {
	case errors.Is(err, ErrDropped):
		return
	case errors.Is(err, ErrTooLarge):
		wait = refuseTooLarge
	case errors.Is(err, ErrArchive):
		wait = refuseArchive
	default:
		return
	}
	if len(c.refusals) >= maxRefusals {
		clear(c.refusals)
	}
	c.refusals[key] = refusal{err: err, until: time.Now().Add(wait)}
}

// closeLeastUsed keeps the open packs within maxOpen and maxOpenFiles, but leaves the last one. It requires mu.
func (c *Cache) closeLeastUsed() {
	for {
		files := 0
		for _, o := range c.open {
			files += len(o.directory.entries)
		}
		if len(c.open) <= maxOpen && (files <= maxOpenFiles || len(c.open) == 1) {
			return
		}
		var oldest Key
		used := c.clock + 1
		for key, o := range c.open {
			if o.used < used {
				oldest, used = key, o.used
			}
		}
		c.forget(oldest)
	}
}

// load opens a pack of the folder. It returns nil if there is none that can be read, and deletes one that cannot.
func (c *Cache) load(key Key) (*shared, os.FileInfo, error) {
	f, err := c.folder.root.Open(key.file())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	s, stat, err := take(f)
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) {
		c.cfg.Logger.Warn("source pack deleted, it will be built again", slog.String("pack", key.file()), slog.Any("error", err))
		return nil, nil, c.folder.remove(key)
	}
	return s, stat, err
}

// take opens a file as a pack, and closes it if that fails.
func take(f *os.File) (*shared, os.FileInfo, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	s, err := openFile(f)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return s, stat, nil
}

// build fetches the archive, builds the pack under a temporary name, makes room for it, and gives it its name.
//
// The file is not synced: after a loss of power, its checksums show whether it is whole, and a pack that is not is built again.
func (c *Cache) build(ctx context.Context, key Key, j *job, fetch Fetch) (_ *shared, _ os.FileInfo, err error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	start := time.Now()
	archive, err := fetch(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer archive.Close()
	// A reader that waits for the provider does not see the end of ctx otherwise.
	defer context.AfterFunc(ctx, func() { _ = archive.Close() })()
	f, temporary, err := c.folder.create()
	if err != nil {
		return nil, nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.folder.removeFile(temporary))
		}
	}()
	info, err := Build(ctx, f, archive, c.cfg.Limits)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("the pack was not built within %s: %w", c.cfg.BuildTime, ctx.Err())
	case err != nil && ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
	case info.Commit != "" && info.Commit != key.Commit:
		err = fmt.Errorf("%w: it is that of commit %s instead of %s", ErrArchive, info.Commit, key.Commit)
	case info.Size > c.cfg.MaxBytes:
		err = fmt.Errorf("%w: its pack has %d bytes, and all packs may have %d", ErrTooLarge, info.Size, c.cfg.MaxBytes)
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	s, stat, err := take(f)
	if err != nil {
		return nil, nil, err
	}
	if err := c.name(key, j, temporary, info.Size); err != nil {
		return nil, nil, errors.Join(err, s.release())
	}
	c.cfg.Logger.Info("source pack built", slog.String("pack", key.file()), slog.Int("files", info.Files),
		slog.Int64("text_bytes", info.Bytes), slog.Int64("bytes", info.Size), slog.Duration("took", time.Since(start)))
	return s, stat, nil
}

// name makes room for a pack and gives it its name, unless its repository was dropped.
func (c *Cache) name(key Key, j *job, temporary string, size int64) error {
	c.room.Lock()
	defer c.room.Unlock()
	if err := c.makeRoom(size, key); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Drop marks the job before it deletes files. So either the job sees the mark, or Drop sees the file.
	if j.dropped {
		return ErrDropped
	}
	return c.folder.rename(temporary, key)
}

// makeRoom deletes packs, those without use for the longest time first, until size more bytes fit. It leaves the pack of key alone, which
// is replaced.
func (c *Cache) makeRoom(size int64, key Key) error {
	files, err := c.folder.list()
	if err != nil {
		return err
	}
	total := size
	for _, f := range files {
		if f.key != key {
			total += f.size
		}
	}
	for _, f := range files { // sorted by use
		if total <= c.cfg.MaxBytes {
			return nil
		}
		if f.key == key {
			continue
		}
		c.mu.Lock()
		c.forget(f.key)
		c.mu.Unlock()
		if err := c.folder.remove(f.key); err != nil {
			return err
		}
		c.cfg.Logger.Debug("source pack deleted to make room", slog.String("pack", f.key.file()), slog.Int64("bytes", f.size))
		total -= f.size
	}
	return nil
}

// damaged deletes a pack in which a search has found damage. The next Get builds it again.
func (c *Cache) damaged(key Key, s *shared, stat os.FileInfo) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if o := c.open[key]; o != nil && o.shared == s {
		c.forget(key)
	}
	if c.closed {
		return
	}
	if now, err := c.folder.root.Stat(key.file()); err != nil || !os.SameFile(now, stat) {
		return // it was replaced
	}
	c.cfg.Logger.Error("source pack is damaged and was deleted", slog.String("pack", key.file()))
	if err := c.folder.remove(key); err != nil {
		c.cfg.Logger.Error("damaged source pack not deleted", slog.String("pack", key.file()), slog.Any("error", err))
	}
}
