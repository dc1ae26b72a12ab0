package e2e

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/store/pgtest"
	"github.com/svc-observability/svc/server/testkit"
)

const (
	workerOrgs     = 10
	workerServices = 3
	// takeoverLimit is the longest time in which a shard may have no living holder. It is due after a lease and a beat, 19 s; the
	// processes of a busy machine come late.
	takeoverLimit = 40 * time.Second
)

// blackhole stands between a process and its database. While it is cut, it forwards nothing and closes nothing, like a network that
// drops packets.
type blackhole struct {
	Addr string

	upstream string
	mu       sync.Mutex
	isCut    bool
	conns    map[net.Conn]bool
}

func startBlackhole(t *testing.T, upstream string) *blackhole {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	b := &blackhole{Addr: ln.Addr().String(), upstream: upstream, conns: map[net.Conn]bool{}}
	t.Cleanup(func() {
		_ = ln.Close()
		b.heal()
	})
	go func() {
		for {
			from, err := ln.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", upstream)
			if err != nil {
				_ = from.Close()
				continue
			}
			b.mu.Lock()
			b.conns[from], b.conns[to] = true, true
			b.mu.Unlock()
			go b.pump(from, to)
			go b.pump(to, from)
		}
	}()
	return b
}

func (b *blackhole) pump(from, to net.Conn) {
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if b.dropping() && err == nil {
			continue
		}
		if err == nil {
			_, err = to.Write(buf[:n])
		}
		if err != nil && !b.dropping() {
			_, _ = from.Close(), to.Close()
		}
		if err != nil {
			return
		}
	}
}

func (b *blackhole) dropping() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.isCut
}

func (b *blackhole) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isCut = true
}

// heal lets new connections through. The old ones have lost bytes, so they end.
func (b *blackhole) heal() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isCut = false
	for c := range b.conns {
		_ = c.Close()
	}
	clear(b.conns)
}

// told is a receiver of messages that knows the repeats of each.
type told struct {
	*httptest.Server
	mu sync.Mutex
	// bodies are those of all requests, by delivery key; order has each key at its first request.
	bodies map[string][]string
	order  []string
	// hold says whether a request has to wait for release, and late is the status of its answer then. held counts such requests.
	hold    func() bool
	held    int
	late    int
	release chan struct{}
}

func startTold(t *testing.T) *told {
	t.Helper()
	r := &told{bodies: map[string][]string{}}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		key := req.Header.Get("X-Svc-Delivery-Key")
		r.mu.Lock()
		r.bodies[key] = append(r.bodies[key], string(body))
		n := len(r.bodies[key])
		if n == 1 {
			r.order = append(r.order, key)
		}
		waits := r.hold != nil && r.hold()
		release := r.release
		if waits {
			r.held++
		}
		status := r.late
		r.mu.Unlock()
		if waits {
			<-release
			w.WriteHeader(status)
		}
	}))
	t.Cleanup(func() {
		r.free()
		r.Close()
	})
	return r
}

// holding makes the requests wait that hold names, until free. They are answered with a status then.
func (r *told) holding(status int, hold func() bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hold, r.late, r.held, r.release = hold, status, 0, make(chan struct{})
}

func (r *told) free() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hold != nil {
		r.hold = nil
		close(r.release)
	}
}

func (r *told) waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// processes are those of one installation, with the PostgreSQL server and the engine that they share.
type processes struct {
	t    *testing.T
	db   *sql.DB
	url  *url.URL
	args []string
	root string
	// front has the API and ingest. It does no background work.
	front *testkit.Process
}

func startInstallation(t *testing.T) *processes {
	t.Helper()
	text := pgtest.Start(t).NewDatabase(t)
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", text)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	in := &processes{
		t: t, db: db, url: u, root: t.TempDir(),
		args: []string{"--warehouse-url", engineByURL(t), "--egress-networks", "127.0.0.1/32", "--shutdown-timeout", "5s"},
	}
	in.front = testkit.StartFirst(t, filepath.Join(in.root, "front"), in.with(text, "api,ingest")...)
	return in
}

func (in *processes) with(database, roles string) []string {
	return append([]string{"--database-url", database, "--roles", roles}, in.args...)
}

// worker starts a process that does background work. Its API only tells the test its address. A given address replaces that of the
// database.
func (in *processes) worker(name, addr string) (p *testkit.Process, node string) {
	in.t.Helper()
	return in.process(name, addr, "api,worker")
}

