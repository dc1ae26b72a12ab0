package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/wirejson"
)

func IsNotFound(err error) bool {
	return strings.Contains(FailureOf(&Tool{}, err).Tag, "NotFound")
}

const (
	TagInvalidInput = "@svc/mcp/errors/McpInvalidInputError"
	TagDecode       = "@svc/mcp/decode-error"
)

// InputError is the error for an argument that cannot be used.
type InputError struct {
	Tag, Parameter, Message, Example string
}

func (e *InputError) Error() string { return e.Message }

func BadInput(parameter, message, example string) error {
	return &InputError{Tag: TagInvalidInput, Parameter: parameter, Message: parameter + " " + message, Example: example}
}

// Failure is the structured part of a failed call.
type Failure struct {
	Tag       string `json:"_tag"`
	Message   string `json:"message"`
	Parameter string `json:"parameter,omitempty"`
	Example   string `json:"example,omitempty"`
}

func ErrorResult(t *Tool, err error) (*sdk.CallToolResult, error) {
	var d Failure
	var input *InputError
	if errors.As(err, &input) {
		d = Failure{Tag: input.Tag, Message: input.Message, Parameter: input.Parameter, Example: input.Example}
	} else {
		d = FailureOf(t, err)
	}
	text := d.Message
	if d.Example != "" {
		text += "\nExample: " + d.Example
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the failure of %s: %w", t.Name, err)
	}
	return &sdk.CallToolResult{
		IsError:           true,
		Content:           []sdk.Content{&sdk.TextContent{Text: text}},
		StructuredContent: json.RawMessage(data),
	}, nil
}

// FailureOf keeps the tag and the message of an API error. An error without a tag is a defect of the server, and its text stays
// private.
func FailureOf(t *Tool, err error) Failure {
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(*optionsv1.ErrorDetail); ok {
			return t.named(d.GetParam(), Failure{Tag: d.GetTag(), Message: d.GetMessage()})
		}
	}
	e := apierr.From(err)
	return t.named(e.Param, Failure{Tag: apierr.Spec(e.Tag).GetTag(), Message: e.Message})
}

// named puts the tool's parameter into a failure. If the message begins with the field of the API's request, the parameter
// replaces it there too.
func (t *Tool) named(field string, d Failure) Failure {
	d.Parameter = t.parameterOf(field)
	if rest, ok := strings.CutPrefix(d.Message, field+" "); ok && d.Parameter != "" {
		d.Message = d.Parameter + " " + rest
	}
	return d
}

// parameterOf is the tool's name for a field of the API's request. It is empty if the tool has no such parameter.
func (t *Tool) parameterOf(field string) string {
	field = strings.TrimPrefix(field, "filters.")
	switch {
	case strings.HasPrefix(field, "attributes"):
		field = "attribute_key"
	case field == "service_name":
		field = "service"
	case field == "deployment_environment":
		field = "environment"
	case field == "id":
		// The tool reads one thing by its id.
		for _, p := range t.Run.params {
			if p.required && strings.HasSuffix(p.name, "_id") {
				field = p.name
				break
			}
		}
	case field == "template_id":
		field = "template"
	case field == "body_search":
		field = "search"
	}
	if t.param(field) == nil {
		return ""
	}
	return field
}

// DecodeJSON reads a caller's JSON into a message of the API. The error names the parameter and the fault.
func DecodeJSON(parameter string, raw json.RawMessage, m proto.Message) error {
	err := wirejson.Unmarshal(raw, m)
	var problems *wirejson.DecodeError
	if errors.As(err, &problems) {
		return BadInput(parameter, "cannot be used: "+problems.Error(), "")
	}
	return err
}
