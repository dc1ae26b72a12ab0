package main

import (
	"go/parser"
	"go/token"
	"testing"
)

func TestConcurrent(t *testing.T) {
	for text, want := range map[string]bool{
		`package a; func f() { go f() }`:                                                    true,
		`package a; type s struct{ c chan int }`:                                            true,
		`package a; import "sync"; var mu sync.Mutex`:                                       true,
		`package a; import "sync"; var once sync.Once`:                                      false,
		`package a; import "sync"; var load = sync.OnceValue(func() int { return 1 })`:      false,
		`package a; import "sync/atomic"; var n atomic.Int64`:                               true,
		`package a; import "time"; func f() { time.AfterFunc(1, f) }`:                       true,
		`package a; import "testing"; func TestX(t *testing.T) { t.Parallel() }`:            true,
		`package a; import "net/http/httptest"; var s = httptest.NewServer(nil)`:            true,
		`package a; import "golang.org/x/sync/errgroup"; var g errgroup.Group`:              true,
		`package a; import "strings"; func f() string { return strings.ToLower("go f()") }`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := concurrent(file); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}

func TestDependents(t *testing.T) {
	packages := []*goPackage{
		{ImportPath: "m/low", Dir: "/m/low"},
		{ImportPath: "m/high", Dir: "/m/high", Deps: []string{"m/low"}},
		{ImportPath: "m/tested", Dir: "/m/tested", XTestImports: []string{"m/high"}},
		{ImportPath: "m/apart", Dir: "/m/apart"},
	}
	for _, c := range []struct {
		files []string
		want  []bool
	}{
		{[]string{"low/x.go"}, []bool{true, true, true, false}},
		{[]string{"low/testdata/deep/x.golden"}, []bool{true, true, true, false}},
		{[]string{"high/x_test.go"}, []bool{false, true, true, false}},
		{[]string{"apart/x.go", "docs/x.md"}, []bool{false, false, false, true}},
		{[]string{"docs/x.md", "x.md"}, []bool{false, false, false, false}},
		{[]string{"go.sum"}, []bool{true, true, true, true}},
	} {
		for _, p := range packages {
			p.changed = false
		}
		affected := dependents(packages, "/m", c.files)
		for i, p := range packages {
			if got := affected(p); got != c.want[i] {
				t.Errorf("%v reaches %s: %t, want %t", c.files, p.ImportPath, got, c.want[i])
			}
		}
	}
}
