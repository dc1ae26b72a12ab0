package openapitest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// read makes operations of the document's paths.
func (c *Checker) read(doc map[string]any) error {
	paths, _ := doc["paths"].(map[string]any)
	if len(paths) == 0 {
		return fmt.Errorf("the document has no paths")
	}
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, entry := range methods {
			fields, _ := entry.(map[string]any)
			at := location + "#/paths/" + escape(path) + "/" + method
			op := &operation{
				method: strings.ToUpper(method), segments: strings.Split(strings.TrimPrefix(path, "/"), "/"),
				parameters: map[string]parameter{}, answers: map[string]documentedAnswer{},
			}
			op.id, _ = fields["operationId"].(string)
			if err := c.readOperation(op, fields, at); err != nil {
				return fmt.Errorf("%s %s: %w", method, path, err)
			}
			c.operations = append(c.operations, op)
		}
	}
	// A literal segment wins over a parameter.
	slices.SortFunc(c.operations, func(a, b *operation) int { return a.params() - b.params() })
	return nil
}

func (c *Checker) readOperation(op *operation, fields map[string]any, at string) error {
	list, _ := fields["parameters"].([]any)
	for i, entry := range list {
		p, _ := entry.(map[string]any)
		in, _ := p["in"].(string)
		name, _ := p["name"].(string)
		read, err := c.parameter(p, fmt.Sprintf("%s/parameters/%d/schema", at, i))
		if err != nil {
			return err
		}
		op.parameters[in+" "+name] = read
	}
	const content = "/content/application~1json/schema"
	var err error
	if fields["requestBody"] != nil {
		if op.body, err = c.compiler.Compile(at + "/requestBody" + content); err != nil {
			return err
		}
	}
	responses, _ := fields["responses"].(map[string]any)
	for status, entry := range responses {
		a := documentedAnswer{headers: map[string]parameter{}}
		if a.body, err = c.compiler.Compile(at + "/responses/" + status + content); err != nil {
			return err
		}
		r, _ := entry.(map[string]any)
		headers, _ := r["headers"].(map[string]any)
		for name := range headers {
			if a.headers[name], err = c.header(name); err != nil {
				return err
			}
		}
		op.answers[status] = a
	}
	return nil
}

// header reads a component to which the headers of answers refer.
func (c *Checker) header(name string) (parameter, error) {
	s, err := c.compiler.Compile(location + "#/components/headers/" + escape(name) + "/schema")
	// All uses agree on whether the header is required, see package openapi.
	return parameter{schema: s, required: name != "Retry-After" && name != "Idempotent-Replayed"}, err
}

func (c *Checker) parameter(p map[string]any, at string) (parameter, error) {
	s, err := c.compiler.Compile(at)
	if err != nil {
		return parameter{}, err
	}
	out := parameter{schema: s}
	out.required, _ = p["required"].(bool)
	if fields, ok := p["schema"].(map[string]any); ok {
		out.types = typesOf(fields)
	}
	return out, nil
}

func typesOf(fields map[string]any) []string {
	switch t := fields["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, e := range t {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
		return out
	}
	return nil
}

// escape writes a name as a step of a JSON pointer within a URL.
func escape(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

func (op *operation) params() int {
	n := 0
	for _, s := range op.segments {
		if _, ok := param(s); ok {
			n++
		}
	}
	return n
}

func param(segment string) (string, bool) {
	name, ok := strings.CutPrefix(segment, "{")
	return strings.TrimSuffix(name, "}"), ok
}

// route finds the operation of an exchange, and reports whether its path exists with any method.
func (c *Checker) route(x Exchange) (op *operation, known bool) {
	segments, ok := split(x.URL)
	if !ok {
		return nil, false
	}
	method := x.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	for _, candidate := range c.operations {
		if candidate.matches(segments) {
			known = true
			if candidate.method == method {
				return candidate, true
			}
		}
	}
	return nil, known
}

func (op *operation) matches(segments []string) bool {
	if len(segments) != len(op.segments) {
		return false
	}
	for i, s := range op.segments {
		if _, ok := param(s); !ok && s != segments[i] {
			return false
		}
	}
	return true
}

func split(u *url.URL) ([]string, bool) {
	segments := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil || decoded == "" {
			return nil, false
		}
		segments[i] = decoded
	}
	return segments, true
}
