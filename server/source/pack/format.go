package pack

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
)

// A pack is, with all integers little-endian:
//
//	head       magic, version u32, zero u32
//	blocks     one zstd frame each, without a gap
//	directory  one zstd frame: facts, blocks, files sorted by path (encodeDirectory)
//	index      one zstd frame: for each bucket a row with one bit a block (trigram.go)
//	tail       sizes and CRC-32C of directory and index, size of the file, CRC-32C of the tail, magic
//
// Everything lies without a gap, and the tail has the size of the whole, so a pack that was cut or has bytes added is found by its size.
// The directory has the CRC-32C of each block. The tail comes last, so a build writes a stream and never seeks.
const (
	headMagic = "svcpack\n"
	tailMagic = "kcapcvs\n"
	version   = 1
	headSize  = 16
	tailSize  = 56

	// blockBytes closes a block. A pack with blocks of 1 MiB is 6 % smaller than one with blocks of 512 KiB (docs/adr/0020), and a block is
	// decompressed in 0.6 ms.
	blockBytes = 1 << 20
	// maxBlocks, maxDirectory and maxIndex bound the memory that the numbers of a pack can make Open and Search take.
	maxBlocks    = 1 << 14
	maxDirectory = 128 << 20
	maxIndex     = buckets * maxBlocks / 8
)

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli()) }

func head() []byte {
	b := append(make([]byte, 0, headSize), headMagic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	return binary.LittleEndian.AppendUint32(b, 0)
}

// part is a frame of a pack: its place, its size as stored and decompressed, and the checksum of the stored bytes.
type part struct {
	offset       int64
	size, raw    uint32
	checksum     uint32
	firstParty   bool // blocks only: holds a file that is not vendored
	foldsBeyond7 bool // blocks only: see entry.foldsBeyond7
}

type tail struct {
	directory, index part
	size             int64
}

func (t tail) encode() []byte {
	b := make([]byte, 0, tailSize)
	for _, p := range []part{t.directory, t.index} {
		b = binary.LittleEndian.AppendUint32(b, p.size)
		b = binary.LittleEndian.AppendUint32(b, p.raw)
		b = binary.LittleEndian.AppendUint32(b, p.checksum)
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(t.size))
	b = binary.LittleEndian.AppendUint64(b, 0)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, checksum(b))
	return append(b, tailMagic...)
}

// decodeTail reads the tail of a file of that size.
func decodeTail(b []byte, size int64) (tail, error) {
	le := binary.LittleEndian
	sums := tailSize - len(tailMagic) - 4
	if len(b) != tailSize || string(b[tailSize-len(tailMagic):]) != tailMagic || le.Uint32(b[sums:]) != checksum(b[:sums]) {
		return tail{}, fmt.Errorf("%w: it has no valid end", ErrDamaged)
	}
	if v := le.Uint32(b[40:]); v != version {
		return tail{}, fmt.Errorf("%w: %d", ErrVersion, v)
	}
	t := tail{
		directory: part{size: le.Uint32(b[0:]), raw: le.Uint32(b[4:]), checksum: le.Uint32(b[8:])},
		index:     part{size: le.Uint32(b[12:]), raw: le.Uint32(b[16:]), checksum: le.Uint32(b[20:])},
		size:      int64(le.Uint64(b[24:])),
	}
	t.index.offset = size - tailSize - int64(t.index.size)
	t.directory.offset = t.index.offset - int64(t.directory.size)
	switch {
	case t.size != size:
		return tail{}, fmt.Errorf("%w: it has %d bytes instead of %d", ErrDamaged, size, t.size)
	case t.directory.offset < headSize || t.directory.raw > maxDirectory || t.index.raw > maxIndex:
		return tail{}, fmt.Errorf("%w: its end states impossible sizes", ErrDamaged)
	}
	return t, nil
}

// entry is a file of the directory in memory.
type entry struct {
	path  string
	sha   [20]byte
	size  int64
	lines uint32
	// block and offset are the place of the text. Files never cross blocks.
	block, offset uint32
	kind          Kind
	flags         uint8
}

// Flags of an entry. The numbers are part of the format.
const (
	flagGenerated = 1 << iota
	flagVendored
	flagTest
	// flagFoldsBeyond7 marks text with one of the two characters outside of ASCII that equal an ASCII letter when case is ignored.
	flagFoldsBeyond7
)

func (e *entry) has(flag uint8) bool { return e.flags&flag != 0 }

