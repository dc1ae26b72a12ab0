package chdb

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// SupervisorConfig says how to run the warehouse process.
type SupervisorConfig struct {
	// Command is the program and its arguments. The started process itself, not a child of it, must call Serve with Parent set to
	// ParentPipe(). Empty means this binary with `warehouse --data-dir DIR --socket PATH`.
	Command []string
	// Env is added to this process's environment.
	Env []string
	// DataDir and Socket are the folder and the socket that Command serves.
	DataDir, Socket string
	Logger          *slog.Logger
}

const (
	firstBackoff = 100 * time.Millisecond
	maxBackoff   = 5 * time.Second
	// healthyRun is the length of a run that ends a series of failures.
	healthyRun = 10 * time.Second
	// lockPatience is how long the start waits for the lock of a process that is just ending, such as the child of a killed parent.
	lockPatience = 5 * time.Second
	pollInterval = 3 * time.Millisecond
)

// Supervisor keeps one warehouse process running.
type Supervisor struct {
	cfg    SupervisorConfig
	log    *slog.Logger
	client *http.Client
	stop   chan struct{}
	done   chan struct{}
	once   sync.Once

	mu       sync.Mutex
	child    *child
	ready    bool
	changed  chan struct{} // closed and replaced when ready changes
	restarts int
}

// Start runs the process and returns when it answers. If the process ends before that, Start fails with the output of the
// process. The error is ErrCannotOpen if the data folder is damaged.
func Start(ctx context.Context, cfg SupervisorConfig) (*Supervisor, error) {
	s, err := newSupervisor(cfg)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// StartLater returns a supervisor that starts the process again and again until it answers. It is for a data folder that Start cannot
// open: an operator repairs it while the rest of the server runs.
func StartLater(cfg SupervisorConfig) (*Supervisor, error) {
	s, err := newSupervisor(cfg)
	if err == nil {
		go s.supervise(nil)
	}
	return s, err
}

func newSupervisor(cfg SupervisorConfig) (*Supervisor, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if len(cfg.Command) == 0 {
		exe, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("cannot find this program to run the warehouse process: %w", err)
		}
		cfg.Command = []string{exe, "warehouse", "--data-dir", cfg.DataDir, "--socket", cfg.Socket}
	}
	return &Supervisor{
		cfg: cfg, log: cfg.Logger, stop: make(chan struct{}), done: make(chan struct{}), changed: make(chan struct{}),
		client: &http.Client{Timeout: time.Second, Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return DialUnix(ctx, cfg.Socket)
			},
		}},
	}, nil
}

func (s *Supervisor) start(ctx context.Context) error {
	deadline := time.Now().Add(lockPatience)
	for {
		c, err := s.spawn()
		if err != nil {
			return err
		}
		err = s.await(ctx, c)
		if err == nil {
			s.setReady(c, true)
			go s.supervise(c)
			return nil
		}
		c.kill()
		if !errors.Is(err, ErrLocked) || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(firstBackoff):
		}
	}
}

// allocatorSettings make the engine's allocator return memory after half a second instead of five. Between large inserts and
// merges this saves about 200 MiB (docs/performance.md).
const allocatorSettings = "MALLOC_CONF=dirty_decay_ms:500,muzzy_decay_ms:0"

