package wirejson

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/limits"
)

const (
	maxDepth = limits.RequestDepth
	// maxProblems bounds the problems that are kept of a hostile body. Counting continues.
	maxProblems = limits.Problems
)

// Problem is one value that does not fit its field.
type Problem struct {
	// Path is its place, `filters.attributes[2].key`; empty for the whole text.
	Path string
	// Message is a sentence that names the path.
	Message string
}

// DecodeError lists the problems of a JSON text, in the order of the text.
type DecodeError struct {
	Problems []Problem
	// Count is the number of problems, at least len(Problems).
	Count int
}

// Path is the place of the first problem.
func (e *DecodeError) Path() string { return e.Problems[0].Path }

// Error returns the first problem and the number of others.
func (e *DecodeError) Error() string {
	switch others := e.Count - 1; others {
	case 0:
		return e.Problems[0].Message
	case 1:
		return e.Problems[0].Message + " (and 1 other invalid field)"
	default:
		return fmt.Sprintf("%s (and %d other invalid fields)", e.Problems[0].Message, others)
	}
}

// Unmarshal reads JSON text into an empty message. It refuses the top-level fields that inPath names: their values come from the path
// of the request. The error is a *DecodeError; the message then holds the values that could be read.
func Unmarshal(data []byte, m proto.Message, inPath ...string) error {
	d := &decoder{scanner: scanner{data: data}, inPath: inPath}
	// peek returns 0 for a zero byte in the text, and at the end; the position tells them apart.
	switch c := d.peek(); {
	case c == 0 && d.pos == len(data):
		d.problem("", "The body is empty: a JSON object is expected.")
	case c == '{':
		d.message(m.ProtoReflect(), "", 0)
		if d.peek(); d.err == nil && d.pos < len(data) {
			d.fail("more text follows the JSON object")
		}
	default:
		d.problem("", "The body must be a JSON object.")
	}
	if d.err != nil {
		// Problems found in text that is not JSON mean little.
		return &DecodeError{Problems: []Problem{{Message: "The body is not valid JSON: " + d.err.Error() + "."}}, Count: 1}
	}
	if d.count > 0 {
		return &DecodeError{Problems: d.problems, Count: d.count}
	}
	return nil
}

type decoder struct {
	scanner
	inPath   []string
	problems []Problem
	count    int
}

func (d *decoder) problem(path, message string) {
	if d.err != nil {
		return
	}
	d.count++
	if len(d.problems) < maxProblems {
		d.problems = append(d.problems, Problem{path, message})
	}
}

