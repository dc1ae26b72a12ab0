package e2e

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/svc-observability/svc/server/ingest/corpus"
	"github.com/svc-observability/svc/server/testkit"
)

// TestRegions runs an installation in each of two regions. No door of either accepts a credential of the other, and neither
// serves the other's data.
func TestRegions(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "us")
	us := testkit.StartFirst(t, dir, "--region", "us")
	eu := testkit.StartFirst(t, filepath.Join(t.TempDir(), "eu"), "--region", "eu")
	for _, c := range []struct {
		name   string
		at     *testkit.Process
		key    string
		status int
	}{
		{"public key of us in us", us, us.PublicKey, http.StatusOK},
		{"private key of eu in eu", eu, eu.PrivateKey, http.StatusOK},
		{"public key of us in eu", eu, us.PublicKey, http.StatusUnauthorized},
		{"private key of us in eu", eu, us.PrivateKey, http.StatusUnauthorized},
		{"public key of eu in us", us, eu.PublicKey, http.StatusUnauthorized},
		{"private key of eu in us", us, eu.PrivateKey, http.StatusUnauthorized},
	} {
		target := corpus.NewTarget(strings.TrimPrefix(c.at.IngestURL, "http://"), c.at.OTLPGRPCAddr, c.key)
		want := corpus.Outcome{Status: http.StatusOK, GRPC: codes.OK}
		message := ""
		if c.status != http.StatusOK {
			want, message = corpus.Unauthorized, "it belongs to another region. This is the region "+
				map[*testkit.Process]string{us: "us", eu: "eu"}[c.at]
		}
		for _, path := range []string{"/v1/traces", "/v1/logs", "/v1/metrics", "/v1/events", "/v1/sessionReplays/meta", "/v1/sessionEvents"} {
			one := corpus.Case{Path: path, Want: want, Message: message}
			if c.status == http.StatusOK && !slices.Contains([]string{"/v1/traces", "/v1/logs", "/v1/metrics"}, path) {
				one.Want, one.Message = corpus.BadRequest, "The body is empty" // the key is accepted, an empty NDJSON is not
			}
			if a, err := target.Send(t.Context(), &one); err != nil {
				t.Errorf("%s: %s: %v", c.name, path, err)
			} else if err := one.Check(a); err != nil {
				t.Errorf("%s: %s: %v", c.name, path, err)
			}
		}
		one := corpus.Case{Door: corpus.GRPC, Want: want, Message: message}
		if a, err := target.Send(t.Context(), &one); err != nil {
			t.Errorf("%s over gRPC: %v", c.name, err)
		} else if err := one.Check(a); err != nil {
			t.Errorf("%s over gRPC: %v", c.name, err)
		}
		target.Close()
	}
	for _, c := range []struct {
		at, of *testkit.Process
		status int
	}{{us, us, http.StatusOK}, {us, eu, http.StatusUnauthorized}, {eu, us, http.StatusUnauthorized}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, c.at.BaseURL+"/v2/api_keys", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+c.of.APIKey)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		if res.StatusCode != c.status {
			t.Errorf("API key: %d, want %d", res.StatusCode, c.status)
		}
	}
	if code := us.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, us.Log())
	}
	out, err := testkit.Command(t, "serve", "--data-dir", dir, "--region", "eu", "--api-addr", "127.0.0.1:0", "--ingest-addr", "127.0.0.1:0",
		"--otlp-grpc-addr", "127.0.0.1:0").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the database belongs to another region: us, not eu") {
		t.Errorf("eu on the data of us: %v\n%s", err, out)
	}
	again := testkit.StartProcess(t, dir, "--region", "us")
	if status, _, tag := ingest(t, &again.Server, oneSpan(1, 100)); status != http.StatusOK {
		t.Errorf("us again: %d %s", status, tag)
	}
	for _, p := range []*testkit.Process{again, eu} {
		if code := p.Stop(t); code != 0 {
			t.Errorf("exit code %d\n%s", code, p.Log())
		}
	}
}
