package contract

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/apierr"
)

// unproduced are the errors of the catalogue that no operation lists, because the condition cannot happen yet.
var unproduced = map[string]string{
	`CallbackHostUnavailableError|Integrations.*|Gcp.*`:          "integrations",
	`Tinybird.*|OrgClickHouseSettings.*`:                         "stores of single organizations, of which there are none",
	`OrganizationAccessDeniedError|OrganizationWrongRegionError`: "the second catalogue has the same condition under the same name",
	`OrganizationProviderError`:                                  "organizations are in the server's own database",
	`IngestKeyEncryptionError`:                                   "ingest keys are stored as hashes",
	`IngestKeyForbiddenError`: "a member without the role gets " +
		"InsufficientPermissionsError in this family",
	`ShareNotConfiguredError|ShareUnsupportedWidgetError|ShareWidgetExecutionError`: "sharing needs no setting, and the answer of a widget " +
		"that fails is inside a success",
	`QueryEngineResultMismatchError|WarehouseValidationError`: "rows of another shape are WarehouseResultDecodeError, " +
		"and a wrong query is QueryEngineValidationError",
	`ScrapeTarget(Encryption|Auth|Upstream)Error`: "sealing does not fail; a probe that fails is a " +
		"success that says so",
	`PayloadEncodeFailed|CollectorUnavailable`: "of ingest: TestErrorTable in server/ingest has the reason",
}

// given returns the names of the errors that the program mentions outside of the table of errors, as in `apierr.ApiKeyNotFound`.
func given(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		if filepath.Dir(path) == "../contract" {
			return nil // it lists errors
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		var visit func(n ast.Node) bool
		visit = func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause: // it compares an error with others
				for _, statement := range n.Body {
					ast.Inspect(statement, visit)
				}
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "apierr" {
					out[n.Sel.Name] = true
				}
			}
			return true
		}
		ast.Inspect(f, visit)
		return nil
	})
	if err != nil || len(out) < 100 {
		t.Fatalf("%d names, %v", len(out), err)
	}
	return out
}

// TestListedErrorsAreProduced checks that the program gives every error that an operation lists, and that each other error of the catalogue
// has a reason. The matrix of server/e2e checks that each operation gives its own.
func TestListedErrorsAreProduced(t *testing.T) {
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	produced := given(t)
	constants := constantsOf(t)
	listed := map[apierr.Tag]string{}
	for _, m := range c.Methods() {
		for _, tag := range m.Errors {
			listed[tag] = m.OperationID
		}
		// The chain refuses callers without the role.
		if m.Admin {
			produced[constants[m.RoleError]] = true
		}
	}
	used := map[string]bool{}
	for _, tag := range apierr.All() {
		name := ErrorName(tag)
		reason := ""
		for _, pattern := range slices.Sorted(maps.Keys(unproduced)) {
			if regexp.MustCompile("^(?:" + pattern + ")$").MatchString(name) {
				reason = pattern
			}
		}
		switch {
		case produced[constants[tag]]:
		case listed[tag] != "":
			t.Errorf("%s lists %s, which the program never gives", listed[tag], name)
		case reason == "":
			t.Errorf("no operation lists %s, and the program never gives it: say why in unproduced", apierr.Spec(tag).GetTag())
		default:
			used[reason] = true
		}
	}
	for pattern := range unproduced {
		if !used[pattern] {
			t.Errorf("the program gives every error of %s: it needs no reason", pattern)
		}
	}
}

// constantsOf returns the names of the constants of errors.
func constantsOf(t *testing.T) map[apierr.Tag]string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../apierr/tags.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	byEnum := map[string]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if s, ok := v.Values[0].(*ast.SelectorExpr); ok {
				byEnum[strings.TrimPrefix(s.Sel.Name, "ErrorTag_")] = v.Names[0].Name
			}
		}
		return true
	})
	out := map[apierr.Tag]string{}
	for _, tag := range apierr.All() {
		if out[tag] = byEnum[tag.String()]; out[tag] == "" {
			t.Fatalf("%s has no constant", tag)
		}
	}
	return out
}
