package e2e

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// TestDiskFull gives the queue a file system of 12 MiB. When it is full, ingest must answer 503 ingest_queue_unavailable with
// Retry-After, lose nothing that it acknowledged, and continue by itself when there is room again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	queue := filepath.Join(dir, "queue")
	if err := os.MkdirAll(queue, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", queue, "tmpfs", 0, "size=12m"); err != nil {
		if errors.Is(err, syscall.EPERM) {
			t.Skip("mounting a small file system needs root: the same fault is tested in server/ingest/queue with an injected error")
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(queue, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ballast := filepath.Join(queue, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	p := testkit.StartProcess(t, dir, "--queue-segment-bytes", "2MiB")
	// The engine is stopped, so the queue can only grow.
	engine := child(t, p.Pid())
	if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	acknowledged, refused := []int{}, 0
	for n := 1; n <= 60 && refused < 3; n++ {
		began := time.Now()
		status, retryAfter, tag := ingest(t, &p.Server, oneSpan(n, 400_000))
		if took := time.Since(began); took > patience(answersIn) {
			t.Errorf("span %d: %d after %s", n, status, took)
		}
		switch {
		case status == http.StatusOK:
			acknowledged = append(acknowledged, n)
		case status == http.StatusServiceUnavailable && tag == "@svc/ingest/QueueUnavailable" && retryAfter != "":
			refused++
		default:
			t.Fatalf("span %d: %d %s Retry-After %q", n, status, tag, retryAfter)
		}
	}
	if refused == 0 || len(acknowledged) == 0 {
		t.Fatalf("%d acknowledged, %d refused: the disk never filled", len(acknowledged), refused)
	}
	if status, text := readiness(t, p); status != http.StatusServiceUnavailable || !strings.Contains(text, `"ingest_queue":"full: `) {
		t.Errorf("/readyz of a full disk: %d %s", status, text)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ingest to recover by itself", func() bool {
		status, _,
			_ := ingest(t, &p.Server, oneSpan(1000, 10))
		return status == http.StatusOK
	})
	if err := syscall.Kill(engine, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, n := range append(acknowledged, 1000) {
		eventually(t, "an acknowledged span", func() bool { status, _ := readTrace(t, &p.Server, n); return status == http.StatusOK })
	}
	if status, text := readiness(t, p); status != http.StatusOK {
		t.Errorf("/readyz with room again: %d %s", status, text)
	}
	t.Logf("%d acknowledged and readable, %d refused", len(acknowledged), refused)
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}
