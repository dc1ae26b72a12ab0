package main

import (
	"bufio"
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
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/svc-observability/svc/server/ingest/otlp"
)

const (
	startLimit = time.Minute
	stopLimit  = time.Minute
)

// process is `svc serve` with its engine, which is a child process.
type process struct {
	program, dir string
	cmd          *exec.Cmd
	log          *bytes.Buffer
	done         chan struct{}
	ended        error
	keys         keys
	engine       int
	seeds        uint64
}

// keys is the part that we need of the file that the server writes at its first start.
type keys struct {
	BaseURL      string `json:"base_url"`
	IngestURL    string `json:"ingest_url"`
	OTLPGRPCAddr string `json:"otlp_grpc_addr"`
	PrivateKey   string `json:"private_ingest_key"`
}

// startProcess runs the server on free ports and defaults, over an empty data folder.
func startProcess(ctx context.Context, program, dir string) (*process, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	bootstrap := filepath.Join(dir, "bootstrap.json")
	p := &process{program: program, dir: dir, log: &bytes.Buffer{}, done: make(chan struct{})}
	//nolint:noctx // it is stopped with SIGTERM
	p.cmd = exec.Command(program, "serve", "--data-dir", dir, "--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0",
		"--otlp-grpc-addr", "127.0.0.1:0", "--bootstrap-file", bootstrap)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "SVC_") || strings.HasPrefix(kv, "SVC_CHDB_LIB=") {
			p.cmd.Env = append(p.cmd.Env, kv)
		}
	}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for this program, which stops the server
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.ended = p.cmd.Wait()
		close(p.done)
	}()
	err := p.wait(ctx, startLimit, "ready", func() (bool, error) {
		text, err := os.ReadFile(bootstrap)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err == nil {
			err = json.Unmarshal(text, &p.keys)
		}
		if err != nil || p.keys.PrivateKey == "" {
			return false, err
		}
		res, err := p.get(ctx, "/readyz")
		if errors.Is(err, syscall.ECONNREFUSED) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		return res.StatusCode == http.StatusOK, res.Body.Close()
	})
	if err == nil {
		p.engine, err = childOf(p.pid())
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// seed gives every load different values.
func (p *process) seed() uint64 {
	p.seeds++
	return p.seeds * 1_000_000
}

// wait repeats a check until it passes.
func (p *process) wait(ctx context.Context, limit time.Duration, what string, so func() (bool, error)) error {
	const pause = 50 * time.Millisecond
	for deadline := time.Now().Add(limit); time.Now().Before(deadline); {
		ok, err := so()
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-p.done:
			return fmt.Errorf("svc serve ended: %w\n%s", errors.Join(p.ended, errors.New("nobody stopped it")), p.log)
		case <-time.After(pause):
		}
	}
	return fmt.Errorf("svc serve was not %s within %s", what, limit)
}

// waitStored waits until everything that was acknowledged is in the warehouse.
func (p *process) waitStored(ctx context.Context) error {
	return p.wait(ctx, storeLimit, "through with storing", func() (bool, error) {
		age, err := p.metric(ctx, "svc_ingest_oldest_unflushed_seconds")
		return age == 0, err
	})
}

// waitMerged waits until the engine has no merge to do: it lists no merge, and uses almost no processor time for a second.
func (p *process) waitMerged(ctx context.Context) error {
	return p.wait(ctx, mergeLimit, "through with merging", func() (bool, error) {
		const idle = 0.03
		before, err := cpuSeconds(p.engine)
		if err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(time.Second):
		}
		after, err := cpuSeconds(p.engine)
		if err != nil || after-before > idle {
			return false, err
		}
		merges, err := p.query("SELECT count() FROM system.merges")
		return len(merges) == 1 && merges[0] == 0, err
	})
}

// halt stops the engine's process from running until resume.
func (p *process) halt() error   { return syscall.Kill(p.engine, syscall.SIGSTOP) }
func (p *process) resume() error { return syscall.Kill(p.engine, syscall.SIGCONT) }

// cost is the processor time that both processes have used, in seconds.
type cost struct{ server, engine float64 }

// used returns the cost so far and the number of rows that the engine has merged.
func (p *process) used(context.Context) (cost, float64, error) {
	merged, err := p.query("SELECT sumIf(value, event = 'MergedRows') FROM system.events")
	if err != nil {
		return cost{}, 0, err
	}
	server, err1 := cpuSeconds(p.pid())
	engine, err2 := cpuSeconds(p.engine)
	return cost{server, engine}, merged[0], errors.Join(err1, err2)
}

func tableOf(s otlp.Signal) string {
	switch s {
	case otlp.Logs:
		return "logs"
	case otlp.Metrics:
		return "metrics_gauge"
	default:
		return "spans"
	}
}

// disk returns the bytes that all telemetry takes up on disk, rollups and indexes included, and the rows of a signal.
func (p *process) disk(_ context.Context, s otlp.Signal) (bytes, rows float64, err error) {
	values, err := p.query("SELECT sum(bytes_on_disk), sumIf(rows, table = '" + tableOf(s) +
		"') FROM system.parts WHERE active AND database = 'svc'")
	if err != nil {
		return 0, 0, err
	}
	if len(values) != 2 || values[1] == 0 {
		return 0, 0, fmt.Errorf("nothing is stored in %s", tableOf(s))
	}
	return values[0], values[1], nil
}

// query asks the warehouse for one row of numbers, as an operator would.
func (p *process) query(sql string) ([]float64, error) {
	cmd := exec.Command(p.program, "admin", "sql", sql, "--data-dir", p.dir) //nolint:noctx // the statements are here
	cmd.Env = p.cmd.Env
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			err = fmt.Errorf("%w: %s", err, failed.Stderr)
		}
		return nil, fmt.Errorf("svc admin sql: %w", err)
	}
	var all []float64
	for _, text := range strings.Fields(string(out)) {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("svc admin sql: %q is not a row of numbers", out)
		}
		all = append(all, v)
	}
	return all, nil
}

func (p *process) get(ctx context.Context, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.keys.BaseURL+path, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// metric reads one metric without labels.
func (p *process) metric(ctx context.Context, name string) (float64, error) {
	res, err := p.get(ctx, "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }() // only read
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, fmt.Errorf("/metrics lacks %s (%w)", name, errors.Join(lines.Err(), errors.New("is it an svc of another version?")))
}

// stop ends the server cleanly.
func (p *process) stop() error {
	select {
	case <-p.done:
		return nil // the goroutine that waited has reported it
	default:
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.done:
		if p.ended != nil {
			return fmt.Errorf("svc serve: %w\n%s", p.ended, p.log)
		}
		return nil
	case <-time.After(stopLimit):
		_ = syscall.Kill(-p.pid(), syscall.SIGKILL)
		<-p.done
		return fmt.Errorf("svc serve did not end within %s", stopLimit)
	}
}
