// Package openapitest checks exchanges with /v2 against the OpenAPI document. The document must describe every answer, in status,
// headers and body, and must allow every request that was accepted. The test kit puts a Checker around the servers that it starts,
// so the whole test run is checked.
package openapitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/svc-observability/svc/server/apierr"
)

// Exchange is a request and its answer, with decompressed bodies.
type Exchange struct {
	Method string
	URL    *url.URL
	// Request is the body; nil if there was no body or it could not be read.
	Request []byte
	Status  int
	Header  http.Header
	Body    []byte
}

// Checker compares exchanges with a document.
type Checker struct {
	compiler   *jsonschema.Compiler
	operations []*operation

	mu       sync.Mutex
	problems []string
	checked  map[string]int // by operation id and status
}

// operation is one operation of the document.
type operation struct {
	id, method string
	segments   []string
	parameters map[string]parameter // by place and name, `query limit`
	body       *jsonschema.Schema
	answers    map[string]documentedAnswer // by status
}

type parameter struct {
	required bool
	types    []string
	schema   *jsonschema.Schema
}

type documentedAnswer struct {
	body    *jsonschema.Schema
	headers map[string]parameter
}

const location = "https://document/openapi.json"

// New reads a document. It closes objects that the document leaves open: a server must not send a field that the document does not
// describe.
func New(doc []byte) (*Checker, error) {
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	object, ok := root.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("openapitest: the document is not an object")
	}
	closeObjects(object["components"])
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	if err := places.validate(root); err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	compiler.RegisterVocabulary(places.vocabulary())
	if err := compiler.AddResource(location, root); err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	c := &Checker{compiler: compiler, checked: map[string]int{}}
	if err := c.read(object); err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	return c, nil
}

// closeObjects adds `additionalProperties: false` where properties are listed.
func closeObjects(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			closeObjects(e)
		}
	case map[string]any:
		if _, listed := v["properties"].(map[string]any); listed && v["additionalProperties"] == nil {
			v["additionalProperties"] = false
		}
		for name, e := range v {
			if name != "example" && name != "examples" {
				closeObjects(e)
			}
		}
	}
}

// Check compares an exchange with the document and returns the differences.
func (c *Checker) Check(x Exchange) []string {
	op, known := c.route(x)
	var problems []string
	fail := func(format string, args ...any) {
		problems = append(problems, fmt.Sprintf("%s %s → %d: ", x.Method, x.URL.RequestURI(), x.Status)+fmt.Sprintf(format, args...))
	}
	if op == nil {
		switch {
		case x.Method == http.MethodOptions && known && x.Status == http.StatusNoContent:
		case x.Status != http.StatusNotFound && !(known && x.Status == http.StatusMethodNotAllowed):
			fail("the document has no such operation")
		case x.Method != http.MethodHead:
			checkFailure(x, fail)
		}
		return problems
	}
	status := strconv.Itoa(x.Status)
	c.mu.Lock()
	c.checked[op.id+" "+status]++
	c.mu.Unlock()
	described, ok := op.answers[status]
	if !ok {
		fail("%s does not list this status; the answer was %.300s", op.id, x.Body)
		return problems
	}
	checkHeaders(described.headers, x, fail)
	if x.Method != http.MethodHead {
		checkBody(described.body, x, fail)
	}
	if x.Status == http.StatusOK {
		op.checkRequest(x, fail)
	}
	return problems
}

func checkBody(s *jsonschema.Schema, x Exchange, fail func(string, ...any)) {
	if got := x.Header.Get("Content-Type"); got != "application/json" {
		fail("the content type is %q", got)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(x.Body))
	if err != nil {
		fail("the answer is not JSON: %v: %.300q", err, x.Body)
		return
	}
	if err := s.Validate(v); err != nil {
		fail("the answer does not fit its schema: %v\n%.2000s", err, x.Body)
	}
	if x.Status >= 400 {
		checkFailure(x, fail)
	}
}

// checkFailure checks a failure against the table of tags. It does not need an operation: an unknown route has failures too.
func checkFailure(x Exchange, fail func(string, ...any)) {
	var body struct {
		Error *struct {
			Tag       string `json:"_tag"`
			Type      string `json:"type"`
			Code      string `json:"code"`
			Title     string `json:"title"`
			Message   string `json:"message"`
			Retryable bool   `json:"retryable"`
			Recovery  string `json:"recovery"`
			Param     string `json:"param"`
		} `json:"error"`
	}
	decoder := json.NewDecoder(bytes.NewReader(x.Body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&body); err != nil || body.Error == nil {
		fail("the answer is not the error envelope: %v: %.300q", err, x.Body)
		return
	}
	e := body.Error
	tag, known := apierr.Lookup(e.Tag)
	spec := apierr.Spec(tag)
	if !known || int(spec.GetStatus()) != x.Status || e.Type != apierr.Type(x.Status) || e.Code != spec.GetCode() ||
		e.Retryable != spec.GetRetryable() || e.Recovery != spec.GetRecovery() || e.Title == "" || e.Message == "" {
		fail("the failure is not as the table of tags has it: %s", x.Body)
	}
	if retryAfter := x.Header.Get("Retry-After"); e.Retryable != (retryAfter != "") {
		fail("retryable is %t, Retry-After is %q", e.Retryable, retryAfter)
	}
}

func checkHeaders(described map[string]parameter, x Exchange, fail func(string, ...any)) {
	for name, h := range described {
		value := x.Header.Get(name)
		switch {
		case value == "" && h.required:
			fail("header %s is missing", name)
		case value != "":
			if err := h.schema.Validate(typed(value, []string{"integer", "string"})); err != nil {
				fail("header %s is %q: %v", name, value, err)
			}
		}
	}
}

// checkRequest checks an accepted request against its operation.
func (op *operation) checkRequest(x Exchange, fail func(string, ...any)) {
	given := map[string][]string{}
	for name, values := range x.URL.Query() {
		given["query "+name] = values
	}
	path, _ := split(x.URL)
	for i, s := range op.segments {
		if name, ok := param(s); ok {
			given["path "+name] = []string{path[i]}
		}
	}
	for name, values := range given {
		p, ok := op.parameters[name]
		if !ok {
			fail("%s takes no parameter %s", op.id, name)
			continue
		}
		v := typed(values[0], p.types)
		if slices.Contains(p.types, "array") {
			list := make([]any, len(values))
			for i := range values {
				list[i] = values[i]
			}
			v = list
		}
		if err := p.schema.Validate(v); err != nil {
			fail("%s accepted parameter %s = %q against its schema: %v", op.id, name, values, err)
		}
	}
	for name, p := range op.parameters {
		if p.required && given[name] == nil {
			fail("%s accepted a request without its parameter %s", op.id, name)
		}
	}
	if op.body == nil || x.Request == nil {
		return
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(x.Request))
	if err != nil {
		fail("%s accepted a body that is not JSON: %v", op.id, err)
		return
	}
	if err := op.body.Validate(v); err != nil {
		fail("%s accepted a body against its schema: %v\n%.2000s", op.id, err, x.Request)
	}
}

// typed reads the text of a parameter as a JSON value.
func typed(text string, types []string) any {
	if slices.Contains(types, "integer") || slices.Contains(types, "number") {
		if v, err := jsonschema.UnmarshalJSON(strings.NewReader(text)); err == nil {
			if n, ok := v.(json.Number); ok {
				return n
			}
		}
	}
	if slices.Contains(types, "boolean") && (text == "true" || text == "false") {
		return text == "true"
	}
	return text
}
