package openapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/golden"
	"github.com/svc-observability/svc/server/openapi"
)

const baseURL = "https://svc.acme.internal"

func load(t testing.TB) *contract.Contract {
	t.Helper()
	c, err := contract.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var written = sync.OnceValues(func() ([]byte, error) {
	c, err := contract.Load()
	if err != nil {
		return nil, err
	}
	return openapi.New(c, baseURL)
})

func write(t testing.TB) []byte {
	t.Helper()
	doc, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestGolden shows a change of the API to its reviewer.
func TestGolden(t *testing.T) {
	const path = "testdata/openapi.json"
	got := write(t)
	golden.Write(t, path, string(got))
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if bytes.Equal(want, got) {
		return
	}
	t.Errorf("%s differs (-golden +got); run the test with -update if you mean this:\n%s", path,
		cmp.Diff(strings.Split(string(want), "\n"), strings.Split(string(got), "\n")))
}

// part reads a value out of the document by a JSON pointer.
func part(t testing.TB, doc any, pointer string) any {
	t.Helper()
	v := doc
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch at := v.(type) {
		case map[string]any:
			v = at[step]
		case []any:
			var i int
			if _, err := fmt.Sscan(step, &i); err != nil || i >= len(at) {
				t.Fatalf("%s: no element %s", pointer, step)
			}
			v = at[i]
		default:
			t.Fatalf("%s: nothing at %s", pointer, step)
		}
	}
	return v
}

// read is the document as JSON values.
func read(t testing.TB) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(write(t), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// operations calls fn with every operation of the document.
func operations(t testing.TB, doc any, fn func(path, method string, op map[string]any)) {
	t.Helper()
	for path, item := range part(t, doc, "/paths").(map[string]any) {
		for method, op := range item.(map[string]any) {
			fn(path, method, op.(map[string]any))
		}
	}
}

// TestEveryOperation compares the document with the contract, for every method.
func TestEveryOperation(t *testing.T) {
	doc := read(t)
	if got := part(t, doc, "/openapi"); got != "3.1.0" {
		t.Errorf("openapi is %v", got)
	}
	if got := part(t, doc, "/info/version"); got != "2.0.0" {
		t.Errorf("info.version is %v", got)
	}
	if got := part(t, doc, "/servers/0/url"); got != baseURL {
		t.Errorf("the server is %v", got)
	}
	wanted := map[string]*contract.Method{}
	for _, m := range load(t).Methods() {
		if !m.NoREST {
			wanted[m.OperationID] = m
		}
	}
	ids := map[string]bool{}
	operations(t, doc, func(path, method string, op map[string]any) {
		id, _ := op["operationId"].(string)
		m := wanted[id]
		if m == nil || ids[id] || m.HTTP.Path != path || !strings.EqualFold(m.HTTP.Method, method) {
			t.Errorf("%s %s: operation id %q is unknown, taken or elsewhere", method, path, id)
			return
		}
		ids[id] = true
		if tags, _ := op["tags"].([]any); len(tags) != 1 {
			t.Errorf("%s has tags %v, want one", id, tags)
		}
		if text, _ := op["description"].(string); len(text) <= 20 || op["summary"] == "" {
			t.Errorf("%s: summary %q, description %q", id, op["summary"], text)
		}
		if security, ok := op["security"].([]any); !ok || (len(security) == 0) != m.Public {
			t.Errorf("%s: security is %v", id, op["security"])
		}
		if scope, _ := op["x-svc-scope"].(string); scope != m.Scope() {
			t.Errorf("%s: the scope is %q", id, scope)
		}
		if (op["requestBody"] != nil) != (m.HTTP.BodyField != "") {
			t.Errorf("%s: the request body is %v", id, op["requestBody"])
		}
		checkTags(t, doc, m, op)
	})
	if len(ids) != len(wanted) {
		t.Errorf("%d operations are described, want %d", len(ids), len(wanted))
	}
}

// checkTags compares the tags of the answers with those of the contract.
func checkTags(t *testing.T, doc any, m *contract.Method, op map[string]any) {
	t.Helper()
	var got, want []string
	for status, r := range op["responses"].(map[string]any) {
		if status == "200" {
			continue
		}
		s := r.(map[string]any)["content"].(map[string]any)["application/json"].(map[string]any)["schema"].(map[string]any)
		options, ok := s["oneOf"].([]any)
		if !ok {
			options = []any{s}
		}
		for _, o := range options {
			ref := strings.TrimPrefix(o.(map[string]any)["$ref"].(string), "#")
			tag := part(t, doc, ref+"/properties/error/properties/_tag/const")
			got = append(got, fmt.Sprintf("%s %v", status, tag))
		}
	}
	for _, tag := range m.Errors {
		if tag != apierr.RequestCanceled {
			want = append(want, fmt.Sprintf("%d %s", apierr.Spec(tag).GetStatus(), apierr.Spec(tag).GetTag()))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors of %s (-contract +document):\n%s", m.OperationID, diff)
	}
}

// TestExamples validates every example against the schema beside it.
func TestExamples(t *testing.T) {
	doc := write(t)
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := compiler.AddResource("https://document/", root); err != nil {
		t.Fatal(err)
	}
	checked := 0
	var walk func(v any, at string)
	walk = func(v any, at string) {
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				walk(e, fmt.Sprintf("%s/%d", at, i))
			}
		case map[string]any:
			if _, has := v["schema"]; has && v["example"] != nil {
				s, err := compiler.Compile("https://document/#" + at + "/schema")
				if err != nil {
					t.Fatalf("%s: %v", at, err)
				}
				if err := s.Validate(v["example"]); err != nil {
					t.Errorf("%s: the example does not fit: %v", at, err)
				}
				checked++
			}
			for name, e := range v {
				if name != "example" {
					walk(e, at+"/"+strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name))
				}
			}
		}
	}
	walk(root, "")
	if checked < 50 {
		t.Errorf("only %d examples were found", checked)
	}
}

