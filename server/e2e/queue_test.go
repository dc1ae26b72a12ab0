package e2e

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/ingest/loadtest"
	"github.com/svc-observability/svc/server/ingest/otlp"
	"github.com/svc-observability/svc/server/testkit"
)

// TestCorruptQueue flips bits of acknowledged records that are not yet stored: in the head of the segment, in a payload, in the
// head of a record, and in the last record. Each damaged record must be named, every other one must arrive, and the server must
// start and take new data.
func TestCorruptQueue(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	if err := syscall.Kill(child(t, p.Pid()), syscall.SIGSTOP); err != nil { // from here on, nothing leaves the queue
		t.Fatal(err)
	}
	const records = 8
	for n := 1; n <= records; n++ {
		if status, _, tag := ingest(t, &p.Server, oneSpan(n, 100)); status != http.StatusOK {
			t.Fatalf("span %d: %d %s", n, status, tag)
		}
	}
	p.Kill()

	segments, err := filepath.Glob(filepath.Join(dir, "queue", "*.log"))
	if err != nil || len(segments) != 1 {
		t.Fatalf("%v %v", segments, err)
	}
	text, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	at := func(n int) int {
		i := bytes.Index(text, id(fmt.Sprintf("%032x", n)))
		if i < 0 {
			t.Fatalf("span %d is not in the segment as it was sent", n)
		}
		return i
	}
	// All records have the same size, and the first one follows the segment's head.
	size := at(2) - at(1)
	lost := map[int]bool{3: true, 5: true, records: true}
	for _, offset := range []int{20, at(3), at(5) - at(1) + segmentHead, at(records)} {
		text[offset] ^= 0x10
	}
	if err := os.WriteFile(segments[0], text, 0o600); err != nil {
		t.Fatal(err)
	}

	p = testkit.StartProcess(t, dir)
	for _, n := range []int{3, 5, records} {
		want := fmt.Sprintf("segment=%s offset=%d bytes=%d", filepath.Base(segments[0]), segmentHead+(n-1)*size, size)
		if !strings.Contains(p.Log(), want) {
			t.Errorf("the damaged record %d is not named by %q:\n%s", n, want, p.Log())
		}
	}
	if status, _, tag := ingest(t, &p.Server, oneSpan(100, 100)); status != http.StatusOK {
		t.Errorf("after the damage: %d %s", status, tag)
	}
	waitFlushed(t, p)
	for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 100} {
		want := http.StatusOK
		if lost[n] {
			want = http.StatusNotFound
		}
		if status, _ := readTrace(t, &p.Server, n); status != want {
			t.Errorf("span %d: status %d, want %d", n, status, want)
		}
	}
	out, err := testkit.Command(t, "doctor", "--data-dir", dir).Output()
	if err != nil || !strings.Contains(string(out), "damaged parts of the queue") {
		t.Errorf("doctor does not mention the damage: %v\n%s", err, out)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// segmentHead is the number of bytes before the first record of a segment.
const segmentHead = 64

// TestGracefulStopLosesNothing stops the server under load. Running requests must end, and acknowledged data must be stored
// before the exit. The next start must find no rest of it and store nothing twice. SIGINT goes to the whole process group, as
// with Ctrl-C.
func TestGracefulStopLosesNothing(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		group bool
		sig   syscall.Signal
	}{{"SIGTERM", false, syscall.SIGTERM}, {"Ctrl-C", true, syscall.SIGINT}} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			p := testkit.StartProcess(t, dir)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var wg sync.WaitGroup
			reports := make([]*loadtest.Report, 2)
			for i, cfg := range []loadtest.Config{
				{Protocol: loadtest.HTTPProtobuf, Signal: otlp.Traces, Gzip: true, Workers: 4, Items: 200},
				{Protocol: loadtest.GRPC, Signal: otlp.Logs, Workers: 2, Items: 100},
			} {
				cfg.URL, cfg.Addr, cfg.Key, cfg.Marked, cfg.Duration = p.IngestURL, p.OTLPGRPCAddr, p.PrivateKey, true, 30*time.Second
				cfg.Run = fmt.Sprintf("stop-%d", i)
				wg.Go(func() {
					report, err := loadtest.Run(ctx, cfg)
					if err != nil {
						t.Error(err)
					}
					reports[i] = report
				})
			}
			time.Sleep(1500 * time.Millisecond)
			target := p.Pid()
			if tc.group {
				target = -target
			}
			if err := syscall.Kill(target, tc.sig); err != nil {
				t.Fatal(err)
			}
			if code := p.Wait(t, 60*time.Second); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.Log())
			}
			cancel()
			wg.Wait()
			if t.Failed() {
				return
			}
			p = testkit.StartProcess(t, dir)
			// The stop has flushed everything that can be read at once, so nothing was left over.
			for _, r := range reports {
				if r.AcknowledgedItems() == 0 {
					t.Fatal("nothing was acknowledged: the test shows nothing")
				}
				res, err := loadtest.Verify(t.Context(), r, func(context.Context) (map[string]loadtest.Stored, error) {
					out, err := testkit.Command(t, "admin", "sql", loadtest.SQL(r.Signal, r.Run), "--data-dir", dir).Output()
					if err != nil {
						return nil, err
					}
					return loadtest.ParseTSV(string(out))
				})
				if err != nil {
					t.Fatal(err)
				}
				if !res.OK() {
					t.Errorf("%s: %s", r.Run, res)
				}
				t.Logf("%s: %d items acknowledged, each stored once", r.Run, r.AcknowledgedItems())
			}
			if strings.Contains(p.Log(), "inserted again") {
				t.Errorf("the stop left a batch to the next start:\n%s", p.Log())
			}
			if code := p.Stop(t); code != 0 {
				t.Errorf("exit code %d\n%s", code, p.Log())
			}
		})
	}
}

