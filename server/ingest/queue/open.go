package queue

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	// seqGap is skipped in the numbering after a tail was cut. The tail may have held records with used numbers.
	seqGap = 1 << 20
	// tornZeros is the number of zero bytes at the end of a damaged tail that show that its write never completed.
	tornZeros = 64
	// progressEvery is the interval of log messages while Open checks a long queue.
	progressEvery = 5 * time.Second
)

// Open opens the log in cfg.Dir and creates it if it does not exist. Open checks every segment. It reports damaged records in the
// log output and through Damage, and does not fail because of them.
func Open(cfg Config) (l *Log, err error) {
	cfg, err = cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the queue folder: %w", err)
	}
	lock, err := lockFolder(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = lock.Close()
		}
	}()
	l = &Log{
		cfg: cfg, fs: cfg.Filesystem, logger: cfg.Logger, lock: lock,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
		known: map[damageKey]bool{}, nextSegment: 1, nextSeq: 1, ledger: newLedger(cfg.MaxBytes),
	}
	if err := l.listSegments(); err != nil {
		return nil, fmt.Errorf("list the queue folder: %w", err)
	}
	if err := l.loadID(); err != nil {
		return nil, fmt.Errorf("read the queue's id: %w", err)
	}
	if err := l.checkSegments(); err != nil {
		return nil, err
	}
	go l.run()
	return l, nil
}

func (l *Log) listSegments() error {
	entries, err := os.ReadDir(l.cfg.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if n, ok := segmentNumber(e.Name()); ok {
			l.segments = append(l.segments, &segment{number: n, path: filepath.Join(l.cfg.Dir, e.Name()), sealed: true})
			l.nextSegment = max(l.nextSegment, n+1)
		}
	}
	slices.SortFunc(l.segments, func(a, b *segment) int { return cmp.Compare(a.number, b.number) })
	return nil
}

