package e2e

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// envAttack is how long each flood of TestAttack lasts. `make attack` sets it; without it, the floods are short.
const envAttack = "SVC_TEST_ATTACK"

// engineMemory is the engine's bound in an attack.
const engineMemory = 2 << 30

// attack is a server that one organization attacks while another works with it.
type attack struct {
	p        *testkit.Process
	attacker *testkit.Server
	victim   *testkit.Server
	// flood is how long a flood lasts, and callers how many callers it has.
	flood   time.Duration
	callers int
	client  *http.Client
}

func newAttack(t *testing.T, args ...string) *attack {
	dir := filepath.Join(t.TempDir(), "data")
	a := &attack{p: testkit.StartMeasured(t, dir, append(args, "--warehouse-max-memory-bytes", fmt.Sprint(engineMemory))...), flood: 7 * time.Second, callers: 20}
	if text := os.Getenv(envAttack); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatalf("%s: %v", envAttack, err)
		}
		a.flood, a.callers = d, 100
	}
	second := a.p.Server
	adminJSON(t, a.p, dir, &second.File, "org", "create", "Victim")
	a.attacker, a.victim = &a.p.Server, &second
	a.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}, Timeout: time.Minute}
	t.Cleanup(a.client.CloseIdleConnections)
	return a
}

// patience is the time that an answer may take: the bound itself under `make attack`, and five times as much beside other tests.
func patience(bound time.Duration) time.Duration {
	if os.Getenv(envAttack) != "" {
		return bound
	}
	return 5 * bound
}

// call sends a request and returns the status; 0 means that there was no answer.
func (a *attack) call(ctx context.Context, method, url, key string, body []byte, header ...string) (int, []byte) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := a.client.Do(req)
	if err != nil {
		return 0, []byte(err.Error())
	}
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	return res.StatusCode, text
}

