package mcp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// otherNames are texts beside an argument that are equal to its name and name something else: a field of the query language, a parameter of
// a template, a field of a request.
var otherNames = []string{
	"telemetry/query_data_spec.go severity", "telemetry/query_data_spec.go host", "telemetry/query_data_spec.go event_name",
	"dashboards/create_dashboard.go metric_name", "dashboards/create_dashboard.go metric_type", "dashboards/create_dashboard.go name",
}

// TestArgumentNames checks that tools take the name of an argument from its field. Two places count: the first argument of BadInput and
// DecodeJSON, and a literal in a call, a pair or a list that also has the field itself, as in `{"group_key", a.GroupKey}`. A name in
// another place can be that of an argument of another tool, or of a column, so it does not count.
func TestArgumentNames(t *testing.T) {
	folders, err := filepath.Glob("tools/*")
	if err != nil || len(folders) < 10 {
		t.Fatalf("%q, %v", folders, err)
	}
	used := map[string]bool{}
	fields := 0
	for _, folder := range folders {
		files := sources(t, folder)
		arguments := argumentsOf(files)
		names := map[string]bool{}
		for _, of := range arguments {
			fields += len(of)
			for field := range of {
				names[tool.SnakeCase(field)] = true
			}
		}
		for path, f := range files {
			fault := func(name string) {
				place := strings.TrimPrefix(filepath.ToSlash(path), "tools/") + " " + name
				for _, other := range otherNames {
					if place == other {
						used[other] = true
						return
					}
				}
				t.Errorf("%s writes the name of the argument %q; use Bad, NameOf, Chosen or Again with its field", path, name)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok {
					copies(fn, map[string]map[string]bool{}, arguments, names, fault)
				}
			}
		}
	}
	for _, other := range otherNames {
		if !used[other] {
			t.Errorf("%s is in the list, and is not there", other)
		}
	}
	if fields < 200 {
		t.Errorf("%d fields of arguments were found", fields)
	}
}

// sources reads the files of a folder that are part of the program.
func sources(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]*ast.File{}
	for _, e := range entries {
		if path := filepath.Join(folder, e.Name()); strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			if files[path], err = parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution); err != nil {
				t.Fatal(err)
			}
		}
	}
	return files
}

// argumentsOf returns the fields of each struct of arguments of a package: those that embed tool.Call, and those that they embed.
func argumentsOf(files map[string]*ast.File) map[string]map[string]bool {
	structs := map[string]*ast.StructType{}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if body, ok := s.Type.(*ast.StructType); ok {
					structs[s.Name.Name] = body
				}
			}
			return true
		})
	}
	out := map[string]map[string]bool{}
	var add func(name string, to map[string]bool) (isCall bool)
	add = func(name string, to map[string]bool) (isCall bool) {
		if structs[name] == nil {
			return false
		}
		for _, f := range structs[name].Fields.List {
			for _, id := range f.Names {
				if id.IsExported() {
					to[id.Name] = true
				}
			}
			if len(f.Names) > 0 {
				continue
			}
			of := f.Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			switch embedded := of.(type) {
			case *ast.SelectorExpr:
				isCall = isCall || embedded.Sel.Name == "Call" || embedded.Sel.Name == "Window" // which has a Call
			case *ast.Ident:
				isCall = add(embedded.Name, to) || isCall
			}
		}
		return isCall
	}
	for name := range structs {
		if fields := map[string]bool{}; add(name, fields) {
			out[name] = fields
		}
	}
	return out
}

// copies calls fault with each name of an argument that stands beside its field, or that begins a call which takes the name of an argument.
// In is the fields of the variables that hold arguments.
func copies(n ast.Node, in map[string]map[string]bool, arguments map[string]map[string]bool, names map[string]bool, fault func(string)) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			hold(n.Recv, in, arguments)
			hold(n.Type.Params, in, arguments)
		case *ast.FuncLit:
			hold(n.Type.Params, in, arguments)
		case *ast.CallExpr:
			beside(n.Args, in, fault)
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && (s.Sel.Name == "BadInput" || s.Sel.Name == "DecodeJSON") {
				if name := text(n.Args[0]); names[name] {
					fault(name)
				}
			}
		case *ast.CompositeLit:
			beside(n.Elts, in, fault)
		case *ast.KeyValueExpr:
			beside([]ast.Expr{n.Key, n.Value}, in, fault)
		}
		return true
	})
}

// hold notes the parameters of a function that are arguments of a tool.
func hold(list *ast.FieldList, in map[string]map[string]bool, arguments map[string]map[string]bool) {
	if list == nil {
		return
	}
	for _, p := range list.List {
		for _, id := range p.Names {
			delete(in, id.Name)
			if star, ok := p.Type.(*ast.StarExpr); ok {
				if of, ok := star.X.(*ast.Ident); ok && arguments[of.Name] != nil {
					in[id.Name] = arguments[of.Name]
				}
			}
		}
	}
}

func beside(list []ast.Expr, in map[string]map[string]bool, fault func(string)) {
	written := map[string]bool{}
	for _, e := range list {
		written[text(e)] = true
	}
	for _, e := range list {
		ast.Inspect(e, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.CompositeLit:
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && in[x.Name][n.Sel.Name] && written[tool.SnakeCase(n.Sel.Name)] {
					fault(tool.SnakeCase(n.Sel.Name))
				}
			}
			return true
		})
	}
}

// text is the value of a literal.
func text(e ast.Expr) string {
	if l, ok := e.(*ast.BasicLit); ok && l.Kind == token.STRING {
		if s, err := strconv.Unquote(l.Value); err == nil {
			return s
		}
	}
	return ""
}
