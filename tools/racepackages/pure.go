package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
)

// passesOn reports whether a change of the package can bring a race into packages that use it. It cannot if all files are generated: the
// generators are tested by their authors. It cannot either if the package only computes: it has no variables, starts nothing, and
// writes to its own local variables only. Most changes add a limit or a field of the contract, which every package depends on.
func passesOn(p *goPackage) (bool, error) {
	allGenerated, only := true, true
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return false, err
		}
		allGenerated = allGenerated && ast.IsGenerated(file)
		only = only && computes(file)
	}
	return !allGenerated && !only, nil
}

// computes reports whether the code of a file changes nothing but its local variables.
func computes(file *ast.File) bool {
	if concurrent(file) {
		return false
	}
	for _, decl := range file.Decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
			return false
		}
	}
	pure, receiver := true, ""
	local := func(e ast.Expr) bool {
		if field, ok := e.(*ast.SelectorExpr); ok { // a field of the method's own copy
			e = field.X
			return isName(e) && e.(*ast.Ident).Name == receiver
		}
		return isName(e)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			receiver = ""
			if n.Recv != nil && isName(n.Recv.List[0].Type) && len(n.Recv.List[0].Names) == 1 {
				receiver = n.Recv.List[0].Names[0].Name
			}
		case *ast.StructType:
			for _, field := range n.Fields.List { // an embedded pointer has the fields of something else
				_, pointer := field.Type.(*ast.StarExpr)
				pure = pure && !(pointer && len(field.Names) == 0)
			}
		case *ast.AssignStmt:
			for _, to := range n.Lhs {
				pure = pure && local(to)
			}
		case *ast.IncDecStmt:
			pure = pure && local(n.X)
		case *ast.RangeStmt:
			pure = pure && (n.Key == nil || local(n.Key)) && (n.Value == nil || local(n.Value))
		case *ast.UnaryExpr: // a pointer lets other code write
			pure = pure && n.Op != token.AND
		case *ast.CallExpr: // these write into an array or a map that others may have
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "append" || f.Name == "copy" || f.Name == "clear" || f.Name == "delete") {
				pure = false
			}
		}
		return pure
	})
	return pure
}

func isName(e ast.Expr) bool {
	_, ok := e.(*ast.Ident)
	return ok
}
