package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"google.golang.org/grpc/status"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/apierr"
)

const (
	tagInvalidInput = "@svc/mcp/errors/McpInvalidInputError"
	tagDecode       = "@svc/mcp/decode-error"
)

// inputError is an argument that cannot be used.
type inputError struct {
	tag, parameter, message, example string
}

func (e *inputError) Error() string { return e.message }

func badInput(parameter, message, example string) error {
	return &inputError{tag: tagInvalidInput, parameter: parameter, message: parameter + " " + message, example: example}
}

// failureData is the structured half of a failed call.
type failureData struct {
	Tag       string `json:"_tag"`
	Message   string `json:"message"`
	Parameter string `json:"parameter,omitempty"`
	Example   string `json:"example,omitempty"`
}

func errorResult(t *tool, err error) (*sdk.CallToolResult, error) {
	var d failureData
	var input *inputError
	if errors.As(err, &input) {
		d = failureData{Tag: input.tag, Message: input.message, Parameter: input.parameter, Example: input.example}
	} else {
		d = apiFailure(t, err)
	}
	text := d.Message
	if d.Example != "" {
		text += "\nExample: " + d.Example
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode the failure of %s: %w", t.name, err)
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: text}}, StructuredContent: json.RawMessage(data)}, nil
}

// apiFailure keeps the tag and the message of the API. What carries none is a defect of ours, whose text stays private.
func apiFailure(t *tool, err error) failureData {
	for _, detail := range status.Convert(err).Details() {
		if d, ok := detail.(*optionsv1.ErrorDetail); ok {
			return t.named(d.GetParam(), failureData{Tag: d.GetTag(), Message: d.GetMessage()})
		}
	}
	e := apierr.From(err)
	return t.named(e.Param, failureData{Tag: apierr.Spec(e.Tag).GetTag(), Message: e.Message})
}

// named puts the tool's parameter into a failure, and into its message where that begins with the field of the API's request.
func (t *tool) named(field string, d failureData) failureData {
	d.Parameter = t.parameterOf(field)
	if rest, ok := strings.CutPrefix(d.Message, field+" "); ok && d.Parameter != "" {
		d.Message = d.Parameter + " " + rest
	}
	return d
}

// parameterOf is the tool's name of a field of the API's request, empty when the tool has no such parameter.
func (t *tool) parameterOf(field string) string {
	field = strings.TrimPrefix(field, "filters.")
	switch {
	case strings.HasPrefix(field, "attributes"):
		field = "attribute_key"
	case field == "service_name":
		field = "service"
	case field == "deployment_environment":
		field = "environment"
	case field == "id":
		// A tool that asks for one thing by its id.
		for _, p := range t.params {
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
