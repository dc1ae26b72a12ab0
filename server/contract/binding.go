package contract

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Binding is the REST route of a method.
type Binding struct {
	// Method is GET, POST, PUT, PATCH or DELETE.
	Method string
	// Path is the route template, `/v2/api_keys/{id}`.
	Path string
	// PathParams names the fields that come from the path, in its order.
	PathParams []string
	// BodyField is `*` when the body is the whole request, or the name of the field that is the body. It is empty when there is
	// no body.
	BodyField string
	// ResponseField is the field that REST sends in place of the whole answer. It is empty when REST sends the whole answer.
	ResponseField string
	// QueryParams names the fields that come from the query, in the order of the message.
	QueryParams []string

	segments []string
}

// Source says where REST reads a field of the request from.
type Source int

// Sources.
const (
	InBody Source = iota
	InPath
	InQuery
)

// Source says where REST reads a top-level field of the request from. A method without a route takes its whole request as a body.
func (b *Binding) Source(field string) Source {
	switch {
	case slices.Contains(b.PathParams, field):
		return InPath
	case slices.Contains(b.QueryParams, field):
		return InQuery
	default:
		return InBody
	}
}

// PathParam returns the path parameter whose place is segment i.
func (b *Binding) PathParam(i int) (name string, ok bool) {
	if i >= len(b.segments) {
		return "", false
	}
	return param(b.segments[i])
}

func (b *Binding) matches(segments []string) bool {
	if len(segments) != len(b.segments) {
		return false
	}
	for i, s := range b.segments {
		if _, isParam := param(s); !isParam && s != segments[i] {
			return false
		}
	}
	return true
}

func (b *Binding) shape() string { return shape(b.Path) }

// shape returns a route template without the names of its parameters. Two routes of one shape match the same paths.
func shape(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if _, ok := param(s); ok {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

// param reads `{id}`, and `{id=*}` as the gateway prints it.
func param(segment string) (string, bool) {
	if !strings.HasPrefix(segment, "{") || !strings.HasSuffix(segment, "}") {
		return "", false
	}
	name, _, _ := strings.Cut(segment[1:len(segment)-1], "=")
	return name, true
}

// bind reads the HTTP option of a method and reports what is wrong with it.
func bind(d protoreflect.MethodDescriptor, m *Method) (Binding, []string) {
	has := proto.HasExtension(d.Options(), annotations.E_Http)
	if m.NoREST || !has {
		switch {
		case m.NoREST && has:
			return Binding{}, []string{"it says no_rest and has a (google.api.http) route"}
		case !m.NoREST && !has:
			return Binding{}, []string{"it has no (google.api.http) route; say no_rest if that is meant"}
		}
		return Binding{}, nil
	}
	rule, _ := proto.GetExtension(d.Options(), annotations.E_Http).(*annotations.HttpRule)
	b := Binding{BodyField: rule.GetBody(), ResponseField: rule.GetResponseBody()}
	switch p := rule.GetPattern().(type) {
	case *annotations.HttpRule_Get:
		b.Method, b.Path = "GET", p.Get
	case *annotations.HttpRule_Post:
		b.Method, b.Path = "POST", p.Post
	case *annotations.HttpRule_Put:
		b.Method, b.Path = "PUT", p.Put
	case *annotations.HttpRule_Patch:
		b.Method, b.Path = "PATCH", p.Patch
	case *annotations.HttpRule_Delete:
		b.Method, b.Path = "DELETE", p.Delete
	default:
		return b, []string{"its (google.api.http) route has no method that REST serves"}
	}
	b.segments = strings.Split(strings.TrimPrefix(b.Path, "/"), "/")

	var faults []string
	if len(rule.GetAdditionalBindings()) > 0 {
		faults = append(faults, "it has additional_bindings: one method has one route")
	}
	if !strings.HasPrefix(b.Path, "/v2/") {
		faults = append(faults, fmt.Sprintf("route %s is not under /v2", b.Path))
	} else if b.segments[1] != m.Family {
		faults = append(faults, fmt.Sprintf("family %q is not the first segment of %s", m.Family, b.Path))
	}
	if rule.GetGet() != "" && m.Write {
		faults = append(faults, "a GET asks for the write scope")
	}
	fields := d.Input().Fields()
	for _, s := range b.segments {
		name, ok := param(s)
		if !ok {
			continue
		}
		if fields.ByName(protoreflect.Name(name)) == nil {
			faults = append(faults, fmt.Sprintf("path parameter %q is not a field of the request", name))
		}
		b.PathParams = append(b.PathParams, name)
	}
	if b.BodyField != "" && b.BodyField != "*" && fields.ByName(protoreflect.Name(b.BodyField)) == nil {
		faults = append(faults, fmt.Sprintf("body %q is not a field of the request", b.BodyField))
	}
	if f := d.Output().Fields().ByName(protoreflect.Name(b.ResponseField)); b.ResponseField != "" && (f == nil || f.Message() == nil) {
		faults = append(faults, fmt.Sprintf("response_body %q is not a field of messages of the answer", b.ResponseField))
	}
	if b.BodyField != "*" {
		for i := range fields.Len() {
			name := string(fields.Get(i).Name())
			if name != b.BodyField && !slices.Contains(b.PathParams, name) {
				b.QueryParams = append(b.QueryParams, name)
			}
		}
	}
	return b, faults
}