// logs sends records whose body is a text, and waits until a search of the organization finds some.
func (a *attack) logs(t *testing.T, s *testkit.Server, requests, each int, body string) {
	t.Helper()
	for range requests {
		var records []map[string]any
		for i := range each {
			records = append(records, map[string]any{
				"timeUnixNano": strconv.FormatInt(time.Now().UnixNano()+int64(i), 10), "severityText": "INFO",
				"body": map[string]any{"stringValue": body},
			})
		}
		text, err := json.Marshal(map[string]any{"resourceLogs": []any{map[string]any{
			"resource":  map[string]any{"attributes": []any{map[string]any{"key": "service.name", "value": map[string]any{"stringValue": "shop"}}}},
			"scopeLogs": []any{map[string]any{"logRecords": records}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if status, answer := a.ingest(t, s.PrivateKey, gzipped(text)); status != http.StatusOK {
			t.Fatalf("%d %s", status, answer)
		}
	}
	eventually(t, "the records", func() bool {
		status, answer := a.search(t.Context(), s, 1, "")
		return status == http.StatusOK && bytes.Contains(answer, []byte(`"id"`))
	})
}

func gzipped(text []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed) // the level is valid
	_, _ = w.Write(text)
	_ = w.Close()
	return b.Bytes()
}

func (a *attack) ingest(t *testing.T, key string, body []byte) (int, []byte) {
	return a.call(t.Context(), http.MethodPost, a.p.IngestURL+"/v1/logs", key, body, "Content-Encoding", "gzip")
}

func searchBody(limit int, text string) []byte {
	now := time.Now().UTC()
	b, err := json.Marshal(map[string]any{
		"start_time": now.Add(-time.Hour).Format(time.RFC3339), "end_time": now.Add(time.Minute).Format(time.RFC3339), "limit": limit,
		"filters": map[string]any{"body_search": text},
	})
	if err != nil {
		panic(err)
	}
	return b
}

func (a *attack) search(ctx context.Context, s *testkit.Server, limit int, text string) (int, []byte) {
	body := searchBody(limit, text)
	if text == "" {
		body = bytes.Replace(body, []byte(`"filters":{"body_search":""},`), nil, 1)
	}
	return a.call(ctx, http.MethodPost, a.p.BaseURL+"/v2/logs/search", s.APIKey, body)
}

// reads calls three reads of the victim in turn for a time, and returns the sorted times that they took. An answer other than 200
// fails the test. The pause keeps the rate below the limit of the key.
func (a *attack) reads(t *testing.T, d time.Duration) []time.Duration {
	t.Helper()
	now := time.Now().UTC()
	window := "start_time=" + now.Add(-time.Hour).Format(time.RFC3339) + "&end_time=" + now.Add(time.Minute).Format(time.RFC3339)
	var took []time.Duration
	for i, end := 0, time.Now().Add(d); time.Now().Before(end); i++ {
		begun := time.Now()
		var status int
		var answer []byte
		switch i % 3 {
		case 0:
			status, answer = a.call(t.Context(), http.MethodGet, a.p.BaseURL+"/v2/services?"+window, a.victim.APIKey, nil)
		case 1:
			status, answer = a.search(t.Context(), a.victim, 20, "")
		default:
			status, answer = a.call(t.Context(), http.MethodPost, a.p.BaseURL+"/v2/sql/search", a.victim.APIKey,
				[]byte(`{"sql": "SELECT count(), max(length(Body)) FROM logs"}`))
		}
		took = append(took, time.Since(begun))
		if status != http.StatusOK {
			t.Errorf("a read of the other organization: %d %.200s", status, answer)
		}
		time.Sleep(max(0, 120*time.Millisecond-time.Since(begun)))
	}
	slices.Sort(took)
	return took
}

func quantile(sorted []time.Duration, q float64) time.Duration {
	return sorted[min(len(sorted)-1, int(q*float64(len(sorted))))]
}

// running returns the number of threads of a process that run or wait for a CPU.
func running(pid int) (n int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, task := range tasks {
		stat, err := os.ReadFile(task)
		if at := bytes.LastIndexByte(stat, ')'); err == nil && at > 0 && bytes.HasPrefix(stat[at:], []byte(") R")) {
			n++
		}
	}
	return n
}

// memory watches the memory of the server and of its engine until the returned function is called, which returns the peaks.
func (a *attack) memory(t *testing.T) func() (server, engine int64) {
	var wg sync.WaitGroup
	stop := make(chan struct{})
	var server, engine int64
	wg.Go(func() {
		for {
			server = max(server, rss(t, a.p.Pid()))
			pid, _ := findChild(a.p.Pid()) // the engine may restart
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
				if fields := strings.Fields(string(stat)); len(fields) > 1 {
					pages, _ := strconv.ParseInt(fields[1], 10, 64)
					engine = max(engine, pages*int64(os.Getpagesize()))
				}
			}
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
		}
	})
	return func() (int64, int64) { close(stop); wg.Wait(); return server, engine }
}

// TestAttack plays an attacker against a running server, while another organization works with it.
func TestAttack(t *testing.T) {
	a := newAttack(t, floodArgs()...)
	t.Run("floods", a.floods)
	a.logs(t, a.victim, 1, 500, "GET /cart 200 in 12 ms")
	t.Run("worst reads", a.worstReads)
	t.Run("callers that never read", a.neverReading)
	t.Run("smuggling", a.smuggling)
	t.Run("bombs", a.bombs)
	t.Run("rapid reset", a.rapidReset)
	if code := a.p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, a.p.Log())
	}
}

// TestAttackSlowBodies sends bodies that take minutes. It mostly waits, so it runs beside other tests.
func TestAttackSlowBodies(t *testing.T) {
	t.Parallel()
	a := newAttack(t)
	a.logs(t, a.victim, 1, 500, "GET /cart 200 in 12 ms")
	t.Run("of every API", a.slowBodies)
	t.Run("with a public key", a.publicKey)
	if code := a.p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, a.p.Log())
	}
}