func (s *Supervisor) spawn() (*child, error) {
	c := &child{
		cmd:    exec.Command(s.cfg.Command[0], s.cfg.Command[1:]...), //nolint:noctx // no context ends it: Stop does, gracefully
		stderr: &tailWriter{log: s.log}, exited: make(chan struct{}), start: time.Now(),
	}
	// The last of two values counts, so a value in the environment overrides ours.
	c.cmd.Env = append(append(append([]string{allocatorSettings}, os.Environ()...), supervisedVariable+"=1"), s.cfg.Env...)
	c.cmd.Stderr = c.stderr
	c.cmd.WaitDelay = time.Second
	// The child ends when its standard input closes, which happens however this process dies.
	stdin, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("cannot start the warehouse process: %w", err)
	}
	c.stdin = stdin
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the warehouse process: %w", err)
	}
	go func() {
		c.err = c.cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// await returns nil when the child itself answers.
func (s *Supervisor) await(ctx context.Context, c *child) error {
	pid := strconv.Itoa(c.cmd.Process.Pid)
	for {
		if s.ping(ctx) == pid {
			return nil
		}
		select {
		case <-c.exited:
			return c.failure()
		case <-ctx.Done():
			return fmt.Errorf("the warehouse process did not answer in time: %w", context.Cause(ctx))
		case <-s.stop:
			return errors.New("the warehouse process is being stopped")
		case <-time.After(pollInterval):
		}
	}
}

func (s *Supervisor) ping(ctx context.Context) (pid string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://warehouse/ping", nil)
	if err != nil {
		return ""
	}
	res, err := s.client.Do(req)
	if err != nil {
		return ""
	}
	defer func() { _ = res.Body.Close() }()
	return res.Header.Get(pidHeader)
}

// supervise waits for the child to end and starts the next one, at once if the run was long.
func (s *Supervisor) supervise(c *child) {
	defer close(s.done)
	backoff := time.Duration(0)
	for {
		if c != nil {
			select {
			case <-c.exited:
			case <-s.stop:
				s.setReady(c, false)
				return
			}
			s.setReady(nil, false)
			s.log.Error("the warehouse process ended", "state", c.cmd.ProcessState.String(), "said", strings.TrimSpace(c.stderr.tail()))
			if time.Since(c.start) >= healthyRun {
				backoff = 0
			}
		}
		select {
		case <-time.After(backoff):
		case <-s.stop:
			return
		}
		backoff = min(max(2*backoff, firstBackoff), maxBackoff)
		c = s.restart()
	}
}

// restart returns the new child once it answers or has ended. It returns nil if no child could be started.
func (s *Supervisor) restart() *child {
	start := time.Now()
	c, err := s.spawn()
	if err != nil {
		s.log.Error("the warehouse process does not start", "error", err)
		return nil
	}
	s.mu.Lock()
	s.child = c
	s.restarts++
	s.mu.Unlock()
	if err := s.await(context.Background(), c); err != nil {
		return c // ended or stopped; the caller finds out which
	}
	s.setReady(c, true)
	s.log.Info("the warehouse is running again", "duration", time.Since(start).String(), "pid", c.cmd.Process.Pid)
	return c
}

func (s *Supervisor) setReady(c *child, ready bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.child, s.ready = c, ready
	if c != nil && ready {
		c.answered = true
	}
	close(s.changed)
	s.changed = make(chan struct{})
}

// Ready reports whether the process answers.
func (s *Supervisor) Ready() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ready
}

// WaitReady returns when the process answers.
func (s *Supervisor) WaitReady(ctx context.Context) error {
	for {
		s.mu.Lock()
		ready, changed := s.ready, s.changed
		s.mu.Unlock()
		if ready {
			return nil
		}
		select {
		case <-changed:
		case <-s.done:
			return errors.New("the warehouse process is stopped")
		case <-ctx.Done():
			return fmt.Errorf("the warehouse process does not answer: %w", context.Cause(ctx))
		}
	}
}

// Pid is the id of the running process, or 0 while no process runs.
func (s *Supervisor) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child == nil {
		return 0
	}
	return s.child.cmd.Process.Pid
}

// Restarts counts how often the process was started again.
func (s *Supervisor) Restarts() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.restarts
}

// Kill ends the process at once. It is for a program that is about to exit: a hanging process would outlive the program and keep
// the folder.
func (s *Supervisor) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.child != nil {
		_ = s.child.cmd.Process.Kill() // fails only when it has ended
	}
}

// Stop ends the process gracefully, or by force when ctx ends first. The process is not started again. The error is the cause of
// ctx's end, or ErrStuck, if statements did not end. A process that is just being started, perhaps on a folder that it cannot open, is
// stopped without an error.
func (s *Supervisor) Stop(ctx context.Context) error {
	s.once.Do(func() { close(s.stop) })
	<-s.done
	s.mu.Lock()
	c := s.child // keep s.child until it has ended, for Kill
	s.ready = false
	answered := c != nil && c.answered
	s.mu.Unlock()
	if c == nil {
		return nil
	}
	defer func() {
		s.mu.Lock()
		s.child = nil
		s.mu.Unlock()
	}()
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only when it has ended
	select {
	case <-c.exited:
	case <-ctx.Done():
		c.kill()
		return fmt.Errorf("the warehouse process did not stop in time and was killed: %w", context.Cause(ctx))
	}
	if c.err == nil || !answered { // a run that never answered had nothing to end gracefully
		return nil
	}
	said := strings.TrimSpace(c.stderr.tail())
	if strings.Contains(said, ErrStuck.Error()) {
		return fmt.Errorf("the warehouse process stopped: %w", ErrStuck)
	}
	return fmt.Errorf("the warehouse process stopped with an error: %w: %s", c.err, said)
}
