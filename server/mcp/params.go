package mcp

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
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

// param declares one parameter.
type param struct {
	name, description string
	kind              kind
	required          bool
	enum              []string
	// pattern and example belong together: the example is shown when the pattern does not match.
	pattern, example string
	// minimum and maximum bound a number; clamped says that one outside becomes the bound, with a note.
	minimum, maximum *float64
	clamped          bool
	fallback         any
	// object says that JSON must be an object.
	object bool
	// form says in words what a pattern takes.
	form string
	// short reads text that stands for JSON; nil when there is no such text.
	short func(text string) (json.RawMessage, bool)
}

func num(v float64) *float64 { return &v }

// aliases are names that other tools of this kind use.
func aliases() map[string]string {
	return map[string]string{"service_name": "service", "since": "start_time", "until": "end_time", "service_names": "services"}
}

// meant is the parameter that a name which is none of the tool's stands for: by aliases, or by _json at its end, which some tools have and
// others do not.
func (t *tool) meant(name string) *param {
	if p := t.param(aliases()[name]); p != nil {
		return p
	}
	if base, ok := strings.CutSuffix(name, "_json"); ok {
		return t.param(base)
	}
	return t.param(name + "_json")
}

// windowParams are start_time and end_time, the last 6 hours by default.
func windowParams() []param {
	return []param{
		{name: "start_time", kind: kindTime, description: "RFC 3339 or now-1h; default now-6h"},
		{name: "end_time", kind: kindTime, description: "default now"},
	}
}

func limitParam(fallback, most float64) param {
	return param{
		name: "limit", kind: kindInteger, minimum: num(1), maximum: num(most), clamped: true, fallback: int(fallback),
	}
}

func offsetParam() param {
	return param{name: "offset", kind: kindInteger, minimum: num(0), maximum: num(maxOffset), clamped: true, fallback: 0}
}

func serviceParam() param {
	return param{name: "service", kind: kindText, description: "Exact name."}
}

func environmentParam() param {
	return param{name: "environment", kind: kindText}
}

func (t *tool) param(name string) *param {
	for i := range t.params {
		if t.params[i].name == name {
			return &t.params[i]
		}
	}
	return nil
}

func (t *tool) paramNames() string {
	names := make([]string, len(t.params))
	for i, p := range t.params {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// inputSchema is what a model reads. It is stricter than what read takes.
func inputSchema(params []param) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	for _, p := range params {
		s.PropertyOrder = append(s.PropertyOrder, p.name)
		s.Properties[p.name] = p.schema()
		if p.required {
			s.Required = append(s.Required, p.name)
		}
	}
	return s
}

func (p param) schema() *jsonschema.Schema {
	s := &jsonschema.Schema{Description: p.description, Minimum: p.minimum, Maximum: p.maximum, Pattern: p.pattern}
	switch p.kind {
	case kindText, kindTime:
		s.Type = "string"
	case kindInteger:
		s.Type = "integer"
	case kindNumber:
		s.Type = "number"
	case kindFlag:
		s.Type = "boolean"
	case kindList:
		s.Type, s.Items = "array", &jsonschema.Schema{Type: "string"}
		for _, v := range p.enum {
			s.Items.Enum = append(s.Items.Enum, v)
		}
		return s
	case kindJSON:
		s.Types = []string{"object", "array"}
		if p.object {
			s.Type, s.Types = "object", nil
		}
	}
	for _, v := range p.enum {
		s.Enum = append(s.Enum, v)
	}
	if p.fallback != nil {
		if text, err := json.Marshal(p.fallback); err == nil {
			s.Default = text
		}
	}
	return s
}
