package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/console/consoletest"
)

// TestComplete: a shell gets the names that the server knows, the values of flags and commands.
func TestComplete(t *testing.T) {
	s := consoletest.New(t, func(method string, _ proto.Message) (proto.Message, error) {
		if method != "ListServices" {
			return nil, nil
		}
		res := &svcv2.ListServicesResponse{}
		for _, name := range []string{"checkout", "cart", "$(reboot)", "a b", "x;y", "-rf", "\x1b[2J", "Zahlung/ä"} {
			res.Data = append(res.Data, &svcv2.Service{Name: name, DeploymentEnvironments: []string{"production", "`id`"}})
		}
		return res, nil
	})
	environ := append(asking(t, s.URL), "XDG_CACHE_HOME="+t.TempDir())
	for _, tc := range []struct{ line, want string }{
		{"tr", "trace traces"},
		{"traces --service ", "Zahlung/ä cart checkout"},
		{"traces -s c", "cart checkout"},
		{"traces --service=ch", "checkout"},
		{"logs --follow -e ", "production"},
		{"diagnose ca", "cart"},
		{"diagnose cart ", ""},
		{"issues move iss_1 tri", "triage"},
		{"issues move ", ""},
		{"issues --kind ", "error alert integration"},
		{"tables trace_", "trace_roots"},
		{"tools call search_", "search_logs"},
		{"tools list s", "search_logs"},
		{"services --format j", "json jsonl"},
		{"services --api-", "--api-url"},
		{"query S", ""},
		{"use re", "remote"},
		{"traces -s c --remote --local", "--local"},
	} {
		code, stdout, stderr := invoke(t, environ, append([]string{"__complete"}, strings.Split(tc.line, " ")...)...)
		var list []string
		for line := range strings.Lines(stdout) {
			if value, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); !strings.HasPrefix(value, ":") {
				list = append(list, value)
			}
		}
		if got := strings.Join(list, " "); code != 0 || got != tc.want || !strings.HasSuffix(strings.TrimSpace(stdout), ":4") {
			t.Errorf("svc %s: %d %q, want %q, without names of files (:4): %s %s", tc.line, code, got, tc.want, stdout, stderr)
		}
	}
}

// TestCompletedNamesAreKept: names are asked for once in a minute and credential. While the server does not answer, the earlier names are
// offered.
func TestCompletedNamesAreKept(t *testing.T) {
	s := consoletest.New(t, nil)
	cache := t.TempDir()
	environ := append(asking(t, s.URL), "XDG_CACHE_HOME="+cache)
	offered := func(environ []string) bool {
		t.Helper()
		_, stdout, _ := invoke(t, environ, "__complete", "traces", "-s", "cata")
		return strings.Contains(stdout, "catalog\n")
	}
	if !offered(environ) || len(s.Requests()) == 0 {
		t.Fatal("the first completion does not ask")
	}
	if !offered(environ) || len(s.Requests()) != 0 {
		t.Error("the second completion asks again")
	}
	files, err := filepath.Glob(filepath.Join(cache, "svc", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	if offered(append(environ, "SVC_API_TOKEN=another")) {
		t.Error("names of one credential are offered to another")
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	if !offered(environ) || len(s.Requests()) == 0 {
		t.Error("old names are not asked for again")
	}
	if err := os.Chtimes(files[0], old, old); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if !offered(environ) {
		t.Error("without the server, the names of before are not offered")
	}
}
