package limits

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// sources calls visit with each file of server/ that is part of the program, by its path from there.
func sources(t *testing.T, visit func(path string, f *ast.File)) {
	t.Helper()
	const root = ".."
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		files++
		visit(filepath.ToSlash(name), f)
		return nil
	})
	if err != nil || files < 300 {
		t.Fatalf("%d files, %v", files, err)
	}
}

// isLimit reports whether an expression is a constant of this package, as another package writes it.
func isLimit(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "limits"
}

// TestAdmission checks that the decision which telemetry is too old, or dated too far ahead, takes its bounds from the table.
func TestAdmission(t *testing.T) {
	admissions, ahead := 0, 0
	sources(t, func(path string, f *ast.File) {
		if !strings.HasPrefix(path, "ingest/otlp/") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "inWindow" {
					admissions++
					if !isLimit(n.Args[1]) {
						t.Errorf("%s: inWindow gets a retention that is no constant of limits", path)
					}
				}
			case *ast.BinaryExpr:
				// A time is compared with the time of receipt plus ClockAhead.
				if n.Op != token.ADD || !names(n.X, "received", "ReceivedUnixNano") {
					return true
				}
				ahead++
				if c, ok := n.Y.(*ast.CallExpr); !ok || len(c.Args) != 1 || !isLimit(c.Args[0]) {
					t.Errorf("%s: a bound ahead of the time of receipt is no constant of limits", path)
				}
			}
			return true
		})
	})
	if admissions < 4 || ahead < 2 {
		t.Errorf("%d calls of inWindow and %d bounds ahead were found", admissions, ahead)
	}
}

// names reports whether an expression is one of these variables or fields.
func names(e ast.Expr, list ...string) bool {
	name := ""
	switch e := e.(type) {
	case *ast.Ident:
		name = e.Name
	case *ast.SelectorExpr:
		name = e.Sel.Name
	}
	for _, n := range list {
		if n == name {
			return true
		}
	}
	return false
}

// TestBrowserSDK checks that the browser SDK cuts and ends where the server does. Its sources are TypeScript, so they have the numbers.
func TestBrowserSDK(t *testing.T) {
	for _, c := range []struct {
		file, text string
		limits     []any
	}{
		{"session", "export const maxAge = %d * 3600_000;", []any{int(SessionLength.Hours())}},
		{"session", "after %d hours, a new session begins", []any{int(SessionLength.Hours())}},
		{"session", "{1,%d}$/.test(s.id)", []any{RecordedSessionID}},
		{"identity", "user_id: text(user.id, %d)", []any{EventID}},
		{"identity", "group_id: text(user.groupId, %d)", []any{EventID}},
		{"identity", "text(user.email, %d)", []any{SessionText}},
		{"identity", "text(user.username, %d)", []any{SessionText}},
		{"identity", "text(user.groupName, %d)", []any{SessionText}},
		{"identity", "attributes(user.traits, %d, ", []any{SessionTraits}},
		{"options", "At most %d traits, with keys of %d bytes", []any{SessionTraits, EventAttributeKey}},
		{"client", "cut(name, %d), attributes: attributes(props, %d, %d)", []any{EventNameBytes, EventAttributes, EventAttributeValue}},
		{"client", "utm[name] = cut(v, %d)", []any{SessionDimension}},
		{"client", "cut(document.title, %d)", []any{SessionText}},
		{"elements", "up to %d characters", []any{SessionTarget}},
		{"elements", ".slice(0, %d).join", []any{SessionTarget}},
		{"row", ".pathname, %d)", []any{EventPagePath}},
		{"row", "cut(navigator.userAgent, %d)", []any{SessionText}},
		{"row", "cut(navigator.language || \"\", %d)", []any{SessionDimension}},
		{"texts", "cut(String(own(url) ?? \"\"), %d)", []any{EventURL}},
		{"texts", "bytes(key) > %d)", []any{EventAttributeKey}},
		{"timeline", "cut(String(e.message), %d)", []any{SessionText}},
		{"timeline", "lines.join(\"\\n\").slice(0, %d)", []any{SessionStack}},
	} {
		text, err := os.ReadFile("../../clients/browser/src/" + c.file + ".ts")
		if err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf(c.text, c.limits...); !strings.Contains(string(text), want) {
			t.Errorf("clients/browser/src/%s.ts does not have %q", c.file, want)
		}
	}
}

// TestShownRows looks for sentences such as "The first 100 spans are shown" in pages of the web application. Their numbers must come from
// gen/limits.
func TestShownRows(t *testing.T) {
	literal := regexp.MustCompile(`The (?:first|newest|latest) \d+`)
	bound := 0
	err := filepath.WalkDir("../web/ui/src", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".tsx") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, got := range literal.FindAll(text, -1) {
			t.Errorf("%s says %q; import the limit from gen/limits", path, got)
		}
		bound += strings.Count(string(text), " {LargestPage} ")
		return err
	})
	if err != nil || bound < 5 {
		t.Errorf("%d limits were found, %v", bound, err)
	}
}

