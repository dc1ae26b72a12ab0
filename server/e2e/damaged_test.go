package e2e

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// readiness returns the answer of /readyz.
func readiness(t *testing.T, p *testkit.Process) (status int, text string) {
	t.Helper()
	res, err := http.Get(p.BaseURL + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(body)
}

// newestPart returns the file with the rows of the newest part of a small table, in which merges have put all rows.
func newestPart(t *testing.T, dir, table string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warehouse", "data", "svc", table, "all_1_*", "data.bin"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no parts of %s (%v)", table, err)
	}
	largest, size := "", int64(0)
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > size {
			largest, size = f, info.Size()
		}
	}
	return largest
}

// TestDamagedWarehouse starts a server whose engine has damaged metadata. Ingest goes on into the queue, reads answer 503, /readyz says
// which part is wrong, and once the file is repaired, everything works without a restart.
func TestDamagedWarehouse(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file   func(t *testing.T, dir string) string
		damage func([]byte) []byte
	}{
		"an emptied table definition": {
			func(_ *testing.T, dir string) string {
				return filepath.Join(dir, "warehouse", "metadata", "svc", "spans.sql")
			},
			func([]byte) []byte { return nil },
		},
		"a damaged part of the record of migrations": {
			func(t *testing.T, dir string) string { return newestPart(t, dir, "schema_migrations") },
			func(content []byte) []byte {
				damaged := append([]byte(nil), content...)
				copy(damaged[60:], "not what was written here")
				return damaged
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "data")
			p := testkit.StartProcess(t, dir)
			if status, _, tag := ingest(t, &p.Server, oneSpan(1, 100)); status != http.StatusOK {
				t.Fatalf("%d %s", status, tag)
			}
			waitFlushed(t, p)
			if code := p.Stop(t); code != 0 {
				t.Fatalf("exit code %d\n%s", code, p.Log())
			}
			file := c.file(t, dir)
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, c.damage(content), 0o600); err != nil {
				t.Fatal(err)
			}
			for start := range 2 { // the second start finds acknowledged data in the queue, too
				p = testkit.LaunchProcess(t, dir)
				if err := p.WaitUp(30 * time.Second); err != nil {
					t.Fatalf("%v\n%s", err, p.Log())
				}
				if status, _, tag := ingest(t, &p.Server, oneSpan(2+start, 100)); status != http.StatusOK {
					t.Errorf("ingest: %d %s", status, tag)
				}
				if status, text := readiness(t, p); status != http.StatusServiceUnavailable ||
					!strings.Contains(text, `"warehouse":"unavailable: it could not be opened`) || !strings.Contains(text, `"ingest_queue":"ok"`) {
					t.Errorf("/readyz: %d %s", status, text)
				}
				if status, _ := readTrace(t, &p.Server, 1); status != http.StatusServiceUnavailable {
					t.Errorf("a read: %d, want 503", status)
				}
				if start == 0 {
					if code := p.Stop(t); code != 0 {
						t.Errorf("exit code %d\n%s", code, p.Log())
					}
				}
			}
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := p.WaitReady(60 * time.Second); err != nil {
				t.Fatalf("after the repair: %v\n%s", err, p.Log())
			}
			waitFlushed(t, p)
			for n := 1; n <= 3; n++ {
				if status, _ := readTrace(t, &p.Server, n); status != http.StatusOK {
					t.Errorf("span %d: %d", n, status)
				}
			}
			awaitCount(t, p, "3")
			if code := p.Stop(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.Log())
			}
		})
	}
}
