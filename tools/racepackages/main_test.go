package main

import (
	"go/parser"
	"go/token"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
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
		{ImportPath: "m/low", Dir: "/m/low", EmbedFiles: []string{"data/x.json"}},
		{ImportPath: "m/high", Dir: "/m/high", Deps: []string{"m/low"}},
		{ImportPath: "m/tested", Dir: "/m/tested", XTestImports: []string{"m/high"}},
		{ImportPath: "m/apart", Dir: "/m/apart", Deps: []string{"m/pure"}},
		{ImportPath: "m/pure", Dir: "/m/pure"},
	}
	for _, c := range []struct {
		files []string
		want  []bool
	}{
		{[]string{"low/x.go"}, []bool{true, true, true, false, false}},
		{[]string{"low/data/x.json"}, []bool{true, true, true, false, false}},
		{[]string{"low/testdata/deep/x.golden"}, []bool{true, false, false, false, false}},
		{[]string{"low/testdata/deep/x.go"}, []bool{true, false, false, false, false}},
		{[]string{"low/x_test.go"}, []bool{true, false, false, false, false}},
		{[]string{"high/x.go"}, []bool{false, true, true, false, false}},
		{[]string{"apart/x.go", "docs/x.md"}, []bool{false, false, false, true, false}},
		{[]string{"docs/x.md", "x.md"}, []bool{false, false, false, false, false}},
		{[]string{"pure/x.go"}, []bool{false, false, false, false, true}},
		{[]string{"go.sum"}, []bool{true, true, true, true, true}},
	} {
		for _, p := range packages {
			p.changed, p.testsChanged = false, false
		}
		affected, err := dependents(packages, "/m", c.files, func(p *goPackage) (bool, error) { return p.ImportPath != "m/pure", nil })
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range packages {
			if got := affected(p); got != c.want[i] {
				t.Errorf("%v reaches %s: %t, want %t", c.files, p.ImportPath, got, c.want[i])
			}
		}
	}
}

func TestSameWithoutComments(t *testing.T) {
	for _, c := range []struct {
		before, now string
		want        bool
	}{
		{"package a\n\n// F does.\nfunc F() {}", "package a\n\n// F does it.\n// Twice.\nfunc F() {}\n", true},
		{"package a; func F() { /* why */ }", "package a; func F() {}", true},
		{"package a\nvar s = `// x`", "package a\nvar s = `// y`", false},
		{"package a\nvar n = 1", "package a\nvar n = 2", false},
		{"package a\nfunc F() {}", "package a\n//go:noinline\nfunc F() {}", false},
		{"package a\n// int a;\nimport \"C\"", "package a\n// int b;\nimport \"C\"", false},
		{"package a\nvar x = a\nvar y = 1", "package a\nvar x = a // b\nvar y = 1", true},
		{"package a\nvar s = \"", "package a\nvar s = \"", false},
	} {
		if got := sameWithoutComments("a.go", []byte(c.before), []byte(c.now)); got != c.want {
			t.Errorf("%q and %q: %t, want %t", c.before, c.now, got, c.want)
		}
	}
	image := func(comment, field string) []byte {
		b, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
			Name: new("a.proto"), MessageType: []*descriptorpb.DescriptorProto{{Name: new(field)}},
			SourceCodeInfo: &descriptorpb.SourceCodeInfo{Location: []*descriptorpb.SourceCodeInfo_Location{{LeadingComments: new(comment)}}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if !sameWithoutComments("a.binpb", image("A", "M"), image("B", "M")) {
		t.Error("another comment changes an image")
	}
	if sameWithoutComments("a.binpb", image("A", "M"), image("A", "N")) {
		t.Error("another message does not change an image")
	}
}

func TestComputes(t *testing.T) {
	for text, want := range map[string]bool{
		`package a; const n = 1; func f() int { x := n; x++; return x }`:         true,
		`package a; type t struct{ n int }; func f() []t { return []t{{n: 1}} }`: true,
		`package a; func f() { for i, x := range []int{1} { _, _ = i, x } }`:     true,
		`package a; var n = 1`: false,
		`package a; type t struct{ n int }; func (x t) f() t { x.n = 1; return x }`: true,
		`package a; type t struct{ n int }; func (x *t) f() { x.n = 1 }`:            false,
		`package a; type t struct{ n int }; func (x t) f(y *t) { y.n = 1 }`:         false,
		`package a; type u struct{ *t }; func (x u) f() { x.n = 1 }`:                false,
		`package a; func f(x *int) { *x = 1 }`:                                      false,
		`package a; func f(x []int) { x[0]++ }`:                                     false,
		`package a; func f(x []int) { x = append(x, 1)}`:                            false,
		`package a; func f(m map[int]int) { m[1] = 1 }`:                             false,
		`package a; func f() *int { x := 1; return &x }`:                            false,
		`package a; func f(m map[int]int) { clear(m) }`:                             false,
		`package a; func f(c chan int) {}`:                                          false,
		`package a; func f(x []int, m map[int]int) { for x[0], m[1] = range x {} }`: false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a.go", text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := computes(file); got != want {
			t.Errorf("%s: %t, want %t", text, got, want)
		}
	}
}
