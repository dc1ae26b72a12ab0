package reads

import (
	"reflect"
	"slices"
	"strings"
)

// tableColumns lists the columns of a row type, from the tags of its fields. It leaves out those that a statement computes.
func tableColumns[T any](computed ...string) string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name := f.Tag.Get("ch"); !slices.Contains(computed, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
