package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// invoke runs one command line.
func invoke(t *testing.T, environ []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	c := &cli{stdin: os.Stdin, stdout: &out, stderr: &errs, environ: environ}
	code = c.run(t.Context(), args)
	return code, out.String(), errs.String()
}

func TestUsage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, tc := range []struct {
		args    string
		environ []string
		code    int
		stderr  string
	}{
		{"", nil, 2, "a command is missing"},
		{"serv", nil, 2, `did you mean "serve"?`},
		{"serve extra", nil, 2, "extra"},
		{"serve --nope", nil, 2, "--nope"},
		{"serve --api-addr x", nil, 2, "api-addr (flag --api-addr)"},
		{"serve --warehouse-url clickhouse://h:9000", nil, 2, "native protocol"},
		{"doctor", []string{"SVC_REGIN=us"}, 2, "SVC_REGION"},
		{"warehouse --socket x", nil, 2, "--data-dir is required"},
		{"admin org create", nil, 2, "arg"},
		{"admin org create A --email nobody", nil, 2, "not an email address"},
		{"admin user create nobody --org org_x", nil, 2, "not an email address"},
		{"admin user create a@b.c", nil, 2, "--org is required"},
		{"admin user create a@b.c --org o --role king", nil, 2, "org:admin"},
		{"admin sql SELECT --data-dir " + dir, nil, 1, "no server runs on the data folder " + dir},
		{"admin ingest-key list --data-dir " + dir, nil, 1, "the data folder " + dir + " has no database"},
		{"admin ingest-key create", nil, 2, "NAME"},
		{"admin ingest-key create a --rate-limit 0", nil, 2, "--rate-limit"},
		{"admin ingest-key create a --attribute team", nil, 2, "--attribute"},
		{"admin ingest-key create a --expires 2020-01-01", nil, 2, "in the past"},
		{"admin ingest-key edit key_1", nil, 2, "ingk_"},
		{"admin ingest-key roll-default custom", nil, 2, "public or private"},
		{"admin mapping create a --operation swap", nil, 2, "--operation"},
		{"admin mapping delete ingk_1", nil, 2, "amap_"},
		{"admin sampling set --trace-sample-ratio half", nil, 2, "--trace-sample-ratio"},
		{"admin sampling set --always-keep-slow-spans-ms 1s", nil, 2, "--always-keep-slow-spans-ms"},
		{"admin plan set", nil, 2, "--name is required"},
		{"admin plan set --name p --limit logs=1", nil, 2, "--limit"},
		{"admin plan set --name p --limit logs.bytes=1.5GB", nil, 2, "is not a size"},
		{"admin plan set --name p --limit logs.items=10GB", nil, 2, "is not an amount"},
		{"admin connector create a", nil, 2, "--zone is required"},
		{"admin usage --month 2026", nil, 2, "--month"},
		{"admin usage --by org", nil, 2, "day, signal, key"},
		{"admin outcomes --key key_1", nil, 2, "--key"},
		{"send-test", nil, 2, "no ingest key"},
		{"send-test --bootstrap-file /nonexistent", nil, 2, "bootstrap-file"},
		{"demo", nil, 2, "no ingest key"},
		{"demo --ingest-key k --hours 720", nil, 2, "--hours must be from 0 to 719"},
		{"demo --ingest-key k --hours 10 --until 2020-01-01T00:00:00Z", nil, 2, "telemetry older than"},
		{"demo --ingest-key k --hours NaN", nil, 2, "--hours"},
		{"demo --ingest-key k --rate 0", nil, 2, "--rate"},
		{"demo --ingest-key k --scale -1", nil, 2, "--scale"},
		{"demo --ingest-key k --hours 1 --until noon", nil, 2, "--until"},
		{"demo --ingest-key k --hours 1 --until 2026-11-21T00:00:00Z --follow", nil, 2, "--follow"},
		{"demo --ingest-key k --output xml", nil, 2, "--output"},
		{"demo --ingest-key k --fault-shift 25h", nil, 2, "--fault-shift"},
		{"demo --ingest-key k --fault gremlin", nil, 2, "memory-leak"},
		{"demo --ingest-key k --fault none", nil, 2, "--fault"},
		{"demo --ingest-key k --fault random --quiet", nil, 2, "--quiet"},
		{"demo --ingest-key k --quiet --fault-shift 1h", nil, 2, "--fault-shift"},
		{"login --url ftp://x", []string{"XDG_CONFIG_HOME=" + dir}, 2, "--url"},
		{"login --url http://u:p@x", []string{"XDG_CONFIG_HOME=" + dir}, 2, "--url"},
		{"login now", nil, 2, "now"},
		{"login --url http://127.0.0.1:1", []string{"XDG_CONFIG_HOME=" + t.TempDir()}, 1, "127.0.0.1:1"},
		{"whoami", []string{"XDG_CONFIG_HOME=" + dir}, 1, "run 'svc login'"},
		{"whoami --output xml", nil, 2, "--output"},
		{"logout", []string{"XDG_CONFIG_HOME=" + dir}, 1, "run 'svc login'"},
		{"help", nil, 0, ""},
		{"completion bash", nil, 0, ""},
		{"completion zsh", nil, 0, ""},
		{"completion fish", nil, 0, ""},
		{"completion tcsh", nil, 2, "tcsh"},
		{"completion", nil, 2, "a command is missing"},
	} {
		code, _, stderr := invoke(t, tc.environ, strings.Fields(tc.args)...)
		if code != tc.code || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("svc %s: exit code %d, want %d, with %q in %q", tc.args, code, tc.code, tc.stderr, stderr)
		}
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a command that only reads made the data folder")
	}
}

