package pack

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
)

// TestHostileArchives refuses archives that no git tree can have made.
func TestHostileArchives(t *testing.T) {
	good := archived{name: "top/good.txt", text: "good\n"}
	for name, entries := range map[string][]archived{
		"absolute path":          {good, {name: "/etc/passwd", text: "x"}},
		"parent":                 {good, {name: "top/../../etc/passwd", text: "x"}},
		"parent at the end":      {good, {name: "top/a/..", text: "x"}},
		"parent as the top":      {{name: "../x", text: "x"}},
		"dot":                    {good, {name: "top/./x", text: "x"}},
		"empty segment":          {good, {name: "top//x", text: "x"}},
		"folder with parent":     {good, {name: "top/../x/", kind: tar.TypeDir}},
		"link at parent":         {good, {name: "top/../x", kind: tar.TypeSymlink, link: "y"}},
		"second top folder":      {good, {name: "other/x", text: "x"}},
		"no top folder":          {{name: "x", text: "x"}},
		"file beside the folder": {good, {name: "top", text: "x"}},
		"twice":                  {good, {name: "top/x", text: "1"}, {name: "top/y", text: "2"}, {name: "top/x", text: "3"}},
		"file and link":          {good, {name: "top/x", text: "1"}, {name: "top/x", kind: tar.TypeSymlink, link: "good.txt"}},
		"hard link":              {good, {name: "top/x", kind: tar.TypeLink, link: "top/good.txt"}},
		"character device":       {good, {name: "top/x", kind: tar.TypeChar}},
		"block device":           {good, {name: "top/x", kind: tar.TypeBlock}},
		"fifo":                   {good, {name: "top/x", kind: tar.TypeFifo}},
		"nothing":                {},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(context.Background(), io.Discard, bytes.NewReader(archiveOf(t, entries...)), Limits{})
			if !errors.Is(err, ErrArchive) || errors.Is(err, ErrTooLarge) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestOddNames leaves out names that git allows and a directory cannot list.
func TestOddNames(t *testing.T) {
	p := packed(t, archiveOf(t,
		archived{name: "top/good.txt", text: "good\n"},
		archived{name: "top/\xff.txt", text: "x\n"},
		archived{name: "top/line\nbreak.txt", text: "x\n"},
		archived{name: "top/\x1b[31m.txt", text: "x\n"},
		archived{name: "top/\u0085.txt", kind: tar.TypeSymlink, link: "good.txt"},
		archived{name: "top/" + strings.Repeat("deep/", 300) + "x.txt", text: "x\n"},
		archived{name: `top/back\slash.txt`, text: "x\n"},
		archived{name: "top/" + strings.Repeat("d/", 500) + "x.txt", text: "x\n"},
	), Limits{})
	if info := p.Info(); info.Unnamed != 5 || info.Files != 3 {
		t.Errorf("%+v", info)
	}
	if text, _, err := p.Read(`back\slash.txt`); err != nil || string(text) != "x\n" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestLimits exceeds each limit by a little, and fits it.
func TestLimits(t *testing.T) {
	random := make([]byte, 3000)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(random)
	text := strings.ReplaceAll(strings.ToValidUTF8(string(random), "?"), "\x00", "?")
	entries := []archived{{name: "top/a", text: text}, {name: "top/b", text: text}, {name: "top/", kind: tar.TypeDir}}
	archive := archiveOf(t, entries...)
	unpacked := int64(len(tarOf(t, entries...)))
	for name, c := range map[string]struct{ fits, exceeds Limits }{
		"archive":  {Limits{ArchiveBytes: int64(len(archive))}, Limits{ArchiveBytes: int64(len(archive)) - 1}},
		"unpacked": {Limits{UnpackedBytes: unpacked}, Limits{UnpackedBytes: unpacked - 1}},
		"text":     {Limits{TextBytes: 2 * int64(len(text))}, Limits{TextBytes: 2*int64(len(text)) - 1}},
		"entries":  {Limits{Entries: 4}, Limits{Entries: 3}}, // with the comment
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Build(t.Context(), io.Discard, bytes.NewReader(archive), c.fits); err != nil {
				t.Error(err)
			}
			_, err := Build(t.Context(), io.Discard, bytes.NewReader(archive), c.exceeds)
			if !errors.Is(err, ErrTooLarge) || errors.Is(err, ErrArchive) {
				t.Errorf("beyond the limit: %v", err)
			}
		})
	}
}

// zeros writes n zero bytes.
func zeros(tb testing.TB, w io.Writer, n int64) {
	if _, err := io.CopyN(w, zeroReader{}, n); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		tb.Error(err)
	}
}

type zeroReader struct{}