// loadID reads the log's id. If the file is missing, it takes the id from a segment. For an empty folder it makes a new one.
func (l *Log) loadID() error {
	id, ok, err := readLogID(l.cfg.Dir)
	if err != nil {
		return err
	}
	for i := 0; !ok && i < len(l.segments); i++ {
		f, err := l.fs.Open(l.segments[i].path)
		if err != nil {
			return err
		}
		var h segmentHead
		if h, ok = readSegmentHead(f); ok {
			id = h.id
			l.logger.Warn("queue id was missing, taken from a segment", slog.String("segment", l.segments[i].name()))
			err = writeLogID(l.fs, l.cfg.Dir, id)
		}
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	if !ok {
		id = newLogID()
		if err := writeLogID(l.fs, l.cfg.Dir, id); err != nil {
			return err
		}
	}
	l.id, l.sum = id, newChecksum(id)
	return nil
}

// checkSegments reads every segment, cuts the torn tail of the newest one, and finds the end of the log.
func (l *Log) checkSegments() error {
	for i := len(l.segments) - 1; i >= 0; i-- {
		// A crash during the creation of a segment leaves a file without content.
		empty, err := l.removeIfEmpty(l.segments[i])
		if err != nil {
			return fmt.Errorf("check queue segment %s: %w", l.segments[i].name(), err)
		}
		if !empty {
			break
		}
		l.segments = l.segments[:i]
	}
	var lastSeq uint64
	said := time.Now()
	for i, seg := range l.segments {
		if time.Since(said) > progressEvery {
			said = time.Now()
			l.logger.Info("queue is being checked", slog.Int("segments_checked", i), slog.Int("segments", len(l.segments)))
		}
		var err error
		if lastSeq, err = l.checkSegment(seg, lastSeq, i == len(l.segments)-1); err != nil {
			return fmt.Errorf("check queue segment %s: %w", seg.name(), err)
		}
		l.total += seg.size
		l.tail = Position{Segment: seg.number, Offset: uint64(seg.size), Seq: lastSeq + 1}
	}
	l.nextSeq = max(l.nextSeq, lastSeq+1)
	if len(l.segments) > 0 {
		l.logger.Info("queue opened", slog.Int("segments", len(l.segments)), slog.Int64("bytes", l.total), slog.Int("damaged", len(l.damage)))
	}
	return nil
}

// removeIfEmpty deletes a segment whose head was never written, if it holds no other byte either.
func (l *Log) removeIfEmpty(seg *segment) (bool, error) {
	f, err := l.fs.Open(seg.path)
	if err != nil {
		return false, err
	}
	size, err := f.Size()
	if err != nil {
		return false, errors.Join(err, f.Close())
	}
	s := scanner{r: f, end: size}
	end, err := s.nonZeroEnd(0, size, false)
	_, headed := readSegmentHead(f)
	if err := errors.Join(err, f.Close()); err != nil {
		return false, err
	}
	if headed || end >= segmentHeadSize {
		return false, nil
	}
	l.logger.Warn("unfinished queue segment removed", slog.String("segment", seg.name()), slog.Int64("bytes", end))
	return true, l.fs.Remove(seg.path)
}

// checkSegment reads one whole segment and returns the highest sequence number in it.
func (l *Log) checkSegment(seg *segment, lastSeq uint64, newest bool) (_ uint64, err error) {
	f, err := l.fs.Open(seg.path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return 0, err
	}
	if h, ok := readSegmentHead(f); ok && h.number == seg.number && h.id == l.id {
		seg.created = time.Unix(0, h.created)
		lastSeq = max(lastSeq, h.firstSeq-1)
	} else {
		l.reportDamage(f, seg, scanned{from: 0, to: min(size, segmentHeadSize), why: "the head of the segment is damaged"})
	}
	s := scanner{r: f, sum: l.sum, segment: seg.number, off: segmentHeadSize, end: size, lastSeq: lastSeq}
	var bad []scanned
	good := min(int64(segmentHeadSize), size)
	for {
		item, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return 0, err
		}
		if item.why != "" {
			bad = append(bad, item)
			continue
		}
		for _, b := range bad {
			l.reportDamage(f, seg, b)
		}
		bad = bad[:0]
		good = item.to
		seg.records++
		var owner []byte
		if l.cfg.Owner != nil {
			owner = l.cfg.Owner(item.header)
		}
		l.ledger.restore(owner, item.to-item.from, Position{Segment: seg.number, Offset: uint64(item.to), Seq: item.head.seq + 1})
	}
	lastSeq = max(lastSeq, s.lastSeq)
	seg.size = good
	if !newest {
		for _, b := range bad {
			l.reportDamage(f, seg, b)
			seg.size = b.to
		}
		return lastSeq, nil
	}
	if len(bad) > 0 {
		lastSeq += seqGap
		if err := l.cutTail(f, &s, seg, bad); err != nil {
			return 0, err
		}
	}
	if size > good {
		if err := f.Truncate(good); err != nil {
			return 0, err
		}
		return lastSeq, f.Sync()
	}
	return lastSeq, nil
}

// cutTail reports the bytes behind the last readable record. It saves them unless they clearly belong to a write that never
// completed: the range is cut off by the end of the file, or ends in space that was never written.
func (l *Log) cutTail(f io.ReaderAt, s *scanner, seg *segment, bad []scanned) error {
	first, last := bad[0], bad[len(bad)-1]
	end, err := s.nonZeroEnd(first.from, last.to, false)
	if err != nil {
		return err
	}
	d := Damage{
		Segment: seg.name(), Offset: first.from, Bytes: end - first.from, Seq: first.head.seq, SeqKnown: first.seqKnown,
		Reason: first.why, Torn: true,
	}
	incomplete := len(bad) == 1 &&
		(end+tornZeros <= last.to || (last.seqKnown && last.from+last.head.size() > last.to) || last.to-last.from < frameHeadSize)
	if !incomplete {
		d.Copy = l.preserve(f, d)
	}
	l.logger.Warn("torn tail of the queue cut", d.attrs()...)
	l.damage = append(l.damage, d)
	return nil
}
