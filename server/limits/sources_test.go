package limits

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
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
