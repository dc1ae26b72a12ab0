package mcp

import (
	"context"
	"encoding/json"
	"fmt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/svc-observability/svc/server/mcp/tool"
)

// handler wraps a tool: it reads the arguments, calls the tool and writes the text. A failure of the caller or of the API becomes
// a result with isError, to which a model can react. Only a defect is a protocol error.
func (s *Server) handler(t *tool.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := whileConnected(ctx)
		defer cancel()
		out, err := t.Call(ctx, req.Params.Arguments, s.cfg.Now())
		if err != nil {
			return tool.ErrorResult(t, err)
		}
		data, err := json.Marshal(out.Data)
		if err != nil {
			return nil, fmt.Errorf("encode the result of %s: %w", t.Name, err)
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: out.Text.Render(t.Title)}}, StructuredContent: json.RawMessage(data),
		}, nil
	}
}
