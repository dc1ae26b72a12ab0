package warehousetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// insertUntilStored inserts spans with one token and retries after each passing failure, as ingest does.
func insertUntilStored(ctx context.Context, w *warehouse.Warehouse, body []byte, token string) error {
	for {
		err := w.Insert(ctx, "spans", warehousetest.SpanColumns, bytes.NewReader(body), token)
		var e *warehouse.Error
		if err == nil || errors.As(err, &e) && !e.Retryable() || ctx.Err() != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// The engine is killed three times during inserts. Every batch is stored once. Reads that ran fail as unavailable, and later ones
// wait for the restart.
func TestKilledEngine(t *testing.T) {
	e := warehousetest.NewEngine(t)
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	const writers, rows, killRounds = 3, 50, 3
	stop := make(chan struct{})
	var batches [writers]int
	var wg sync.WaitGroup
	for writer := range writers {
		wg.Go(func() {
			body := warehousetest.SpanBlock(t, "org_crash", rows, time.Now().Add(-time.Hour))
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := insertUntilStored(ctx, e.Warehouse, body, fmt.Sprintf("crash/%d/%d", writer, batches[writer])); err != nil {
					t.Errorf("writer %d: %v", writer, err)
					return
				}
				batches[writer]++
			}
		})
	}
	for round := range killRounds {
		time.Sleep(200 * time.Millisecond)
		pid := e.Supervisor.Pid()
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		killed := time.Now()
		unavailable := 0
		for {
			var n uint64
			err := e.QueryRow(ctx, "org_crash", "SELECT count() FROM spans WHERE OrgId = {org:String}", nil, &n)
			if err == nil && e.Supervisor.Restarts() > round {
				break
			}
			var werr *warehouse.Error
			if err != nil {
				if !errors.As(err, &werr) || !errors.Is(err, warehouse.ErrUnavailable) || werr.RetryAfter <= 0 {
					t.Fatalf("a read while the engine is down: got %v, want ErrUnavailable", err)
				}
				unavailable++
			}
			if ctx.Err() != nil {
				t.Fatal("the engine does not come back")
			}
			time.Sleep(2 * time.Millisecond)
		}
		t.Logf("round %d: back after %v, %d reads refused", round, time.Since(killed), unavailable)
		if err := e.Supervisor.WaitReady(ctx); err != nil {
			t.Fatal(err)
		}
		if e.Supervisor.Pid() == pid {
			t.Fatal("the same process answers")
		}
	}
	close(stop)
	wg.Wait()
	var want uint64
	for _, n := range batches {
		want += uint64(n * rows)
	}
	for _, tt := range []struct {
		sql  string
		want uint64
	}{
		{"SELECT count() FROM spans WHERE OrgId = {org:String}", want},
		{"SELECT sum(SpanCount) FROM service_minutes WHERE OrgId = {org:String}", want},
		{"SELECT count() FROM trace_roots WHERE OrgId = {org:String}", want / 2},
	} {
		var stored uint64
		if err := e.QueryRow(ctx, "org_crash", tt.sql, nil, &stored); err != nil {
			t.Fatal(err)
		}
		if stored != tt.want {
			t.Errorf("%s: acknowledged %d rows, found %d", tt.sql, tt.want, stored)
		}
	}
	if got := e.Supervisor.Restarts(); got != killRounds {
		t.Errorf("%d restarts, want %d", got, killRounds)
	}
}

// A table behind a view remembers an insert across a restart, even if the source table does not. The first process of an
// installation has altered views. It gives the rows the same token as later processes.
func TestTokensOutliveTheProcess(t *testing.T) {
	e := warehousetest.NewEngine(t)
	body := warehousetest.SpanBlock(t, "org_token", 50, time.Now().Add(-time.Hour))
	var first []uint64
	for attempt := range 2 {
		if err := e.Insert(t.Context(), "spans", warehousetest.SpanColumns, bytes.NewReader(body), "token"); err != nil {
			t.Fatal(err)
		}
		for i, sql := range []string{
			"SELECT sum(SpanCount) FROM service_minutes WHERE OrgId = {org:String}",
			"SELECT sum(SpanCount) FROM service_series WHERE OrgId = {org:String}",
			"SELECT sum(SpanCount) FROM service_hours WHERE OrgId = {org:String}",
			"SELECT toUInt64(sum(EstimatedSpanCount)) FROM operation_hours WHERE OrgId = {org:String}",
			"SELECT count() FROM trace_roots WHERE OrgId = {org:String}",
		} {
			var n uint64
			if err := e.QueryRow(t.Context(), "org_token", sql, nil, &n); err != nil {
				t.Fatal(err)
			}
			if attempt == 0 {
				if n == 0 {
					t.Errorf("%s: no rows, so this test proves nothing", sql)
				}
				first = append(first, n)
			} else if n != first[i] {
				t.Errorf("%s: %d after a repeated insert, %d before", sql, n, first[i])
			}
		}
		if err := e.Exec(t.Context(), "TRUNCATE TABLE spans"); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(e.Supervisor.Pid(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		for e.Supervisor.Restarts() == attempt {
			time.Sleep(10 * time.Millisecond)
		}
		if err := e.Supervisor.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// A stopped supervisor leaves no goroutine, no process and no socket.
func TestStopLeavesNothing(t *testing.T) {
	before := goleak.IgnoreCurrent()
	dir := t.TempDir()
	e := warehousetest.NewEngineIn(t, dir, "")
	pid := e.Supervisor.Pid()
	if !e.Supervisor.Ready() {
		t.Error("not ready after the start")
	}
	if err := e.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the process is there: %v", err)
	}
	if _, err := os.Stat(e.Socket); err == nil {
		t.Error("the socket is there")
	}
	if e.Supervisor.Ready() || e.Supervisor.Pid() != 0 {
		t.Error("still ready")
	}
	if err := e.Supervisor.WaitReady(t.Context()); err == nil {
		t.Error("waiting for a stopped process ended well")
	}
	goleak.VerifyNone(t, before)
}

func TestLockedFolder(t *testing.T) {
	e := warehousetest.NewEngine(t)
	cmd := exec.Command(os.Args[0], "warehouse", "--data-dir", e.DataDir, "--socket", filepath.Join(t.TempDir(), "s"))
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "locked by another process") || strings.Count(string(out), "\n") != 1 {
		t.Errorf("got %v: %s", err, out)
	}
	if err := e.Ping(t.Context()); err != nil {
		t.Errorf("the first engine is harmed: %v", err)
	}
}

func TestBrokenFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := chdb.Start(t.Context(), chdb.SupervisorConfig{DataDir: file, Socket: filepath.Join(t.TempDir(), "s")})
	if err == nil || !strings.Contains(err.Error(), "cannot make the warehouse folder") {
		t.Errorf("got %v", err)
	}
	t.Setenv(chdb.LibraryVariable, "/nowhere/libchdb.so")
	_, err = chdb.Start(t.Context(), chdb.SupervisorConfig{DataDir: t.TempDir(), Socket: filepath.Join(t.TempDir(), "s")})
	if err == nil || !strings.Contains(err.Error(), "make deps") {
		t.Errorf("without the library: got %v", err)
	}
}

// The child must not outlive a parent that is killed, however the parent dies.
func TestParentGone(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	cmd := exec.Command(os.Args[0], "warehouse", "--data-dir", filepath.Join(dir, "d"), "--socket", socket)
	cmd.Env = append(os.Environ(), "SVC_WAREHOUSE_SUPERVISED=1")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	var conn net.Conn
	for deadline := time.Now().Add(20 * time.Second); conn == nil; time.Sleep(5 * time.Millisecond) {
		if conn, err = chdb.DialUnix(t.Context(), socket); err != nil && time.Now().After(deadline) {
			t.Fatalf("the engine does not start: %v: %s", err, stderr.String())
		}
	}
	_ = conn.Close()
	_ = stdin.Close() // the kernel does this when the parent dies
	select {
	case <-exited:
	case <-time.After(5 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatal("the engine outlives its parent")
	}
}

// A URL works like the socket, with its user and password.
func TestURL(t *testing.T) {
	e := warehousetest.NewEngine(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	t.Cleanup(func() {
		_ = l.Close()
		conns.Wait()
	})
	var authorized atomic.Int64
	backend := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "warehouse"
			user, password, basic := r.In.BasicAuth()
			if basic && user == "reader" && password == "p@ss" || r.In.Header.Get("X-ClickHouse-User") == "reader" &&
				r.In.Header.Get("X-ClickHouse-Key") == "p@ss" {
				authorized.Add(1)
			} else {
				t.Errorf("%s without the user's password", r.In.URL)
			}
		},
		Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return chdb.DialUnix(ctx, e.Socket)
		}},
	}
	server := &http.Server{Handler: backend, ReadHeaderTimeout: time.Minute}
	conns.Go(func() { _ = server.Serve(l) })
	t.Cleanup(func() { _ = server.Close() })

	w, err := warehouse.Open(t.Context(), warehouse.Config{URL: "clickhouse://reader:p%40ss@" + l.Addr().String() + "/by_url"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = w.Close() }()
	if err := w.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := w.Insert(t.Context(), "spans", warehousetest.SpanColumns,
		bytes.NewReader(warehousetest.SpanBlock(t, "org_url", 10, time.Now())), "url/1"); err != nil {
		t.Fatal(err)
	}
	var n uint64
	if err := w.QueryRow(t.Context(), "org_url", "SELECT count() FROM by_url.spans WHERE OrgId = {org:String}", nil, &n); err != nil ||
		n != 10 {
		t.Errorf("got %d spans, %v; want 10", n, err)
	}
	if authorized.Load() < 10 {
		t.Errorf("only %d requests went through", authorized.Load())
	}
	if strings.Contains(w.String(), "p@ss") {
		t.Errorf("%s shows its password", w)
	}
}

func TestLongSocketPath(t *testing.T) {
	dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-folder-name/", 8))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "warehouse.sock")
	l, err := chdb.ListenUnix(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	info, err := os.Stat(socket)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", info, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left beside the socket: %v, %v", entries, err)
	}
	accepted := make(chan error, 1)
	go func() {
		c, err := l.Accept()
		if err == nil {
			err = c.Close()
		}
		accepted <- err
	}()
	c, err := chdb.DialUnix(t.Context(), socket)
	if err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}

