package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/limits"
)

func (b *builder) operation(m *contract.Method) (*operation, error) {
	name, _ := tagOf(m)
	op := &operation{
		OperationID: m.OperationID, Summary: strings.TrimSuffix(publicText(m.Summary), "."),
		Description: joinText(publicText(m.Description), policyText(m)),
		Tags:        []string{name}, Security: []requirement{}, Scope: m.Scope(),
	}
	if m.Admin {
		op.Role = "org:admin"
	}
	if !m.Public {
		op.Security = append(op.Security, requirement{bearer: {}})
	}
	for _, in := range []struct {
		place string
		names []string
	}{{"path", m.HTTP.PathParams}, {"query", m.HTTP.QueryParams}} {
		for _, name := range in.names {
			f := m.Descriptor.Input().Fields().ByName(protoreflect.Name(name))
			if isFieldMask(f) {
				continue
			}
			p, err := b.parameter(f, in.place)
			if err != nil {
				return nil, fmt.Errorf("parameter %s: %w", name, err)
			}
			op.Parameters = append(op.Parameters, p)
		}
	}
	if !m.Public {
		op.Parameters = append(op.Parameters, parameter{
			Name: organizationHeader,
			In:   "header",
			Description: "The organization of the request, for a person who belongs to several; by default the one chosen at the sign-in. With an " +
				"API key, it may only " +
				"name the organization of the key.",
			Schema:  &schema{Type: types{"string"}, MinLength: "1", MaxLength: "128"},
			Example: "org_YoyM27RZv6BZLTbZ2kvNcS",
		})
	}
	if m.IdempotencyKey {
		op.Parameters = append(op.Parameters, parameter{
			Name: idempotencyHeader,
			In:   "header",
			Description: "A text of your choice that makes it safe to repeat a request. Use a new one for each request. A request that succeeded " +
				"is not carried out " +
				"again within " + limits.Lasts(limits.IdempotencyRetention) +
				": the server sends the stored answer. A key that was used for another request, or whose first request is still under way, is an error.",
			Schema: &schema{
				Type: types{"string"}, MinLength: "1", MaxLength: json.Number(strconv.Itoa(limits.IdempotencyKey)),
				Pattern: "^[ -~]+$",
			},
			Example: "0b8f4c1e-6a52-4c0e-9d0c-5d2f3a1b7e44",
		})
	}
	var err error
	if op.RequestBody, err = b.requestBody(m); err != nil {
		return nil, fmt.Errorf("request body: %w", err)
	}
	op.Responses, err = b.responses(m)
	return op, err
}

// policyText describes who may call.
func policyText(m *contract.Method) string {
	var text string
	switch {
	case m.Public:
		return "No credential is needed."
	case m.AnyScope:
		text = "Any valid credential is enough, whatever its scopes."
	default:
		text = "Needs the scope `" + m.Scope() + "`."
		if all := m.Scopes(); len(all) > 1 {
			text = "Needs the scopes `" + strings.Join(all, "`, `") + "`."
		}
	}
	if m.Admin {
		text += " A user must be an administrator of the organization (`org:admin`)."
	}
	return text
}

func (b *builder) parameter(f protoreflect.FieldDescriptor, in string) (parameter, error) {
	s, err := b.field(f, request)
	if err != nil {
		return parameter{}, err
	}
	p := parameter{Name: string(f.Name()), In: in, Description: s.Description, Required: in == "path" || b.mustBeGiven(f), Schema: s}
	s.Description = ""
	s.notNull() // a query has no null
	switch {
	case f.IsMap() || f.Message() != nil && s.Format != "date-time":
		return p, fmt.Errorf("a message cannot be given in the %s", in)
	case s.example != nil:
		p.Example, s.Examples = s.example, nil
	case p.Required:
		p.Example = b.exampleOf(f, s)
	}
	return p, nil
}

// notNull removes null from the types.
func (s *schema) notNull() {
	if n := len(s.Type); n > 1 && s.Type[n-1] == "null" {
		s.Type = s.Type[:n-1]
		if k := len(s.Enum); k > 0 && s.Enum[k-1] == nil {
			s.Enum = s.Enum[:k-1]
		}
	}
}

func (b *builder) requestBody(m *contract.Method) (*requestBody, error) {
	input := m.Descriptor.Input()
	var s *schema
	var err error
	switch m.HTTP.BodyField {
	case "":
		return nil, nil
	case "*":
		name := componentName(input)
		s, err = b.add(name, string(input.FullName()), func() (*schema, error) { return b.objectOf(input, request, m.HTTP.PathParams) })
	default:
		s, err = b.field(input.Fields().ByName(protoreflect.Name(m.HTTP.BodyField)), request)
	}
	if err != nil {
		return nil, err
	}
	description := s.Description
	s.Description = ""
	return &requestBody{Description: description, Required: true, Content: single(jsonType, &mediaType{Schema: s})}, nil
}

func (b *builder) responses(m *contract.Method) (*object[response], error) {
	s, err := b.answerOf(m)
	if err != nil {
		return nil, fmt.Errorf("answer: %w", err)
	}
	out := &object[response]{}
	description := "Success"
	if text := publicText(contract.Comment(m.Descriptor.Output())); text != "" {
		description = text
	}
	sent := []string{requestIDHeader}
	if m.IdempotencyKey {
		sent = append(sent, replayedHeader)
	}
	out.set("200", response{Description: description, Headers: headersOf(sent...), Content: single(jsonType, &mediaType{Schema: s})})

	byStatus := map[int][]apierr.Tag{}
	for _, tag := range m.Errors {
		// 499 goes to a caller that has disconnected: nobody sees it.
		if status := int(apierr.Spec(tag).GetStatus()); tag != apierr.RequestCanceled {
			byStatus[status] = append(byStatus[status], tag)
		}
	}
	for status := range 600 {
		if tags := byStatus[status]; len(tags) > 0 {
			r, err := b.failure(status, tags)
			if err != nil {
				return nil, err
			}
			out.set(strconv.Itoa(status), r)
		}
	}
	return out, nil
}

// answerOf returns the schema of a REST answer: the whole answer, or one field of it.
func (b *builder) answerOf(m *contract.Method) (*schema, error) {
	if m.HTTP.ResponseField == "" {
		return b.message(m.Descriptor.Output(), answer)
	}
	s, err := b.field(m.Descriptor.Output().Fields().ByName(protoreflect.Name(m.HTTP.ResponseField)), answer)
	if err != nil {
		return nil, err
	}
	s.Description = "" // the response has its own
	return s, nil
}

// statusText is the text of a status, `Too Many Requests`.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return text
	}
	return "Status " + strconv.Itoa(status)
}
