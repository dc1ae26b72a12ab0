package pack

import (
	"context"
	"crypto/sha1" //nolint:gosec // git names blobs by it, and the check compares with those names
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// Pack is an open pack. It is safe for concurrent use. Close it when the request ends.
type Pack struct {
	*shared
	closed atomic.Bool
}

// shared is the open file. A cache hands it to several callers, each with a Pack of its own.
type shared struct {
	file      *os.File
	decoder   *zstd.Decoder
	directory *directory
	index     part
	info      Info
	// order has the entries with text, by place in the file.
	order []int32
	uses  atomic.Int64
	// damaged is called when a block turns out to be damaged. It may be nil.
	damaged func()
}

// Open opens the pack at a path of the file system. It returns ErrDamaged or ErrVersion for a file that is not a pack of this version. It
// reads directory and tail, and not the blocks: damage in these is found when they are read, or by Verify.
func Open(path string) (*Pack, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s, err := openFile(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &Pack{shared: s}, nil
}

// openFile takes over the file, unless it fails.
func openFile(f *os.File) (*shared, error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size := stat.Size()
	if !stat.Mode().IsRegular() || size < headSize+tailSize {
		return nil, fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	first, last := make([]byte, headSize), make([]byte, tailSize)
	if _, err := f.ReadAt(first, 0); err != nil {
		return nil, err
	}
	if _, err := f.ReadAt(last, size-tailSize); err != nil {
		return nil, err
	}
	t, err := decodeTail(last, size)
	if err != nil {
		return nil, err
	}
	if string(first) != string(head()) {
		return nil, fmt.Errorf("%w: it does not begin as a pack", ErrDamaged)
	}
	// Two searches may decompress at a time; each block is short work.
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(2), zstd.WithDecoderMaxMemory(maxDirectory))
	if err != nil {
		return nil, err
	}
	s := &shared{file: f, decoder: decoder, index: t.index}
	s.uses.Store(1)
	if err := s.load(t, size); err != nil {
		decoder.Close()
		return nil, err
	}
	return s, nil
}

func (s *shared) load(t tail, size int64) error {
	raw, err := s.read(t.directory, &buffers{})
	if err != nil {
		return err
	}
	d, err := decodeDirectory(raw)
	if err != nil {
		return err
	}
	end := int64(headSize)
	for _, p := range d.blocks {
		end = p.offset + int64(p.size)
	}
	if width := (len(d.blocks) + 7) / 8; end != t.directory.offset || int(t.index.raw) != width*buckets {
		return fmt.Errorf("%w: its parts do not meet", ErrDamaged)
	}
	s.directory = d
	s.info = Info{Commit: d.commit, Unnamed: d.unnamed, Omitted: map[Kind]int{}, Size: size, Blocks: len(d.blocks)}
	for i := range d.entries {
		e := &d.entries[i]
		if e.kind != Text {
			s.info.Omitted[e.kind]++
			continue
		}
		s.order = append(s.order, int32(i))
		s.info.Files++
		s.info.Bytes += e.size
		s.info.Lines += int64(e.lines)
		if e.has(flagVendored) {
			s.info.Vendored++
		}
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		x, y := &d.entries[a], &d.entries[b]
		if x.block != y.block {
			return int(x.block) - int(y.block)
		}
		return int(x.offset) - int(y.offset)
	})
	return nil
}

// buffers are reused from one read to the next.
type buffers struct{ packed, raw []byte }

// read returns the bytes of a frame. They are valid until the next read with the same buffers.
func (s *shared) read(p part, b *buffers) ([]byte, error) {
	b.packed = slices.Grow(b.packed[:0], int(p.size))[:p.size]
	if _, err := s.file.ReadAt(b.packed, p.offset); err != nil {
		if errors.Is(err, io.EOF) {
			err = s.damage("it became shorter")
		}
		return nil, err
	}
	if checksum(b.packed) != p.checksum {
		return nil, s.damage("a checksum does not match")
	}
	raw, err := s.decoder.DecodeAll(b.packed, slices.Grow(b.raw[:0], int(p.raw)))
	if err != nil || len(raw) != int(p.raw) {
		return nil, s.damage("it cannot be decompressed")
	}
	b.raw = raw
	return raw, nil
}

func (s *shared) damage(reason string) error {
	if s.damaged != nil {
		s.damaged()
	}
	return fmt.Errorf("%w: %s", ErrDamaged, reason)
}

func (s *shared) release() error {
	if s.uses.Add(-1) > 0 {
		return nil
	}
	s.decoder.Close()
	return s.file.Close()
}

// Close ends the use of the pack. A second call does nothing.
func (p *Pack) Close() error {
	if p.closed.Swap(true) {
		return nil
	}
	return p.release()
}

// Info describes the pack.
func (p *Pack) Info() Info {
	info := p.info
	info.Omitted = maps.Clone(info.Omitted)
	return info
}

// Files returns the files of a folder and of the folders below it, or the file of that path, sorted by path. An empty prefix stands for
// all. A prefix ends where a segment ends: "server/app" does not match "server/apps/x.go".
func (p *Pack) Files(prefix string) []File {
	prefix = strings.Trim(prefix, "/")
	entries := p.directory.entries
	var files []File
	if prefix != "" {
		at, ok := p.directory.find(prefix)
		if ok {
			return []File{entries[at].file()}
		}
		prefix += "/"
		at, _ = p.directory.find(prefix)
		entries = entries[at:]
	}
	for i := range entries {
		if !strings.HasPrefix(entries[i].path, prefix) {
			break
		}
		files = append(files, entries[i].file())
	}
	return files
}

// Stat returns the file of a path, or ErrNotFound.
func (p *Pack) Stat(path string) (File, error) {
	at, ok := p.directory.find(path)
	if !ok {
		return File{}, ErrNotFound
	}
	return p.directory.entries[at].file(), nil
}

// Find returns the paths that end with a path, sorted: "app/main.go" finds "server/app/main.go", and not "server/myapp/main.go". Links are
// not among them.
func (p *Pack) Find(suffix string) []string {
	suffix = strings.Trim(suffix, "/")
	if suffix == "" {
		return nil
	}
	var found []string
	for i := range p.directory.entries {
		e := &p.directory.entries[i]
		if rest, ok := strings.CutSuffix(e.path, suffix); ok && (rest == "" || strings.HasSuffix(rest, "/")) && e.kind != Link {
			found = append(found, e.path)
		}
	}
	return found
}

// Read returns the bytes of a file and the id of its blob. It returns ErrNotFound, *OmittedError or ErrDamaged. The path is one of the
// directory; it never reaches the file system.
func (p *Pack) Read(path string) (text []byte, sha string, err error) {
	if p.closed.Load() {
		return nil, "", ErrClosed
	}
	at, ok := p.directory.find(path)
	if !ok {
		return nil, "", ErrNotFound
	}
	e := &p.directory.entries[at]
	sha = hex.EncodeToString(e.sha[:])
	if e.kind != Text {
		return nil, sha, &OmittedError{Path: e.path, Kind: e.kind, Size: e.size}
	}
	if e.size == 0 {
		return []byte{}, sha, nil
	}
	block, err := p.read(p.directory.blocks[e.block], &buffers{})
	if err != nil {
		return nil, "", err
	}
	return slices.Clone(block[e.offset : int64(e.offset)+e.size]), sha, nil
}

// Verify reads all blocks and compares each file with the id of its blob.
func (p *Pack) Verify(ctx context.Context) error {
	if p.closed.Load() {
		return ErrClosed
	}
	var b buffers
	if _, err := p.read(p.index, &b); err != nil {
		return err
	}
	var text []byte
	block := -1
	for _, i := range p.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := &p.directory.entries[i]
		if e.size > 0 && int(e.block) != block {
			var err error
			block = int(e.block)
			if text, err = p.read(p.directory.blocks[block], &b); err != nil {
				return err
			}
		}
		sum := sha1.New() //nolint:gosec // as above
		fmt.Fprintf(sum, "blob %d\x00", e.size)
		if e.size > 0 {
			_, _ = sum.Write(text[e.offset : int64(e.offset)+e.size])
		}
		if [20]byte(sum.Sum(nil)) != e.sha {
			return p.shared.damage(path.Base(e.path) + " differs from the id of its blob")
		}
	}
	return nil
}
