package queue

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
)

// Damage names bytes of a segment that hold no readable record.
type Damage struct {
	// Segment is the file name. Offset and Bytes are the range in the file.
	Segment string
	Offset  int64
	Bytes   int64
	// Seq is the damaged record's sequence number, if SeqKnown is set.
	Seq      uint64
	SeqKnown bool
	Reason   string
	// Torn says that the range is the tail of the newest segment. Most likely a crash interrupted a write.
	Torn bool
	// Copy is the path of the saved bytes. It is empty if they could not be saved, or need not be saved because the write was
	// never completed.
	Copy string
}

type damageKey struct {
	segment uint64
	offset  int64
}

func (d Damage) attrs() []any {
	a := []any{
		slog.String("segment", d.Segment), slog.Int64("offset", d.Offset), slog.Int64("bytes", d.Bytes),
		slog.String("reason", d.Reason), slog.String("copy", d.Copy),
	}
	if d.SeqKnown {
		a = append(a, slog.Uint64("seq", d.Seq))
	}
	return a
}

// Damage returns the damaged ranges that Open and later readers found.
func (l *Log) Damage() []Damage {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Damage(nil), l.damage...)
}

// reportDamage saves the bytes and logs the range once.
func (l *Log) reportDamage(r io.ReaderAt, seg *segment, s scanned) {
	key := damageKey{segment: seg.number, offset: s.from}
	l.mu.Lock()
	seen := l.known[key]
	l.known[key] = true
	l.mu.Unlock()
	if seen {
		return
	}
	d := Damage{Segment: seg.name(), Offset: s.from, Bytes: s.to - s.from, Seq: s.head.seq, SeqKnown: s.seqKnown, Reason: s.why}
	d.Copy = l.preserve(r, d)
	l.logger.Error("queue record damaged", d.attrs()...)
	l.mu.Lock()
	l.damage = append(l.damage, d)
	l.mu.Unlock()
}

// preserve copies the range into the folder "damaged" and returns the path. A failed copy must not prevent a start, so it only
// logs the error.
func (l *Log) preserve(r io.ReaderAt, d Damage) string {
	path := filepath.Join(l.cfg.Dir, "damaged", fmt.Sprintf("%s-%d-%d.bin", d.Segment, d.Offset, d.Bytes))
	if err := copyRange(path, r, d.Offset, d.Bytes); err != nil {
		l.logger.Error("damaged queue bytes not saved", slog.String("segment", d.Segment), slog.Int64("offset", d.Offset), slog.Any("error", err))
		return ""
	}
	return path
}

func copyRange(path string, r io.ReaderAt, off, n int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, io.NewSectionReader(r, off, n)); err != nil {
		return errors.Join(err, f.Close())
	}
	return errors.Join(f.Sync(), f.Close())
}
