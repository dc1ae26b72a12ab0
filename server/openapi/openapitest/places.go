package openapitest

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// paths are the places of schemas in an OpenAPI document. A star stands for every property or item.
type paths [][]string

var places = paths{
	{"components", "schemas", "*"},
	{"components", "headers", "*", "schema"},
	{"paths", "*", "*", "parameters", "[]", "schema"},
	{"paths", "*", "*", "requestBody", "content", "*", "schema"},
	{"paths", "*", "*", "responses", "*", "content", "*", "schema"},
}

// vocabulary tells the compiler where the document has schemas, so that it finds all of them in one pass. Without it, the compiler takes
// each place for an unknown one and copies its list of all places: that took 4 s of processor time in every test binary.
func (p paths) vocabulary() *jsonschema.Vocabulary {
	v := &jsonschema.Vocabulary{
		URL:     location + "/schemas",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return nil, nil },
	}
	for _, path := range p {
		var steps jsonschema.SchemaPath
		for _, step := range path {
			switch step {
			case "*":
				steps = append(steps, jsonschema.AllProp{})
			case "[]":
				steps = append(steps, jsonschema.AllItem{})
			default:
				steps = append(steps, jsonschema.Prop(step))
			}
		}
		v.Subschemas = append(v.Subschemas, steps)
	}
	return v
}

// validate holds the schemas of a document to the metaschema. The compiler does so only at places that JSON Schema itself names.
func (p paths) validate(doc any) error {
	const metaschema = "https://json-schema.org/draft/2020-12/schema"
	var all []any
	for _, path := range p {
		var of any = map[string]any{"$ref": metaschema}
		for _, step := range slices.Backward(path) {
			switch step {
			case "*":
				of = map[string]any{"additionalProperties": of}
			case "[]":
				of = map[string]any{"items": of}
			default:
				of = map[string]any{"properties": map[string]any{step: of}}
			}
		}
		all = append(all, of)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource(location+"/places.json", map[string]any{"allOf": all}); err != nil {
		return err
	}
	schema, err := compiler.Compile(location + "/places.json")
	if err != nil {
		return err
	}
	return schema.Validate(doc)
}
