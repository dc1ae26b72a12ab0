package alerts

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// TestTemplates compares the choices of the argument template with the templates.
func TestTemplates(t *testing.T) {
	field, _ := reflect.TypeFor[createRuleArgs]().FieldByName("Template")
	got := strings.Split(field.Tag.Get("enum"), ",")
	want := append(slices.Collect(maps.Keys(templates)), "custom")
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the argument allows %q, and there are %q", got, want)
	}
}
