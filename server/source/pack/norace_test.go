//go:build !race

package pack

// These tests run in one goroutine, take minutes with the race detector, and would find nothing with it.

import (
	"archive/tar"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

// slack is how much longer than without load a search may take in a test.
const slack = 4

// TestBuildMemory builds the largest pack that DefaultLimits allow: 100,000 files and folders with long paths, and 250 MB of text.
func TestBuildMemory(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	go func() {
		z, _ := gzip.NewWriterLevel(w, gzip.HuffmanOnly)
		a := tar.NewWriter(z)
		words := make([]byte, 0, 1<<20)
		for random := rand.New(rand.NewPCG(1, 2)); len(words) < 1<<20-20; {
			words = fmt.Appendf(words, "word%d ", random.IntN(1<<20))
		}
		const files, size = 99_900, 2600
		for i := range files {
			at := i * 7919 % (len(words) - size)
			name := fmt.Sprintf("top/a-folder-with-a-name/%03d/another-one/%05d/file-with-a-long-name.go", i/1000, i)
			if a.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o644}) != nil {
				return
			}
			if _, err := a.Write(words[at : at+size]); err != nil {
				return
			}
		}
		a.Close()
		z.Close()
		w.Close()
	}()
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most uint64
	watch := writerFunc(func(b []byte) (int, error) {
		runtime.ReadMemStats(&now)
		most = max(most, now.HeapAlloc)
		return len(b), nil
	})
	info, err := Build(t.Context(), watch, r, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if info.Files < 99_000 || info.Bytes < 240<<20 {
		t.Fatalf("%+v", info)
	}
	t.Logf("%d files, %d MiB of text: %d MiB of heap", info.Files, info.Bytes>>20, (most-before.HeapAlloc)>>20)
	if most-before.HeapAlloc > 64<<20 {
		t.Errorf("the heap grew by %d MiB", (most-before.HeapAlloc)>>20)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestSearchIsGrepOnSources compares both on packages of the Go distribution.
func TestSearchIsGrepOnSources(t *testing.T) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	files := map[string]string{}
	for _, dir := range []string{"net/http", "strings", "regexp"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(path)
			if len(text) < 1<<20 && !strings.Contains(string(text), "\x00") {
				files[strings.TrimPrefix(path, root+"/")] = string(text)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	p := packed(t, archiveOf(t, tree(files)...), everything())
	if p.Info().Files != len(files) || p.Info().Blocks < 3 {
		t.Fatalf("%+v", p.Info())
	}
	for _, text := range []string{
		"ErrAbortHandler", "errabort", "ServeHTTP", "servehttp", "NoSuchWord", "k", "Kelvin", "straße", "日本", "=", "{", "//",
		`"func (s *Server)"`, `"a \"quoted\" text"`, "Foo bar", "context cancel deadline", `handler "http.error" func`,
		`/func \(\w+ \*Server\) [A-Z]\w+/`, `/err\w+handler/`, `/(read|write)(header|trailer)s?\(/`, `/^package \w+$/`, `/\d{3}-\d{4}/`,
		`/[a-z]+[A-Z][a-z]+\d{2,}/`, `/\bfunc\b.*\berror\b/`, `/[^\x00-\x7f]/`, `/\S+\s+:=\s+\S+\(/`, `/kk|ss/`, `/[Kk]ey\b/`, `/(?i)KEY/`,
		`/x{3,}/`, `/\.\.\.$/`, `/^}$/ Serve`, `/\pL\pN/`, `/^\s*$|zz/`,
	} {
		if err := (Query{Text: text}).Check(); err != nil {
			if text == `/^\s*$|zz/` {
				continue
			}
			t.Fatal(err)
		}
		compare(t, p, files, text)
	}
}
