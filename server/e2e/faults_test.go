package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	coltrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/svc-observability/svc/server/testkit"
)

// oneSpan is a request with a single root span; n makes its trace id. The padding does not compress well.
func oneSpan(n int, padding int) *coltrace.ExportTraceServiceRequest {
	now := time.Now()
	return &coltrace.ExportTraceServiceRequest{ResourceSpans: []*trace.ResourceSpans{{
		Resource: checkoutResource(),
		ScopeSpans: []*trace.ScopeSpans{{Spans: []*trace.Span{{
			TraceId: id(fmt.Sprintf("%032x", n)), SpanId: id(fmt.Sprintf("%016x", n)), Name: "fault",
			StartTimeUnixNano: uint64(now.UnixNano()), EndTimeUnixNano: uint64(now.Add(time.Millisecond).UnixNano()),
			Attributes: []*common.KeyValue{str("padding", noise(padding))},
		}}}},
	}}}
}

func noise(n int) string {
	random := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = ' ' + byte(random.UintN(95))
	}
	return string(b)
}

// ingest posts a request and returns status, Retry-After and the error's tag.
func ingest(t *testing.T, s *testkit.Server, m proto.Message) (status int, retryAfter, tag string) {
	t.Helper()
	body, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.IngestURL+"/v1/traces", strings.NewReader(string(body)))
	req.Header.Set("Authorization", "Bearer "+s.PrivateKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var e struct {
		Error wireError `json:"error"`
	}
	if res.StatusCode != http.StatusOK {
		if err := json.NewDecoder(res.Body).Decode(&e); err != nil {
			t.Fatalf("error body of %d: %v", res.StatusCode, err)
		}
	}
	return res.StatusCode, res.Header.Get("Retry-After"), e.Error.Tag
}

// readTrace returns the REST status of a trace read.
func readTrace(t *testing.T, s *testkit.Server, n int) (status int, retryAfter string) {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("%s/v2/traces/%032x", s.BaseURL, n), nil)
	req.Header.Set("Authorization", "Bearer "+s.APIKey)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode, res.Header.Get("Retry-After")
}

// TestEngineKilled kills the engine's process. Ingest must keep answering 200, reads must answer 503 with Retry-After until the
// engine is back, and no acknowledged data may be missing.
func TestEngineKilled(t *testing.T) {
	t.Parallel()
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	if status, _, tag := ingest(t, &p.Server, oneSpan(1, 0)); status != http.StatusOK {
		t.Fatalf("before: %d %s", status, tag)
	}
	eventually(t, "the first span", func() bool { status, _ := readTrace(t, &p.Server, 1); return status == http.StatusOK })
	engine := child(t, p.Pid())
	if err := syscall.Kill(engine, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	sawUnavailable := false
	last := 1
	eventually(t, "the engine's return", func() bool {
		began := time.Now()
		status, retryAfter := readTrace(t, &p.Server, 1)
		if took := time.Since(began); took > patience(answersIn) {
			t.Errorf("a read is answered %d after %s", status, took)
		}
		switch status {
		case http.StatusServiceUnavailable:
			sawUnavailable = true
			if retryAfter == "" {
				t.Error("503 without Retry-After")
			}
		case http.StatusOK:
		default:
			t.Errorf("read answered %d while the engine was away", status)
		}
		last++
		if status, _, tag := ingest(t, &p.Server, oneSpan(last, 0)); status != http.StatusOK {
			t.Errorf("ingest answered %d %s while the engine was away", status, tag)
		}
		return status == http.StatusOK && last > 5
	})
	t.Logf("a read saw 503: %t; %d spans sent meanwhile", sawUnavailable, last-1)
	for n := 1; n <= last; n++ {
		eventually(t, fmt.Sprintf("span %d", n), func() bool { status, _ := readTrace(t, &p.Server, n); return status == http.StatusOK })
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+"/metrics", nil)
	if _, metrics := roundTrip(t, req); !strings.Contains(string(metrics), "\nsvc_warehouse_restarts_total 1\n") {
		t.Error("/metrics does not count the restart")
	}
	if now := child(t, p.Pid()); now == engine {
		t.Error("the engine's process was not replaced")
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}

// child finds the process that a server started: `svc warehouse`.
func child(tb testing.TB, parent int) int {
	tb.Helper()
	pid, err := findChild(parent)
	if err != nil {
		tb.Fatal(err)
	}
	return pid
}

// findChild is like child, but the process may have no child at the moment.
func findChild(parent int) (int, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[0] != "Z" && fields[1] == strconv.Itoa(parent) {
			return pid, nil
		}
	}
	return 0, errors.New("the server has no child process")
}

// TestRestartKeepsData stops the server cleanly and starts it again. The data must still be there.
func TestRestartKeepsData(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	for n := 1; n <= 3; n++ {
		if status, _, tag := ingest(t, &p.Server, oneSpan(n, 200)); status != http.StatusOK {
			t.Fatalf("%d %s", status, tag)
		}
	}
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
	p = testkit.StartProcess(t, dir)
	for n := 1; n <= 3; n++ {
		eventually(t, "the data after a restart", func() bool { status, _ := readTrace(t, &p.Server, n); return status == http.StatusOK })
	}
	if code := p.Stop(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.Log())
	}
}

