package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool. Its input schema and the reading of its arguments both come from params.
type tool struct {
	name, title, description string
	// set is the toolset that the tool belongs to.
	set                          string
	params                       []param
	output                       *jsonschema.Schema
	writes, destroys, repeatable bool
	run                          func(ctx context.Context, a *arguments) (*answer, error)
}

// answer is what a tool found: data that fits its output schema, and the same for reading.
type answer struct {
	data any
	text page
}

func (t *tool) declaration() *sdk.Tool {
	destructive, open := t.destroys, false
	return &sdk.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: inputSchema(t.params), OutputSchema: t.output,
		Annotations: &sdk.ToolAnnotations{
			Title: t.title, ReadOnlyHint: !t.writes, DestructiveHint: &destructive, IdempotentHint: !t.writes || t.repeatable, OpenWorldHint: &open,
		},
	}
}

// outputOf is the schema of a Go type, with the shared types that refer to themselves.
func outputOf[T any](defs map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
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

// handler wraps a tool: arguments, call, text. A failure of the caller or of the API is a result with isError, which a model can
// act on; only a defect is a protocol error.
func (s *Server) handler(t *tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := whileConnected(ctx)
		defer cancel()
		args, err := t.read(req.Params.Arguments, s.cfg.Now())
		if err != nil {
			return errorResult(t, err)
		}
		out, err := t.run(ctx, args)
		if err != nil {
			return errorResult(t, err)
		}
		out.text.notes = append(args.notes, out.text.notes...)
		data, err := json.Marshal(out.data)
		if err != nil {
			return nil, fmt.Errorf("encode the result of %s: %w", t.name, err)
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: out.text.render(t.title)}}, StructuredContent: json.RawMessage(data),
		}, nil
	}
}