func TestVersionJSON(t *testing.T) {
	code, stdout, _ := invoke(t, nil, "version", "--json")
	var v buildVersion
	if err := json.Unmarshal([]byte(stdout), &v); code != 0 || err != nil || v.Version == "" || v.Chdb == "" {
		t.Errorf("%d %v %s", code, err, stdout)
	}
}

// The output of config print is a configuration file with the same meaning and without secrets.
func TestConfigPrint(t *testing.T) {
	environ := []string{"SVC_REGION=eu", "SVC_DATABASE_URL=postgres://u:hunter2@db/svc"}
	code, stdout, stderr := invoke(t, environ, "config", "print", "--effective", "--api-addr", "127.0.0.1:1")
	if code != 0 || strings.Contains(stdout, "hunter2") || !strings.Contains(stdout, "postgres://u:***@db/svc") {
		t.Fatalf("%d %s %s", code, stdout, stderr)
	}
	file := filepath.Join(t.TempDir(), "svc.yaml")
	if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	// Printed stars are not a password. Without a password, the output is a configuration file.
	if code, _, stderr := invoke(t, nil, "config", "print", "--config", file); code != exitUsage || !strings.Contains(stderr, "database-url") {
		t.Errorf("%d %s", code, stderr)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(stdout, ":***@", "@", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	code, again, stderr := invoke(t, nil, "config", "print", "--json", "--config", file)
	if code != 0 || !strings.Contains(again, `"eu"`) || !strings.Contains(again, `"127.0.0.1:1"`) {
		t.Errorf("%d %s %s", code, again, stderr)
	}
	code, stdout, _ = invoke(t, []string{"SVC_REGION=eu"}, "config", "print")
	if want := "region: eu\n"; code != 0 || !strings.HasSuffix(stdout, want) || strings.Count(stdout, "\n") != 2 {
		t.Errorf("%d %q", code, stdout)
	}
}

// TestSendTestNamesTheStep runs send-test against servers that fail at one step.
func TestSendTestNamesTheStep(t *testing.T) {
	for _, tc := range []struct {
		name   string
		fail   string // path that fails
		status int
		body   string
		want   []string
	}{
		{
			"key refused", "/v1/traces", 401, `{"error":{"_tag":"@svc/ingest/Unauthorized","message":"Unknown key."}}`,
			[]string{"step 1 of 6, send the trace", "401", "Unknown key.", "right kind"},
		},
		{"metrics refused", "/v1/metrics", 413, `{}`, []string{"step 3 of 6, send the metric", "413"}},
		{"partial", "/v1/logs", 200, "\x0a\x02\x08\x01", []string{"step 2 of 6", "only a part"}},
		{
			"never found", "/v2/traces/", 404, `{"error":{"_tag":"@svc/http/v2/TraceNotFoundError","message":"None."}}`,
			[]string{"step 4 of 6, find the trace", "gave up after 300ms", "TraceNotFoundError"},
		},
		{
			"wrong address", "/v2/traces/", 404, `{"error":{"_tag":"@svc/ingest/RouteNotFound","message":"None."}}`,
			[]string{"step 4 of 6, find the trace: GET", "right address"},
		},
		{
			"no right to read", "/v2/traces/", 403, `{"error":{"_tag":"InsufficientPermissionsError","message":"No."}}`,
			[]string{"step 4 of 6", "not allowed"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, tc.fail) {
					w.WriteHeader(tc.status)
					_, _ = w.Write([]byte(tc.body))
				}
			}))
			defer srv.Close()
			code, _, stderr := invoke(t, []string{"SVC_API_KEY=a", "SVC_INGEST_KEY=i"},
				"send-test", "--base-url", srv.URL, "--ingest-url", srv.URL, "--timeout", "300ms", "--data-dir", t.TempDir())
			if code != 1 {
				t.Errorf("exit code %d", code)
			}
			for _, want := range tc.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("%q lacks %q", stderr, want)
				}
			}
		})
	}
}