// TestBadStart checks the exit codes and the messages of starts that cannot succeed.
func TestBadStart(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	running := testkit.StartProcess(t, dir)
	config := filepath.Join(t.TempDir(), "svc.yaml")
	if err := os.WriteFile(config, []byte("api_adr: 127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	noClickHouse := httptest.NewServer(http.NotFoundHandler())
	defer noClickHouse.Close()
	free := []string{"--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0", "--otlp-grpc-addr", "127.0.0.1:0"}
	other := filepath.Join(t.TempDir(), "other")
	for _, tc := range []struct {
		name string
		args []string
		env  string
		code int
		want []string
	}{
		{"bad address", []string{"serve", "--data-dir", other, "--api-addr", "nonsense"}, "", 2, []string{"api-addr", "nonsense"}},
		{
			"bad duration in the environment",
			[]string{"serve", "--data-dir", other},
			"SVC_SHUTDOWN_TIMEOUT=soon", 2,
			[]string{"SVC_SHUTDOWN_TIMEOUT", "soon"},
		},
		{"unknown variable", []string{"serve", "--data-dir", other}, "SVC_API_ADDRES=127.0.0.1:1", 2, []string{"SVC_API_ADDRES", "SVC_API_ADDR"}},
		{"unknown key in the file", []string{"serve", "--data-dir", other, "--config", config}, "", 2, []string{"api_adr"}},
		{"unknown flag", []string{"serve", "--frobnicate"}, "", 2, []string{"frobnicate"}},
		{"unknown role", []string{"serve", "--data-dir", other, "--roles", "api,cook"}, "", 2, []string{"roles", "cook"}},
		{"data folder in use", append([]string{"serve", "--data-dir", dir}, free...), "", 1, []string{dir, "in use"}},
		{"database out of reach", append([]string{"serve", "--data-dir", other, "--database-url", "postgres://svc:hunter2@127.0.0.1:1/svc"},
			free...), "", 1, []string{"database-url", "127.0.0.1:1", "refused"}},
		{
			"not ClickHouse", append([]string{
				"serve", "--data-dir", other, "--warehouse-url",
				"clickhouse://svc:hunter2@" + noClickHouse.Listener.Addr().String() + "/db",
			}, free...), "", 1,
			[]string{"warehouse-url", noClickHouse.Listener.Addr().String(), "404"},
		},
		{"native port of ClickHouse", append([]string{"serve", "--data-dir", other, "--warehouse-url", "clickhouse://svc:hunter2@ch:9000/db"},
			free...), "", 2, []string{"warehouse-url", "native protocol", "8123"}},
		{"port taken", []string{
			"serve", "--data-dir", other, "--api-addr", busy.Addr().String(), "--ingest-addr", "127.0.0.1:0",
			"--otlp-grpc-addr", "127.0.0.1:0",
		}, "", 1, []string{busy.Addr().String(), "in use"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := testkit.Command(t, tc.args...)
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			out, err := cmd.CombinedOutput()
			code := 0
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				code = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if code != tc.code {
				t.Errorf("exit code %d, want %d\n%s", code, tc.code, out)
			}
			if strings.Contains(string(out), "hunter2") {
				t.Errorf("a password is printed:\n%s", out)
			}
			for _, w := range tc.want {
				if !strings.Contains(string(out), w) {
					t.Errorf("the message lacks %q:\n%s", w, out)
				}
			}
		})
	}
	if code := running.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, running.Log())
	}
}

// TestAdminBesideServer creates an organization beside a running server, sends with its keys, and finds none of the data in the
// first organization.
func TestAdminBesideServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartProcess(t, dir)
	out, err := testkit.Command(t, "admin", "org", "create", "Second", "--json", "--data-dir", dir).Output()
	if err != nil {
		t.Fatalf("%v", err)
	}
	second := p.Server
	if err := json.Unmarshal(out, &second.File); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if second.OrgID == p.OrgID || second.APIKey == p.APIKey || second.PrivateKey == "" {
		t.Fatalf("not a new organization: %s", out)
	}
	if status, _, tag := ingest(t, &second, oneSpan(42, 0)); status != http.StatusOK {
		t.Fatalf("%d %s", status, tag)
	}
	eventually(t, "the span", func() bool { status, _ := readTrace(t, &second, 42); return status == http.StatusOK })
	if status, _ := readTrace(t, &p.Server, 42); status != http.StatusNotFound {
		t.Errorf("the first organization reads the second's trace: %d", status)
	}
	rows, err := testkit.Command(t, "admin", "sql", "SELECT OrgId, count() FROM spans GROUP BY OrgId", "--data-dir", dir, "--format",
		"TSV").Output()
	if err != nil || strings.TrimSpace(string(rows)) != second.OrgID+"\t1" {
		t.Errorf("admin sql: %v %q", err, rows)
	}
	if out, err := testkit.Command(t, "admin", "sql", "DROP TABLE spans", "--data-dir", dir).CombinedOutput(); err == nil {
		t.Errorf("admin sql dropped a table: %s", out)
	}
	if a := callREST(t, &second, second.APIKey, operation(t, "listApiKeys"), json.RawMessage("{}")); a.err != nil {
		t.Errorf("%+v", a.err)
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}
