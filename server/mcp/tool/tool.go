package tool

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is one tool. Its input schema and the reading of its arguments both come from params.
type Tool struct {
	Name, Title, Description string
	// Set is the toolset that the tool belongs to.
	Set                          string
	Params                       []Param
	Output                       *jsonschema.Schema
	Writes, Destroys, Repeatable bool
	Run                          func(ctx context.Context, a *Arguments) (*Answer, error)
}

// Maker makes a tool over the services that it calls.
type Maker func(*Clients) (*Tool, error)

// Answer is what a tool found: data that fits its output schema, and the same for reading.
type Answer struct {
	Data any
	Text Page
}

func (t *Tool) Declaration() *sdk.Tool {
	destructive, open := t.Destroys, false
	return &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: inputSchema(t.Params), OutputSchema: t.Output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: !t.Writes, DestructiveHint: &destructive, IdempotentHint: !t.Writes || t.Repeatable, OpenWorldHint: &open,
		},
	}
}

// OutputOf is the schema of a Go type, with the shared types that refer to themselves.
func OutputOf[T any](defs map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: defs})
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	// No field is required: a failed call has structured content too, the error, and clients hold that against the schema as well.
	dropNull(schema)
	prune(schema)
	return schema, nil
}

// describedFields is how many fields the rows of a list may have for an output schema to give each a schema of its own.
const describedFields = 2

// prune keeps the list of tools short: single objects, rows with many fields, and what lies deeper are described by the names of their fields.
func prune(s *jsonschema.Schema) {
	// What many results share is described once, in the instructions; and rows by the tool that lists them.
	shared := map[string]string{"timeRange": "", "pagination": "", "filters": "", "dashboard": "as of list_dashboards", "validation": "inspected[]: verdict, flags and note of each widget; counts of verdicts"}
	rows := map[string]string{"recentTraces": "as of search_traces", "recentLogs": "as of search_logs"}
	for name, p := range s.Properties {
		whole := len(p.Properties) > 0
		pruneTo(p, 0)
		pruneTo(p.Items, describedFields)
		if text, ok := shared[name]; ok && whole {
			p.Description = text
		}
		if text, ok := rows[name]; ok {
			p.Items.Description = text
		}
	}
}

// pruneTo keeps the schemas of at most so many fields, and the names of all.
func pruneTo(s *jsonschema.Schema, most int) {
	if s == nil || len(s.Properties) == 0 {
		return
	}
	for _, p := range s.Properties {
		pruneTo(p, 0)
		pruneTo(p.Items, 0)
	}
	if len(s.Properties) <= most {
		return
	}
	names := s.PropertyOrder
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(s.Properties))
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = name
		field := s.Properties[name]
		switch {
		case field.Items != nil && field.Items.Description != "":
			parts[i] += "[]{" + field.Items.Description + "}"
		case field.Items != nil:
			parts[i] += "[]"
		case field.Description != "":
			parts[i] += "{" + field.Description + "}"
		}
	}
	s.Description, s.Properties, s.PropertyOrder = strings.Join(parts, ","), nil, nil
}

// dropNull removes the null that schemas of slices and pointers allow: results leave out what they do not have, and an empty list
// is a list.
func dropNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	// Names and types are what a reader needs. The rest costs tokens in every list of tools, of which a model has few.
	s.Required, s.Description = nil, ""
	if other := s.AdditionalProperties; other != nil && (other.Not != nil || other.Type == "" && len(other.Types) == 0) {
		s.AdditionalProperties = nil
	}
	dropNull(s.Items)
	dropNull(s.AdditionalProperties)
	for _, p := range s.Properties {
		dropNull(p)
	}
}

// Define completes a tool with the schema of its result.
func Define[T any](t *Tool) (*Tool, error) {
	output, err := OutputOf[T](nil)
	if err != nil {
		return nil, err
	}
	t.Output = output
	return t, nil
}
