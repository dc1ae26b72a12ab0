package tool

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
)

type kind int

const (
	kindText kind = iota
	kindTime
	kindInteger
	kindNumber
	kindFlag
	kindList // []string: an array, or text with commas
	kindJSON // json.RawMessage: an object or an array, or its text
)

// param is one parameter. It comes from a field of the arguments struct of a tool (see With).
type param struct {
	name, description string
	kind              kind
	required          bool
	enum              []string
	// pattern and example belong together: a value that does not match the pattern is refused with the example.
	pattern, example string
	// minimum and maximum bound a number. A number outside of them is refused. With clamped it becomes the nearest bound, with a
	// note.
	minimum, maximum *float64
	clamped          bool
	fallback         any
	// object says that JSON must be an object.
	object bool
	// form describes in words the texts that match the pattern.
	form string
	// short reads a text that stands for JSON. It is nil if the parameter has no such text.
	short func(text string) (json.RawMessage, bool)
	// general says that every tool takes the parameter. It stands last.
	general bool
	// index is the position of the field in the struct.
	index []int
}

// choices is implemented by text types that have a fixed set of values.
type choices interface{ Choices() []string }

// shorthand is implemented by JSON types for which a text can stand.
type shorthand interface {
	Short(text string) (json.RawMessage, bool)
}

// described is implemented by types whose description is too long for a tag.
type described interface{ Describe() string }

// shape sets the form of a text that several tools take.
func (p *param) shape(name string) error {
	var example string
	switch name {
	case "trace":
		p.pattern, p.form, example = "^[0-9a-fA-F]{32}$", "32 hexadecimal digits", "4bf92f3577b34da6a3ce929d0e0e4736"
	case "span":
		p.pattern, p.form, example = "^[0-9a-fA-F]{16}$", "16 hexadecimal digits", "00f067aa0ba902b7"
	case "fingerprint":
		p.pattern, p.form, example = "^[0-9]{1,20}$", "a whole number as text", "9223372036854775808"
	default:
		return fmt.Errorf("there is no shape %s", name)
	}
	p.example = cmp.Or(p.example, example)
	return nil
}

// paramsOf reads the parameters from a struct. A field's name gives the parameter's name: MinDurationMs is min_duration_ms. A
// field that is a pointer or a list stays empty if the call does not give it. These tags say more:
//
//	doc       the description; {SearchWindow} in it stands for the value of the limit with that name, now-{SearchWindow} for now-7d
//	required  "true" when the call must give it
//	doc:"-"   of an embedded struct: another tool of the set describes its parameters
//	default   the value when the call does not give it, or {DefaultFunnelWindow}: the number of that limit, in seconds if it is a time
//	range     the bounds of a number, as 1..{ToolRows} or 0..
//	clamp     bounds, too; a number outside of them is moved to the nearest bound. Empty means the bounds of the field in of
//	of        a field of the contract, as QueryMetric.type. The parameter has its values, its bounds, or its longest length
//	except    values of that field that the parameter does not have, with commas
//	also      values that only the parameter has, with commas
//	open      "true" when the values of that field are only usual ones: the description lists them, and any other text is possible
//	case      "camel" when the values of that field are written as totalTokens instead of total_tokens
//	shape     a name of shapes, as trace: text of a form that several tools take
//	example   shown when a value is missing or wrong
//	type      "object" when JSON must be an object
func paramsOf(t reflect.Type, index []int) ([]param, error) {
	var list, general []param
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(append([]int{}, index...), i)
		if f.Anonymous {
			if f.Type == reflect.TypeFor[Call]() {
				detail, _ := f.Type.FieldByName("Detail")
				general = append(general, param{
					name: "detail", kind: kindText, enum: []string{Brief, Full}, general: true, index: append(at, detail.Index...),
				})
				continue
			}
			inner, err := paramsOf(f.Type, at)
			if err != nil {
				return nil, err
			}
			if f.Tag.Get("doc") == "-" {
				for i := range inner {
					inner[i].description = ""
				}
			}
			for _, p := range inner {
				if p.general {
					general = append(general, p)
				} else {
					list = append(list, p)
				}
			}
			continue
		}
		if !f.IsExported() {
			continue
		}
		p, err := paramOf(f)
		if err != nil {
			return nil, fmt.Errorf("%s.%s: %w", t, f.Name, err)
		}
		p.index = at
		list = append(list, p)
	}
	return append(list, general...), nil
}

