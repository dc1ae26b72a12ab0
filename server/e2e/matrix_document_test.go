package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/testkit"
)

// document is the OpenAPI document that the server serves. The matrix takes its examples and required fields from it.
type document struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]objectSchema `json:"schemas"`
	} `json:"components"`
}

type objectSchema struct {
	Ref        string                     `json:"$ref"`
	Required   []string                   `json:"required"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// specification is the part of the document about the request of one operation.
type specification struct {
	// example holds the required parameters and the body of the example. Its path parameters name no existing resource.
	example map[string]any
	// required names the required body fields and query parameters.
	required []string
	// unknownID maps the name of each path parameter to a well-formed value that names no resource.
	unknownID map[string]string
}

func readDocument(t *testing.T, s *testkit.Server) (d document) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL+"/openapi.json", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if status, body := roundTrip(t, req); status != http.StatusOK || json.Unmarshal(body, &d) != nil || len(d.Paths) == 0 {
		t.Fatalf("the document cannot be read: %d", status)
	}
	return d
}

func (d document) operation(t *testing.T, m *contract.Method) specification {
	t.Helper()
	var op struct {
		Parameters []struct {
			Name     string `json:"name"`
			In       string `json:"in"`
			Required bool   `json:"required"`
			Example  any    `json:"example"`
		} `json:"parameters"`
		RequestBody struct {
			Content map[string]struct {
				Schema  objectSchema   `json:"schema"`
				Example map[string]any `json:"example"`
			} `json:"content"`
		} `json:"requestBody"`
	}
	if err := json.Unmarshal(d.Paths[m.HTTP.Path][strings.ToLower(m.HTTP.Method)], &op); err != nil {
		t.Fatalf("%s %s is not in the document: %v", m.HTTP.Method, m.HTTP.Path, err)
	}
	s := specification{example: map[string]any{}, unknownID: map[string]string{}}
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			s.unknownID[p.Name], _ = p.Example.(string)
		case p.Required:
			s.example[p.Name] = p.Example
			s.required = append(s.required, p.Name)
		}
	}
	body := op.RequestBody.Content["application/json"]
	for name, value := range body.Example {
		s.example[name] = value
	}
	schema := body.Schema
	if name, ok := strings.CutPrefix(schema.Ref, "#/components/schemas/"); ok {
		schema = d.Components.Schemas[name]
	}
	s.required = append(s.required, schema.Required...)
	return s
}
