package openapi

import (
	"fmt"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
)

const (
	requestIDHeader    = "X-Request-Id"
	retryAfterHeader   = "Retry-After"
	authenticateHeader = "WWW-Authenticate"
	idempotencyHeader  = "Idempotency-Key"
	organizationHeader = "x-svc-org-id"
	replayedHeader     = "Idempotent-Replayed"
)

func headers() map[string]header {
	return map[string]header{
		requestIDHeader: {
			Description: "Identifies this request in the server's log: the id that the request sent, or a new one.", Required: true,
			Schema: &schema{Type: types{"string"}}, Example: "req_01J9Z3A7W2",
		},
		retryAfterHeader: {
			Description: "When the same request can succeed: a number of seconds (at least 1) or an HTTP date. Sent with every failure that is retryable.",
			Schema:      &schema{AnyOf: []*schema{{Type: types{"integer"}, Minimum: "1"}, {Type: types{"string"}}}},
			Example:     60,
		},
		replayedHeader: {
			Description: "`true` when the answer is the stored answer to the first request with the same `Idempotency-Key`; absent otherwise.",
			Schema:      &schema{Type: types{"string"}, Enum: []any{"true"}}, Example: "true",
		},
		authenticateHeader: {
			Description: "How to authenticate.", Required: true, Schema: &schema{Type: types{"string"}}, Example: "Bearer",
		},
	}
}

func headersOf(names ...string) *object[reference] {
	out := &object[reference]{}
	for _, name := range names {
		out.set(name, reference{"#/components/headers/" + name})
	}
	return out
}

// failure is the response of one status: the union of its tags.
func (b *builder) failure(status int, tags []apierr.Tag) (response, error) {
	names := []string{requestIDHeader}
	var options []*schema
	var lines []string
	retryable := false
	for _, tag := range tags {
		s, err := b.errorOf(tag)
		if err != nil {
			return response{}, err
		}
		spec := apierr.Spec(tag)
		options = append(options, s)
		lines = append(lines, fmt.Sprintf("* `%s`: %s", spec.GetTag(), spec.GetTitle()))
		retryable = retryable || spec.GetRetryable()
	}
	if retryable {
		names = append(names, retryAfterHeader)
	}
	if status == 401 {
		names = append(names, authenticateHeader)
	}
	body := &mediaType{Schema: options[0], Example: exampleError(tags[0])}
	if len(options) > 1 {
		body.Schema = &schema{OneOf: options}
	}
	return response{
		Description: statusText(status) + "\n\n" + strings.Join(lines, "\n"), Headers: headersOf(names...), Content: single(jsonType, body),
	}, nil
}

// errorOf refers to the component of a tag: the closed object of an error with the values that the tag fixes. It stands by itself, which
// more tools understand than parts of an object.
func (b *builder) errorOf(tag apierr.Tag) (*schema, error) {
	spec := apierr.Spec(tag)
	return b.add(contract.ErrorName(tag), spec.GetTag(), func() (*schema, error) {
		fixed := func(description string, value any) *schema {
			kind := "string"
			if _, ok := value.(bool); ok {
				kind = "boolean"
			}
			return &schema{Description: description, Type: types{kind}, Const: value}
		}
		text := func(description string) *schema { return &schema{Description: description, Type: types{"string"}} }
		p := &object[*schema]{}
		p.set("_tag", fixed("Identifies the error. Never changes within a major version.", spec.GetTag()))
		p.set("type", fixed("Family of the error. It follows from the status.", apierr.Type(int(spec.GetStatus()))))
		p.set("code", fixed("Short stable category.", spec.GetCode()))
		p.set("title", text("Title for people."))
		p.set("message", text("Explanation of this failure for people. Names the input that caused it."))
		p.set("retryable", fixed("Whether the same request can succeed later. `Retry-After` says when.", spec.GetRetryable()))
		p.set("recovery", fixed("What the caller can do.", spec.GetRecovery()))
		required := p.names[:len(p.names):len(p.names)]
		p.set("param", text("The input that caused the failure: a parameter, or the path of a body field such as `filters.attributes[2].key`."))
		outer := single("error", &schema{Type: types{"object"}, Properties: p, Required: required, AdditionalProperties: false})
		return &schema{
			Description: spec.GetTitle() + ".", Type: types{"object"}, Properties: &outer, Required: []string{"error"}, AdditionalProperties: false,
		}, nil
	})
}

func exampleError(tag apierr.Tag) any {
	spec := apierr.Spec(tag)
	e := &object[any]{}
	e.set("_tag", spec.GetTag())
	e.set("type", apierr.Type(int(spec.GetStatus())))
	e.set("code", spec.GetCode())
	e.set("title", spec.GetTitle())
	e.set("message", spec.GetTitle()+".")
	e.set("retryable", spec.GetRetryable())
	e.set("recovery", spec.GetRecovery())
	if spec.GetParam() != "" {
		e.set("param", spec.GetParam())
	}
	return single("error", e)
}
