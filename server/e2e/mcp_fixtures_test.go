//lint:file-ignore SA1019 The suite asks for sampling and roots, which the newest revision of the protocol deprecates.

package e2e

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/png"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The conformance suite calls these fixtures, with the names and answers that its scenarios describe. They exist in this
// test binary only.

var (
	pixel = func() []byte {
		var b bytes.Buffer
		if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1, 1))); err != nil {
			panic(err)
		}
		return b.Bytes()
	}()
	silence = func() []byte {
		b := append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, 38)...)
		b = append(b, "WAVEfmt "...)
		for _, v := range []any{uint32(16), uint16(1), uint16(1), uint32(8000), uint32(16000), uint16(2), uint16(16)} {
			b, _ = binary.Append(b, binary.LittleEndian, v)
		}
		return append(append(b, "data"...), 2, 0, 0, 0, 0, 0)
	}()
)

func fixtureResource(uri string) *sdk.ResourceContents {
	return &sdk.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "a text inside"}
}

// mcpFixtures adds all of them.
func mcpFixtures(server *sdk.Server) {
	tool := func(name, schema string, run func(*sdk.CallToolRequest) (*sdk.CallToolResult, error)) {
		if schema == "" {
			schema = `{"type":"object"}`
		}
		server.AddTool(&sdk.Tool{Name: name, Description: "A fixture of the conformance suite.", InputSchema: json.RawMessage(schema)},
			func(_ context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) { return run(req) })
	}
	says := func(name, schema string, content ...sdk.Content) {
		tool(name, schema, func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		})
	}
	text := &sdk.TextContent{Text: "This is a simple text response for testing."}
	picture := &sdk.ImageContent{Data: pixel, MIMEType: "image/png"}
	says("test_simple_text", "", text)
	says("test_image_content", "", picture)
	says("test_audio_content", "", &sdk.AudioContent{Data: silence, MIMEType: "audio/wav"})
	says("test_embedded_resource", "", &sdk.EmbeddedResource{Resource: fixtureResource("test://embedded-resource")})
	says("test_multiple_content_types", "", text, picture, &sdk.EmbeddedResource{Resource: fixtureResource("test://mixed-content-resource")})
	says("test_streaming_elicitation", "", text)
	says("test_logging_tool", "", text)
	says("json_schema_2020_12_tool", `{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},
		"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"},"contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},"email":{"type":"string"}},
		"allOf":[{"anyOf":[{"required":["phone"]},{"required":["email"]}]}],
		"if":{"properties":{"contactMethod":{"const":"phone"}},"required":["contactMethod"]},"then":{"required":["phone"]},"else":{"required":["email"]},
		"additionalProperties":false}`, text)
	says("test_x_mcp_header", `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"level":{"type":"integer"}}}`,
		text)
	tool("test_error_handling", "", func(*sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: "This tool intentionally returns an error for testing"}}}, nil
	})
	tool("test_missing_capability", "", func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if c := req.ClientCapabilities(); c != nil && c.Sampling != nil { //nolint:staticcheck // see above
			return &sdk.CallToolResult{Content: []sdk.Content{text}}, nil
		}
		return nil, &jsonrpc.Error{
			Code: sdk.CodeMissingRequiredClientCapabilities, Message: "The client cannot sample.",
			Data: json.RawMessage(`{"requiredCapabilities":{"sampling":{}}}`),
		}
	})
	questionFixtures(server, tool)

	prompt := func(name string, arguments []string, messages func(map[string]string) []sdk.Content) {
		p := &sdk.Prompt{Name: name, Description: "A fixture of the conformance suite."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &sdk.PromptArgument{Name: a, Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			res := &sdk.GetPromptResult{}
			for _, c := range messages(req.Params.Arguments) {
				res.Messages = append(res.Messages, &sdk.PromptMessage{Role: "user", Content: c})
			}
			return res, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []sdk.Content { return []sdk.Content{text} })
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.TextContent{Text: "Prompt with arguments: arg1='" + a["arg1"] + "', arg2='" + a["arg2"] + "'"}}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{&sdk.EmbeddedResource{Resource: fixtureResource(a["resourceUri"])}, text}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []sdk.Content { return []sdk.Content{picture, text} })

	resource := func(name, uri string, c sdk.ResourceContents) {
		server.AddResource(&sdk.Resource{Name: name, URI: uri, MIMEType: c.MIMEType},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				c.URI = uri
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&c}}, nil
			})
	}
	resource("static-text", "test://static-text", sdk.ResourceContents{
		MIMEType: "text/plain",
		Text:     "the content of the static text resource",
	})
	resource("static-binary", "test://static-binary", sdk.ResourceContents{MIMEType: "image/png", Blob: pixel})
	server.AddResourceTemplate(&sdk.ResourceTemplate{Name: "template", URITemplate: "test://template/{id}/data", MIMEType: "application/json"},
		func(_ context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
			id := strings.TrimSuffix(strings.TrimPrefix(req.Params.URI, "test://template/"), "/data")
			body, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			if err != nil {
				return nil, err
			}
			return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
				URI: req.Params.URI, MIMEType: "application/json",
				Text: string(body),
			}}}, nil
		})
}

