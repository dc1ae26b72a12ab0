package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestServicesReadThroughOneReader checks that api.go gives the warehouse to the reader alone. Every read of a service must take
// a slot of its organization.
func TestServicesReadThroughOneReader(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "api.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	read, others := 0, 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "NewReader" {
				read++
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "a" && n.Sel.Name == "warehouse" {
				others++
			}
		}
		return true
	})
	if read != 1 || others != 0 {
		t.Errorf("%d readers, and the warehouse itself is used %d times in api.go", read, others)
	}
}
