package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/contract"
)

// document and the types below are the parts of OpenAPI 3.1 that we write, in an order that suits readers.
type document struct {
	OpenAPI    string           `json:"openapi"`
	Info       info             `json:"info"`
	Servers    []server         `json:"servers"`
	Tags       []tag            `json:"tags"`
	Paths      object[pathItem] `json:"paths"`
	Components components       `json:"components"`
}

type info struct {
	Title       string  `json:"title"`
	Version     string  `json:"version"`
	Description string  `json:"description"`
	Contact     contact `json:"contact"`
	License     license `json:"license"`
}

type contact struct {
	Name string `json:"name"`
	URL  string `json:"url"`
}

// license names its text by the SPDX identifier.
type license struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier"`
}

type server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// pathItem holds the operations of a path by lower-case HTTP method.
type pathItem = *object[*operation]

type operation struct {
	OperationID string            `json:"operationId"`
	Summary     string            `json:"summary"`
	Description string            `json:"description"`
	Tags        []string          `json:"tags"`
	Security    []requirement     `json:"security"`
	Scope       string            `json:"x-svc-scope,omitempty"`
	Role        string            `json:"x-svc-role,omitempty"`
	Parameters  []parameter       `json:"parameters,omitempty"`
	RequestBody *requestBody      `json:"requestBody,omitempty"`
	Responses   *object[response] `json:"responses"`
}

// requirement is a scheme of securitySchemes with its scopes. OpenAPI has scopes for OAuth only.
type requirement map[string][]string

type parameter struct {
	Name        string  `json:"name"`
	In          string  `json:"in"`
	Description string  `json:"description"`
	Required    bool    `json:"required,omitempty"`
	Schema      *schema `json:"schema"`
	Example     any     `json:"example,omitempty"`
}

type requestBody struct {
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required"`
	Content     object[*mediaType] `json:"content"`
}

type response struct {
	Description string             `json:"description"`
	Headers     *object[reference] `json:"headers,omitempty"`
	Content     object[*mediaType] `json:"content"`
}

type mediaType struct {
	Schema  *schema `json:"schema"`
	Example any     `json:"example,omitempty"`
}

type reference struct {
	Ref string `json:"$ref"`
}

type header struct {
	Description string  `json:"description"`
	Required    bool    `json:"required,omitempty"`
	Schema      *schema `json:"schema"`
	Example     any     `json:"example,omitempty"`
}

type components struct {
	SecuritySchemes map[string]securityScheme `json:"securitySchemes"`
	Headers         map[string]header         `json:"headers"`
	Schemas         object[*schema]           `json:"schemas"`
}

type securityScheme struct {
	Type         string `json:"type"`
	Scheme       string `json:"scheme"`
	BearerFormat string `json:"bearerFormat"`
	Description  string `json:"description"`
}

const (
	bearer   = "bearer"
	jsonType = "application/json"
)

// add puts an operation at its path, and its tag into the list of tags.
func (d *document) add(m *contract.Method, op *operation) error {
	item, ok := d.Paths.get(m.HTTP.Path)
	if !ok {
		item = &object[*operation]{}
		d.Paths.set(m.HTTP.Path, item)
	}
	item.set(strings.ToLower(m.HTTP.Method), op)
	name, description := tagOf(m)
	if description == "" {
		return fmt.Errorf("service %s has no comment: its first words name the tag of its operations", m.Descriptor.Parent().Name())
	}
	at, found := slices.BinarySearchFunc(d.Tags, name, func(t tag, n string) int { return strings.Compare(t.Name, n) })
	if found && d.Tags[at].Description != description {
		return fmt.Errorf("another service is called %q too: change the first words of a comment", name)
	}
	if !found {
		d.Tags = slices.Insert(d.Tags, at, tag{Name: name, Description: description})
	}
	return nil
}

// object is a JSON object that keeps the order of its members.
type object[T any] struct {
	names  []string
	values map[string]T
}

func (o *object[T]) set(name string, value T) {
	if o.values == nil {
		o.values = map[string]T{}
	}
	if _, known := o.values[name]; !known {
		o.names = append(o.names, name)
	}
	o.values[name] = value
}

func (o *object[T]) get(name string) (T, bool) {
	v, ok := o.values[name]
	return v, ok
}

// single makes an object with one member.
func single[T any](name string, value T) object[T] {
	var o object[T]
	o.set(name, value)
	return o
}

// MarshalJSON writes the members in the order in which they were set.
func (o object[T]) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	out.WriteByte('{')
	for i, name := range o.names {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := encoder.Encode(name); err != nil {
			return nil, err
		}
		out.WriteByte(':')
		if err := encoder.Encode(o.values[name]); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