// TestDetails checks one example of each decision about a schema.
func TestDetails(t *testing.T) {
	doc := read(t)
	for pointer, want := range map[string]string{
		// Explicit presence: null is written and read.
		"/components/schemas/ApiKey/properties/description/type":          `["string","null"]`,
		"/components/schemas/ApiKey/properties/revoked_at/type":           `["string","null"]`,
		"/components/schemas/ApiKey/properties/created_at/type":           `"string"`,
		"/components/schemas/ApiKey/properties/created_at/format":         `"date-time"`,
		"/components/schemas/ApiKey/properties/object/const":              `"api_key"`,
		"/components/schemas/ApiKey/properties/kind/enum":                 `["standard","mcp"]`,
		"/components/schemas/ApiKey/properties/id/format":                 `"svc.public_id"`,
		"/components/schemas/ApiKey/properties/scopes/type":               `["array","null"]`,
		"/components/schemas/ApiKey/properties/scopes/items/$ref":         `"#/components/schemas/Scope"`,
		"/components/schemas/ApiKeyList/properties/data/items/$ref":       `"#/components/schemas/ApiKey"`,
		"/components/schemas/ApiKeyList/required":                         `["object","data","has_more","next_cursor"]`,
		"/components/schemas/ApiKeyCreateParams/additionalProperties":     `false`,
		"/components/schemas/ApiKeyCreateParams/required":                 `["name"]`,
		"/components/schemas/ApiKeyCreateParams/properties/name/pattern":  `"\\S"`,
		"/components/schemas/ApiKeyCreateParams/properties/kind/enum":     `["standard","mcp",null]`,
		"/components/schemas/ApiKeyCreateParams/properties/scopes":        `{"description":"Scopes of the key. Left out means full access; an empty list is refused.","items":{"$ref":"#/components/schemas/Scope"},"maxItems":100,"minItems":1,"type":["array","null"],"uniqueItems":true}`,
		"/components/schemas/TraceSearchParams/properties/filters/anyOf":  `[{"$ref":"#/components/schemas/TraceFilters"},{"type":"null"}]`,
		"/components/schemas/TraceFilters/properties/min_duration_ms":     `{"description":"Shortest duration in milliseconds, inclusive.","format":"double","minimum":0,"type":["number","null"]}`,
		"/components/schemas/Log/properties/log_attributes":               `{"additionalProperties":{"type":"string"},"description":"Log attributes. Numbers and booleans are printed as text, bytes as hexadecimal digits, lists and maps as JSON.","type":"object"}`,
		"/paths/~1v2~1api_keys/get/parameters/0/schema":                   `{"format":"int32","maximum":100,"minimum":1,"type":"integer"}`,
		"/paths/~1v2~1api_keys~1{id}/get/parameters/0/required":           `true`,
		"/paths/~1v2~1api_keys/get/responses/429/headers/Retry-After":     `{"$ref":"#/components/headers/Retry-After"}`,
		"/components/headers/Retry-After/schema":                          `{"anyOf":[{"minimum":1,"type":"integer"},{"type":"string"}]}`,
		"/components/headers/Retry-After/example":                         `60`,
		"/paths/~1v2~1traces~1{trace_id}/get/parameters/0/schema/pattern": `"^[0-9a-fA-F]{32}$"`,
		"/paths/~1v2~1services/get/parameters/0/required":                 `true`,
	} {
		got, err := json.Marshal(part(t, doc, pointer))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s: %s", pointer, diff)
		}
	}
	required := part(t, doc, "/components/schemas/ApiKeyWithSecret/required").([]any)
	if slices.Contains(required, any("txid")) || !slices.Contains(required, any("secret")) {
		t.Errorf("required of ApiKeyWithSecret: %v", required)
	}
	if bytes.Contains(write(t), []byte(".md")) {
		t.Error("the document refers to a page of the design")
	}
}

// BenchmarkNew measures the cost of the document at the start of the server.
func BenchmarkNew(b *testing.B) {
	c := load(b)
	for b.Loop() {
		if _, err := openapi.New(c, baseURL); err != nil {
			b.Fatal(err)
		}
	}
}
