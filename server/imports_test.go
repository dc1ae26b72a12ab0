// Package server_test checks the structure of the tree: which package may import which, where third-party code may enter, how
// long a file may be, and how vague a name may be.
package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/svc-observability/svc"

// levels is the import table of the architecture. A package imports only packages of a lower level, or of its own level if
// sameLevel lists the import. The longest matching entry counts. A package without an entry fails the test: give it a level.
var levels = map[string]int{
	"cmd": 6,

	"server/app":          5,
	"server/config":       5,
	"server/e2e":          5,
	"server/installation": 5, // it is configured
	"server/testkit":      5,

	"server/health":  4,
	"server/mcp":     4,
	"server/openapi": 4,
	"server/rest":    4,
	"server/rpc":     4,
	"server/pages":   4,
	"server/web":     3,

	"server/bootstrap": 3, // an organization needs the store and hashes of auth
	"server/services":  3,
	"server/hooks":     3,

	"server/pullrequests": 3, // pull requests of issues at the hosts that integrations connect
	"server/repositories": 3, // what happened in connected repositories, for issues and markers

	"server/alerting":     2,
	"server/issues":       2,
	"server/auth":         2,
	"server/diagnose":     2,
	"server/idempotency":  2,
	"server/ingest":       2,
	"server/integrations": 2,
	"server/notify":       2,
	"server/oauth":        2,
	"server/purge":        2,
	"server/query":        2,
	"server/scrape":       2,
	"server/storeerr":     2,
	"server/work":         2,

	"server/console":   1, // it is an ordinary client of the public API
	"server/chat":      1,
	"server/port":      1, // it takes the bounds of limits
	"server/ratelimit": 1,
	"server/source":    1,
	"server/store":     1,
	"server/warehouse": 1,

	"ent":               0,
	"gen":               0,
	"server/apierr":     0,
	"server/atonce":     0,
	"server/cache":      0,
	"server/datadir":    0,
	"server/egress":     0,
	"server/errorgroup": 0,
	"server/framing":    0,
	"server/genai":      0,
	"server/demo":       0, // it is an ordinary client of the public ingest API and imports nothing of the server
	"server/contract":   0,
	"server/limits":     0,
	"server/golden":     0, // only tests import it
	"server/testport":   0, // only tests import it
	"server/multihost":  0,
	"server/nearest":    0,
	"server/outage":     0,
	"server/packed":     0,
	"server/paging":     0,
	"server/principal":  0,
	"server/processors": 0,
	"server/publicid":   0,
	"server/requestid":  0,
	"server/severity":   0,
	"server/stacktrace": 0,
	"server/wirejson":   0,
	"server/wording":    0,
	"tools":             0, // programs of the build, which import nothing of the server

	"server/source/pack": 0, // it knows files and no provider
}

