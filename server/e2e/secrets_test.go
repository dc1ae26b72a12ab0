package e2e

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/testkit"
)

// TestSecretsAtRest uses every kind of credential, rightly and wrongly, and then looks for them in each file of the data folder and in
// the log. Only the bootstrap file may hold some, because the operator asked for it. A public key is no secret: its owner can read it.
func TestSecretsAtRest(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	p := testkit.StartFirst(t, dir)
	s := &p.Server
	secrets := map[string]string{"API key": s.APIKey, "private key": s.PrivateKey, "password": s.AdminPassword}
	for _, key := range []string{s.PrivateKey, s.PublicKey} {
		sender := *s
		sender.PrivateKey = key
		if status, _, tag := ingest(t, &sender, oneSpan(1, 10)); status != 200 {
			t.Fatalf("ingest: %d %s", status, tag)
		}
	}
	session := signIn(t, s, s.AdminEmail, s.AdminPassword, "")
	secrets["session token"] = session
	// The answer to a request with an Idempotency-Key is kept, so that it can be repeated.
	status, _, made := keyed(t, s.BaseURL+"/v2/api_keys", s.APIKey, "once", `{"name":"at rest","scopes":["traces:read"]}`)
	var created struct{ Secret string }
	if err := json.Unmarshal([]byte(made), &created); err != nil || status/100 != 2 || created.Secret == "" {
		t.Fatalf("creating a key: %d %s", status, made)
	}
	secrets["created key"] = created.Secret
	custom := restClient{t, s, session}.call("POST", "/v2/ingest_keys/custom", `{"name":"at rest","allowed_signals":["traces"]}`, 200)
	secrets["created ingest key"], _ = custom["secret"].(string)
	var pushes connector
	adminJSON(t, p, dir, &pushes, "connector", "create", "at-rest", "--zone", "shop.example")
	secrets["connector"] = pushes.Secret
	for what, token := range map[string]string{"wrong key": s.APIKey + "x", "wrong session": session + "x"} {
		if status, answer := as(t, s, token, "", "GET", "/v2/api_keys", ""); status != 401 {
			t.Errorf("%s: %d %v", what, status, answer)
		}
	}
	if status, _ := as(t, s, "", "", "POST", "/v2/session", signInBody(s.AdminEmail, s.AdminPassword+"x", "")); status != 401 {
		t.Errorf("wrong password: %d", status)
	}
	look := func(when string) {
		files := 0
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, _ error) error { // the engine removes files meanwhile
			if entry == nil || !entry.Type().IsRegular() || entry.Name() == "bootstrap.json" {
				return nil
			}
			if text, err := os.ReadFile(path); err == nil {
				files++
				for what, secret := range secrets {
					if bytes.Contains(text, []byte(secret)) {
						t.Errorf("%s: the %s is in %s", when, what, path)
					}
				}
			}
			return nil
		})
		if err != nil || files < 10 {
			t.Errorf("%s: %d files: %v", when, files, err)
		}
	}
	for what, secret := range secrets {
		if len(secret) < 12 {
			t.Fatalf("the %s is %q", what, secret)
		}
	}
	look("running")
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d", code)
	}
	look("stopped")
	for what, secret := range secrets {
		if strings.Contains(p.Log(), secret) {
			t.Errorf("the %s is in the log", what)
		}
	}
}

// TestIdleConnections opens as many idle connections to the ingest port as a port takes, at most 10,000. Requests on connections of
// their own are answered meanwhile (within a second under `make attack`), and all places are free again afterwards.
func TestIdleConnections(t *testing.T) {
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	idle := int(min(files.Cur/4-50, 10_000))
	before := rss(t, p.Pid())
	var open []net.Conn
	leave := func() {
		for _, c := range open {
			_ = c.Close()
		}
		open = nil
	}
	defer leave()
	for range idle {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.IngestURL, "http://"))
		if err != nil {
			t.Fatalf("connection %d: %v", len(open), err)
		}
		open = append(open, c)
	}
	for n := range 10 {
		begun := time.Now()
		if status, _, tag := ingest(t, &p.Server, oneSpan(n+1, 10)); status != 200 || time.Since(begun) > patience(time.Second) {
			t.Errorf("beside %d idle connections: %d %s after %s", idle, status, tag, time.Since(begun))
		}
	}
	took := rss(t, p.Pid()) - before
	t.Logf("%d idle connections take %d MiB", idle, took>>20)
	if took > 500<<20 {
		t.Errorf("%d idle connections take %d MiB", idle, took>>20)
	}
	leave()
	if status, _, tag := ingest(t, &p.Server, oneSpan(100, 10)); status != 200 {
		t.Errorf("after them: %d %s", status, tag)
	}
}

