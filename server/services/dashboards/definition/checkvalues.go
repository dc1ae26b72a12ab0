package definition

import (
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
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
				if strings.ContainsRune(k.String(), 0) || len(k.String()) > maxTextBytes {
					c.fail(here, "has a key that is longer than %d bytes or holds a zero byte", maxTextBytes)
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
		longest := maxTextBytes
		switch f.Name() {
		case "content":
			longest = maxLongBytes
		case "sql": // the check of the statement bounds its length
			longest = maxDefinitionBytes
		}
		switch s := v.String(); {
		case len(s) > longest:
			c.fail(path, "has %d bytes; at most %d are allowed", len(s), longest)
		case strings.ContainsRune(s, 0):
			c.fail(path, "holds a zero byte")
		}
	case protoreflect.MessageKind:
		c.values(v.Message(), path)
	}
}
