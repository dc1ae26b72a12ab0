package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	validate "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
)

// bounds returns limits.ts: a constant for each name that the sources import from it. A name is a limit of package limits, such as
// SearchWindow, or a field of the contract, such as CreateMarkerRequest_title. A duration is in milliseconds.
func bounds(methods []*contract.Method, sources fs.FS) ([]byte, error) {
	names, err := imported(sources)
	if err != nil {
		return nil, err
	}
	table := map[string]limits.Limit{}
	for _, g := range limits.Table() {
		for _, l := range g.Limits {
			table[l.Name] = l
		}
	}
	messages := map[protoreflect.FullName]protoreflect.MessageDescriptor{}
	for _, m := range methods {
		reach(m.Descriptor.Input(), messages)
	}
	var b bytes.Buffer
	b.WriteString("// Written by server/web/gentypes. Do not edit.\n\n")
	for _, name := range names {
		value := ""
		if l, ok := table[name]; ok {
			value = limitValue(l)
		} else if message, field, ok := strings.Cut(name, "_"); ok {
			value = fieldValue(messages[protoreflect.FullName(contract.Package).Append(protoreflect.Name(message))], protoreflect.Name(field))
		}
		if value == "" {
			return nil, fmt.Errorf("a source of the web application imports %s from gen/limits: it is neither a limit nor a field with a bound", name)
		}
		fmt.Fprintf(&b, "export const %s = %s;\n", name, value)
	}
	return b.Bytes(), nil
}

var (
	importing = regexp.MustCompile(`import \{([^}]*)\} from "[./]*/gen/limits"`)
	word      = regexp.MustCompile(`\w+`)
)

// imported returns the names that the sources import from limits.ts.
func imported(sources fs.FS) ([]string, error) {
	names := map[string]bool{}
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".ts") && !strings.HasSuffix(path, ".tsx") {
			return err
		}
		text, err := fs.ReadFile(sources, path)
		if err != nil {
			return err
		}
		for _, m := range importing.FindAllSubmatch(text, -1) {
			for _, name := range word.FindAllString(string(m[1]), -1) {
				names[name] = true
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(names)), err
}

func limitValue(l limits.Limit) string {
	switch l.Unit {
	case limits.Duration:
		return fmt.Sprint(l.Value / int64(time.Millisecond))
	case limits.Bytes:
		return fmt.Sprintf("{ bytes: %d }", l.Value)
	case limits.Characters:
		return fmt.Sprintf("{ characters: %d }", l.Value)
	default:
		return fmt.Sprint(l.Value)
	}
}

// fieldValue is the length of a text, the number of elements of a list, or the range of a number. It is empty if the contract bounds none.
func fieldValue(m protoreflect.MessageDescriptor, name protoreflect.Name) string {
	if m == nil || m.Fields().ByName(name) == nil {
		return ""
	}
	f := m.Fields().ByName(name)
	rules := contract.Rules(f)
	switch text := rules.GetString(); {
	case f.IsList() && rules.GetRepeated().HasMaxItems():
		return fmt.Sprint(rules.GetRepeated().GetMaxItems())
	case text.HasMaxLen():
		return fmt.Sprintf("{ characters: %d }", text.GetMaxLen())
	case text.HasMaxBytes():
		return fmt.Sprintf("{ bytes: %d }", text.GetMaxBytes())
	default:
		return numberRange(rules)
	}
}

// numberRange is the range of a number, as the attributes of a control. No whole number is between an excluded bound and the next one; for
// other numbers, the API refuses the excluded bound.
func numberRange(rules *validate.FieldRules) string {
	least, most := "", ""
	switch {
	case rules.GetInt32() != nil:
		least, most = ends(rules.GetInt32(), 1)
	case rules.GetInt64() != nil:
		least, most = ends(rules.GetInt64(), 1)
	case rules.GetDouble() != nil:
		least, most = ends(rules.GetDouble(), 0)
	}
	parts := slices.DeleteFunc([]string{least, most}, func(s string) bool { return s == "" })
	if len(parts) == 0 {
		return ""
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

type ranged[T int32 | int64 | float64] interface {
	HasGt() bool
	GetGt() T
	HasGte() bool
	GetGte() T
	HasLt() bool
	GetLt() T
	HasLte() bool
	GetLte() T
}

func ends[T int32 | int64 | float64](r ranged[T], step T) (least, most string) {
	switch {
	case r.HasGte():
		least = "min: " + fmt.Sprint(r.GetGte())
	case r.HasGt():
		least = "min: " + fmt.Sprint(r.GetGt()+step)
	}
	switch {
	case r.HasLte():
		most = "max: " + fmt.Sprint(r.GetLte())
	case r.HasLt():
		most = "max: " + fmt.Sprint(r.GetLt()-step)
	}
	return least, most
}