// No system table of the engine may fill the disk.
func TestNoSystemLogs(t *testing.T) {
	w := warehousetest.Shared(t)
	var out bytes.Buffer
	if err := w.RawQuery(t.Context(), "SELECT name FROM system.tables WHERE database = 'system' AND (name LIKE '%\\_log' OR name LIKE "+
		"'%\\_log\\_%')", "TSV", &out); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("the engine keeps logs about itself: %s", out.String())
	}
	out.Reset()
	if err := w.RawQuery(t.Context(), "SELECT name, value FROM system.settings WHERE name LIKE 'query_profiler%period_ns' AND value != '0'",
		"TSV", &out); err != nil || out.Len() > 0 {
		t.Errorf("profilers run: %s, %v", out.String(), err)
	}
}

// A kill after a token is logged and before its part gets its name leaves a token without rows. The repeated insert must be
// stored, in the table and through its views.
func TestTokenWithoutPart(t *testing.T) {
	dir := t.TempDir()
	body := warehousetest.SpanBlock(t, "org_lost", 100, time.Now().Add(-time.Hour))
	count := func(e *warehousetest.Engine, table string) (n uint64) {
		if err := e.QueryRow(t.Context(), "org_lost", "SELECT count() FROM "+table+" WHERE OrgId = {org:String}", nil, &n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, table := range []string{"spans", "trace_roots"} {
		t.Run(table, func(t *testing.T) {
			e := warehousetest.NewEngineIn(t, dir, "")
			before := [2]uint64{count(e, "spans"), count(e, "trace_roots")}
			token := "lost/" + table
			if err := e.Insert(t.Context(), "spans", warehousetest.SpanColumns, bytes.NewReader(body), token); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if err := e.RawQuery(t.Context(), "SELECT path FROM system.parts WHERE database = currentDatabase() AND active AND table = '"+table+
				"' ORDER BY modification_time DESC, max_block_number DESC LIMIT 1 BY partition_id", "TSVRaw", &out); err != nil {
				t.Fatal(err)
			}
			if err := e.Stop(); err != nil {
				t.Fatal(err)
			}
			removed := 0
			for path := range strings.Lines(out.String()) {
				if err := os.RemoveAll(strings.TrimSpace(path)); err != nil {
					t.Fatal(err)
				}
				removed++
			}
			if removed == 0 {
				t.Fatal("no part to remove")
			}
			e = warehousetest.NewEngineIn(t, dir, "")
			for range 2 {
				if err := e.Insert(t.Context(), "spans", warehousetest.SpanColumns, bytes.NewReader(body), token); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := [2]uint64{count(e, "spans"), count(e, "trace_roots")}, [2]uint64{before[0] + 100, before[1] + 50}; got != want {
				t.Errorf("spans and roots %v, want %v", got, want)
			}
			if err := e.Stop(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
