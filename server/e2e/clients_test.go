package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/svc-observability/svc/server/testkit"
)

// generate runs buf with a template of clients/, as docs/clients.md tells users to, and with the plugins in path.
func generate(t *testing.T, template, out, path string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	buf := filepath.Join(root, ".cache", "bin", "buf")
	if _, err := os.Stat(buf); err != nil {
		t.Fatalf("%v: run make tools", err)
	}
	run(t, root, []string{"PATH=" + path + string(os.PathListSeparator) + os.Getenv("PATH")}, buf, "generate", "--template",
		filepath.Join("clients", template), "-o", out)
}

// clientFailure is an error as a client saw it.
type clientFailure struct {
	Code     string `json:"code"`
	Tag      string `json:"tag"`
	Recovery string `json:"recovery"`
	Status   int    `json:"status"`
}

var unauthenticated = clientFailure{
	Code: "Unauthenticated", Tag: "@svc/http/v2/InvalidCredentialsError", Recovery: "reauthenticate",
	Status: 401,
}

// TestTypeScriptClient generates a TypeScript client from the definitions, compiles it, and pages through API keys over Connect
// and gRPC. A refused key shows the typed detail of the error.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "TypeScript client")
	createKey(t, s, "traces:read")
	dir := workspace(t, "connect-ts", "@connectrpc/connect-node")
	generate(t, "typescript.yaml", filepath.Join(dir, "generated"), filepath.Join(dir, "node_modules", ".bin"))
	run(t, dir, nil, tool(dir, "tsc"), "-p", ".")
	out := run(t, dir, nil, "node", filepath.Join("out", "list-keys.mjs"), s.BaseURL, s.APIKey)
	type result struct {
		Names   []string      `json:"names"`
		Created bool          `json:"created"`
		Failure clientFailure `json:"failure"`
	}
	var got map[string]result
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := result{Names: []string{"e2e traces:read", "Bootstrap"}, Created: true, Failure: unauthenticated}
	if diff := cmp.Diff(map[string]result{"connect": want, "grpc": want}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestGoClient does the same in Go, in a separate module that does not import this one.
func TestGoClient(t *testing.T) {
	t.Parallel()
	s := testkit.Shared(t).NewOrganization(t, "Go client")
	createKey(t, s, "traces:read")
	dir := t.TempDir()
	generate(t, "go.yaml", dir, "")
	// It uses the same versions as this module, so that nothing is fetched.
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(mod), "\n")
	if !ok {
		t.Fatal("go.mod has one line")
	}
	for name, content := range map[string]string{"go.mod": "module example.com/yours\n" + rest, "go.sum": string(sum), "main.go": goClient} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, dir, []string{"GOFLAGS=-mod=mod -trimpath", "GOPROXY=off", "GOWORK=off"}, "go", "run", ".", s.BaseURL, s.APIKey)
	var got struct {
		Names   []string      `json:"names"`
		Failure clientFailure `json:"failure"`
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	failure := unauthenticated
	failure.Code = "unauthenticated"
	if diff := cmp.Diff([]string{"e2e traces:read", "Bootstrap"}, got.Names); diff != "" || got.Failure != failure {
		t.Errorf("names %s, failure %+v", diff, got.Failure)
	}
}

const goClient = `package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"

	optionsv1 "example.com/yours/svc/options/v1"
	svcv2 "example.com/yours/svc/v2"
	"example.com/yours/svc/v2/svcv2connect"
)

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

func client(key string) svcv2connect.ApiKeysServiceClient {
	return svcv2connect.NewApiKeysServiceClient(&http.Client{Transport: bearer(key)}, os.Args[1])
}

func main() {
	page, err := client(os.Args[2]).ListApiKeys(context.Background(), &svcv2.ListApiKeysRequest{})
	if err != nil {
		log.Fatal(err)
	}
	var out struct {
		Names   []string       ` + "`json:\"names\"`" + `
		Failure map[string]any ` + "`json:\"failure\"`" + `
	}
	for _, k := range page.GetData() {
		out.Names = append(out.Names, k.GetName())
	}
	_, err = client("svc_ak_unknown").ListApiKeys(context.Background(), &svcv2.ListApiKeysRequest{})
	var refused *connect.Error
	if !errors.As(err, &refused) {
		log.Fatalf("an unknown key: %v", err)
	}
	for _, d := range refused.Details() {
		if v, err := d.Value(); err == nil {
			if e, ok := v.(*optionsv1.ErrorDetail); ok {
				out.Failure = map[string]any{"code": refused.Code().String(), "tag": e.GetTag(), "recovery": e.GetRecovery(), "status": e.GetStatus()}
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}
`