func (e *entry) file() File {
	return File{
		Path: e.path, SHA: hex.EncodeToString(e.sha[:]), Size: e.size, Lines: int(e.lines), Kind: e.kind,
		Generated: e.has(flagGenerated), Vendored: e.has(flagVendored), Test: e.has(flagTest),
	}
}

// directory is the content of the frame of that name.
type directory struct {
	commit  string
	unnamed int
	blocks  []part
	entries []entry // sorted by path
}

func (d *directory) encode() []byte {
	u := binary.AppendUvarint
	b := u(nil, uint64(len(d.commit)))
	b = append(b, d.commit...)
	b = u(b, uint64(d.unnamed))
	b = u(b, uint64(len(d.blocks)))
	for _, p := range d.blocks {
		b = u(b, uint64(p.size))
		b = u(b, uint64(p.raw))
		b = binary.LittleEndian.AppendUint32(b, p.checksum)
	}
	b = u(b, uint64(len(d.entries)))
	before := ""
	for i := range d.entries {
		e := &d.entries[i]
		same := commonPrefix(before, e.path)
		b = u(b, uint64(same))
		b = u(b, uint64(len(e.path)-same))
		b = append(b, e.path[same:]...)
		b = append(b, byte(e.kind), e.flags)
		b = append(b, e.sha[:]...)
		b = u(b, uint64(e.size))
		if e.kind == Text {
			b = u(b, uint64(e.lines))
			b = u(b, uint64(e.block))
			b = u(b, uint64(e.offset))
		}
		before = e.path
	}
	return b
}

func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// decodeDirectory checks all that later code relies on: order, places, sizes. The checksum has been checked before, so a failure here is a
// defect of the program that wrote the pack.
func decodeDirectory(b []byte) (*directory, error) {
	r := &fields{rest: b}
	d := &directory{commit: string(r.bytes(r.number(64))), unnamed: int(r.number(1 << 40))}
	at := int64(headSize)
	blocks := r.number(maxBlocks)
	d.blocks = make([]part, 0, blocks)
	for range blocks {
		p := part{offset: at, size: uint32(r.number(1 << 31)), raw: uint32(r.number(maxFileBytes + blockBytes))}
		if sum := r.bytes(4); len(sum) == 4 {
			p.checksum = binary.LittleEndian.Uint32(sum)
		}
		at += int64(p.size)
		d.blocks = append(d.blocks, p)
	}
	count := r.number(1 << 31)
	d.entries = make([]entry, 0, min(count, uint64(len(r.rest)/24)))
	var name []byte
	for range count {
		same := int(r.number(uint64(len(name))))
		rest := r.bytes(r.number(maxPath))
		name = append(name[:same], rest...)
		e := entry{path: string(name)}
		if two := r.bytes(2); len(two) == 2 {
			e.kind, e.flags = Kind(two[0]), two[1]
		}
		copy(e.sha[:], r.bytes(20))
		e.size = int64(r.number(1 << 62))
		if e.kind == Text {
			e.lines, e.block, e.offset = uint32(r.number(1<<31)), uint32(r.number(maxBlocks)), uint32(r.number(1<<31))
			if !r.bad && (int(e.block) >= len(d.blocks) || int64(e.offset)+e.size > int64(d.blocks[e.block].raw)) {
				r.bad = e.size > 0
			}
		}
		if n := len(d.entries); n > 0 && d.entries[n-1].path >= e.path {
			r.bad = true
		}
		if r.bad {
			break
		}
		d.entries = append(d.entries, e)
	}
	if r.bad || len(r.rest) > 0 {
		return nil, fmt.Errorf("%w: its directory cannot be read", ErrDamaged)
	}
	for i := range d.entries {
		if e := &d.entries[i]; e.kind == Text && e.size > 0 {
			p := &d.blocks[e.block]
			p.firstParty = p.firstParty || !e.has(flagVendored)
			p.foldsBeyond7 = p.foldsBeyond7 || e.has(flagFoldsBeyond7)
		}
	}
	return d, nil
}

// fields reads the directory. After a field that is not there, bad is set and all fields are empty.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number(most uint64) uint64 {
	n, size := binary.Uvarint(f.rest)
	if size <= 0 || n > most || f.bad {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

func (f *fields) bytes(n uint64) []byte {
	if f.bad || n > uint64(len(f.rest)) {
		f.bad, f.rest = true, nil
		return nil
	}
	b := f.rest[:n]
	f.rest = f.rest[n:]
	return b
}

// find returns the position of a path, or of the first path behind it.
func (d *directory) find(path string) (int, bool) {
	return slices.BinarySearchFunc(d.entries, path, func(e entry, path string) int { return strings.Compare(e.path, path) })
}
