package queue

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	// segmentHeadSize is the size of the head of a segment file. The head holds the segment number, the log's id and the first
	// sequence number. An empty newest segment therefore still shows which numbers have been used.
	segmentHeadSize = 64
	segmentMagic    = "SVCQSEG1"
	segmentSuffix   = ".log"
)

// logID is the random identity of a log. It is part of the deduplication tokens.
type logID [16]byte

func (id logID) String() string { return hex.EncodeToString(id[:]) }

// segment is one file. size, records and sealed are guarded by Log.mu.
type segment struct {
	number  uint64
	path    string
	created time.Time
	// size is the end of the last durable record. Readers do not see bytes behind it.
	size    int64
	records int64
	// sealed says that no record will be added.
	sealed bool
}

func (s *segment) name() string { return filepath.Base(s.path) }

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%016x%s", number, segmentSuffix))
}

// segmentNumber reads the number from a file name.
func segmentNumber(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	return n, err == nil
}

type segmentHead struct {
	number   uint64
	firstSeq uint64
	created  int64
	id       logID
}

func (h segmentHead) encode() []byte {
	b := make([]byte, segmentHeadSize)
	le := binary.LittleEndian
	copy(b, segmentMagic)
	le.PutUint64(b[8:], h.number)
	le.PutUint64(b[16:], h.firstSeq)
	le.PutUint64(b[24:], uint64(h.created))
	copy(b[32:], h.id[:])
	le.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli()))
	return b
}

func parseSegmentHead(b []byte) (segmentHead, bool) {
	le := binary.LittleEndian
	if len(b) < segmentHeadSize || string(b[:8]) != segmentMagic || le.Uint32(b[60:]) != crc32.Checksum(b[:60], castagnoli()) {
		return segmentHead{}, false
	}
	h := segmentHead{number: le.Uint64(b[8:]), firstSeq: le.Uint64(b[16:]), created: int64(le.Uint64(b[24:]))}
	copy(h.id[:], b[32:])
	return h, true
}

func readSegmentHead(f io.ReaderAt) (segmentHead, bool) {
	b := make([]byte, segmentHeadSize)
	if n, err := f.ReadAt(b, 0); n < len(b) || (err != nil && !errors.Is(err, io.EOF)) {
		return segmentHead{}, false
	}
	return parseSegmentHead(b)
}

// createSegment creates the file, reserves its space, writes its head, and makes all of that and the folder entry durable. On an
// error it leaves nothing behind.
func createSegment(fs Filesystem, dir string, head segmentHead, size int64) (f File, err error) {
	path := segmentPath(dir, head.number)
	f, err = fs.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), fs.Remove(path))
			f = nil
		}
	}()
	if err := f.Preallocate(size); err != nil {
		return f, err
	}
	if _, err := f.WriteBuffers([][]byte{head.encode()}, 0); err != nil {
		return f, err
	}
	if err := f.Sync(); err != nil {
		return f, err
	}
	return f, fs.SyncDir(dir)
}

// readLogID returns the id that is kept in the folder. If there is no id, or it cannot be parsed, ok is false.
func readLogID(dir string) (id logID, ok bool, err error) {
	b, err := os.ReadFile(filepath.Join(dir, "id"))
	if errors.Is(err, os.ErrNotExist) {
		return id, false, nil
	}
	if err != nil {
		return id, false, err
	}
	n, err := hex.Decode(id[:], []byte(strings.TrimSpace(string(b[:min(len(b), 33)]))))
	return id, err == nil && n == len(id), nil
}

func newLogID() logID {
	var id logID
	_, _ = rand.Read(id[:]) // never fails: on an error crypto/rand ends the process
	return id
}

// writeLogID stores the id before the first record that depends on it.
func writeLogID(fs Filesystem, dir string, id logID) error {
	return writeLine(fs, dir, "id", id.String())
}

// writeLine replaces a file of one line durably.
func writeLine(fs Filesystem, dir, name, text string) error {
	tmp := filepath.Join(dir, name+".new")
	if err := os.Remove(tmp); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := fs.Create(tmp)
	if err != nil {
		return err
	}
	if _, err := f.WriteBuffers([][]byte{[]byte(text + "\n")}, 0); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return err
	}
	return fs.SyncDir(dir)
}