// sealed signs state that clients return, so that a change is detected. The server keeps nothing between two calls.
type sealed struct{ key [32]byte }

func (s *sealed) seal(state string) string {
	mac := hmac.New(sha256.New, s.key[:])
	mac.Write([]byte(state))
	return state + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

func (s *sealed) open(text string) (string, error) {
	state, _, _ := strings.Cut(text, ".")
	if !hmac.Equal([]byte(s.seal(state)), []byte(text)) {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "The requestState was changed."}
	}
	return state, nil
}

// filledIn returns what a person filled in, or nil if the person did not accept.
func filledIn(responses sdk.InputResponseMap, key string) map[string]any {
	if r, ok := responses[key].(*sdk.ElicitResult); ok && r.Action == "accept" {
		return r.Content
	}
	return nil
}

// questionFixtures add tools that answer with a question (SEP-2322).
func questionFixtures(server *sdk.Server, tool func(name, schema string, run func(*sdk.CallToolRequest) (*sdk.CallToolResult, error))) {
	var states sealed
	if _, err := rand.Read(states.key[:]); err != nil {
		panic(err)
	}
	form := func(field, kind string) *sdk.ElicitParams { //nolint:unparam // two questions ask for a boolean
		return &sdk.ElicitParams{Message: "Your " + field + "?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
		}}
	}
	question := &sdk.TextContent{Text: "What is the capital of France?"}
	//nolint:staticcheck // see above
	model := &sdk.CreateMessageParams{MaxTokens: 50, Messages: []*sdk.SamplingMessage{{Role: "user", Content: question}}}
	done := func(text string) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
	}
	ask := func(state string, questions sdk.InputRequestMap) (*sdk.CallToolResult, error) {
		return &sdk.CallToolResult{InputRequests: questions, RequestState: state}, nil
	}
	// answered asks until every question has an answer.
	answered := func(name, state string, questions sdk.InputRequestMap) {
		tool("test_input_required_result_"+name, "", func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			if req.Params.RequestState != "" {
				if _, err := states.open(req.Params.RequestState); err != nil {
					return nil, err
				}
			}
			for key, q := range questions {
				complete := req.Params.InputResponses[key] != nil
				if e, isForm := q.(*sdk.ElicitParams); isForm {
					for field := range e.RequestedSchema.(map[string]any)["properties"].(map[string]any) {
						complete = filledIn(req.Params.InputResponses, key)[field] != nil
					}
				}
				if !complete {
					sent := state
					if state != "" {
						sent = states.seal(state)
					}
					return ask(sent, questions)
				}
			}
			body, err := json.Marshal(req.Params.InputResponses)
			if err != nil {
				return nil, err
			}
			return done("state-ok: " + string(body))
		})
	}
	answered("elicitation", "", sdk.InputRequestMap{"user_name": form("name", "string")})
	answered("sampling", "", sdk.InputRequestMap{"capital_question": model})
	answered("list_roots", "", sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}) //nolint:staticcheck // see above
	answered("request_state", "asked", sdk.InputRequestMap{"confirm": form("ok", "boolean")})
	answered("tampered_state", "asked", sdk.InputRequestMap{"confirm": form("ok", "boolean")})
	answered("multiple_inputs", "asked", sdk.InputRequestMap{
		"user_name": form("name", "string"), "greeting": model,
		"client_roots": &sdk.ListRootsParams{}, //nolint:staticcheck // see above
	})

	tool("test_input_required_result_multi_round", "", func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if req.Params.RequestState == "" {
			return ask(states.seal("first"), sdk.InputRequestMap{"step1": form("name", "string")})
		}
		state, err := states.open(req.Params.RequestState)
		if err != nil {
			return nil, err
		}
		if state == "first" {
			return ask(states.seal("second"), sdk.InputRequestMap{"step2": form("color", "string")})
		}
		color, _ := filledIn(req.Params.InputResponses, "step2")["color"].(string)
		return done("Both rounds are over: " + color)
	})
	tool("test_input_required_result_capabilities", "", func(req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		if len(req.Params.InputResponses) > 0 {
			return done("answered")
		}
		can, questions := req.ClientCapabilities(), sdk.InputRequestMap{}
		if can != nil && can.Elicitation != nil {
			questions["user_name"] = form("name", "string")
		}
		if can != nil && can.Sampling != nil { //nolint:staticcheck // see above
			questions["greeting"] = model
		}
		if can != nil && can.RootsV2 != nil { //nolint:staticcheck // see above
			questions["client_roots"] = &sdk.ListRootsParams{} //nolint:staticcheck // see above
		}
		if len(questions) == 0 {
			return nil, errors.New("the client can answer nothing")
		}
		return ask("", questions)
	})
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture of the conformance suite."},
		func(_ context.Context, req *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			said, _ := filledIn(req.Params.InputResponses, "user_context")["context"].(string)
			if said == "" {
				return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{"user_context": form("context", "string")}}, nil
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: "Context: " + said}}}}, nil
		})
}
