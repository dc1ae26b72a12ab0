package pack

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sources writes the source tree of the Go distribution as an archive and returns the path.
func sources(tb testing.TB) string {
	tb.Helper()
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		tb.Fatal(err)
	}
	archive := filepath.Join(tb.TempDir(), "src.tar.gz")
	f, err := os.Create(archive)
	if err != nil {
		tb.Fatal(err)
	}
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	root := filepath.Join(strings.TrimSpace(string(out)), "src")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := "go" + strings.TrimPrefix(path, root)
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	for _, err := range []error{err, w.Close(), z.Close(), f.Close()} {
		if err != nil {
			tb.Fatal(err)
		}
	}
	return archive
}

// everything keeps generated and vendored files of any size below 1 MiB, so that the figures are those of a whole tree.
func everything() Limits { return Limits{GeneratedBytes: 1 << 20, VendoredBytes: 1 << 30} }

func buildFile(tb testing.TB, archive string, limits Limits) (string, Info) {
	tb.Helper()
	in, err := os.Open(archive)
	if err != nil {
		tb.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(tb.TempDir(), "src.pack")
	out, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	info, err := Build(context.Background(), out, in, limits)
	if err != nil {
		tb.Fatal(err)
	}
	if err := out.Close(); err != nil {
		tb.Fatal(err)
	}
	return path, info
}

// BenchmarkBuild packs the source tree of Go and reports processor time (user + system), the largest heap, and sizes.
func BenchmarkBuild(b *testing.B) {
	archive := sources(b)
	var most uint64
	for b.Loop() {
		runtime.GC()
		var stop atomic.Bool
		watched := make(chan uint64)
		go func() {
			var most uint64
			for !stop.Load() {
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
				time.Sleep(5 * time.Millisecond)
			}
			watched <- most
		}()
		before := processorTime(b)
		path, info := buildFile(b, archive, everything())
		b.ReportMetric(processorTime(b)-before, "cpu-s")
		stop.Store(true)
		most = max(most, <-watched)
		b.ReportMetric(float64(info.Files), "files")
		b.ReportMetric(float64(info.Bytes)/1e6, "text-MB")
		b.ReportMetric(float64(info.Size)/1e6, "pack-MB")
		b.ReportMetric(float64(most)/(1<<20), "heap-MiB")
		os.Remove(path)
	}
}

// BenchmarkSearch searches the source tree of Go and reports processor time for each search, with the 95th percentile of the duration.
func BenchmarkSearch(b *testing.B) {
	path, _ := buildFile(b, sources(b), everything())
	p, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer p.Close()
	for _, c := range []struct{ name, text string }{
		{"literal/rare", "ErrAbortHandler"},
		{"literal/everywhere", "return Error"},
		{"literal/absent", "NoSuchWordAnywhere"},
		{"folded/rare", "errabort"},
		{"folded/everywhere", "return"},
		{"phrase", `"func (s *Server) Serve"`},
		{"terms", "context cancel deadline"},
		{"expression/literal", `/func \(\w+ \*Server\) [A-Z]\w+/`},
		{"expression/alternatives", `/(Read|Write)(Header|Trailer)s?\(/`},
		{"expression/folded", `/err\w+handler/`},
		{"expression/without", `/[a-z]+[A-Z][a-z]+\d{2,}[a-z]\(/`},
		{"expression/words", `/\w+\s+:=\s+\w+\(\w+, \w+\)/`},
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			var r Result
			before := processorTime(b)
			for b.Loop() {
				start := time.Now()
				if r, err = p.Search(context.Background(), Query{Text: c.text, Time: time.Minute}); err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(start))
			}
			slices.Sort(took)
			b.ReportMetric((processorTime(b)-before)/float64(len(took))*1e3, "cpu-ms/op")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1e3, "p95-ms")
			b.ReportMetric(float64(r.Matched), "files")
			b.ReportMetric(float64(r.Bytes)/1e6, "read-MB")
			if r.Truncated {
				b.Log(r.Reason)
			}
		})
	}
}

// BenchmarkOpen opens the pack of the source tree of Go.
func BenchmarkOpen(b *testing.B) {
	path, _ := buildFile(b, sources(b), everything())
	for b.Loop() {
		p, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		p.Close()
	}
}

func processorTime(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
