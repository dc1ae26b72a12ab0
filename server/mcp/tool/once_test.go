package tool

import (
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

func TestOnce(t *testing.T) {
	long := "id,title{" + strings.Repeat("x", longName) + "}"
	described := map[string]string{}
	for _, c := range []struct{ name, text, want string }{
		{"get_rule", "rule{" + long + "},at", "rule{" + long + "},at"},
		{"list_rules", "rules[]{" + long + "},page{a,b},other{a,b}", "rules[]{as in get_rule},page{a,b},other{a,b}"},
		{"none", "a,b", "a,b"},
	} {
		one := &Tool{Name: c.name, Output: &jsonschema.Schema{Type: "object", Description: c.text}}
		if one.Once(described); one.Output.Description != c.want {
			t.Errorf("%s: %s, want %s", c.name, one.Output.Description, c.want)
		}
	}
	kept := &Tool{Output: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"id": {}}, Description: "rule{" + long + "}"}}
	if kept.Once(described); !strings.Contains(kept.Output.Description, long) {
		t.Error("a result with a schema for each field lost its description")
	}
}