func (zeroReader) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// TestBombs stops archives that expand too far, before they have expanded.
func TestBombs(t *testing.T) {
	bomb := func(write func(io.Writer)) io.Reader {
		r, w := io.Pipe()
		t.Cleanup(func() { r.Close() })
		go func() {
			z := gzip.NewWriter(w)
			write(z)
			z.Close()
			w.Close()
		}()
		return r
	}
	header := func(w io.Writer, h *tar.Header) {
		if err := tar.NewWriter(w).WriteHeader(h); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
	// A sparse file states 8 GiB and has some bytes. The writer of package tar does not write the records of one.
	var sparse bytes.Buffer
	header(&sparse, &tar.Header{Name: "top/x", Size: 512, Mode: 0o644, PAXRecords: map[string]string{
		"SVC.sparse.major": "1", "SVC.sparse.minor": "0", "SVC.sparse.name": "top/x", "SVC.sparse.realsize": "8589934592",
	}})
	sparse.Write(append([]byte("1\n8589934592\n0\n"), make([]byte, 512-15+1024)...))
	holes := bytes.ReplaceAll(sparse.Bytes(), []byte("SVC."), []byte("GNU."))
	for name, c := range map[string]struct {
		archive io.Reader
		text    string
	}{
		"one file": {bomb(func(w io.Writer) {
			header(w, &tar.Header{Name: "top/x", Size: 900 << 20, Mode: 0o644})
			zeros(t, w, 900<<20)
		}), "expands more than 250 times"},
		"size that is not there": {bomb(func(w io.Writer) {
			header(w, &tar.Header{Name: "top/x", Size: 1 << 50, Mode: 0o644, Format: tar.FormatGNU})
		}), "more than 1073741824 bytes"},
		"sparse file": {bomb(func(w io.Writer) { _, _ = w.Write(holes) }), "more than 1073741824 bytes"},
		"behind the end": {bomb(func(w io.Writer) {
			header(w, &tar.Header{Name: "top/x", Mode: 0o644})
			zeros(t, w, 900<<20)
		}), "expands more than 250 times"},
		"many folders": {bomb(func(w io.Writer) {
			z := tar.NewWriter(w)
			for i := range 150_000 {
				if z.WriteHeader(&tar.Header{Name: fmt.Sprintf("top/%d/", i), Typeflag: tar.TypeDir}) != nil {
					return
				}
			}
		}), "more than 100000 files and folders"},
		"head of a megabyte": {bomb(func(w io.Writer) {
			z := tar.NewWriter(w)
			for i := range 2000 {
				h := &tar.Header{Name: fmt.Sprintf("top/%d", i), PAXRecords: map[string]string{"SVC.x": strings.Repeat("x", 900<<10)}}
				if z.WriteHeader(h) != nil {
					return
				}
			}
		}), "expands more than 250 times"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Build(t.Context(), io.Discard, c.archive, Limits{})
			if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), c.text) {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestCutArchive cuts an archive at every byte, and changes every byte. A build fails or, where the change means nothing, makes the same
// pack.
func TestCutArchive(t *testing.T) {
	archive := archiveOf(t, archived{name: "top/a.txt", text: "some text\n"}, archived{name: "top/b.txt", text: strings.Repeat("more\n", 50)})
	var whole bytes.Buffer
	if _, err := Build(t.Context(), &whole, bytes.NewReader(archive), Limits{}); err != nil {
		t.Fatal(err)
	}
	for n := range archive {
		if _, err := Build(t.Context(), io.Discard, bytes.NewReader(archive[:n]), Limits{}); !errors.Is(err, ErrArchive) {
			t.Errorf("cut at %d: %v", n, err)
		}
		changed := bytes.Clone(archive)
		changed[n] ^= 0x10
		var got bytes.Buffer
		_, err := Build(t.Context(), &got, bytes.NewReader(changed), Limits{})
		if err == nil && !bytes.Equal(got.Bytes(), whole.Bytes()) {
			t.Errorf("byte %d changed: another pack", n)
		}
		if err != nil && !errors.Is(err, ErrArchive) {
			t.Errorf("byte %d changed: %v", n, err)
		}
	}
}

var errConnection = errors.New("connection reset")

// TestFailingStreams tells the failure of the provider's connection, of the disk and of the caller from a bad archive.
func TestFailingStreams(t *testing.T) {
	archive := archiveOf(t, archived{name: "top/a.txt", text: "some text\n"})
	for _, n := range []int{0, 5, 11, 60, len(archive) - 3} {
		r := io.MultiReader(bytes.NewReader(archive[:n]), iotest.ErrReader(errConnection))
		if _, err := Build(t.Context(), io.Discard, r, Limits{}); !errors.Is(err, errConnection) || errors.Is(err, ErrArchive) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
	if _, err := Build(t.Context(), iotest.TruncateWriter(brokenWriter{}, 0), bytes.NewReader(archive), Limits{}); err != nil {
		t.Error("a writer that swallows all is no failure:", err)
	}
	if _, err := Build(t.Context(), brokenWriter{}, bytes.NewReader(archive), Limits{}); !errors.Is(err, errConnection) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, io.Discard, bytes.NewReader(archive), Limits{}); !errors.Is(err, context.Canceled) || errors.Is(err, ErrArchive) {
		t.Error(err)
	}
	if _, err := Build(t.Context(), io.Discard, iotest.OneByteReader(bytes.NewReader(archive)), Limits{}); err != nil {
		t.Error(err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errConnection }
