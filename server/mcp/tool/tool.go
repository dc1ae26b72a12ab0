package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool is one tool. Both its input schema and the code that reads its arguments come from the struct of its arguments (see With).
type Tool struct {
	Name, Title, Description string
	// View is the page that shows a person the same.
	View View
	// Set is the toolset of the tool.
	Set                          string
	Output                       *jsonschema.Schema
	Writes, Destroys, Repeatable bool
	// OpenWorld says that the tool reads from a service outside of this server.
	OpenWorld bool
	// Run is made by With.
	Run Runner
	// clients look up names in the arguments; see LookUp.
	clients *Clients
	// detailed says that a full result has more fields than a brief one.
	detailed bool
}

// LookUp makes the tool look up the services, environments, operations, metrics, events and attributes that its arguments name.
func (t *Tool) LookUp(s *Clients) { t.clients = s }

// Maker makes a tool from the clients of the services that it calls.
type Maker func(*Clients) (*Tool, error)

// Answer is the result of a tool: data that fits its output schema, and the same as text.
type Answer struct {
	Data any
	Text Page
	// ID is the object that the call made or found. It stands for {id} in the view of the tool.
	ID string
	// Place is the address of the page below the organization. With fills it in from the view of the tool if it is empty.
	Place string

	full bool
}

// Call runs the tool.
func (t *Tool) Call(ctx context.Context, raw json.RawMessage, now time.Time) (*Answer, error) {
	return t.Run.run(ctx, t, raw, now)
}

// Declaration is the tool as clients see it.
func (t *Tool) Declaration() *sdk.Tool {
	destructive, open := t.Destroys, t.OpenWorld
	return &sdk.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: inputSchema(t.listed()), OutputSchema: t.Output,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: !t.Writes, DestructiveHint: &destructive, IdempotentHint: !t.Writes || t.Repeatable, OpenWorldHint: &open,
		},
	}
}

// listed are the parameters in the schema: with detail only if it makes a difference.
func (t *Tool) listed() []param {
	return slices.DeleteFunc(slices.Clone(t.Run.params), func(p param) bool { return p.general && !t.detailed })
}

// OutputOf is the schema of a Go type. defs has the schemas of shared types that refer to themselves.
func OutputOf[T any](defs map[reflect.Type]*jsonschema.Schema) (*jsonschema.Schema, error) {
	schema, err := jsonschema.For[T](&jsonschema.ForOptions{TypeSchemas: defs})
	if err != nil {
		return nil, fmt.Errorf("output schema: %w", err)
	}
	// No field is required. A failed call also has structured content, the error, and clients check it against this schema too.
	dropNull(schema)
	prune(schema, reflect.TypeFor[T]())
	return schema, nil
}

// describedFields is the highest number of fields for which the rows of a list keep a schema for each field.
const describedFields = 2

// describedResult is the longest schema of a result that describes each field, in bytes. A longer one has only the names.
const describedResult = 250

// prune keeps the list of tools short. Single objects, rows with many fields, and deeper fields are described only by the names
// of their fields. The tag summary of a field of the result replaces that description. It is empty for a field that the resource of
// instructions describes. If another tool has the same result, the result is described only there.
func prune(s *jsonschema.Schema, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		whole := len(p.Properties) > 0
		pruneTo(p, 0)
		pruneTo(p.Items, describedFields)
		text, ok := f.Tag.Lookup("summary")
		switch {
		case ok && p.Items != nil:
			p.Items.Description = text
		case ok && whole:
			p.Description = text
		case whole && (f.Type == reflect.TypeFor[TimeRange]() || f.Type == reflect.TypeFor[Pagination]()):
			p.Description = "" // the resource of instructions describes both once for all tools
		}
	}
}

// pruneTo keeps the schemas of the fields if there are at most most of them. Otherwise it keeps only their names.
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

// OnlyNames describes a result by the names of its fields alone.
func OnlyNames(s *jsonschema.Schema) *jsonschema.Schema {
	pruneTo(s, 0)
	return s
}

// dropNull removes the null that schemas of slices and pointers allow. Results leave out absent fields, and an empty list is
// written as a list.
func dropNull(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	// A reader needs only names and types. The rest costs tokens in every list of tools, and a model has few of them.
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
	if t.Run.err != nil {
		return nil, fmt.Errorf("arguments of %s: %w", t.Name, t.Run.err)
	}
	if t.View == "" {
		return nil, fmt.Errorf("%s: say in View which page shows the same, or NoView", t.Name)
	}
	t.detailed = hasDetail(reflect.TypeFor[T](), map[reflect.Type]bool{})
	if t.Output != nil {
		return t, nil
	}
	output, err := OutputOf[T](nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	text, err := json.Marshal(output)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, err)
	}
	// The result of a change is mostly an echo of its arguments.
	if t.Writes || len(text) > describedResult {
		pruneTo(output, 0)
	}
	t.Output = output
	return t, nil
}
