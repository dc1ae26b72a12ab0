package warehouse_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/svc-observability/svc/server/principal"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

// flaky is the address of an engine that can fail as a host does.
type flaky struct {
	listener net.Listener

	mu    sync.Mutex
	mode  string // "", dead, hang, 500, cut (an insert is stored, and its answer is lost), or broken (a read ends within its answer)
	conns map[net.Conn]bool
	asked int // requests that are not pings
	wait  sync.WaitGroup
}

func newFlaky(t *testing.T, e *warehousetest.Engine) *flaky {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &flaky{listener: l, conns: map[net.Conn]bool{}}
	engine := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return chdb.DialUnix(ctx, e.Socket) },
		DisableCompression: true,
	}
	server := &http.Server{Handler: f.handler(engine), ReadHeaderTimeout: time.Minute, ConnState: f.follow}
	f.wait.Go(func() { _ = server.Serve(gate{l, f}) })
	t.Cleanup(func() {
		f.set("dead")
		_ = server.Close()
		f.wait.Wait()
		engine.CloseIdleConnections()
	})
	return f
}

// gate closes new connections while the host is dead.
type gate struct {
	net.Listener
	f *flaky
}

func (g gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil || g.f.now() != "dead" {
			return c, err
		}
		_ = c.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
	}
}

func (f *flaky) follow(c net.Conn, s http.ConnState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s == http.StateClosed {
		delete(f.conns, c)
	} else {
		f.conns[c] = true
	}
}

func (f *flaky) now() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mode
}

func (f *flaky) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// set changes how the host fails. A dead host resets its connections.
func (f *flaky) set(mode string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mode = mode
	for c := range f.conns {
		if mode == "dead" {
			_ = c.Close()
		}
	}
}

func (f *flaky) handler(engine http.RoundTripper) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		mode := f.now()
		if r.URL.Path != "/ping" {
			f.mu.Lock()
			f.asked++
			f.mu.Unlock()
		}
		switch mode {
		case "hang":
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			return
		case "500":
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		if r.URL.Path == "/ping" {
			_, _ = io.WriteString(w, "Ok.\n")
			return
		}
		out := r.Clone(r.Context())
		out.URL.Scheme, out.URL.Host, out.RequestURI = "http", "engine", ""
		res, err := engine.RoundTrip(out)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = res.Body.Close() }()
		if mode == "cut" && strings.HasPrefix(r.URL.Query().Get("query"), "INSERT") {
			_, _ = io.Copy(io.Discard, res.Body)
			panic(http.ErrAbortHandler)
		}
		for k, v := range res.Header {
			w.Header()[k] = v
		}
		w.WriteHeader(res.StatusCode)
		if mode == "broken" {
			_, _ = io.CopyN(w, res.Body, 1000)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		_, _ = io.Copy(w, res.Body)
	}
}

const orgHosts = principal.OrgID("org_hosts")

