package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/contract"
)

// TestEveryServiceIsMounted checks that api.go mounts each service of the contract once.
func TestEveryServiceIsMounted(t *testing.T) {
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, service := range c.Services() {
		want = append(want, strings.TrimPrefix(service, contract.Package+"."))
	}
	slices.Sort(want)
	file, err := parser.ParseFile(token.NewFileSet(), "api.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var mounted []string
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := f.X.(*ast.Ident); ok && x.Name == "svcv2connect" {
				mounted = append(mounted, strings.TrimSuffix(strings.TrimPrefix(f.Sel.Name, "New"), "Handler"))
			}
		}
		return true
	})
	slices.Sort(mounted)
	if !slices.Equal(mounted, want) {
		t.Errorf("mountServices mounts %v, want %v", mounted, want)
	}
}
