package tool

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"
)

// inputSchema is the schema that a model reads. It is stricter than the code that reads arguments.
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
	//exhaustive:enforce
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
