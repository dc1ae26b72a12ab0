package openapi

import (
	"encoding/json"
	"slices"
)

// schema is the part of JSON Schema 2020-12 that we write.
type schema struct {
	Ref              string           `json:"$ref,omitempty"`
	Description      string           `json:"description,omitempty"`
	Type             types            `json:"type,omitempty"`
	Format           string           `json:"format,omitempty"`
	Const            any              `json:"const,omitempty"`
	Enum             []any            `json:"enum,omitempty"`
	Not              *schema          `json:"not,omitempty"`
	Pattern          string           `json:"pattern,omitempty"`
	MinLength        json.Number      `json:"minLength,omitempty"`
	MaxLength        json.Number      `json:"maxLength,omitempty"`
	Minimum          json.Number      `json:"minimum,omitempty"`
	ExclusiveMinimum json.Number      `json:"exclusiveMinimum,omitempty"`
	Maximum          json.Number      `json:"maximum,omitempty"`
	ExclusiveMaximum json.Number      `json:"exclusiveMaximum,omitempty"`
	Items            *schema          `json:"items,omitempty"`
	MinItems         json.Number      `json:"minItems,omitempty"`
	MaxItems         json.Number      `json:"maxItems,omitempty"`
	UniqueItems      bool             `json:"uniqueItems,omitempty"`
	Properties       *object[*schema] `json:"properties,omitempty"`
	PropertyNames    *schema          `json:"propertyNames,omitempty"`
	Required         []string         `json:"required,omitempty"`
	MinProperties    json.Number      `json:"minProperties,omitempty"`
	MaxProperties    json.Number      `json:"maxProperties,omitempty"`
	// AdditionalProperties is false for a closed object, or the schema of a map's values.
	AdditionalProperties any       `json:"additionalProperties,omitempty"`
	OneOf                []*schema `json:"oneOf,omitempty"`
	AnyOf                []*schema `json:"anyOf,omitempty"`
	Examples             []any     `json:"examples,omitempty"`

	// example is a whole value for the bodies that we show; nil when it follows from the keywords.
	example any
}

// types is one JSON type, or several.
type types []string

// MarshalJSON writes one type as text.
func (t types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

const refPrefix = "#/components/schemas/"

func refTo(component string) *schema { return &schema{Ref: refPrefix + component} }

// nullable allows null too.
func (s *schema) nullable() *schema {
	switch {
	case s.Ref != "":
		null := &schema{Type: types{"null"}}
		return &schema{Description: s.Description, AnyOf: []*schema{{Ref: s.Ref}, null}, Examples: s.Examples, example: s.example}
	case len(s.Type) == 0: // any value at all
		return s
	case s.Const != nil: // a constant is not null
		s.Enum, s.Const = []any{s.Const}, nil
	}
	if !slices.Contains(s.Type, "null") {
		s.Type = append(s.Type, "null")
		if len(s.Enum) > 0 {
			s.Enum = append(s.Enum, nil)
		}
	}
	return s
}
