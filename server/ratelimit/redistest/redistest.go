// Package redistest gives tests a scratch Redis server on loopback.
package redistest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testport"
)

// EnvRequire set to 1 turns the skip for want of redis-server into a failure.
const EnvRequire = "SVC_TEST_REQUIRE_REDIS"

const startTimeout = 10 * time.Second

// Server is a redis-server of a test.
type Server struct {
	port    int
	dir     string
	process *exec.Cmd
	exited  chan struct{}
}

// Start starts a server that keeps nothing and lives as long as the test. It skips the test, saying why, when the machine has no
// redis-server, unless EnvRequire is set.
func Start(t testing.TB) *Server {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		const reason = "no redis-server in PATH"
		if os.Getenv(EnvRequire) == "1" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	s := &Server{port: testport.Free(t), dir: t.TempDir()}
	s.Start(t)
	t.Cleanup(s.Stop)
	return s
}

// URL is where the server listens.
func (s *Server) URL() string { return fmt.Sprintf("redis://127.0.0.1:%d/0", s.port) }

// Start starts the server again after Stop, at the same address, empty.
func (s *Server) Start(t testing.TB) {
	t.Helper()
	var log bytes.Buffer
	s.process = exec.CommandContext(
		context.WithoutCancel(t.Context()),
		"redis-server",
		"--bind",
		"127.0.0.1",
		"--port",
		strconv.Itoa(s.port),
		"--save",
		"",
		"--appendonly",
		"no",
		"--dir",
		s.dir,
	)
	s.process.Stdout, s.process.Stderr = &log, &log
	if err := s.process.Start(); err != nil {
		t.Fatal(err)
	}
	process, exited := s.process, make(chan struct{})
	s.exited = exited
	go func() { _ = process.Wait(); close(exited) }()
	deadline := time.Now().Add(startTimeout)
	for !s.answers(t.Context()) {
		select {
		case <-exited:
			t.Fatalf("redis-server ended at start:\n%s", log.String())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			s.Stop()
			t.Fatalf("redis-server does not answer:\n%s", log.String())
		}
	}
}

func (s *Server) answers(ctx context.Context) bool {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		return false
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 7)
	_, err = io.ReadFull(conn, answer)
	return err == nil && string(answer) == "+PONG\r\n"
}

// Command sends a line, as `ZADD key 1 member`, and returns the answer as Redis writes it (RESP2).
func (s *Server) Command(t testing.TB, line string) string {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(startTimeout))
	if _, err := io.WriteString(conn, line+"\r\nQUIT\r\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

// Stop ends the server at once.
func (s *Server) Stop() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	<-s.exited
	s.process = nil
}
