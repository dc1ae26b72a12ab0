package errorsums

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/outage"
	"github.com/svc-observability/svc/server/store"
)

// Run flushes settled entries until Close.
func (l *Ledger) Run() {
	defer close(l.done)
	var away outage.Outage
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		<-l.stop
		cancel()
	}()
	ticker := time.NewTicker(limits.ErrorSumsFlush)
	defer ticker.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-ticker.C:
		}
		bounded, end := context.WithTimeout(ctx, limits.ErrorSumsTimeout)
		err := l.Flush(bounded)
		end()
		if ctx.Err() != nil {
			return
		}
		switch away.Observe(err) {
		case outage.Began:
			l.cfg.Logger.Warn("sums of errors wait for the database; issues are behind", "error", err)
		case outage.Ended:
			l.cfg.Logger.Info("sums of errors are in the database again")
		case outage.None:
		}
	}
}

// Close flushes the settled entries and closes the file. Entries that cannot be flushed stay in the file for the next start.
func (l *Ledger) Close(ctx context.Context) error {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	err := l.Flush(ctx)
	if err != nil {
		l.cfg.Logger.Warn("sums of errors stay in their file until the next start", "error", err)
	}
	return l.file.Close()
}

// Flush moves settled entries to the database.
func (l *Ledger) Flush(ctx context.Context) error {
	if err := l.learn(ctx); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		return errors.Join(err, l.shrink())
	}
	l.mu.Lock()
	var all []sum
	upTo := l.flushed
	for _, e := range l.entries {
		if e.Number > l.flushed && e.Number <= l.settled {
			all = append(all, e.Sums...)
			upTo = e.Number
		}
	}
	all = merge(all)
	l.tried = max(l.tried, upTo)
	l.mu.Unlock()
	if len(all) > 0 {
		rows := make([]store.ErrorSum, len(all))
		for i := range all {
			rows[i] = all[i].ErrorSum
			rows[i].Org = all[i].Org
		}
		if err := l.cfg.Database.FlushErrorSums(ctx, l.cfg.Node, upTo, rows); err != nil {
			l.mu.Lock()
			l.known = false // it may have arrived all the same
			l.mu.Unlock()
			return fmt.Errorf("flush the sums of errors: %w", err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.flushed = max(l.flushed, upTo)
	return l.forget()
}

// learn reads the number of the last flush from the database, after a start and after a flush whose outcome is not known.
func (l *Ledger) learn(ctx context.Context) error {
	l.mu.Lock()
	known, waits := l.known, len(l.entries) > 0
	l.mu.Unlock()
	if known || !waits {
		return nil
	}
	n, err := l.cfg.Database.ErrorSumsFlushed(ctx, l.cfg.Node)
	if err != nil {
		return fmt.Errorf("read the last flush of the sums of errors: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.flushed = true, n
	return nil
}

// forget drops the entries at the start of the file that are flushed. The file is cut when it has no others.
func (l *Ledger) forget() error {
	keep := 0
	for keep < len(l.entries) && l.entries[keep].Number <= l.flushed {
		keep++
	}
	if keep == 0 {
		return nil
	}
	l.entries = append([]entry(nil), l.entries[keep:]...)
	if len(l.entries) > 0 && l.size < limits.ErrorSumsMemory {
		return nil // the file is cut when the flow pauses
	}
	return l.rewrite()
}

// shrink bounds the file and the memory while the database does not answer: entries become one, and if that is not enough, groups become
// one a service. Entries that a flush may have stored stay as they are.
func (l *Ledger) shrink() error {
	if l.size < limits.ErrorSumsMemory {
		return nil
	}
	var kept, rest []entry
	var all []sum
	number := int64(0)
	for _, e := range l.entries {
		switch {
		case e.Number <= l.tried:
			kept = append(kept, e)
		case e.Number > l.settled:
			rest = append(rest, e)
		default:
			all, number = append(all, e.Sums...), e.Number
		}
	}
	if number == 0 {
		return nil
	}
	if all = merge(all); len(all) > limits.ErrorSumsGroups {
		for i := range all {
			all[i].Hash, all[i].Label = store.OverflowFingerprint(all[i].Service), store.OverflowLabel
			all[i].Type, all[i].Message, all[i].Frame, all[i].Grouping = "", "", "", nil
		}
		all = merge(all)
		l.cfg.Logger.Warn("too many groups of errors wait for the database; their occurrences are counted by service")
	}
	l.entries = append(append(kept, entry{Number: number, Sums: all}), rest...)
	return l.rewrite()
}

// rewrite makes the file equal to the entries.
func (l *Ledger) rewrite() error {
	var body []byte
	for i := range l.entries {
		f, err := frame(&l.entries[i])
		if err != nil {
			return err
		}
		body = append(body, f...)
	}
	if len(body) == 0 {
		l.size = 0
		return l.file.Truncate(0)
	}
	path := filepath.Join(l.cfg.Dir, name)
	f, err := os.OpenFile(path+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(body); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path+".new", path)
	}
	if err == nil {
		err = queue.OSFilesystem{}.SyncDir(l.cfg.Dir)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	old := l.file
	l.file, l.size = f, int64(len(body))
	return old.Close()
}