// worstReads lets many callers of one organization send the most costly reads: long searches over texts that almost match,
// searches over values of 1 MB, and SQL that spends seconds on one value. The reads of the other organization must stay fast.
func (a *attack) worstReads(t *testing.T) {
	a.logs(t, a.attacker, 6, 60, strings.Repeat("a", 1_000_000))
	quiet := a.reads(t, max(6*time.Second, a.flood/10))
	peak := a.memory(t)
	ctx, stop := context.WithTimeout(t.Context(), a.flood)
	defer stop()
	var wg sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for i := range a.callers {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				var status int
				kind := "search"
				switch n % 4 {
				case 0, 1:
					status, _ = a.search(ctx, a.attacker, 100, strings.Repeat("a", 990+n%9)+"b")
				case 2:
					kind = "SQL over logs"
					status, _ = a.sql(ctx, `SELECT countIf(Body ILIKE '%`+strings.Repeat("a", 50)+`b%') FROM logs`)
				default:
					kind = "SQL in one value"
					status, _ = a.sql(ctx, fmt.Sprintf("SELECT length(replaceRegexpAll(repeat(materialize('a'), %d), '(?:a*b|a)', 'c'))", 900_000+n))
				}
				mu.Lock()
				answers[fmt.Sprintf("%s %d", kind, status)]++
				mu.Unlock()
				select { // the rate of a key is limited
				case <-ctx.Done():
				case <-time.After(time.Second):
				}
			}
		})
	}
	var refused atomic.Int64
	wg.Go(func() {
		body := gzipped([]byte(`{"resourceLogs":[]}`))
		for ctx.Err() == nil {
			begun := time.Now()
			status, answer := a.ingest(t, a.victim.PrivateKey, body)
			if status != http.StatusOK || time.Since(begun) > patience(2*time.Second) {
				refused.Add(1)
				t.Logf("ingest of the other organization: %d after %s: %.100s", status, time.Since(begun), answer)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	busy := a.reads(t, a.flood-time.Second)
	stop()
	wg.Wait()
	ended := time.Now()
	server, engine := peak()
	t.Logf("answers to the attacker: %v", answers)
	t.Logf("reads of the other organization: quiet p50 %s, p99 %s (%d); under attack p50 %s, p99 %s, max %s (%d)",
		quantile(quiet, .5), quantile(quiet, .99), len(quiet), quantile(busy, .5), quantile(busy, .99), quantile(busy, 1), len(busy))
	t.Logf("memory: server %d MiB, engine %d MiB", server>>20, engine>>20)
	if got, most := quantile(busy, .99), 2*quantile(quiet, .99)+100*time.Millisecond; got > most && os.Getenv(envAttack) != "" {
		t.Errorf("p99 under attack is %s, want at most %s", got, most)
	} else if got > patience(3*time.Second) {
		t.Errorf("p99 under attack is %s", got)
	}
	if refused.Load() > 0 {
		t.Errorf("%d ingest requests of the other organization were refused or slow", refused.Load())
	}
	if server > 1<<30 {
		t.Errorf("the server took %d MiB", server>>20)
	}
	if server+engine > engineMemory+soakMemory {
		t.Errorf("both processes took %d MiB, of which the engine's bound is %d MiB", (server+engine)>>20, engineMemory>>20)
	}
	for calm := 0; calm < 3; time.Sleep(200 * time.Millisecond) {
		if pid, err := findChild(a.p.Pid()); err == nil && running(pid) <= 1 {
			calm++
		} else {
			calm = 0
		}
		if time.Since(ended) > patience(10*time.Second) {
			t.Fatalf("threads of the engine still run %s after the end", time.Since(ended))
		}
	}
	t.Logf("the engine is calm %s after the end; it restarted %d times", time.Since(ended).Round(time.Millisecond),
		strings.Count(a.p.Log(), "the warehouse process ended"))
}

func (a *attack) sql(ctx context.Context, statement string) (int, []byte) {
	body, err := json.Marshal(map[string]string{"sql": statement})
	if err != nil {
		panic(err)
	}
	return a.call(ctx, http.MethodPost, a.p.BaseURL+"/v2/sql/search", a.attacker.APIKey, body)
}

// drip sends the head of a request, and then one byte per second until the server closes the connection.
func drip(t *testing.T, address, path string, limit time.Duration) time.Duration {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer conn.Close()
	begun := time.Now()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4096\r\n\r\n{", path)
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, conn)
	}()
	for {
		select {
		case <-closed:
			return time.Since(begun)
		case <-time.After(time.Second):
			_, _ = conn.Write([]byte(" "))
		}
		if time.Since(begun) > limit {
			return time.Since(begun)
		}
	}
}

func (a *attack) slowBodies(t *testing.T) {
	address := strings.TrimPrefix(a.p.BaseURL, "http://")
	most := limits.APIBodyTime + 15*time.Second
	var wg sync.WaitGroup
	for _, path := range []string{"/v2/session", "/login", "/register", "/mcp", "/v2/logs/search", "/oauth/token", "/nothing"} {
		for range a.callers {
			wg.Go(func() {
				if took := drip(t, address, path, most+time.Second); took > most {
					t.Errorf("%s: a slow body lives for %s", path, took)
				}
			})
		}
	}
	a.reads(t, 3*time.Second)
	wg.Wait()
}

func (a *attack) publicKey(t *testing.T) {
	address := strings.TrimPrefix(a.p.IngestURL, "http://")
	var conns []net.Conn
	for range limits.IngestRequests + 50 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/logs HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: "+
			"1000000\r\n\r\n%s",
			a.attacker.PublicKey, strings.Repeat(" ", 16))
		conns = append(conns, conn)
	}
	body := gzipped([]byte(`{"resourceLogs":[]}`))
	for _, key := range []string{a.attacker.PrivateKey, a.victim.PrivateKey, a.victim.PublicKey} {
		for range 10 {
			begun := time.Now()
			if status, answer := a.ingest(t, key, body); status != http.StatusOK || time.Since(begun) > patience(2*time.Second) {
				t.Errorf("%.6s beside %d slow bodies: %d after %s: %s", key, len(conns), status, time.Since(begun), answer)
			}
		}
	}
	// A request with the public key itself passes as soon as the slow ones have had their time.
	eventually(t, "a request with the public key", func() bool {
		status, _ := a.ingest(t, a.attacker.PublicKey, body)
		return status == http.StatusOK
	})
}