// sameLevel lists imports between subtrees of one level, each with its reason.
var sameLevel = map[[2]string]string{
	{"server/app", "server/config"}:            "the composition root is configured",
	{"server/app", "server/installation"}:      "the composition root claims the parts of the installation",
	{"server/installation", "server/config"}:   "the settings name the parts",
	{"server/testkit", "server/installation"}:  "tests make credentials beside the server",
	{"server/e2e", "server/installation"}:      "black-box tests change the database beside the server",
	{"server/testkit", "server/app"}:           "tests start the real server",
	{"server/testkit", "server/config"}:        "tests configure the real server",
	{"server/e2e", "server/testkit"}:           "black-box tests start the real server",
	{"server/rest", "server/rpc"}:              "REST reaches the methods through the loopback",
	{"server/mcp", "server/rpc"}:               "MCP reaches the methods through the loopback",
	{"server/oauth", "server/auth"}:            "OAuth tokens and sessions share their hashing",
	{"server/alerting", "server/query"}:        "an alert rule is a query with a threshold",
	{"server/diagnose", "server/query"}:        "incidents are searched in series that no method of the API returns",
	{"server/ingest", "server/auth"}:           "the ingest endpoints ask for the credentials of ingest keys and connectors",
	{"server/scrape", "server/ingest"}:         "bodies of targets are decompressed as those of exporters",
	{"server/requestid", "server/principal"}:   "the place that a request came from is part of its caller",
	{"server/requestid", "server/limits"}:      "the length of a request id is a limit",
	{"ent", "gen"}:                             "the choices of a field are those of the contract",
	{"server/apierr", "gen"}:                   "the tags are an enum of the contract",
	{"server/contract", "gen"}:                 "the options of the contract are generated messages",
	{"server/contract", "server/apierr"}:       "a method names the errors that it returns",
	{"server/paging", "server/apierr"}:         "a bad cursor is an error of the contract",
	{"server/wirejson", "gen"}:                 "field options decide the JSON",
	{"server/paging", "server/limits"}:         "page sizes are limits",
	{"server/demo", "server/limits"}:           "the demo fills the whole retention",
	{"server/source/pack", "server/limits"}:    "the bounds of a query are limits",
	{"server/stacktrace", "server/limits"}:     "the bounds of a stack are limits",
	{"server/wirejson", "server/limits"}:       "the number of problems in an error is a limit",
	{"server/errorgroup", "server/stacktrace"}: "the group of an error comes from its stack",
}

// seams says where a third-party module may be imported. Tests may import anything: they talk to the server from outside.
var seams = []struct {
	path    string
	allowed []string
	reason  string
}{
	{"entgo.io/ent", []string{"ent", "server/store"}, "the relational model has one owner"},
	{module + "/ent", []string{"ent", "server/store"}, "rows do not leave the store: it returns its own types"},
	{"ariga.io/atlas", []string{"ent", "server/store"}, "schema diffs belong to the store"},
	{"github.com/jackc/pgx", []string{"server/store"}, "one package knows PostgreSQL"},
	{"modernc.org/sqlite", []string{"server/store"}, "one package knows SQLite"},
	{"github.com/ClickHouse", []string{"server/warehouse"}, "one package knows the ClickHouse driver"},
	{"github.com/ebitengine/purego", []string{"server/warehouse/chdb"}, "one package calls the engine's library"},
	{
		"connectrpc.com",
		[]string{"server/rpc", "gen", "server/app", "server/mcp", "server/services", "server/console"},
		"the chain is made in rpc; MCP, the command line and the service packages see only generated clients and handlers (see serviceBans)",
	},
	{
		"google.golang.org/grpc",
		[]string{"server/rpc", "gen", "server/ingest", "server/app", "server/rest", "server/mcp", "server/pages"},
		"gRPC is spoken by generated code, by the OTLP door, and by the loopback that the gateway, the MCP tools and the pages call",
	},
	{"github.com/coreos/go-oidc", []string{"server/auth/oidc"}, "one package speaks to the identity provider"},
	{"golang.org/x/oauth2", []string{"server/auth/oidc"}, "one package speaks to the identity provider"},
	{"github.com/google/go-github", []string{"server/integrations/github"}, "one package speaks to GitHub"},
	{"gitlab.com/gitlab-org/api/client-go", nil, "it drives the stand-in for GitLab, in tests"},
	{"github.com/slack-go/slack", []string{"server/integrations/slack"}, "one package speaks to Slack"},
	{"github.com/bradleyfalzon/ghinstallation", []string{"server/integrations/github"}, "one package speaks to GitHub"},
	{"golang.org/x/image", []string{"server/pages"}, "one package draws pictures"},
	{"github.com/wneessen/go-mail", []string{"server/notify"}, "one package speaks SMTP"},
	{"github.com/redis", []string{"server/ratelimit"}, "one package speaks to Redis"},
	{"github.com/grpc-ecosystem/grpc-gateway", []string{"server/rest", "gen"}, "one package translates REST"},
	{"github.com/modelcontextprotocol", []string{"server/mcp"}, "one package speaks MCP"},
	{"github.com/santhosh-tekuri/jsonschema", nil, "it checks what the server sends, in tests"},
	{"github.com/google/jsonschema-go", []string{"server/mcp"}, "tool schemas belong to MCP"},
	{"github.com/spf13", []string{"cmd", "server/config"}, "the command line ends there"},
	{"github.com/knadh/koanf", []string{"server/config"}, "one package reads configuration"},
	{"github.com/prometheus/prometheus", []string{"server/scrape"}, "one package reads the formats of Prometheus"},
	{"github.com/prometheus", []string{
		"server/app", "server/rpc", "server/ingest", "server/mcp", "server/notify", "server/ratelimit",
		"server/scrape", "server/warehouse", "server/work",
	}, "metrics are defined beside what they count"},
}

