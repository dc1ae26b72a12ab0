package tool

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"google.golang.org/protobuf/types/known/structpb"
)

func StructValue(v any) *structpb.Value {
	out, err := structpb.NewValue(v)
	if err != nil { // callers give texts, numbers and flags
		return structpb.NewNullValue()
	}
	return out
}

type kind int

const (
	KindText kind = iota
	KindTime
	KindInteger
	KindNumber
	KindFlag
	KindList // []string: an array, or text with commas
	KindJSON // json.RawMessage: an object or an array, or its text
)

// Param declares one parameter.
type Param struct {
	Name, Description string
	Kind              kind
	Required          bool
	Enum              []string
	// Pattern and example belong together: the example is shown when the pattern does not match.
	Pattern, Example string
	// Minimum and maximum bound a number; clamped says that one outside becomes the bound, with a note.
	Minimum, Maximum *float64
	Clamped          bool
	Fallback         any
	// Object says that JSON must be an object.
	Object bool
	// Form says in words what a pattern takes.
	Form string
	// Short reads text that stands for JSON; nil when there is no such text.
	Short func(text string) (json.RawMessage, bool)
}

func Num(v float64) *float64 { return &v }

// aliases are names that other tools of this kind use.
func aliases() map[string]string {
	return map[string]string{"service_name": "service", "since": "start_time", "until": "end_time", "service_names": "services"}
}

// meant is the parameter that a name which is none of the tool's stands for: by aliases, or by _json at its end, which some tools have and
// others do not.
func (t *Tool) meant(name string) *Param {
	if p := t.param(aliases()[name]); p != nil {
		return p
	}
	if base, ok := strings.CutSuffix(name, "_json"); ok {
		return t.param(base)
	}
	return t.param(name + "_json")
}

// WindowParams are start_time and end_time, the last 6 hours by default.
func WindowParams() []Param {
	return []Param{
		{Name: "start_time", Kind: KindTime, Description: "RFC 3339 or now-1h; default now-6h"},
		{Name: "end_time", Kind: KindTime, Description: "default now"},
	}
}

func LimitParam(fallback, most float64) Param {
	return Param{
		Name: "limit", Kind: KindInteger, Minimum: Num(1), Maximum: Num(most), Clamped: true, Fallback: int(fallback),
	}
}

func OffsetParam() Param {
	return Param{Name: "offset", Kind: KindInteger, Minimum: Num(0), Maximum: Num(maxOffset), Clamped: true, Fallback: 0}
}

func ServiceParam() Param {
	return Param{Name: "service", Kind: KindText, Description: "Exact name."}
}

func EnvironmentParam() Param {
	return Param{Name: "environment", Kind: KindText}
}

func (t *Tool) param(name string) *Param {
	for i := range t.Params {
		if t.Params[i].Name == name {
			return &t.Params[i]
		}
	}
	return nil
}

func (t *Tool) paramNames() string {
	names := make([]string, len(t.Params))
	for i, p := range t.Params {
		names[i] = p.Name
	}
	return strings.Join(names, ", ")
}

// inputSchema is what a model reads. It is stricter than what read takes.
func inputSchema(params []Param) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range params {
		s.PropertyOrder = append(s.PropertyOrder, p.Name)
		s.Properties[p.Name] = p.schema()
		if p.Required {
			s.Required = append(s.Required, p.Name)
		}
	}
	return s
}

func (p Param) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Description: p.Description, Minimum: p.Minimum, Maximum: p.Maximum, Pattern: p.Pattern}
	switch p.Kind {
	case KindText, KindTime:
		s.Type = "string"
	case KindInteger:
		s.Type = "integer"
	case KindNumber:
		s.Type = "number"
	case KindFlag:
		s.Type = "boolean"
	case KindList:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string"}
		for _, v := range p.Enum {
			s.Items.Enum = append(s.Items.Enum, v)
		}
		return s
	case KindJSON:
		s.Types = []string{"object", "array"}
		if p.Object {
			s.Type, s.Types = "object", nil
		}
	}
	for _, v := range p.Enum {
		s.Enum = append(s.Enum, v)
	}
	if p.Fallback != nil {
		if text, err := json.Marshal(p.Fallback); err == nil {
			s.Default = text
		}
	}
	return s
}

func TraceIDParam(description string, required bool) Param {
	return Param{
		Name: "trace_id", Kind: KindText, Description: description, Required: required, Pattern: "^[0-9a-fA-F]{32}$", Form: "32 hexadecimal digits",
		Example: "4bf92f3577b34da6a3ce929d0e0e4736",
	}
}
