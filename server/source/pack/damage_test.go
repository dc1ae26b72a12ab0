package pack

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// smallPack returns the bytes of a pack of a few blocks.
func smallPack(tb testing.TB) []byte {
	tb.Helper()
	var b bytes.Buffer
	archive := archiveOf(tb,
		archived{name: "top/a.go", text: "package a\n\nfunc Needle() {}\n"},
		archived{name: "top/b/empty.txt"},
		archived{name: "top/c.bin", text: "\x00"},
		archived{name: "top/vendor/d.go", text: "package d // needle\n"},
	)
	if _, err := Build(context.Background(), &b, bytes.NewReader(archive), Limits{}); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// use opens a pack and does all that can be done with it. It returns the first error, and an error without a type if an answer is wrong.
func use(path string) error {
	p, err := Open(path)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.Verify(context.Background()); err != nil {
		return err
	}
	for _, f := range p.Files("") {
		if _, _, err := p.Read(f.Path); err != nil && f.Kind == Text {
			return err
		}
	}
	r, err := p.Search(context.Background(), Query{Text: "needle"})
	if err != nil {
		return err
	}
	if r.Matched != 2 || r.Files[0].Path != "a.go" || r.Files[0].Matches[0].Line != 3 {
		return fmt.Errorf("a wrong answer: %+v", r)
	}
	return nil
}

func typed(err error) bool { return errors.Is(err, ErrDamaged) || errors.Is(err, ErrVersion) }

// TestDamage changes every byte of a pack, cuts it everywhere, and adds bytes to it. Each is found, with an error that has a type.
func TestDamage(t *testing.T) {
	whole := smallPack(t)
	path := filepath.Join(t.TempDir(), "x.pack")
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(whole)
	if err := use(path); err != nil {
		t.Fatal(err)
	}
	for at := range whole {
		for _, bit := range []byte{0x01, 0x80} {
			b := bytes.Clone(whole)
			b[at] ^= bit
			write(b)
			if err := use(path); !typed(err) {
				t.Fatalf("byte %d of %d changed: %v", at, len(whole), err)
			}
		}
		write(whole[:at])
		if err := use(path); !typed(err) {
			t.Fatalf("cut at %d: %v", at, err)
		}
		b := bytes.Clone(whole)
		clear(b[at:min(len(b), at+512)]) // a sector that was never written
		if write(b); !bytes.Equal(b, whole) && !typed(use(path)) {
			t.Fatalf("zeros from %d: %v", at, use(path))
		}
	}
	for _, more := range [][]byte{{0}, whole, whole[len(whole)-tailSize:]} {
		write(append(bytes.Clone(whole), more...))
		if err := use(path); !typed(err) {
			t.Errorf("%d bytes more: %v", len(more), err)
		}
	}
}

// TestOtherFiles opens what is no pack.
func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	later := smallPack(t)
	tailAt := len(later) - tailSize
	binary.LittleEndian.PutUint32(later[tailAt+40:], version+1)
	binary.LittleEndian.PutUint32(later[tailAt+44:], checksum(later[tailAt:tailAt+44]))
	path := filepath.Join(dir, "later")
	if err := os.WriteFile(path, later, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, ErrVersion) || errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// TestDamageAfterOpen damages the file of an open pack: a search finds it and says so once to the owner.
func TestDamageAfterOpen(t *testing.T) {
	whole := smallPack(t)
	path := filepath.Join(t.TempDir(), "x.pack")
	if err := os.WriteFile(path, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	told := 0
	p.damaged = func() { told++ }
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff}, headSize+4); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Search(t.Context(), Query{Text: "needle"}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if _, _, err := p.Read("a.go"); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if err := f.Truncate(10); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.Read("a.go"); !errors.Is(err, ErrDamaged) || told != 3 {
		t.Error(err, told)
	}
	f.Close()
}

// FuzzArchive builds packs of arbitrary bytes. A pack that is built can be read whole, and holds clean paths only.
func FuzzArchive(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add(tarOf(f, archived{name: "top/a.txt", text: "text\n"}, archived{name: "top/l", kind: '2', link: "a.txt"}), false)
	f.Add(archiveOf(f, archived{name: "top/a.txt", text: "text\n"}), true)
	f.Add(tarOf(f, archived{name: "top/../a.txt", text: "text\n"}), false)
	path := filepath.Join(f.TempDir(), "x.pack")
	f.Fuzz(func(t *testing.T, data []byte, compressed bool) {
		if !compressed {
			data = zipped(t, data)
		}
		out, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		info, err := Build(t.Context(), out, bytes.NewReader(data), Limits{UnpackedBytes: 1 << 20})
		if err != nil {
			if !errors.Is(err, ErrArchive) && !errors.Is(err, ErrTooLarge) {
				t.Fatal(err)
			}
			return
		}
		p, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if err := p.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		files := p.Files("")
		for _, file := range files {
			if !filepath.IsLocal(file.Path) || filepath.ToSlash(filepath.Clean(file.Path)) != file.Path {
				t.Fatalf("path %q", file.Path)
			}
		}
		if n := info.Files + sum(info.Omitted); n != len(files) {
			t.Fatalf("%d files of %d", len(files), n)
		}
	})
}

func sum(counts map[Kind]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// FuzzDirectory reads arbitrary bytes as a directory: it fails, or all places are inside of the blocks.
func FuzzDirectory(f *testing.F) {
	d := directory{commit: commit, blocks: []part{{size: 3, raw: 20}}, entries: []entry{
		{path: "a", size: 5}, {path: "a/b", kind: Binary, size: 1 << 40}, {path: "b", offset: 5, size: 15, lines: 2, flags: flagVendored},
	}}
	f.Add(d.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := decodeDirectory(data)
		if err != nil {
			if !errors.Is(err, ErrDamaged) {
				t.Fatal(err)
			}
			return
		}
		for i, e := range d.entries {
			if e.kind == Text && e.size > 0 && int64(e.offset)+e.size > int64(d.blocks[e.block].raw) {
				t.Fatalf("%+v", e)
			}
			if i > 0 && d.entries[i-1].path >= e.path {
				t.Fatal("not sorted")
			}
		}
	})
}

// FuzzQuery compiles arbitrary queries. One that compiles finds what grep finds.
func FuzzQuery(f *testing.F) {
	files := map[string]string{
		"a.go":          "package a\n\nfunc Needle(x int) error { return nil }\n",
		"b/c_test.go":   "k\u212A \u017Fs é É\r\n\tneedle needle\nlast line without an end \xff\xfe",
		"b/readme.md":   "# Title\n\n/v2/users and \"quotes\" \\ {}[]()\n",
		"vendor/x.c":    "int main(void) {\n\treturn 0;\n}\n",
		"vendor/min.js": "x=" + fmt.Sprint(make([]int, 3000)),
	}
	p := packed(f, archiveOf(f, tree(files)...), Limits{})
	for _, q := range []string{
		"needle", "Needle", `"func Needle"`, `/f.nc\s+\w+/`, "/v2/users", "//", `"a\"b"`, `/(/`, "repo:x y", "a b c", `/[k-s]\b/`,
		`/\pL+$/ return`,
		`/(?i)K/`, `/(x{30}){30}/`, "\x00", "é", `/^\s+\S/`, `"unclosed`, `/\x{FFFD}/`,
	} {
		f.Add(q, "")
	}
	f.Add("x", "**/[!a]*.{go,c}")
	f.Add("x", "b/")
	f.Fuzz(func(t *testing.T, text, path string) {
		q := Query{Text: text, Path: path}
		var malformed *QueryError
		if err := q.Check(); err != nil {
			if !errors.As(err, &malformed) || err.Error() == "" {
				t.Fatalf("%v", err)
			}
			return
		}
		if _, err := p.Search(t.Context(), q); err != nil {
			t.Fatal(err)
		}
		compare(t, p, files, text)
	})
}
