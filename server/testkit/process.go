package testkit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/bootstrap"
)

// Process is `svc serve` in its own process group, as an operator runs it.
type Process struct {
	Server
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{}
	err  error
}

// lockedBuffer collects a process's stderr while the test reads it.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// envBinary names a build of cmd/svc for all test binaries of a run. `make test` builds it once for all of them.
const envBinary = "SVC_TEST_BINARY"

// built means that Binary has built the program, so there is a file to remove.
var built bool

var binary = sync.OnceValues(func() (string, error) {
	if path := os.Getenv(envBinary); path != "" {
		if _, err := os.Stat(path); err != nil {
			return "", fmt.Errorf("%s: %w", envBinary, err)
		}
		return path, nil
	}
	built = true
	dir, err := os.MkdirTemp("", "svc-binary-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "svc")
	out, err := exec.Command("go", "build", "-o", path, "github.com/svc-observability/svc/cmd/svc").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// Binary returns the path of cmd/svc: the path in SVC_TEST_BINARY, or a program that is built once for the test binary.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Command prepares the binary with arguments. It finds the engine library, and it inherits no setting from the surrounding shell.
func Command(t testing.TB, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SVC_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, "SVC_CHDB_LIB="+Library(t))
	return cmd
}

// StartProcess runs `svc serve` on free ports over a data folder and waits until it is ready. A folder that does not exist yet
// becomes a copy of the template. Servers of one test binary that start this way have the same first organization and the same
// credentials.
func StartProcess(t testing.TB, dataDir string, args ...string) *Process {
	t.Helper()
	if _, err := os.Stat(dataDir); errors.Is(err, fs.ErrNotExist) {
		copyTemplate(t, dataDir)
	}
	return StartFirst(t, dataDir, args...)
}

// StartMeasured is StartProcess for a test that measures the memory of the server: the server bounds its heap itself, whatever the
// environment of the tests says.
func StartMeasured(t testing.TB, dataDir string, args ...string) *Process {
	t.Helper()
	copyTemplate(t, dataDir)
	p := launch(t, ownHeap, dataDir, args...)
	p.mustBeReady(t)
	return p
}

// ownHeap reports whether a variable of the environment leaves the bound of the heap to the program.
func ownHeap(variable string) bool {
	return !strings.HasPrefix(variable, "GOGC=") && !strings.HasPrefix(variable, "GOMEMLIMIT=")
}

// StartFirst is StartProcess without the template: over a new folder, the server creates its tables and its own organization.
func StartFirst(t testing.TB, dataDir string, args ...string) *Process {
	t.Helper()
	p := LaunchProcess(t, dataDir, args...)
	p.mustBeReady(t)
	return p
}

func (p *Process) mustBeReady(t testing.TB) {
	t.Helper()
	if err := p.WaitReady(60 * time.Second); err != nil {
		t.Fatalf("svc serve did not become ready: %v\n%s", err, p.Log())
	}
}

// LaunchProcess runs `svc serve` without waiting.
func LaunchProcess(t testing.TB, dataDir string, args ...string) *Process {
	t.Helper()
	return launch(t, func(string) bool { return true }, dataDir, args...)
}

// launch runs `svc serve` with the variables of the environment that inherits accepts.
func launch(t testing.TB, inherits func(variable string) bool, dataDir string, args ...string) *Process {
	t.Helper()
	bootstrap := filepath.Join(dataDir, "bootstrap.json")
	p := &Process{log: &lockedBuffer{}, done: make(chan struct{})}
	p.DataDir = dataDir
	// The server shows the keys at its first start only. They are kept beside the data folder for later starts.
	p.keep(keysFile(dataDir))
	p.BaseURL, p.IngestURL, p.OTLPGRPCAddr = "", "", ""
	if err := os.Remove(bootstrap); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	p.cmd = Command(t, append([]string{
		"serve", "--data-dir", dataDir, "--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0", "--otlp-grpc-addr", "127.0.0.1:0",
		"--bootstrap-file", bootstrap,
	}, args...)...)
	p.cmd.Env = slices.DeleteFunc(p.cmd.Env, func(variable string) bool { return !inherits(variable) })
	p.cmd.Stderr = p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(p.Kill)
	reportUnfit(t)
	return p
}

// keep reads the file of an earlier start. Fields that the file lacks stay as they are.
func (p *Process) keep(path string) {
	b, err := os.ReadFile(path)
	if err != nil {
		return
	}
	var f bootstrap.File
	if json.Unmarshal(b, &f) == nil {
		merge(&p.File, f)
	}
}

func keysFile(dataDir string) string { return strings.TrimRight(dataDir, "/") + ".keys.json" }

// WaitReady waits for the bootstrap file and for /readyz.
func (p *Process) WaitReady(limit time.Duration) error { return p.waitFor("/readyz", limit) }

// WaitUp waits for the bootstrap file and for /healthz. Then the server answers, but a part of it may be unavailable.
func (p *Process) WaitUp(limit time.Duration) error { return p.waitFor("/healthz", limit) }

func (p *Process) waitFor(path string, limit time.Duration) error {
	bootstrap := filepath.Join(p.DataDir, "bootstrap.json")
	deadline := time.Now().Add(limit)
	for time.Now().Before(deadline) {
		select {
		case <-p.done:
			return fmt.Errorf("it ended: %w", errors.Join(p.err, errors.New("before it was ready")))
		default:
		}
		p.keep(bootstrap)
		if p.BaseURL != "" && fileExists(bootstrap) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			req, _ := http.NewRequestWithContext(ctx, http.MethodGet, p.BaseURL+path, nil)
			res, err := http.DefaultClient.Do(req)
			cancel()
			if err == nil {
				res.Body.Close()
				if res.StatusCode == http.StatusOK {
					// If this start made keys, the file has them by now.
					p.keep(bootstrap)
					watched.Store(strings.TrimPrefix(p.BaseURL, "http://"), true)
					b, err := json.Marshal(p.File)
					if err != nil {
						return err
					}
					return os.WriteFile(keysFile(p.DataDir), b, 0o600)
				}
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
	return errors.New("time is up")
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Log returns what the process has written to stderr so far.
func (p *Process) Log() string { return p.log.String() }

// Pid is the process id of the server. It is also the id of its process group.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Kill ends the whole process group at once, like a power failure, and waits for its end.
func (p *Process) Kill() {
	_ = syscall.Kill(-p.Pid(), syscall.SIGKILL)
	<-p.done
}

// Stop asks for a clean stop and returns the exit code.
func (p *Process) Stop(t testing.TB) int {
	t.Helper()
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	return p.Wait(t, 60*time.Second)
}

// Wait waits for the end and returns the exit code.
func (p *Process) Wait(t testing.TB, limit time.Duration) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(limit):
		t.Fatalf("svc serve did not end within %s\n%s", limit, p.Log())
		return -1
	}
}