// noService lists packages that must not import the services although they stand above them.
var noService = map[string]string{
	"server/rest":    "REST reaches a method through the loopback, so that the rpc chain runs",
	"server/openapi": "the document comes from the contract",
	"server/mcp":     "a tool reaches a method through the loopback, so that the rpc chain runs",
	"server/rpc":     "the chain knows methods by the contract only",
	"server/pages":   "a page reaches a method through the loopback, so that the rpc chain runs",
}

// serviceBans keep transport out of the services. They apply to direct imports in files that are not generated.
var serviceBans = map[string]string{
	"connectrpc.com":         "a method is a plain function (connect's `simple` option)",
	"google.golang.org/grpc": "a method is a plain function",
	"net/http":               "a service cannot tell which door a call came through",
}

// pureLevels lists levels that must not reach the network or a database driver, not even indirectly.
var pureLevels = map[string][]string{
	"server/principal": {"net/http", "database/sql", "google.golang.org/grpc"},
	"server/publicid":  {"net/http", "google.golang.org/grpc"},
	"server/wirejson":  {"database/sql", "connectrpc.com"},
}

type goPackage struct {
	ImportPath   string
	Dir          string
	Imports      []string
	Deps         []string
	TestImports  []string
	XTestImports []string
}

// list returns the packages of this module with their dependencies. go list runs once.
func list(t *testing.T) []goPackage {
	t.Helper()
	packages, err := listed()
	if err != nil {
		t.Fatal(err)
	}
	return packages
}

var listed = sync.OnceValues(func() ([]goPackage, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,Deps,TestImports,XTestImports", "./...")
	cmd.Dir = ".."
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	var packages []goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
})

func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