// TestFullPort opens more connections to each port than it takes, from one address: silent ones, ones with half a header, and ones
// whose request is answered. A valid key is served within a second meanwhile, from the same address and from another one, whose idle
// connection stays open.
func TestFullPort(t *testing.T) {
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	most := min(int(files.Cur/4), limits.Connections) + 200
	if most > int(files.Cur)-200 {
		t.Skipf("this test may open %d files, and needs %d", files.Cur, most)
	}
	ingest, otlpPort := strings.TrimPrefix(p.IngestURL, "http://"), strings.TrimPrefix(p.OTLPGRPCAddr, "http://")
	for name, attack := range map[string]struct{ address, sends string }{
		"silent":        {ingest, ""},
		"half a header": {ingest, "POST /v1/traces HTTP/1.1\r\nHost: x\r\n"},
		"answered":      {ingest, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n"},
		"gRPC":          {otlpPort, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"},
	} {
		t.Run(name, func(t *testing.T) {
			elsewhere := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
			url, media, body, protocols := p.IngestURL+"/v1/traces", "application/json", `{"resourceSpans":[]}`, &http.Protocols{}
			protocols.SetHTTP1(true)
			if name == "gRPC" {
				url = "http://" + otlpPort + "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
				media, body, protocols = "application/grpc", strings.Repeat("\x00", 5), &http.Protocols{}
				protocols.SetUnencryptedHTTP2(true)
			}
			client := func(d net.Dialer) *http.Client {
				return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, Protocols: protocols}}
			}
			old := client(elsewhere)
			defer old.CloseIdleConnections()
			send := func(c *http.Client, n int) (status int, reused bool, took time.Duration) {
				ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{
					GotConn: func(of httptrace.GotConnInfo) { reused = of.Reused },
				})
				req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.GetBody = nil // no second try on a connection that was closed
				req.Header.Set("Authorization", "Bearer "+p.PrivateKey)
				req.Header.Set("Content-Type", media)
				begun := time.Now()
				res, err := c.Do(req)
				if err != nil {
					t.Errorf("request %d: %v", n, err)
					return 0, false, time.Since(begun)
				}
				_, err = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				took = time.Since(begun)
				if code := res.Trailer.Get("Grpc-Status"); err != nil || media == "application/grpc" && code != "0" {
					t.Errorf("request %d: %v, Grpc-Status %q in %v and %v", n, err, code, res.Header, res.Trailer)
				}
				return res.StatusCode, reused, took
			}
			if status, _, _ := send(old, 1); status != http.StatusOK {
				t.Fatalf("before: %d", status)
			}
			var open []net.Conn
			defer func() {
				for _, c := range open {
					_ = c.Close()
				}
			}()
			for range most {
				c, err := net.Dial("tcp", attack.address)
				if err != nil {
					t.Fatalf("connection %d: %v", len(open), err)
				}
				open = append(open, c)
				_, _ = io.WriteString(c, attack.sends) // the server may have closed it
			}
			for n := range 5 {
				near, far := client(net.Dialer{}), client(elsewhere)
				for from, c := range map[string]*http.Client{"the attacker's address": near, "another address": far, "an open connection": old} {
					status, reused, took := send(c, 10*n+2)
					if status != http.StatusOK || took > patience(time.Second) {
						t.Errorf("from %s, beside %d connections: %d after %s", from, len(open), status, took)
					}
					if reused != (c == old) {
						t.Errorf("from %s, request %d: on a connection of a request before %t", from, n, reused)
					}
				}
				near.CloseIdleConnections()
				far.CloseIdleConnections()
			}
		})
	}
}
