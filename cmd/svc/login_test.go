package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
)

// TestLoginAgainstServers checks how svc login reacts to the possible answers of a server while it waits, and what it must never
// print.
func TestLoginAgainstServers(t *testing.T) {
	refuse := func(status int, tag string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.WriteHeader(status)
			fmt.Fprintf(w, `{"error":{"_tag":%q,"message":"No."}}`, tag)
		}
	}
	key := func(w http.ResponseWriter) {
		_ = json.NewEncoder(w).Encode(credential{
			Token: "svc_ak_secret", KeyPrefix: "svc_ak_secre...", KeyID: "key_1", ExpiresAt: time.Now().Add(time.Hour),
			User: account{Email: "ada@example.com"}, Organization: membership{Name: "Acme"},
		})
	}
	for name, tc := range map[string]struct {
		answers []func(http.ResponseWriter)
		expires uint32
		code    int
		stderr  string
	}{
		"pending, then a key":    {[]func(http.ResponseWriter){refuse(400, tagPending), key}, 60, 0, "signed in as ada@example.com to Acme"},
		"a server that stumbles": {[]func(http.ResponseWriter){refuse(503, "x"), refuse(429, "x"), key}, 60, 0, "signed in"},
		"denied":                 {[]func(http.ResponseWriter){refuse(400, tagDenied)}, 60, 1, "refused in the browser"},
		"expired":                {[]func(http.ResponseWriter){refuse(400, tagExpired)}, 60, 1, "expired"},
		"another refusal":        {[]func(http.ResponseWriter){refuse(403, "@svc/x")}, 60, 1, "403"},
		"nobody confirms":        {[]func(http.ResponseWriter){refuse(400, tagPending)}, 2, 1, "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/v2/cli/device" {
					text, _ := protojson.MarshalOptions{UseProtoNames: true}.Marshal(&svcv2.CliLogin{
						DeviceCode: "svc_dc_secret", UserCode: "BCDF-GHJK\x1b[31m", VerificationUri: "http://x/cli",
						VerificationUriComplete: "http://x/cli?code=BCDF-GHJK", ExpiresIn: tc.expires, Interval: 1,
					})
					_, _ = w.Write(text)
					return
				}
				n := int(asked.Add(1)) - 1
				tc.answers[min(n, len(tc.answers)-1)](w)
			}))
			defer srv.Close()
			home := t.TempDir()
			var out, errs bytes.Buffer
			c := &cli{stdin: os.Stdin, stdout: &out, stderr: &errs, environ: []string{"XDG_CONFIG_HOME=" + home}}
			code := c.run(t.Context(), []string{"login", "--url", srv.URL, "--no-browser"})
			stderr := errs.String()
			if code != tc.code || !strings.Contains(stderr, tc.stderr) || !strings.Contains(stderr, "BCDF-GHJK") {
				t.Errorf("exit code %d, want %d, with %q in %q", code, tc.code, tc.stderr, stderr)
			}
			if strings.Contains(stderr+out.String(), "secret\n") || strings.Contains(stderr, "svc_dc_") ||
				strings.Contains(stderr, "svc_ak_secret") || strings.Contains(stderr, "\x1b") {
				t.Errorf("it prints a secret, or what steers the terminal: %q", stderr)
			}
			info, err := os.Stat(filepath.Join(home, "svc", "login.json"))
			if (err == nil) != (tc.code == 0) || err == nil && info.Mode().Perm() != 0o600 {
				t.Errorf("the file: %v %v", info, err)
			}
		})
	}
}
