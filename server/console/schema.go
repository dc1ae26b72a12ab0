package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// schema is the part of a JSON schema that a person reads.
type schema struct {
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Default     json.RawMessage   `json:"default"`
	Enum        []json.RawMessage `json:"enum"`
	Minimum     *json.Number      `json:"minimum"`
	Maximum     *json.Number      `json:"maximum"`
	Items       *schema           `json:"items"`
	Properties  properties        `json:"properties"`
	Required    []string          `json:"required"`
}

// properties are schemas by name, in the order of the text.
type properties struct {
	order []string
	of    map[string]*schema
}

// UnmarshalJSON keeps the order.
func (p *properties) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &p.of); err != nil {
		return fmt.Errorf("read a schema: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("read a schema: %w", err)
	}
	for d.More() {
		name, err := d.Token()
		var skipped json.RawMessage
		if err == nil {
			err = d.Decode(&skipped)
		}
		if err != nil {
			return fmt.Errorf("read a schema: %w", err)
		}
		if text, ok := name.(string); ok {
			p.order = append(p.order, text)
		}
	}
	return nil
}

// names are the properties of an object, the required ones first.
func (s *schema) names() []string {
	needed := map[string]bool{}
	for _, name := range s.Required {
		needed[name] = true
	}
	var first, rest []string
	for _, name := range s.Properties.order {
		if s.Properties.of[name] == nil {
			continue
		}
		if needed[name] {
			first = append(first, name)
		} else {
			rest = append(rest, name)
		}
	}
	return append(first, rest...)
}

// kind is the type in words.
func (s *schema) kind() string {
	var one string
	if json.Unmarshal(s.Type, &one) == nil {
		if one == "array" && s.Items != nil && len(s.Items.Type) > 0 {
			return s.Items.kind() + "[]"
		}
		return one
	}
	var several []string
	if json.Unmarshal(s.Type, &several) == nil {
		return strings.Join(several, " or ")
	}
	return "any"
}

// about is the description with bounds and choices.
func (s *schema) about() string {
	var parts []string
	if s.Description != "" {
		parts = append(parts, s.Description)
	}
	switch {
	case s.Minimum != nil && s.Maximum != nil:
		parts = append(parts, "From "+s.Minimum.String()+" to "+s.Maximum.String()+".")
	case s.Minimum != nil:
		parts = append(parts, "At least "+s.Minimum.String()+".")
	case s.Maximum != nil:
		parts = append(parts, "At most "+s.Maximum.String()+".")
	}
	choices := s.Enum
	if len(choices) == 0 && s.Items != nil {
		choices = s.Items.Enum
	}
	if len(choices) > 0 {
		list := make([]string, len(choices))
		for i, c := range choices {
			list[i] = strings.Trim(string(c), `"`)
		}
		parts = append(parts, "One of "+strings.Join(list, ", ")+".")
	}
	return strings.Join(parts, " ")
}
