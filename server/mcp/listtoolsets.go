package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/mcp/tool"
	"github.com/svc-observability/svc/server/principal"
)

type toolsetsResult struct {
	Toolsets []toolsetRow `json:"toolsets"`
	// Connected are the tools of this connection.
	Connected []string `json:"connected"`
}

type toolsetRow struct {
	Name  string   `json:"name"`
	About string   `json:"about"`
	URL   string   `json:"url"`
	Tools []string `json:"tools"`
	// Tokens is about the length of the list of its tools.
	Tokens int `json:"tokens"`
}

type toolsetsArgs struct{ tool.Call }

// newListToolsets makes the tool that lists the toolsets with the tools that the caller may use.
func (s *Server) newListToolsets(*tool.Clients) (*tool.Tool, error) {
	return tool.Define[toolsetsResult](&tool.Tool{
		Name: "list_toolsets", Title: "Toolsets", View: tool.NoView,
		Description: "List the sets of tools. Connect with ?toolsets=oncall, ?readonly=true or ?detail=full to change what this connection has.",
		Run: tool.With(func(ctx context.Context, _ *toolsetsArgs) (*tool.Answer, error) {
			p, err := principal.Caller(ctx)
			if err != nil {
				return nil, err
			}
			res := toolsetsResult{Toolsets: []toolsetRow{}, Connected: []string{}}
			rows := []toolsetRow{s.toolsetRow(p, onCall, "from an incident to its cause and its record", func(t *tool.Tool) bool {
				return slices.Contains(onCallTools(), t.Name)
			})}
			for _, set := range toolsets() {
				rows = append(rows, s.toolsetRow(p, set.name, set.about, func(t *tool.Tool) bool { return t.Set == set.name }))
			}
			var cells [][]string
			for _, row := range rows {
				if len(row.Tools) > 0 {
					res.Toolsets = append(res.Toolsets, row)
					cells = append(cells, []string{
						row.Name, row.About, fmt.Sprint(len(row.Tools)), "≈ " + fmt.Sprint(row.Tokens),
						strings.Join(row.Tools, ", "),
					})
				}
			}
			for _, t := range s.tools {
				if s.visible(p, t.Name) && selected(ctx, t) {
					res.Connected = append(res.Connected, t.Name)
				}
			}
			return &tool.Answer{Data: res, Text: tool.Page{
				Scope: []tool.Pair{
					tool.Labeled("This connection", fmt.Sprintf("%d tools", len(res.Connected))),
					tool.Labeled("Address", s.endpoint()+"?toolsets=NAME,NAME"),
				},
				Blocks: []tool.Block{tool.Table("", "The scopes of this credential allow no tool.",
					[]string{"Toolset", "For", "Tools", "Tokens", "Names"}, cells)},
			}}, nil
		}),
	})
}

// toolsetRow describes the tools that a caller may use and that belong to a set.
func (s *Server) toolsetRow(p *principal.Principal, name, about string, belongs func(*tool.Tool) bool) toolsetRow {
	row := toolsetRow{Name: name, About: about, URL: s.endpoint() + "?toolsets=" + name, Tools: []string{}}
	for _, t := range s.tools {
		if !belongs(t) || !s.visible(p, t.Name) {
			continue
		}
		row.Tools = append(row.Tools, t.Name)
		if text, err := json.Marshal(t.Declaration()); err == nil {
			row.Tokens += len(text) / 4
		}
	}
	return row
}
