package server_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/golden"
)

// TestArchitecturePage holds the levels of docs/architecture.md against the table that the import test uses.
func TestArchitecturePage(t *testing.T) {
	byLevel := map[int][]string{}
	for p, level := range levels {
		byLevel[level] = append(byLevel[level], "`"+p+"`")
	}
	var want strings.Builder
	want.WriteString("| level | packages |\n|---|---|\n")
	for _, level := range slices.Backward(slices.Sorted(maps.Keys(byLevel))) {
		slices.Sort(byLevel[level])
		fmt.Fprintf(&want, "| %d | %s |\n", level, strings.Join(byLevel[level], ", "))
	}
	golden.Section(t, "../docs/architecture.md", "levels", want.String())
}

var backticked = regexp.MustCompile("`([^`]+)`")

// TestContributingNamesPackages holds the table of packages in CONTRIBUTING.md against the tree: each package of the first level has a row,
// and each name in the rows is a folder. A row names server once: "`server/rpc`, `rest`".
func TestContributingNamesPackages(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## Packages\n")
	section, _, ok := strings.Cut(rest, "\n## ")
	if !ok {
		t.Fatal("CONTRIBUTING.md lacks the section Packages")
	}
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`server/") {
			continue
		}
		for _, m := range backticked.FindAllStringSubmatch(cells[1], -1) {
			name, _, _ := strings.Cut(strings.TrimPrefix(m[1], "server/"), "/")
			named[name] = true
			if info, err := os.Stat(name); err != nil || !info.IsDir() {
				t.Errorf("the table of packages names `%s`, which is not a folder of server/", name)
			}
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" && !named[e.Name()] {
			t.Errorf("the table of packages in CONTRIBUTING.md lacks server/%s", e.Name())
		}
	}
}

// largeFiles and largeNames are the sizes from which the page must give a reason why a package is one thing.
const (
	largeFiles = 31
	largeNames = 121
)

// TestLargePackages holds the table of large packages in docs/architecture.md against the tree: each package of that size has its reason
// there, and no other package is in the table.
func TestLargePackages(t *testing.T) {
	text, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "<!-- large -->\n")
	table, _, ok := strings.Cut(rest, "<!-- /large -->")
	if !ok {
		t.Fatal("docs/architecture.md lacks the marks <!-- large --> and <!-- /large -->")
	}
	var listed []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || !strings.HasPrefix(strings.TrimSpace(cells[1]), "`") {
			continue
		}
		listed = append(listed, strings.Trim(strings.TrimSpace(cells[1]), "`"))
		if len(strings.TrimSpace(cells[2])) < 20 {
			t.Errorf("%s has no reason", cells[1])
		}
	}
	files, names := map[string]int{}, map[string]int{}
	for _, root := range []string{"../cmd", "../ent/schema", "../server", "../tools"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if ast.IsGenerated(file) {
				return nil
			}
			dir := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			files[dir]++
			names[dir] += exportedNames(file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	var large []string
	for dir, n := range files {
		if n >= largeFiles || names[dir] >= largeNames {
			large = append(large, dir)
		}
	}
	slices.Sort(large)
	slices.Sort(listed)
	if !slices.Equal(large, listed) {
		t.Errorf("packages with at least %d files or %d exported names: %q; the page has reasons for %q", largeFiles, largeNames, large, listed)
	}
}

// exportedNames counts the exported names of a file at the level of the package. Methods do not count.
func exportedNames(file *ast.File) (n int) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}