// TestSecondSignalStopsAtOnce checks that the first signal waits for an engine that hangs, and that the second one does not.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	engine := child(t, p.Pid())
	if err := syscall.Kill(engine, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if status, _, tag := ingest(t, &p.Server, oneSpan(1, 0)); status != http.StatusOK {
		t.Fatalf("%d %s", status, tag)
	}
	if err := syscall.Kill(p.Pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first signal to be seen", func() bool { return strings.Contains(p.Log(), "msg=stopping") })
	time.Sleep(300 * time.Millisecond)
	if err := syscall.Kill(p.Pid(), 0); err != nil {
		t.Fatal("it did not wait for the record that is not stored")
	}
	if err := syscall.Kill(p.Pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := p.Wait(t, 15*time.Second); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	eventually(t, "the end of the hanging engine", func() bool { return gone(engine) })
	// The stopped server releases the lock of the folder. The next start stores what was acknowledged.
	p = testkit.StartProcess(t, dir)
	eventually(t, "the span", func() bool { status, _ := readTrace(t, &p.Server, 1); return status == http.StatusOK })
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// gone reports whether a process has ended, reaped or not.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || strings.HasPrefix(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " Z")
}

// TestSendTest runs `svc send-test` beside a real server: once with success, and with the failing step for invalid keys.
func TestSendTest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	for _, tc := range []struct {
		name        string
		ingest, api string
		code        int
		want        string
	}{
		{"success", p.PrivateKey, p.APIKey, 0, "Success: trace"},
		{"public key", p.PublicKey, p.APIKey, 0, "Success: trace"},
		{"unknown ingest key", "svc_sk_" + strings.Repeat("a", 43), p.APIKey, 1, "step 1 of 6, send the trace"},
		{"API key to send", p.APIKey, p.APIKey, 1, "step 1 of 6, send the trace"},
		{"ingest key to read", p.PrivateKey, p.PrivateKey, 1, "step 4 of 6, find the trace"},
		{"discarded", "SVC_TEST", p.APIKey, 1, "step 4 of 6, find the trace: gave up after 4s"},
	} {
		timeout := "4s"
		if tc.code == 0 {
			timeout = "2m" // on a machine that runs other tests
		}
		cmd := testkit.Command(t, "send-test", "--data-dir", dir, "--timeout", timeout)
		cmd.Env = append(cmd.Env, "SVC_INGEST_KEY="+tc.ingest, "SVC_API_KEY="+tc.api)
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != tc.code || !strings.Contains(string(out), tc.want) {
			t.Errorf("%s: exit code %d, want %d with %q:\n%s", tc.name, code, tc.code, tc.want, out)
		}
		if strings.Contains(string(out), tc.api) || tc.ingest != "SVC_TEST" && strings.Contains(string(out), tc.ingest) {
			t.Errorf("%s: a key is printed:\n%s", tc.name, out)
		}
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
	for _, secret := range []string{p.APIKey, p.PrivateKey, p.PublicKey, p.AdminPassword} {
		if strings.Contains(p.Log(), secret) {
			t.Error("a secret is in the log")
		}
	}
}