// clusterOf opens a warehouse on an engine by several addresses. The engine has a cluster of one shard.
func clusterOf(t *testing.T, list ...*flaky) *warehouse.Warehouse {
	t.Helper()
	var addresses []string
	for _, f := range list {
		addresses = append(addresses, f.listener.Addr().String())
	}
	w, err := warehouse.Open(t.Context(), warehouse.Config{
		URL: "clickhouse://svc:hidden@" + strings.Join(addresses, ",") + "/svc?cluster=main&quorum=0",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

func readOne(ctx context.Context, w *warehouse.Warehouse) error {
	var n uint64
	return w.QueryRow(ctx, orgHosts, "SELECT count() FROM spans WHERE OrgId = {org:String}", nil, &n)
}

func up(w *warehouse.Warehouse) string {
	var text strings.Builder
	for _, h := range w.Hosts() {
		if h.Up {
			text.WriteByte('+')
		} else {
			text.WriteByte('-')
		}
	}
	return text.String()
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(15 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after 15 s: not %s", what)
		}
	}
}

// TestHosts reads from a cluster of three hosts that fail in turn. No read may fail while one host works.
func TestHosts(t *testing.T) {
	e := warehousetest.NewEngineIn(t, t.TempDir(), oneShard)
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) }) // after the parts below are closed
	list := []*flaky{newFlaky(t, e), newFlaky(t, e), newFlaky(t, e)}
	w := clusterOf(t, list...)

	t.Run("reads are spread", func(t *testing.T) {
		for range 30 {
			if err := readOne(t.Context(), w); err != nil {
				t.Fatal(err)
			}
		}
		for i, f := range list {
			if f.count() < 8 {
				t.Errorf("host %d got %d of 30 reads", i, f.count())
			}
		}
	})
	for i, mode := range []string{"dead", "500", "hang"} {
		t.Run(mode, func(t *testing.T) {
			f := list[i]
			var wait sync.WaitGroup
			stop := make(chan struct{})
			for range 4 {
				wait.Go(func() {
					for n := 0; ; n++ {
						select {
						case <-stop:
							if n == 0 {
								t.Error("nothing was read")
							}
							return
						case <-time.After(5 * time.Millisecond):
						}
						if err := readOne(t.Context(), w); err != nil {
							t.Errorf("a read failed although two hosts work: %v", err)
							return
						}
					}
				})
			}
			time.Sleep(100 * time.Millisecond)
			f.set(mode)
			waitFor(t, "left out", func() bool { return strings.Count(up(w), "-") == 1 && up(w)[i] == '-' })
			if mode == "hang" {
				time.Sleep(4 * time.Second) // requests that wait go on to another host
			}
			asked := f.count()
			time.Sleep(200 * time.Millisecond)
			if mode != "hang" && f.count() != asked && up(w)[i] == '-' {
				t.Errorf("a host that is left out got %d requests", f.count()-asked)
			}
			close(stop)
			wait.Wait()
			f.set("")
			waitFor(t, "back", func() bool { return up(w) == "+++" })
		})
	}
	t.Run("a refused read is not repeated", func(t *testing.T) {
		asked := list[0].count() + list[1].count() + list[2].count()
		var n uint64
		err := w.QueryRow(t.Context(), orgHosts, "SELECT nothing FROM spans WHERE OrgId = {org:String}", nil, &n)
		if !errors.Is(err, warehouse.ErrSchema) {
			t.Errorf("got %v", err)
		}
		if got := list[0].count() + list[1].count() + list[2].count() - asked; got != 1 || up(w) != "+++" {
			t.Errorf("%d requests, hosts %s", got, up(w))
		}
	})
	t.Run("an answer that had begun fails", func(t *testing.T) {
		for _, f := range list {
			f.set("broken")
		}
		asked := list[0].count() + list[1].count() + list[2].count()
		err := w.RawQuery(t.Context(), "SELECT number FROM numbers(300000)", "TSV", io.Discard)
		if !errors.Is(err, warehouse.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		if got := list[0].count() + list[1].count() + list[2].count() - asked; got != 1 {
			t.Errorf("%d requests", got)
		}
		for _, f := range list {
			f.set("")
		}
	})
	t.Run("all fail", func(t *testing.T) {
		for _, f := range list {
			f.set("dead")
		}
		err := readOne(t.Context(), w)
		if !errors.Is(err, warehouse.ErrUnavailable) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("got %v", err)
		}
		waitFor(t, "all left out", func() bool { return up(w) == "---" })
		for _, f := range list {
			f.set("")
		}
		if err := readOne(t.Context(), w); err != nil {
			t.Errorf("hosts that are left out are used when there is no other: %v", err)
		}
		waitFor(t, "all back", func() bool { return up(w) == "+++" })
	})
	t.Run("the caller's deadline counts", func(t *testing.T) {
		for _, f := range list {
			f.set("hang")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := readOne(ctx, w); !errors.Is(err, warehouse.ErrTimeout) || time.Since(begun) > 15*time.Second {
			t.Errorf("after %s: %v", time.Since(begun), err)
		}
		for _, f := range list {
			f.set("")
		}
		waitFor(t, "all back", func() bool { return up(w) == "+++" })
	})
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestHostsInsert stores blocks while hosts fail. Each row is stored once, and a repeat goes to another host.
func TestHostsInsert(t *testing.T) {
	e := warehousetest.NewEngineIn(t, t.TempDir(), oneShard)
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
	list := []*flaky{newFlaky(t, e), newFlaky(t, e)}
	start := time.Now().UTC().Truncate(24 * time.Hour).Add(-24 * time.Hour)
	const rows = 100
	for i, mode := range []string{"cut", "500", "hang", "dead", ""} {
		block := warehousetest.SpanBlock(t, orgHosts, rows, start.Add(time.Duration(i)*time.Hour))
		w := clusterOf(t, list...) // no host has failed an insert yet, so the first one goes to the second host
		list[1].set(mode)
		asked := list[1].count()
		// A body that cannot be read again, as the pipeline sends it.
		attempts := 0
		for ; attempts < 3; attempts++ {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			err := w.Insert(ctx, "spans", warehousetest.SpanColumns, io.MultiReader(bytes.NewReader(block)), fmt.Sprintf("log/%d-%d/spans", i, i+1))
			cancel()
			if err == nil {
				break
			}
			var failed *warehouse.Error
			if !errors.As(err, &failed) || !failed.Retryable() || strings.Contains(err.Error(), "hidden") {
				t.Fatalf("%s: %v", mode, err)
			}
		}
		if failing := mode != ""; attempts > 1 || failing != (attempts == 1) {
			t.Errorf("%q: %d attempts failed; the first goes to the host that fails, the second must not", mode, attempts)
		}
		if reached := list[1].count() - asked; mode != "dead" && reached != 1 {
			t.Errorf("%q: the second host got %d requests", mode, reached)
		}
		list[1].set("")
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := raw(t, e.Warehouse, "SELECT count() FROM spans WHERE OrgId = 'org_hosts'"); got != fmt.Sprintf("%d\n", 5*rows) {
		t.Errorf("%q rows are stored, instead of %d", got, 5*rows)
	}
}

// TestOneHost: a single host has no pings and no way of its own.
func TestOneHost(t *testing.T) {
	before := goleak.IgnoreCurrent()
	w, err := warehouse.Open(t.Context(), warehouse.Config{URL: "clickhouse://u:secret@127.0.0.1:1/svc?cluster=main"})
	if err != nil {
		t.Fatal(err)
	}
	if len(w.Hosts()) != 1 || !w.Hosts()[0].Up || w.PingHost(t.Context(), "127.0.0.1:1") == nil {
		t.Errorf("hosts %v", w.Hosts())
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	goleak.VerifyNone(t, before)
}