// mismatch reports a value of the wrong type and skips it.
func (d *decoder) mismatch(path, wanted string) {
	found := "null"
	switch c := d.peek(); c {
	case '"':
		found = "a string"
	case '{':
		found = "an object"
	case '[':
		found = "a list"
	case 't', 'f':
		found = "a boolean"
	case 'n':
	default:
		found = "a number"
	}
	d.problem(path, fmt.Sprintf("`%s` must be %s, not %s.", path, wanted, found))
	d.skip(0)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func (d *decoder) tooDeep(depth int) bool {
	if depth > maxDepth {
		d.fail("values are nested deeper than %d levels", maxDepth)
	}
	return d.err != nil
}

func (d *decoder) message(m protoreflect.Message, path string, depth int) {
	l := layoutOf(m.Descriptor())
	switch l.form {
	case formTimestamp:
		d.timestamp(m, path)
		return
	case formStruct, formList, formValue:
		d.wellKnown(m, l.form, path, depth)
		return
	case formRefused:
		d.problem(path, fmt.Sprintf("`%s` cannot be given in JSON.", path))
		d.skip(depth)
		return
	}
	if d.peek() != '{' {
		d.mismatch(path, "an object")
		return
	}
	if d.tooDeep(depth) {
		return
	}
	d.take('{')
	seen := make(map[string]struct{}, len(l.fields))
	var given []string
	if l.mask != nil {
		defer func() { setMask(m, l.mask, given) }()
	}
	for first := true; d.more(first, '}'); first = false {
		name := d.text()
		d.take(':')
		if d.err != nil {
			return
		}
		at := join(path, name)
		f, ok := l.byName[name]
		if ok {
			name = f.name
		}
		if _, twice := seen[name]; twice {
			d.problem(at, fmt.Sprintf("`%s` is given twice.", at))
			d.skip(depth)
			continue
		}
		seen[name] = struct{}{}
		if !ok {
			d.problem(at, fmt.Sprintf("`%s` is not a known field%s.", at, l.suggestion(name)))
			d.skip(depth)
			continue
		}
		if depth == 0 && slices.Contains(d.inPath, name) {
			d.problem(at, fmt.Sprintf("`%s` is not a field of the body. It is part of the path.", at))
			d.skip(depth)
			continue
		}
		if !f.precondition {
			given = append(given, name)
		}
		d.field(m, f, at, depth+1)
	}
}

// setMask sets the update mask of a message, even to an empty one: an empty mask differs from a missing mask.
func setMask(m protoreflect.Message, mask protoreflect.FieldDescriptor, names []string) {
	inner := m.Mutable(mask).Message()
	paths := inner.Mutable(inner.Descriptor().Fields().ByName("paths")).List()
	for _, name := range names {
		paths.Append(protoreflect.ValueOfString(name))
	}
}

// suggestion names the field that the caller probably meant.
func (l *layout) suggestion(name string) string {
	flat := func(s string) string {
		return strings.ToLower(strings.ReplaceAll(strings.ReplaceAll(s, "_", ""), "-", ""))
	}
	for i := range l.fields {
		if flat(l.fields[i].name) == flat(name) {
			return "; the name is `" + l.fields[i].name + "`"
		}
	}
	return ""
}

func (d *decoder) field(m protoreflect.Message, f *fieldLayout, path string, depth int) {
	desc := f.desc
	c := d.peek()
	isValue := desc.Message() != nil && !desc.IsMap() && layoutOf(desc.Message()).form == formValue
	if c == 'n' && !(isValue && !desc.IsList()) {
		if !f.takesNull {
			d.mismatch(path, wanted(desc))
			return
		}
		d.literal("null")
		return
	}
	if o := desc.ContainingOneof(); o != nil && !o.IsSynthetic() {
		if other := m.WhichOneof(o); other != nil {
			d.problem(path, fmt.Sprintf("`%s` cannot be given together with `%s`.", path, other.Name()))
			d.skip(depth)
			return
		}
	}
	switch {
	case desc.IsList():
		d.list(m, f, path, depth)
	case desc.IsMap():
		d.mapField(m, desc, path, depth)
	case desc.Message() != nil:
		d.message(m.Mutable(desc).Message(), path, depth)
	default:
		if v, ok := d.scalar(desc, path); ok {
			m.Set(desc, v)
		}
	}
}

func (d *decoder) list(m protoreflect.Message, f *fieldLayout, path string, depth int) {
	if d.peek() != '[' {
		d.mismatch(path, "a list")
		return
	}
	if d.tooDeep(depth) {
		return
	}
	d.take('[')
	i := 0
	list := m.Mutable(f.desc).List()
	for ; d.more(i == 0, ']'); i++ {
		at := path + "[" + strconv.Itoa(i) + "]"
		if f.desc.Message() != nil {
			e := list.NewElement()
			d.message(e.Message(), at, depth+1)
			list.Append(e)
		} else if v, ok := d.scalar(f.desc, at); ok {
			list.Append(v)
		}
	}
	if i == 0 && f.nullWhenEmpty {
		d.problem(path, fmt.Sprintf("`%s` must not be an empty list. Leave it out instead.", path))
	}
}

func (d *decoder) mapField(m protoreflect.Message, desc protoreflect.FieldDescriptor, path string, depth int) {
	if d.peek() != '{' {
		d.mismatch(path, "an object")
		return
	}
	if d.tooDeep(depth) {
		return
	}
	d.take('{')
	out := m.Mutable(desc).Map()
	for first := true; d.more(first, '}'); first = false {
		name := d.text()
		d.take(':')
		if d.err != nil {
			return
		}
		at := path + "[" + strconv.Quote(name) + "]"
		key, ok := mapKey(desc.MapKey(), name)
		switch {
		case !ok:
			d.problem(at, fmt.Sprintf("`%s` must have %s as its key.", at, wanted(desc.MapKey())))
			d.skip(depth)
		case out.Has(key):
			d.problem(at, fmt.Sprintf("`%s` is given twice.", at))
			d.skip(depth)
		case desc.MapValue().Message() != nil:
			v := out.NewValue()
			d.message(v.Message(), at, depth+1)
			out.Set(key, v)
		default:
			if v, ok := d.scalar(desc.MapValue(), at); ok {
				out.Set(key, v)
			}
		}
	}
}

// skip skips a value of any type, so that the rest of the text can be checked.
func (d *decoder) skip(depth int) {
	if d.tooDeep(depth) {
		return
	}
	switch c := d.peek(); c {
	case '{':
		d.take('{')
		for first := true; d.more(first, '}'); first = false {
			d.text()
			d.take(':')
			d.skip(depth + 1)
		}
	case '[':
		d.take('[')
		for first := true; d.more(first, ']'); first = false {
			d.skip(depth + 1)
		}
	case '"':
		d.text()
	case 't':
		d.literal("true")
	case 'f':
		d.literal("false")
	case 'n':
		d.literal("null")
	default:
		d.anyNumber()
	}
}

// anyNumber reads a number where a value of any type may stand.
func (d *decoder) anyNumber() string {
	if c := d.peek(); c != '-' && (c < '0' || c > '9') {
		d.unexpected("a value")
		return "0"
	}
	return d.number()
}
