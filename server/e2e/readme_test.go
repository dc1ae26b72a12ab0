package e2e

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/testkit"
)

// readmePages are the pages whose commands a reader tries, in this order: the README sends the telemetry that the other pages
// read.
func readmePages() []string {
	return []string{"README.md", "docs/sign-in.md", "docs/clients.md"}
}

// A block that runs here is a fenced shell block after <!-- run --> or <!-- run: TEXT THAT MUST APPEAR -->.
var readmeBlock = regexp.MustCompile("(?s)<!-- run(?:: ([^\n]*?))? -->\n```sh\n(.*?)```")

// TestReadme runs the commands of the README and of the pages that continue it, as written, in their order, in one shell session each. Only
// the addresses, the path of the program and the keys are those of the test's server.
func TestReadme(t *testing.T) {
	t.Parallel()
	p := testkit.StartProcess(t, filepath.Join(t.TempDir(), "data"))
	// curl's requests to the REST API go through the transport of Go's default client, which checks them against the OpenAPI
	// document.
	server, err := url.Parse(p.BaseURL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.Transport = http.DefaultClient.Transport
	rest := httptest.NewServer(proxy)
	defer rest.Close()
	var blocks [][]string
	for _, page := range readmePages() {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		found := readmeBlock.FindAllStringSubmatch(string(text), -1)
		if len(found) == 0 {
			t.Errorf("%s has no block that runs", page)
		}
		blocks = append(blocks, found...)
	}
	if len(blocks) < 13 {
		t.Fatalf("the pages have %d runnable blocks", len(blocks))
	}
	for _, b := range blocks {
		want, script := b[1], b[2]
		// One pass: an address of the test may have the port 43187, which begins like that of ingest.
		script = strings.NewReplacer(
			"http://127.0.0.1:8080/v2/", rest.URL+"/v2/",
			"http://127.0.0.1:8080", p.BaseURL,
			"http://127.0.0.1:4318", p.IngestURL,
			"bin/svc", testkit.Binary(t),
			".cache/bin/buf", "../../.cache/bin/buf",
		).Replace(script)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
		cmd.Env = append(testkit.Command(t).Env, "SVC_API_KEY="+p.APIKey, "SVC_INGEST_KEY="+p.PrivateKey, "SVC_DATA_DIR="+p.DataDir)
		out, err := cmd.CombinedOutput()
		cancel()
		if err != nil {
			t.Errorf("%v\n%s\n%s", err, script, out)
		}
		if !strings.Contains(string(out), want) {
			t.Errorf("the answer lacks %q\n%s\n%s", want, script, out)
		}
	}
	if code := p.Stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.Log())
	}
}