func relative(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

// service returns the folder of the service that a package under server/services belongs to. A service may consist of several
// packages.
func service(rel string) string {
	parts := strings.SplitN(rel, "/", 4)
	return strings.Join(parts[:min(len(parts), 3)], "/")
}

// subtree returns the entry of levels that a package belongs to.
func subtree(rel string) (string, bool) {
	for p := rel; p != "." && p != "/"; p = path.Dir(p) {
		if _, ok := levels[p]; ok {
			return p, true
		}
	}
	return "", false
}

func TestImportsGoDownward(t *testing.T) {
	for _, p := range list(t) {
		rel := relative(p.ImportPath)
		if rel == "server" { // this test
			continue
		}
		from, ok := subtree(rel)
		if !ok {
			t.Errorf("%s has no level: add it to the table of server/imports_test.go, or put the code where it belongs", rel)
			continue
		}
		for _, imported := range p.Imports {
			if !within(imported, module) {
				continue
			}
			to, ok := subtree(relative(imported))
			if !ok {
				continue // this package has its own failure
			}
			switch {
			case noService[from] != "" && to == "server/services":
				t.Errorf("%s imports %s: %s", rel, relative(imported), noService[from])
			case from == to && from == "server/services" && service(rel) == service(relative(imported)):
			case from == to && from == "server/services":
				t.Errorf("%s imports %s: services never import each other; what they share belongs below them", rel, relative(imported))
			case from == to, levels[to] < levels[from]:
			case levels[to] == levels[from] && sameLevel[[2]string{from, to}] != "":
			default:
				t.Errorf("%s (level %d) imports %s (level %d): imports go downward only", rel, levels[from], relative(imported), levels[to])
			}
		}
	}
}

func TestThirdPartySeams(t *testing.T) {
	for _, p := range list(t) {
		rel := relative(p.ImportPath)
		for _, imported := range p.Imports {
			for _, seam := range seams {
				if within(imported, seam.path) && !slices.ContainsFunc(seam.allowed, func(root string) bool { return within(rel, root) }) &&
					!testOnly(rel) {
					t.Errorf("%s imports %s: %s (allowed: %s)", rel, imported, seam.reason, strings.Join(seam.allowed, ", "))
				}
			}
		}
		for root, bans := range pureLevels {
			for _, ban := range bans {
				if within(rel, root) && slices.ContainsFunc(p.Deps, func(dep string) bool { return within(dep, ban) }) {
					t.Errorf("%s reaches %s: it does no I/O", rel, ban)
				}
			}
		}
	}
}

// testOnly reports whether only tests may import a package. Suites and kits stand beside the code that they test and end in
// "test".
func testOnly(rel string) bool {
	return within(rel, "server/golden") || within(rel, "server/testport") || within(rel, "server/testkit") || within(rel, "server/e2e") ||
		strings.HasSuffix(rel, "test")
}

func TestServicesKnowNoTransport(t *testing.T) {
	for _, p := range list(t) {
		rel := relative(p.ImportPath)
		if !within(rel, "server/services") {
			continue
		}
		for _, imported := range p.Imports {
			for ban, reason := range serviceBans {
				if within(imported, ban) {
					t.Errorf("%s imports %s: %s", rel, imported, reason)
				}
			}
		}
	}
}

// TestTestkitStaysOut keeps test code out of the program.
func TestTestkitStaysOut(t *testing.T) {
	for _, p := range list(t) {
		rel := relative(p.ImportPath)
		if testOnly(rel) {
			continue
		}
		for _, imported := range p.Imports {
			if imported == "testing" || within(imported, module) && testOnly(relative(imported)) {
				t.Errorf("%s imports %s outside of tests", rel, imported)
			}
		}
	}
}

// TestTableIsUsed fails if the table gives a reason for an import that no package makes, so that the table stays current.
func TestTableIsUsed(t *testing.T) {
	packages := list(t)
	for pair := range sameLevel {
		used := slices.ContainsFunc(packages, func(p goPackage) bool {
			from, _ := subtree(relative(p.ImportPath))
			return from == pair[0] && slices.ContainsFunc(slices.Concat(p.Imports, p.TestImports, p.XTestImports), func(imported string) bool {
				to, ok := subtree(relative(imported))
				return ok && within(imported, module) && to == pair[1]
			})
		})
		if _, err := os.Stat(filepath.Join("..", pair[0])); !used && err == nil {
			t.Errorf("no package of %s imports %s: take the line out of sameLevel", pair[0], pair[1])
		}
	}
}

const maxLines = 800

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	vague     = regexp.MustCompile(`^(util|utils|helper|helpers|common|internal|pkg|types|misc|shared|base)$`)
)

func TestFilesAndNames(t *testing.T) {
	for _, root := range []string{"../server", "../cmd", "../ent/schema", "../proto"} {
		err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			name := strings.TrimSuffix(entry.Name(), path.Ext(entry.Name()))
			if vague.MatchString(strings.TrimSuffix(name, "_test")) {
				t.Errorf("%s: the name does not say what is in it", file)
			}
			if entry.IsDir() {
				if entry.Name() == "node_modules" || entry.Name() == "testdata" {
					return filepath.SkipDir
				}
				return nil
			}
			if !slices.Contains([]string{".go", ".proto", ".sql", ".mjs"}, path.Ext(file)) {
				return nil
			}
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			// All error tags stand in one enum, and protobuf keeps an enum in one file.
			tags := entry.Name() == "errors.proto"
			if lines := bytes.Count(text, []byte("\n")); lines > maxLines && !generated.Match(text) && !tags {
				t.Errorf("%s has %d lines: split it by noun (at most %d)", file, lines, maxLines)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
