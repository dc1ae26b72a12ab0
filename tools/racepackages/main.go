// Command racepackages prints the packages that `make race` tests: the packages in which goroutines interact. It reads the syntax
// of their files, including tests, so that there is no list to keep up to date. With -since it prints only packages that changed
// since a commit, and their dependents.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	since := flag.String("since", "", "print only packages that changed since this commit, and their dependents")
	without := flag.String("without", "", "leave out this folder and those below it")
	flag.Parse()
	if err := run(os.Stdout, *since, *without); err != nil {
		fmt.Fprintln(os.Stderr, "racepackages:", err)
		os.Exit(1)
	}
}

// goPackage is a package as `go list` describes it.
type goPackage struct {
	ImportPath, Dir                          string
	GoFiles, TestGoFiles, XTestGoFiles       []string
	EmbedFiles                               []string
	Imports, TestImports, XTestImports, Deps []string

	changed      bool // in a way that can matter to its dependents
	testsChanged bool // in a way that matters to its own tests
}

func run(out io.Writer, since, without string) error {
	packages, err := list()
	if err != nil {
		return err
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	affected := func(*goPackage) bool { return true }
	if since != "" {
		files, err := changedFiles(since)
		if err != nil {
			return err
		}
		if files, err = withoutComments(since, files); err != nil {
			return err
		}
		if affected, err = dependents(packages, root, files, passesOn); err != nil {
			return err
		}
	}
	for _, p := range packages {
		dir, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return err
		}
		if within(dir, without) || len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 || !affected(p) {
			continue
		}
		meet, err := goroutinesMeet(p)
		if err != nil {
			return err
		}
		if meet {
			fmt.Fprintln(out, "./"+dir)
		}
	}
	return nil
}

func within(dir, folder string) bool {
	return folder != "" && (dir == folder || strings.HasPrefix(dir, folder+"/"))
}

func list() ([]*goPackage, error) {
	out, err := command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,EmbedFiles,Imports,TestImports,XTestImports,Deps",
		"./...")
	if err != nil {
		return nil, err
	}
	var packages []*goPackage
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(goPackage)
		if err := d.Decode(p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// changedFiles returns the paths of files that differ from a commit, including untracked files.
func changedFiles(commit string) ([]string, error) {
	tracked, err := command("git", "diff", "--name-only", "--no-renames", commit)
	if err != nil {
		return nil, err
	}
	fresh, err := command("git", "ls-files", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(tracked) + string(fresh)), nil
}

// dependents returns a function that reports whether one of the files belongs to a package, or to a package that it or its tests
// import directly or indirectly. A file without a package, as in testdata, belongs to the nearest parent folder that has a
// package. No other package depends on tests, or on data that is not embedded, or on a package whose changes are not passed on. go.mod
// and go.sum belong to every package.
func dependents(
	packages []*goPackage, root string, files []string, passesOn func(*goPackage) (bool, error),
) (func(*goPackage) bool, error) {
	byDir, byPath := map[string]*goPackage{}, map[string]*goPackage{}
	for _, p := range packages {
		if dir, err := filepath.Rel(root, p.Dir); err == nil {
			byDir[dir] = p
		}
		byPath[p.ImportPath] = p
	}
	if slices.Contains(files, "go.mod") || slices.Contains(files, "go.sum") {
		return func(*goPackage) bool { return true }, nil
	}
	for _, file := range files {
		for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
			if p := byDir[dir]; p != nil {
				if p.built(strings.TrimPrefix(file, dir+"/")) {
					p.changed = true
				} else {
					p.testsChanged = true
				}
				break
			}
		}
	}
	for _, p := range packages {
		if !p.changed {
			continue
		}
		on, err := passesOn(p)
		if err != nil {
			return nil, err
		}
		p.changed, p.testsChanged = on, true
	}
	reaches := func(importPath string) bool {
		p := byPath[importPath]
		return p != nil && (p.changed || slices.ContainsFunc(p.Deps, func(dep string) bool { return byPath[dep] != nil && byPath[dep].changed }))
	}
	return func(p *goPackage) bool {
		return p.testsChanged || reaches(p.ImportPath) || slices.ContainsFunc(p.TestImports, reaches) ||
			slices.ContainsFunc(p.XTestImports, reaches)
	}, nil
}

// built reports whether a file, named relative to the package's folder, can be part of the build of the package. A file that was
// removed can have been. A C file or an assembler file is one.
func (p *goPackage) built(file string) bool {
	switch path.Ext(file) {
	case ".go":
		return !strings.Contains(file, "/") && !strings.HasSuffix(file, "_test.go")
	case ".c", ".h", ".s":
		return true
	default:
		return slices.Contains(p.EmbedFiles, file)
	}
}

// goroutinesMeet reports whether a file of the package starts goroutines, synchronizes, or runs tests in parallel. Other packages
// run in one goroutine, so the race detector has nothing to compare.
func goroutinesMeet(p *goPackage) (bool, error) {
	for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		if concurrent(file) {
			return true, nil
		}
	}
	return false, nil
}

// servers are packages whose servers and pools run goroutines for their users.
var servers = []string{"net/http/httptest", "golang.org/x/sync/errgroup", "golang.org/x/sync/singleflight"}

func concurrent(file *ast.File) bool {
	for _, imported := range file.Imports {
		if slices.Contains(servers, strings.Trim(imported.Path.Value, `"`)) {
			return true
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
			found = true
		case *ast.SelectorExpr:
			switch on, _ := n.X.(*ast.Ident); {
			case n.Sel.Name == "Parallel", n.Sel.Name == "RunParallel", n.Sel.Name == "AfterFunc":
				found = true
			case on != nil && on.Name == "atomic":
				found = true
			// A sync.Once only guards a value that is made once, and a sync.Pool only lends memory. Neither needs more than one goroutine.
			case on != nil && on.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once") && n.Sel.Name != "Pool":
				found = true
			}
		}
		return !found
	})
	return found
}

func command(name string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(context.Background(), name, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, args[0], err, stderr.Bytes())
	}
	return out, nil
}
