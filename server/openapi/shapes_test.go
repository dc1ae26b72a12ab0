package openapi_test

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"testing"
)

//go:embed testdata/telemetry_shapes.txt
var telemetryShapes string

// TestTelemetryShapes compares the reads of telemetry with the interface field by field. The file explains its format.
func TestTelemetryShapes(t *testing.T) {
	t.Parallel()
	doc := read(t)
	ops := map[string][]string{}
	operations(t, doc, func(path, method string, op map[string]any) {
		ops[op["operationId"].(string)] = []string{strings.ToUpper(method), path, fmt.Sprint(op["x-svc-scope"]), sentOf(op), answerOf(op)}
	})
	for line := range strings.Lines(telemetryShapes) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, fields, isShape := strings.Cut(line, ": ")
		if isShape {
			for _, problem := range shapeProblems(doc, name, fields) {
				t.Errorf("%s: %s", name, problem)
			}
			continue
		}
		want := strings.Fields(line)
		got := ops[want[0]]
		want[4] = strings.ReplaceAll(want[4], "+", "")
		if !slices.Equal(got, want[1:]) {
			t.Errorf("%s is %q, want %q", want[0], got, want[1:])
		}
	}
}

// sentOf returns the name of the component of a body, or ? with the list of the query parameters, or - without either.
func sentOf(op map[string]any) string {
	if body, ok := op["requestBody"].(map[string]any); ok {
		return refOf(body["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any))
	}
	var names []string
	parameters, _ := op["parameters"].([]any)
	for _, p := range parameters {
		p := p.(map[string]any)
		if p["in"] != "query" {
			continue
		}
		name := p["name"].(string)
		if p["required"] == true {
			name += "!"
		}
		names = append(names, name)
	}
	if len(names) == 0 {
		return "-"
	}
	return "?" + strings.Join(names, ",")
}

func answerOf(op map[string]any) string {
	ok := op["responses"].(map[string]any)["200"].(map[string]any)
	return refOf(ok["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any))
}

func refOf(schema map[string]any) string {
	ref, _ := schema["$ref"].(string)
	return strings.TrimPrefix(ref, "#/components/schemas/")
}

// shapeProblems compares a component with a line of the file.
func shapeProblems(doc any, name, fields string) (problems []string) {
	schema, ok := doc.(map[string]any)["components"].(map[string]any)["schemas"].(map[string]any)[name].(map[string]any)
	if !ok {
		return []string{"the document has no such component"}
	}
	properties := schema["properties"].(map[string]any)
	required := fmt.Sprint(schema["required"])
	inRequired := func(field string) bool { return slices.Contains(strings.Fields(strings.Trim(required, "[]")), field) }
	sent := strings.HasSuffix(name, "Params") || strings.HasSuffix(name, "Filters") || name == "AttributeFilter"
	known := map[string]bool{}
	for item := range strings.SplitSeq(strings.ReplaceAll(fields, " + ", ", "), ", ") {
		field, typ, _ := strings.Cut(item, " ")
		field, must := strings.CutSuffix(field, "!")
		known[field] = true
		property, ok := properties[field].(map[string]any)
		if !ok {
			problems = append(problems, field+" is missing")
			continue
		}
		typ, absent := strings.CutSuffix(typ, "~")
		typ, null := strings.CutSuffix(typ, "?")
		if sent {
			null, absent = !must, !must // a value that may be left out may also be null
			if isType(property, "array") || field == "value" {
				null = false
			}
		}
		if inRequired(field) == absent {
			problems = append(problems, fmt.Sprintf("%s: required is %v", field, inRequired(field)))
		}
		if got := nullable(property); got != null {
			problems = append(problems, fmt.Sprintf("%s: null is %v, want %v", field, got, null))
		}
		if got := typeOf(property); !fits(property, typ) {
			problems = append(problems, fmt.Sprintf("%s is %s, want %s", field, got, typ))
		}
	}
	for field := range properties {
		if !known[field] {
			problems = append(problems, field+" is not in the interface: put it behind the + if it is meant")
		}
	}
	return problems
}

func isType(schema map[string]any, want string) bool {
	switch typ := schema["type"].(type) {
	case string:
		return typ == want
	case []any:
		return slices.Contains(typ, any(want))
	default:
		return false
	}
}

func nullable(schema map[string]any) bool {
	if values, ok := schema["enum"].([]any); ok && slices.Contains(values, nil) {
		return true
	}
	for _, of := range []string{"anyOf", "oneOf"} {
		list, _ := schema[of].([]any)
		for _, s := range list {
			if isType(s.(map[string]any), "null") {
				return true
			}
		}
	}
	return isType(schema, "null")
}

// typeOf is for messages.
func typeOf(schema map[string]any) string {
	return fmt.Sprintf("%v %v %v %v %v", schema["type"], schema["format"], schema["const"], schema["enum"], refOf(schema))
}

// fits reports whether a schema has a type of the file, apart from null.
func fits(schema map[string]any, want string) bool {
	if item, ok := strings.CutSuffix(want, "[]"); ok {
		items, _ := schema["items"].(map[string]any)
		return isType(schema, "array") && fits(items, item)
	}
	if value, ok := strings.CutPrefix(want, "="); ok {
		return schema["const"] == value
	}
	switch want {
	case "any":
		return schema["type"] == nil
	case "str":
		return isType(schema, "string") && schema["format"] != "date-time"
	case "time":
		return isType(schema, "string") && schema["format"] == "date-time"
	case "num":
		return isType(schema, "number") || isType(schema, "integer")
	case "bool":
		return isType(schema, "boolean")
	case "map":
		of, _ := schema["additionalProperties"].(map[string]any)
		return isType(schema, "object") && isType(of, "string")
	}
	if values, ok := schema["enum"].([]any); ok || strings.Contains(want, "|") {
		if schema["const"] == want {
			return true
		}
		for value := range strings.SplitSeq(want, "|") {
			if !slices.Contains(values, any(value)) {
				return false
			}
		}
		return true
	}
	if refOf(schema) == want || schema["const"] == want {
		return true
	}
	for _, of := range []string{"anyOf", "oneOf"} {
		list, _ := schema[of].([]any)
		for _, s := range list {
			if refOf(s.(map[string]any)) == want {
				return true
			}
		}
	}
	return false
}
