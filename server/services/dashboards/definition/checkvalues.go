package definition

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

// values checks every value at every depth: JSON must be able to write the numbers, the database must be able to store the texts,
// and the texts must not be too long.
func (c *checker) values(m protoreflect.Message, path string) {
	free := m.Descriptor().ParentFile().Package() == "google.protobuf"
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		here := string(f.Name())
		switch {
		case free: // a caller did not write the names of the fields of Struct and Value
			here = path
		case path != "":
			here = path + "." + here
		}
		switch {
		case f.IsMap():
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				if strings.ContainsRune(k.String(), 0) || utf8.RuneCountInString(k.String()) > maxText {
					c.fail(here, "has a key that is longer than %s characters or holds a zero byte", limits.Number(maxText))
				}
				c.value(f.MapValue(), v, here+"["+strconv.Quote(k.String())+"]")
				return true
			})
		case f.IsList():
			for i := range v.List().Len() {
				c.value(f, v.List().Get(i), at(here, i))
			}
		default:
			c.value(f, v, here)
		}
		return true
	})
}

func (c *checker) value(f protoreflect.FieldDescriptor, v protoreflect.Value, path string) {
	switch f.Kind() {
	case protoreflect.DoubleKind:
		if n := v.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
			c.fail(path, "must be a finite number")
		}
	case protoreflect.StringKind:
		s := v.String()
		if strings.ContainsRune(s, 0) {
			c.fail(path, "holds a zero byte")
		}
		switch {
		case ownLength(f, path):
		case f.Name() == "content":
			c.length(path, s, maxMarkdown)
		default:
			c.length(path, s, maxText)
		}
	case protoreflect.MessageKind:
		c.values(v.Message(), path)
	}
}

// ownLength reports whether the check of a filter or statement bounds the length of a text.
func ownLength(f protoreflect.FieldDescriptor, path string) bool {
	switch f.Name() {
	case "where_clause", "list_where_clause", "sql":
		return true
	default: // a statement among the parameters of an endpoint
		return strings.HasSuffix(path, `.params["sql"]`)
	}
}

// length refuses a text of more characters than longest.
func (c *checker) length(path, text string, longest int) {
	if n := utf8.RuneCountInString(text); n > longest {
		c.fail(path, "has %s characters; at most %s are allowed", limits.Number(n), limits.Number(longest))
	}
}
