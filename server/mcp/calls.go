package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	svcv2 "github.com/svc-observability/svc/gen/svc/v2"
	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
)

// handler wraps a tool: it reads the arguments, calls the tool and writes the text. A failure of the caller or of the API becomes
// a result with isError, to which a model can react. Only a defect is a protocol error.
func (s *Server) handler(t *tool.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		ctx, cancel := whileConnected(ctx)
		defer cancel()
		if fullByURL(ctx) {
			ctx = tool.WithDetail(ctx, tool.Full)
		}
		out, err := t.Call(ctx, req.Params.Arguments, s.cfg.Now())
		if err != nil {
			return tool.ErrorResult(t, err)
		}
		if out.Place != "" {
			out.Text.URL = s.link(ctx, out.Place)
		}
		data, err := out.Structured()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name, err)
		}
		return &sdk.CallToolResult{
			Content: []sdk.Content{&sdk.TextContent{Text: out.Text.Render(t.Title)}}, StructuredContent: data,
		}, nil
	}
}

const (
	// keptSlugs is the number of organizations whose short names are kept, keepSlug the time for which each is.
	keptSlugs = 10_000
	keepSlug  = time.Minute
)

// link is the address of a page of the caller's organization. It is empty if the name of the organization cannot be read: the answer is
// worth more than the link.
func (s *Server) link(ctx context.Context, place string) string {
	p, ok := principal.From(ctx)
	if !ok {
		return ""
	}
	slug, known := s.slugs.Get(p.Org)
	if !known {
		session, err := s.clients.Sessions.GetSession(ctx, &svcv2.GetSessionRequest{})
		if err != nil {
			s.cfg.Logger.DebugContext(ctx, "mcp: no link in an answer", "error", err)
			return ""
		}
		slug = session.GetOrganization().GetSlug()
		s.slugs.Put(p.Org, slug, 1, keepSlug)
	}
	return strings.TrimRight(s.cfg.BaseURL, "/") + "/o/" + slug + place
}