// process starts a process with roles, worker among them.
func (in *processes) process(name, addr, roles string) (p *testkit.Process, node string) {
	in.t.Helper()
	u := *in.url
	if addr != "" {
		u.Host = addr
	}
	dir := filepath.Join(in.root, name)
	if out, err := exec.Command("mkdir", "-p", dir).CombinedOutput(); err != nil {
		in.t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command("cp", "-a", filepath.Join(in.front.DataDir, "secrets"), dir).CombinedOutput(); err != nil {
		in.t.Fatalf("%v\n%s", err, out)
	}
	p = testkit.StartFirst(in.t, dir, in.with(u.String(), roles)...)
	return p, one[string](in, `SELECT id::text FROM work_nodes ORDER BY started_at DESC LIMIT 1`)
}

func one[T any](in *processes, query string, args ...any) (v T) {
	in.t.Helper()
	if err := in.db.QueryRowContext(in.t.Context(), query, args...).Scan(&v); err != nil {
		in.t.Fatalf("%s: %v", query, err)
	}
	return v
}

func (in *processes) exec(query string, args ...any) {
	in.t.Helper()
	if _, err := in.db.ExecContext(in.t.Context(), query, args...); err != nil {
		in.t.Fatalf("%s: %v", query, err)
	}
}

// rows are the rows of a statement as text, to compare two moments.
func (in *processes) rows(query string) []string {
	in.t.Helper()
	rows, err := in.db.QueryContext(in.t.Context(), query)
	if err != nil {
		in.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			in.t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		in.t.Fatal(err)
	}
	return out
}

// held is the number of shards of alerts and messages that a node holds.
func (in *processes) held(node string) int {
	in.t.Helper()
	return one[int](in, `SELECT count(*) FROM work_shards WHERE kind IN ('alerts', 'outbox') AND holder = $1::uuid`, node)
}

// takeover waits until every shard of alerts and messages that one of the dead nodes had is held by another node.
func (in *processes) takeover(since time.Time, dead ...string) {
	in.t.Helper()
	for {
		left := 0
		for _, node := range dead {
			left += in.held(node)
		}
		took := time.Since(since)
		if left == 0 {
			in.t.Logf("taken over within %s", took.Round(100*time.Millisecond))
			return
		}
		if took > takeoverLimit {
			in.t.Fatalf("after %s, %d shards are still held by %v", took, left, dead)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// alertingOrg is an organization with one rule, which fires for each of its services.
func (in *processes) alertingOrg(n int, r *told) *testkit.Server {
	in.t.Helper()
	out, err := testkit.Command(in.t, "admin", "org", "create", fmt.Sprintf("Workers %d", n), "--json",
		"--data-dir", in.front.DataDir, "--database-url", in.url.String()).Output()
	if err != nil {
		in.t.Fatalf("%v: %s", err, out)
	}
	s := in.front.Server
	if err := json.Unmarshal(out, &s.File); err != nil {
		in.t.Fatalf("%v: %s", err, out)
	}
	c := restClient{in.t, &s, s.APIKey}
	to := c.call("POST", "/v2/alerts/destinations",
		fmt.Sprintf(`{"type":"webhook","name":"hook","url":"%s/hook","signing_secret":"s3cret"}`, r.URL), 200)
	c.call("POST", "/v2/alerts/rules", fmt.Sprintf(`{"name":"Traffic","severity":"critical","signal_type":"throughput","comparator":"gt","threshold":0,
		"window_minutes":1,"consecutive_breaches_required":1,"consecutive_healthy_required":1,"minimum_sample_count":0,
		"group_by":["service.name"],"destination_ids":[%q]}`, to["id"]), 200)
	return &s
}

// sendMinute sends spans of each service in the minute that ends at the given time.
func sendMinute(t *testing.T, s *testkit.Server, end time.Time) {
	t.Helper()
	m := &coltrace.ExportTraceServiceRequest{}
	for n := range workerServices {
		at := uint64(end.Add(-30 * time.Second).UnixNano())
		m.ResourceSpans = append(m.ResourceSpans, &trace.ResourceSpans{
			Resource: &resource.Resource{Attributes: []*common.KeyValue{str("service.name", fmt.Sprintf("service-%d", n))}},
			ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
				TraceId: id(fmt.Sprintf("%032x", n+1)), SpanId: id(fmt.Sprintf("%016x", n+1)), Name: "GET /", Kind: trace.Span_SPAN_KIND_SERVER,
				StartTimeUnixNano: at, EndTimeUnixNano: at + 1e6,
			}}}},
		})
	}
	body, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+"/v1/traces", bytes.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+s.PrivateKey)
	req.Header.Set("Content-Type", "application/x-protobuf")
	if res, text := roundTrip(t, req); res != http.StatusOK {
		t.Fatalf("%d %s", res, text)
	}
}
