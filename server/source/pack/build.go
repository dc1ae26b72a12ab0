package pack

import (
	"bytes"
	"context"
	"crypto/sha1" //nolint:gosec // git names blobs by it, and answers carry those names
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Build reads an archive (.tar.gz with one top folder) and writes its pack to out, as a stream. It holds one block, the directory and the
// index in memory: 64 MiB at most with DefaultLimits.
//
// It returns ErrTooLarge for an archive beyond the limits, ErrArchive for one that is damaged or cannot come from git, and the error of
// ctx, of the archive's reader or of out as it is. The bytes written by then are not a pack.
func Build(ctx context.Context, out io.Writer, archive io.Reader, limits Limits) (Info, error) {
	limits = limits.withDefaults()
	u, err := newUnpacker(ctx, archive, limits)
	if err != nil {
		return Info{}, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBetterCompression), zstd.WithEncoderConcurrency(1),
		zstd.WithEncoderCRC(false), zstd.WithWindowSize(blockBytes), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return Info{}, err
	}
	defer func() { _ = encoder.Close() }()
	b := &builder{limits: limits, out: out, encoder: encoder, sum: sha1.New(), info: Info{Omitted: map[Kind]int{}}} //nolint:gosec // as above
	b.text = make([]byte, 0, max(blockBytes, limits.FileBytes))
	b.column = make(column, buckets/64)
	if err := b.write(head()); err != nil {
		return Info{}, err
	}
	for {
		next, err := u.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return Info{}, err
		}
		if err := b.add(next, u); err != nil {
			return Info{}, err
		}
	}
	b.directory.commit, b.directory.unnamed = u.commit, u.unnamed
	return b.finish()
}

type builder struct {
	limits    Limits
	out       io.Writer
	written   int64
	encoder   *zstd.Encoder
	sum       hash.Hash
	directory directory
	paths     int
	vendored  int64 // bytes
	info      Info

	// text and column are those of the open block.
	text    []byte
	column  column
	columns []column
	packed  []byte
}

// add reads one file from content and puts it into the directory and, if it is text, into the open block.
func (b *builder) add(f item, content io.Reader) error {
	if b.paths += len(f.path); b.paths > maxPaths {
		return fmt.Errorf("%w: its paths have more than %d bytes", ErrTooLarge, maxPaths)
	}
	e := entry{path: f.path, size: f.size}
	var err error
	switch {
	case f.isLink:
		e.kind = Link
		b.begin(f.size)
		_, _ = io.WriteString(b.sum, f.link)
	case f.size > b.limits.FileBytes:
		err = b.addLarge(&e, content)
	default:
		err = b.addText(&e, content)
	}
	if err != nil {
		return err
	}
	b.sum.Sum(e.sha[:0])
	if e.kind != Text {
		b.info.Omitted[e.kind]++
	}
	b.directory.entries = append(b.directory.entries, e)
	return nil
}

// begin starts the id that git gives to a blob of that size.
func (b *builder) begin(size int64) {
	b.sum.Reset()
	_, _ = b.sum.Write(append(strconv.AppendInt([]byte("blob "), size, 10), 0))
}

// addLarge takes the id of a file whose text is not held.
func (b *builder) addLarge(e *entry, content io.Reader) error {
	e.kind, e.flags = Large, pathFlags(e.path)
	b.begin(e.size)
	buffer := b.text[len(b.text):cap(b.text)]
	if len(buffer) < 32<<10 {
		buffer = make([]byte, 32<<10)
	}
	for {
		n, err := content.Read(buffer)
		if bytes.IndexByte(buffer[:n], 0) >= 0 {
			e.kind = Binary
		}
		_, _ = b.sum.Write(buffer[:n])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (b *builder) addText(e *entry, content io.Reader) error {
	if len(b.text) > 0 && int64(len(b.text))+e.size > blockBytes {
		if err := b.closeBlock(); err != nil {
			return err
		}
	}
	at := len(b.text)
	text := b.text[at : at+int(e.size)]
	if _, err := io.ReadFull(content, text); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = fmt.Errorf("%w: %w", ErrArchive, io.ErrUnexpectedEOF)
		}
		return err
	}
	b.begin(e.size)
	_, _ = b.sum.Write(text)
	if e.kind, e.flags = b.limits.classify(e.path, text, b.vendored); e.kind != Text {
		return nil
	}
	if b.info.Bytes += e.size; b.info.Bytes > b.limits.TextBytes {
		return fmt.Errorf("%w: more than %d bytes of text", ErrTooLarge, b.limits.TextBytes)
	}
	lines := countLines(text)
	e.lines, e.block, e.offset = uint32(lines), uint32(len(b.directory.blocks)), uint32(at)
	b.text = b.text[:at+int(e.size)]
	b.column.add(text)
	b.info.Files++
	b.info.Lines += int64(lines)
	if e.has(flagVendored) {
		b.info.Vendored++
		b.vendored += e.size
	}
	return nil
}

// closeBlock writes the open block and opens the next one.
func (b *builder) closeBlock() error {
	if len(b.text) == 0 {
		return nil
	}
	if len(b.directory.blocks) == maxBlocks {
		return fmt.Errorf("%w: more than %d blocks", ErrTooLarge, maxBlocks)
	}
	p, err := b.frame(b.text)
	if err != nil {
		return err
	}
	b.directory.blocks = append(b.directory.blocks, p)
	b.columns = append(b.columns, b.column)
	b.column = make(column, buckets/64)
	b.text = b.text[:0]
	return nil
}

// frame compresses and writes bytes.
func (b *builder) frame(raw []byte) (part, error) {
	b.packed = b.encoder.EncodeAll(raw, b.packed[:0])
	p := part{offset: b.written, size: uint32(len(b.packed)), raw: uint32(len(raw)), checksum: checksum(b.packed)}
	return p, b.write(b.packed)
}

func (b *builder) write(bytes []byte) error {
	n, err := b.out.Write(bytes)
	b.written += int64(n)
	return err
}

func (b *builder) finish() (Info, error) {
	if err := b.closeBlock(); err != nil {
		return Info{}, err
	}
	d := &b.directory
	slices.SortFunc(d.entries, func(a, b entry) int { return strings.Compare(a.path, b.path) })
	for i := 1; i < len(d.entries); i++ {
		if d.entries[i-1].path == d.entries[i].path {
			return Info{}, fmt.Errorf("%w: it has %.200q twice", ErrArchive, d.entries[i].path)
		}
	}
	var t tail
	var err error
	if t.directory, err = b.frame(d.encode()); err != nil {
		return Info{}, err
	}
	if t.index, err = b.frame(rows(b.columns)); err != nil {
		return Info{}, err
	}
	t.size = b.written + tailSize
	if err := b.write(t.encode()); err != nil {
		return Info{}, err
	}
	b.info.Commit, b.info.Unnamed, b.info.Blocks, b.info.Size = d.commit, d.unnamed, len(d.blocks), b.written
	return b.info, nil
}
