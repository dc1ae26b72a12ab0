package e2e

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

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
// their own are answered within a second meanwhile, and all places are free again afterwards.
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
		if status, _, tag := ingest(t, &p.Server, oneSpan(n+1, 10)); status != 200 || time.Since(begun) > 10*time.Second {
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
