package mcp

import (
	"go/ast"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	_ "github.com/svc-observability/svc/gen/svc/v2" // registers the contract
	"github.com/svc-observability/svc/server/contract"
)

var word = regexp.MustCompile(`[A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9]`)

// TestChoicesComeFromTheContract reads the descriptions of all arguments. A description with three values of one field of the contract
// is a list by hand, which the next value makes wrong: the tag `of` takes the values from the field, and `open` lists them in the
// description.
func TestChoicesComeFromTheContract(t *testing.T) {
	lists := choicesOfContract()
	if len(lists) < 40 {
		t.Fatalf("the contract has %d lists of choices", len(lists))
	}
	folders, err := filepath.Glob("tools/*")
	if err != nil {
		t.Fatal(err)
	}
	described := 0
	for _, folder := range folders {
		for path, f := range sources(t, folder) {
			ast.Inspect(f, func(n ast.Node) bool {
				field, ok := n.(*ast.Field)
				if !ok || field.Tag == nil {
					return true
				}
				tag, err := strconv.Unquote(field.Tag.Value)
				if err != nil {
					t.Fatal(err)
				}
				doc := reflect.StructTag(tag).Get("doc")
				if doc == "" {
					return true
				}
				described++
				words := map[string]bool{}
				for _, w := range word.FindAllString(doc, -1) {
					words[w] = true
				}
				for name, values := range lists {
					found := 0
					for _, v := range values {
						if words[v] {
							found++
						}
					}
					if found >= 3 {
						t.Errorf("%s: %q lists the values of %s", path, doc, name)
					}
				}
				return true
			})
		}
	}
	if described < 100 {
		t.Errorf("%d descriptions were found", described)
	}
}

// choicesOfContract returns the values of each field that has three or more.
func choicesOfContract() map[string][]string {
	lists := map[string][]string{}
	var add func(messages protoreflect.MessageDescriptors)
	add = func(messages protoreflect.MessageDescriptors) {
		for i := range messages.Len() {
			m := messages.Get(i)
			add(m.Messages())
			for j := range m.Fields().Len() {
				f := m.Fields().Get(j)
				allowed, shown := contract.Choices(f)
				for _, values := range [][]string{allowed, shown, contract.UsualValues(f)} {
					if len(values) >= 3 {
						lists[string(f.FullName())] = append(lists[string(f.FullName())], values...)
					}
				}
			}
		}
	}
	protoregistry.GlobalFiles.RangeFilesByPackage(contract.Package, func(file protoreflect.FileDescriptor) bool {
		add(file.Messages())
		return true
	})
	return lists
}
