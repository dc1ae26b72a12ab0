package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"
)

// TestServicesReadThroughTheGate: what mounts the services gives the warehouse to the gate and to nobody else, so that no read of a service goes
// without the share of its organization.
func TestServicesReadThroughTheGate(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "api.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	gated, others := 0, 0
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "NewGate" {
				gated++
				return false
			}
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "a" && n.Sel.Name == "warehouse" {
				others++
			}
		}
		return true
	})
	if gated != 1 || others != 0 {
		t.Errorf("%d gates, and the warehouse itself is used %d times in api.go", gated, others)
	}
}