func (a *attack) neverReading(t *testing.T) {
	before := rss(t, a.p.Pid())
	peak := a.memory(t)
	address := strings.TrimPrefix(a.p.BaseURL, "http://")
	body := searchBody(100, "a")
	for range a.callers {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		fmt.Fprintf(conn, "POST /v2/logs/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: "+
			"application/json\r\nContent-Length: %d\r\n\r\n%s",
			a.attacker.APIKey, len(body), body)
	}
	a.reads(t, 5*time.Second)
	server, engine := peak()
	t.Logf("memory: server %d MiB, before %d MiB; engine %d MiB", server>>20, before>>20, engine>>20)
	if server > 1<<30 {
		t.Errorf("the server took %d MiB", server>>20)
	}
}

func (a *attack) bombs(t *testing.T) {
	peak := a.memory(t)
	zeros := gzipped(make([]byte, 300<<20))
	nested := bytes.Repeat([]byte("["), 1<<20)
	for name, tt := range map[string]struct {
		url, key string
		body     []byte
		header   []string
	}{
		"gzip, ingest":     {a.p.IngestURL + "/v1/logs", a.attacker.PrivateKey, zeros, []string{"Content-Encoding", "gzip"}},
		"gzip, API":        {a.p.BaseURL + "/v2/logs/search", a.attacker.APIKey, zeros, []string{"Content-Encoding", "gzip"}},
		"gzip, Connect":    {a.p.BaseURL + "/svc.v2.LogsService/SearchLogs", a.attacker.APIKey, zeros, []string{"Content-Encoding", "gzip"}},
		"depth, ingest":    {a.p.IngestURL + "/v1/logs", a.attacker.PrivateKey, nested, nil},
		"depth, API":       {a.p.BaseURL + "/v2/logs/search", a.attacker.APIKey, nested, nil},
		"depth, MCP":       {a.p.BaseURL + "/mcp", a.attacker.APIKey, nested, nil},
		"a header, API":    {a.p.BaseURL + "/v2/session", a.attacker.APIKey, nil, []string{"X-A", strings.Repeat("x", 300<<10)}},
		"a header, ingest": {a.p.IngestURL + "/v1/logs", a.attacker.PrivateKey, nil, []string{"X-A", strings.Repeat("x", 300<<10)}},
		"a value, SQL": {
			a.p.BaseURL + "/v2/sql/search", a.attacker.APIKey,
			[]byte(`{"sql": "SELECT arrayStringConcat(arrayMap(x -> repeat('a', 1000000), range(100000)))"}`), nil,
		},
		"rows, SQL": {
			a.p.BaseURL + "/v2/sql/search", a.attacker.APIKey,
			[]byte(`{"sql": "SELECT count() FROM (SELECT DISTINCT rand64(), number FROM numbers(1000000000000))"}`), nil,
		},
	} {
		begun := time.Now()
		status, answer := a.call(t.Context(), http.MethodPost, tt.url, tt.key, tt.body, tt.header...)
		// A server may close the connection before it has read a body that it refuses.
		if status == http.StatusOK || status >= 500 && status != http.StatusGatewayTimeout {
			t.Errorf("%s: %d %.100s", name, status, answer)
		}
		if took := time.Since(begun); took > 30*time.Second {
			t.Errorf("%s is refused after %s", name, took)
		}
	}
	server, engine := peak()
	t.Logf("memory: server %d MiB, engine %d MiB", server>>20, engine>>20)
	if server > 1<<30 {
		t.Errorf("the server took %d MiB", server>>20)
	}
}

