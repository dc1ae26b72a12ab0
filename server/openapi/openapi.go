// Package openapi writes the OpenAPI 3.1 document of /v2, and serves it with an interactive reference. The document derives from
// the contract alone: method options, HTTP bindings, validation rules, field options, the error table and the comments of the
// .proto files. A new method appears in it without further work.
package openapi

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"buf.build/go/protovalidate"

	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
)

// Version is info.version: the version of the interface, not of the program.
const Version = "2.0.0"

// about is the description of the API.
func about() string {
	return "Telemetry, dashboards, alerts and the settings of one organization, over JSON.\n\n" +
		"Send an API key or a session token as `Authorization: Bearer <token>`. Names are snake_case, times are RFC 3339 in UTC, and a field " +
		"without a value is present as `null`. Every object names its type in `object`. A field or parameter that is not described here is " +
		"refused, never ignored.\n\n" +
		"A list answers with `data`, `has_more` and `next_cursor`; send that cursor as `cursor` for the next page. A failure answers with " +
		"`error`, whose `_tag` never changes within a major version, and whose `recovery` says what the caller can do. A retryable failure says " +
		"in `Retry-After` when to try again. " + limits.Number(limits.RESTRequests) + " requests in " + limits.Seconds(limits.RESTPeriod) +
		" are allowed for each key. Every answer carries `X-Request-Id`, which finds the request in the server's log."
}

// New writes the document for a server that clients reach at baseURL.
func New(c *contract.Contract, baseURL string) ([]byte, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	b := &builder{validator: validator, schemas: map[string]named{}}
	doc := document{
		OpenAPI: "3.1.0",
		Info: info{
			Title: "svc API", Version: Version, Description: about(),
			Contact: contact{Name: "Operator of this installation", URL: baseURL},
			License: license{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
		},
		Servers: []server{{URL: baseURL, Description: "This installation"}},
		Components: components{SecuritySchemes: map[string]securityScheme{bearer: {
			Type: "http", Scheme: "bearer", BearerFormat: "API key",
			Description: "An API key (`svc_ak_…`) or a session token. A key can be limited to scopes, `<family>:read` or `<family>:write`; " +
				"write implies read. `x-svc-scope` names the scope that an operation needs, `x-svc-role` the role.",
		}}},
	}
	methods := slices.DeleteFunc(slices.Clone(c.Methods()), func(m *contract.Method) bool { return m.NoREST })
	order := []string{"GET", "POST", "PUT", "PATCH", "DELETE"}
	slices.SortFunc(methods, func(x, y *contract.Method) int {
		return cmp.Or(strings.Compare(x.HTTP.Path, y.HTTP.Path), slices.Index(order, x.HTTP.Method)-slices.Index(order, y.HTTP.Method))
	})
	for _, m := range methods {
		b.findAnswers(m.Descriptor.Output())
	}
	for _, m := range methods {
		op, err := b.operation(m)
		if err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", m.FullName, err)
		}
		if err := doc.add(m, op); err != nil {
			return nil, fmt.Errorf("openapi: %s: %w", m.FullName, err)
		}
	}
	b.exampleBodies(&doc)
	doc.Components.Schemas = b.components()
	doc.Components.Headers = headers()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(doc); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return out.Bytes(), nil
}