// TestMigrateAndUsers works on a fresh SQLite file without a server.
func TestMigrateAndUsers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	at := []string{"--data-dir", dir}
	if code, stdout, stderr := invoke(t, nil, append([]string{"migrate", "status"}, at...)...); code != 1 ||
		!strings.Contains(stdout, "pending") {
		t.Errorf("status before: %d %s %s", code, stdout, stderr)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := invoke(t, nil, append([]string{"migrate", "up"}, at...)...); code != 0 {
		t.Fatalf("up: %d %s", code, stderr)
	}
	if code, stdout, stderr := invoke(t, nil, append([]string{"migrate", "status"}, at...)...); code != 0 ||
		strings.Contains(stdout, "pending") {
		t.Errorf("status after: %d %s %s", code, stdout, stderr)
	}
	code, stdout, stderr := invoke(t, nil, append([]string{"admin", "org", "create", "First", "--json"}, at...)...)
	var org struct {
		OrgID string `json:"org_id"`
		URL   string `json:"base_url"`
		Email string `json:"admin_email"`
	}
	if err := json.Unmarshal([]byte(stdout), &org); code != 0 || err != nil || org.OrgID == "" || org.URL != "http://127.0.0.1:8080" {
		t.Fatalf("%d %v %s %s", code, err, stdout, stderr)
	}
	user := func(args ...string) (int, string, string) {
		return invoke(t, nil, append(append([]string{"admin", "user", "create"}, args...), at...)...)
	}
	if code, stdout, stderr := user("ada@example.com", "--org", org.OrgID); code != 0 || !strings.Contains(stdout, "Password") {
		t.Errorf("%d %s %s", code, stdout, stderr)
	}
	if code, _, stderr := user("ADA@example.com", "--org", org.OrgID); code != 1 || !strings.Contains(stderr, "a member of") {
		t.Errorf("twice: %d %s", code, stderr)
	}
	if code, _, stderr := user("bob@example.com", "--org", "org_nobody"); code != 1 || !strings.Contains(stderr, "no organization") {
		t.Errorf("unknown organization: %d %s", code, stderr)
	}
}

// TestDoctorFindsWhatTheQueueSetAside: the doctor names acknowledged telemetry that needs a person, and where it is.
func TestDoctorFindsWhatTheQueueSetAside(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"queue/quarantine/7-spans.rec", "queue/quarantine/retry/8.rec", "queue/damaged/1.log-0-64.bin"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, stdout, _ := invoke(t, nil, "doctor", "--data-dir", dir, "--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0",
		"--otlp-grpc-addr", "127.0.0.1:0")
	for _, want := range []string{
		"warn  ingest queue", "1 records that the warehouse refused", "are stored at the next start",
		filepath.Join(dir, "queue/damaged"),
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q lacks %q", stdout, want)
		}
	}
}

func TestDoctorFindsFaults(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	busy := httptest.NewServer(http.NotFoundHandler())
	defer busy.Close()
	code, stdout, _ := invoke(t, nil, "doctor", "--json", "--data-dir", file, "--api-addr", busy.Listener.Addr().String(),
		"--ingest-addr", "127.0.0.1:0", "--otlp-grpc-addr", "[::1]:0", "--chdb-lib", "/nonexistent/libchdb.so")
	var findings []finding
	if err := json.Unmarshal([]byte(stdout), &findings); err != nil {
		t.Fatal(err)
	}
	got := map[string]verdict{}
	for _, f := range findings {
		got[f.Check] = f.Verdict
	}
	if code != 1 || got["data folder"] != verdictFail || got["ports"] != verdictFail || got["engine library"] != verdictFail ||
		got["clock"] != verdictOK {
		t.Errorf("%d %s", code, stdout)
	}
}