func paramOf(f reflect.StructField) (param, error) {
	p := param{
		name: SnakeCase(f.Name), description: f.Tag.Get("doc"), required: f.Tag.Get("required") == "true", example: f.Tag.Get("example"),
		object: f.Tag.Get("type") == "object",
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	zero := reflect.Zero(t).Interface()
	if s, ok := zero.(shorthand); ok {
		p.short = s.Short
	}
	if c, ok := zero.(choices); ok {
		p.enum = c.Choices()
	}
	if d, ok := zero.(described); ok {
		p.description = d.Describe()
	}
	if name := f.Tag.Get("shape"); name != "" {
		if err := p.shape(name); err != nil {
			return p, err
		}
	}
	switch {
	case t == reflect.TypeFor[time.Time]():
		p.kind = kindTime
	case t.ConvertibleTo(reflect.TypeFor[json.RawMessage]()) && t.Kind() == reflect.Slice:
		p.kind = kindJSON
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		p.kind = kindList
	case t.Kind() == reflect.String:
		p.kind = kindText
	case t.Kind() == reflect.Int:
		p.kind = kindInteger
	case t.Kind() == reflect.Float64:
		p.kind = kindNumber
	case t.Kind() == reflect.Bool:
		p.kind = kindFlag
	default:
		return p, fmt.Errorf("no argument has the type %s", f.Type)
	}
	if err := p.contract(f.Tag); err != nil {
		return p, err
	}
	if err := p.bounds(f.Tag); err != nil {
		return p, err
	}
	var err error
	if p.description, err = withLimits(p.description); err != nil {
		return p, err
	}
	return p, p.defaults(f.Tag)
}

// contract reads the tag of, and those that change its values.
func (p *param) contract(tag reflect.StructTag) error {
	name := tag.Get("of")
	if name == "" {
		return nil
	}
	f, err := fieldOf(name)
	if err != nil {
		return err
	}
	if p.kind == kindInteger || p.kind == kindNumber {
		if p.minimum, p.maximum = boundsOf(f); p.minimum == nil && p.maximum == nil {
			return fmt.Errorf("the contract has no bounds for %s", name)
		}
		return nil
	}
	values := choicesOf(f)
	if tag.Get("open") == "true" && len(values) > 0 {
		p.description = strings.TrimSpace("Usually " + strings.Join(values, ", ") + ". " + p.description)
		return nil
	}
	if longest := contract.Rules(f).GetString().GetMaxLen(); len(values) == 0 && longest > 0 {
		p.description = strings.TrimSpace(p.description + " At most " + limits.Number(int64(longest)) + " characters.")
		return nil
	}
	for _, v := range values {
		switch {
		case slices.Contains(strings.Split(tag.Get("except"), ","), v):
		case tag.Get("case") == "camel":
			p.enum = append(p.enum, camelCase(v))
		default:
			p.enum = append(p.enum, v)
		}
	}
	if len(p.enum) == 0 {
		return fmt.Errorf("the contract lists no values for %s", name)
	}
	if own := tag.Get("also"); own != "" {
		p.enum = append(p.enum, strings.Split(own, ",")...)
	}
	return nil
}

var limitName = regexp.MustCompile(`(?:now-)?\{[A-Z][A-Za-z]*\}`)

// withLimits puts the values of limits into a description.
func withLimits(text string) (string, error) {
	var unknown error
	text = limitName.ReplaceAllStringFunc(text, func(name string) string {
		braced, ago := strings.CutPrefix(name, "now-")
		l, err := limitOf(braced)
		switch {
		case err != nil:
			unknown = err
			return name
		case ago:
			return "now-" + Short(time.Duration(l.Value))
		}
		return l.Text()
	})
	return text, unknown
}

// limitOf returns the limit whose name stands in braces.
func limitOf(braced string) (limits.Limit, error) {
	return limits.Named(strings.Trim(braced, "{}"))
}

// numberOf reads a number of a tag: its digits, or the name of a limit in braces. A time is in seconds.
func numberOf(text string) (float64, error) {
	if !strings.HasPrefix(text, "{") {
		return strconv.ParseFloat(text, 64)
	}
	l, err := limitOf(text)
	if l.Unit == limits.Duration {
		return time.Duration(l.Value).Seconds(), err
	}
	return float64(l.Value), err
}

// bounds reads the tags range and clamp.
func (p *param) bounds(tag reflect.StructTag) error {
	text := tag.Get("range")
	if v, ok := tag.Lookup("clamp"); ok {
		text, p.clamped = v, true
		if text == "" && tag.Get("of") == "" {
			return errors.New("clamp has no bounds")
		}
	}
	if text == "" {
		return nil
	}
	low, high, ok := strings.Cut(text, "..")
	if !ok {
		return fmt.Errorf("the range %q has no two dots", text)
	}
	for bound, text := range map[**float64]string{&p.minimum: low, &p.maximum: high} {
		if text == "" {
			continue
		}
		v, err := numberOf(text)
		if err != nil {
			return fmt.Errorf("range: %w", err)
		}
		*bound = &v
	}
	return nil
}

// defaults reads the tag default.
func (p *param) defaults(tag reflect.StructTag) (err error) {
	text, ok := tag.Lookup("default")
	if !ok {
		return nil
	}
	switch p.kind {
	case kindInteger:
		var n float64
		n, err = numberOf(text)
		p.fallback = int(n)
	case kindNumber:
		p.fallback, err = numberOf(text)
	case kindFlag:
		p.fallback, err = strconv.ParseBool(text)
	default:
		p.fallback = text
	}
	return err
}

// SnakeCase writes a name in the form of arguments: TraceID becomes trace_id, HTTPMethod http_method, totalTokens total_tokens.
func SnakeCase(field string) string {
	var b strings.Builder
	runes := []rune(field)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// camelCase writes the name of an argument in the form of results: event_type becomes eventType.
func camelCase(name string) string {
	words := strings.Split(name, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}