// A figure has a unit of time or size. A bound or a default is another number: "at most 5", "1 to 100", "default 20".
var (
	figure = regexp.MustCompile(`\d[\d,]*(?: |-)(?:days?|hours?|minutes?|seconds?|KiB|MiB|GiB)\b`)
	bound  = regexp.MustCompile(`(?i)\b(?:at most|up to|default|1 to|give) (?:[2-9]|\d[\d,]*\d)\b`)
)

// figures lists the figures that a text of the program has as a literal. The first word is the file or
// folder. A struct tag cannot call a function: its figure is bound to a limit here. The other figures are no limits.
var figures = []struct{ path, figure, limit string }{
	{"e2e/benchingest/table.go", "5 seconds", ""}, // the shape of a load
	{"wirejson/encode.go", "1 to 9999", ""},       // years of RFC 3339
	{"config/error.go", "up to 32", ""},           // the form of a region
	{"query/validate.go", "up to 31", ""},         // the form of a name
}

// TestMessages checks that messages and descriptions write a limit with the functions of this package. A literal would stay when the
// limit changes.
func TestMessages(t *testing.T) {
	used := make([]bool, len(figures))
	sources(t, func(path string, f *ast.File) {
		for _, folder := range []string{"limits/", "demo/", "ingest/corpus/", "store/storetest/"} {
			if strings.HasPrefix(path, folder) {
				return
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
		found:
			for _, got := range append(figure.FindAllString(text.Value, -1), bound.FindAllString(figure.ReplaceAllString(text.Value, ""), -1)...) {
				for i, known := range figures {
					if strings.HasPrefix(path, known.path) && got == known.figure {
						used[i] = true
						if known.limit != "" && known.limit != got {
							t.Errorf("%s says %q; the limit is %s", path, got, known.limit)
						}
						continue found
					}
				}
				t.Errorf("%s has the literal %q in a text; write the limit with a function of this package, or list it here", path, got)
			}
			return true
		})
	})
	for i, known := range figures {
		if !used[i] {
			t.Errorf("%s does not say %q", known.path, known.figure)
		}
	}
}

// TestUse checks that each limit is used: the program or the web application takes the constant, or TestBounds of server/contract compares
// it with a rule of the contract. A limit that nothing uses has a copy elsewhere.
func TestUse(t *testing.T) {
	used := map[string]bool{}
	note := func(f *ast.File) {
		ast.Inspect(f, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok && isLimit(e) {
				used[e.(*ast.SelectorExpr).Sel.Name] = true
			}
			return true
		})
	}
	sources(t, func(path string, f *ast.File) {
		note(f)
		if path != "limits/retention.go" {
			return
		}
		for _, d := range f.Decls { // the TTL of the tables
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Retention" {
				ast.Inspect(fn, func(n ast.Node) bool {
					if x, ok := n.(*ast.Ident); ok {
						used[x.Name] = true
					}
					return true
				})
			}
		}
	})
	rules, err := parser.ParseFile(token.NewFileSet(), "../contract/bounds_test.go", nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	note(rules)
	for name := range tagged(t) {
		used[name] = true
	}
	pages, err := os.ReadFile("../web/ui/src/gen/limits.ts") // the names that sources of the web application import
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range exported.FindAllStringSubmatch(string(pages), -1) {
		used[m[1]] = true
	}
	for _, name := range constants(t) {
		if !used[name] {
			t.Errorf("nothing outside this package uses %s", name)
		}
	}
}

var exported = regexp.MustCompile(`(?m)^export const (\w+) =`)

var inBraces = regexp.MustCompile(`\{([A-Z][A-Za-z]*)\}`)

// tagged returns the limits that struct tags of MCP tools name, as in clamp:"1..{ToolRows}".
func tagged(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	sources(t, func(path string, f *ast.File) {
		if !strings.HasPrefix(path, "mcp/") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if field, ok := n.(*ast.Field); ok && field.Tag != nil {
				for _, m := range inBraces.FindAllStringSubmatch(field.Tag.Value, -1) {
					found[m[1]] = true
				}
			}
			return true
		})
	})
	return found
}

// TestTags checks that the arguments of MCP tools take their bounds, their defaults, and the windows in their descriptions, from the
// table. A literal can be 0 as the first offset, and 0 or 1 as the smallest number.
func TestTags(t *testing.T) {
	literal := regexp.MustCompile(`(?:clamp|range):"(?:[^"]*\.\.[0-9]|[2-9]|[01][0-9.]*[0-9])|default:"(?:[1-9]|0[0-9.])|default now-[0-9]`)
	bounds, defaults := 0, 0
	sources(t, func(path string, f *ast.File) {
		if !strings.HasPrefix(path, "mcp/") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			field, ok := n.(*ast.Field)
			if !ok || field.Tag == nil {
				return true
			}
			bounds += strings.Count(field.Tag.Value, "..{")
			defaults += strings.Count(field.Tag.Value, `default:"{`)
			if literal.MatchString(field.Tag.Value) {
				t.Errorf("%s: the tag %s has a number that is not in the table; write {Name} of a limit", path, field.Tag.Value)
			}
			return true
		})
	})
	if bounds < 15 || defaults < 20 {
		t.Errorf("%d bounds and %d defaults were found", bounds, defaults)
	}
}