// rapidReset opens streams and resets them at once, on connections of their own.
func (a *attack) rapidReset(t *testing.T) {
	streams := 20_000
	if os.Getenv(envAttack) != "" {
		streams = 200_000
	}
	var wg sync.WaitGroup
	for _, url := range []string{a.p.BaseURL, a.p.OTLPGRPCAddr} {
		for range 4 {
			wg.Go(func() {
				conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
				if err != nil {
					t.Error(err)
					return
				}
				defer conn.Close()
				go func() { _, _ = io.Copy(io.Discard, conn) }()
				w := bufio.NewWriter(conn)
				fmt.Fprint(w, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
				_, _ = w.Write([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0}) // SETTINGS
				for id := uint32(1); id < uint32(2*streams); id += 2 {
					stream := []byte{byte(id >> 24), byte(id >> 16), byte(id >> 8), byte(id)}
					// HEADERS with GET, http, / and the authority x; then RST_STREAM with CANCEL.
					_, _ = w.Write(append([]byte{0, 0, 6, 1, 5}, stream...))
					_, _ = w.Write([]byte{0x82, 0x86, 0x84, 0x41, 1, 'x'})
					_, _ = w.Write(append([]byte{0, 0, 4, 3, 0}, stream...))
					if _, err := w.Write([]byte{0, 0, 0, 8}); err != nil {
						return // the server has closed the connection
					}
				}
				_ = w.Flush()
			})
		}
	}
	for range 20 {
		begun := time.Now()
		if status, answer := a.call(t.Context(), http.MethodGet, a.p.BaseURL+"/healthz", "", nil); status != http.StatusOK ||
			time.Since(begun) > 5*time.Second {
			t.Errorf("/healthz: %d after %s: %.100s", status, time.Since(begun), answer)
		}
		time.Sleep(50 * time.Millisecond)
	}
	wg.Wait()
}
