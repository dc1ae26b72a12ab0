package chdb

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// child is one run of the process.
type child struct {
	cmd    *exec.Cmd
	stdin  io.Closer
	stderr *tailWriter
	exited chan struct{}
	err    error // valid once exited is closed
	start  time.Time
	// answered says that the run got as far as to answer. The supervisor's mutex guards it.
	answered bool
}

func (c *child) kill() {
	_ = c.cmd.Process.Kill() // fails only when the process has ended
	<-c.exited
}

func (c *child) failure() error {
	said := strings.TrimSpace(c.stderr.tail())
	if said == "" {
		said = "it wrote nothing"
	}
	err := fmt.Errorf("the warehouse process ended before it answered (%v): %s", c.cmd.ProcessState, said)
	status, _ := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	switch {
	case strings.Contains(said, ErrLocked.Error()):
		return fmt.Errorf("%w (%w)", err, ErrLocked)
	case strings.Contains(said, ErrCannotOpen.Error()) || status.Signaled():
		return fmt.Errorf("%w (%w)", err, ErrCannotOpen)
	}
	return err
}

// tailWriter keeps the end of the process's output and passes its lines to the log.
type tailWriter struct {
	log  *slog.Logger
	mu   sync.Mutex
	text []byte
	line []byte
}

const tailBytes = 8 << 10

func (t *tailWriter) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if excess := len(t.text) - tailBytes; excess > 0 {
		t.text = t.text[excess:]
	}
	t.line = append(t.line, p...)
	for {
		line, rest, found := strings.Cut(string(t.line), "\n")
		if !found && len(line) < tailBytes {
			return len(p), nil
		}
		t.line = []byte(rest)
		if line != "" {
			t.log.Log(context.Background(), levelOf(line), "the warehouse process wrote a line", "line", line)
		}
	}
}

// levelOf returns the log level of a line. It is debug for the child's own records up to info, because they repeat what this
// process logs. Everything else is a warning: the engine itself prints only unusual events.
func levelOf(line string) slog.Level {
	for _, mark := range []string{"level=INFO", "level=DEBUG", `"level":"INFO"`, `"level":"DEBUG"`} {
		if strings.Contains(line, mark) {
			return slog.LevelDebug
		}
	}
	return slog.LevelWarn
}

func (t *tailWriter) tail() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
