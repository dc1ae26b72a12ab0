package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

func toolCommands() []Command {
	flags := []Flag{
		{
			Name: "toolset", Usage: "only the tools of these sets, such as oncall or errors,services",
			Target: func(o *Options) any { return &o.Toolsets },
		},
		{Name: "readonly", Usage: "only tools that change nothing", Target: func(o *Options) any { return &o.ReadOnly }},
	}
	return []Command{
		{
			Path: "tools list", Arguments: []string{"[NAME]"}, Short: "List the MCP tools of the server, or show the arguments of one",
			Long:    "In a pipe, the tools are JSON as the protocol lists them, with the schemas of their arguments and results.",
			Flags:   flags,
			Example: "  svc tools list --readonly\n  svc tools list search_logs\n  svc tools list search_logs | jq .inputSchema", run: listTools,
		},
		{
			Path: "tools call", Arguments: []string{"NAME"}, Short: "Call an MCP tool: structured content in, structured content out",
			Long: `'--json -' reads the arguments from standard input. A terminal shows the text of the answer; a pipe gets its structured content as JSON.
'svc tools list NAME' shows the arguments.`,
			Flags: append([]Flag{{
				Name: "json", Usage: "arguments of the tool, an object of JSON (default {})", Target: func(o *Options) any { return &o.ToolArguments },
			}}, flags...),
			Example: `  svc tools call list_services --json '{"start_time": "now-1h"}' | jq '.services[].name'` +
				"\n  svc tools call run_sql --json - < arguments.json",
			run: callTool,
		},
	}
}

// tool is a tool as the server lists it.
type tool struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Annotations struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
	} `json:"annotations"`
	Input schema `json:"inputSchema"`
	// raw is the whole tool.
	raw json.RawMessage
}

// effect says in a word what a call does.
func (t *tool) effect() cell {
	switch {
	case t.Annotations.ReadOnly:
		return cell{text: "reads"}
	case t.Annotations.Destructive:
		return cell{"deletes", bad}
	}
	return cell{"writes", warned}
}

func (q *Query) toolQuery() url.Values {
	query := url.Values{}
	if len(q.Toolsets) > 0 {
		query.Set("toolsets", strings.Join(q.Toolsets, ","))
	}
	if q.ReadOnly {
		query.Set("readonly", "true")
	}
	return query
}

// tools reads all pages of the list.
func (q *Query) tools(ctx context.Context) ([]tool, error) {
	var list []tool
	params := map[string]any{}
	for {
		text, _, err := q.client.toolRequest(ctx, q.toolQuery(), "tools/list", params)
		if err != nil {
			return nil, err
		}
		var page struct {
			Tools []json.RawMessage `json:"tools"`
			Next  string            `json:"nextCursor"`
		}
		if err := json.Unmarshal(text, &page); err != nil {
			return nil, fmt.Errorf("read the list of tools: %w", err)
		}
		for _, raw := range page.Tools {
			t := tool{raw: raw}
			if err := json.Unmarshal(raw, &t); err != nil {
				return nil, fmt.Errorf("read the list of tools: %w", err)
			}
			list = append(list, t)
		}
		if page.Next == "" || page.Next == params["cursor"] {
			return list, nil
		}
		params = map[string]any{"cursor": page.Next}
	}
}

func listTools(ctx context.Context, q *Query) (Answer, error) {
	list, err := q.tools(ctx)
	if err != nil {
		return Answer{}, err
	}
	if len(q.Arguments) > 0 {
		i := slices.IndexFunc(list, func(t tool) bool { return t.Name == q.Arguments[0] })
		if i < 0 {
			return Answer{}, toolNotCalled(fmt.Sprintf("the server offers no tool %q with these flags", q.Arguments[0]), "")
		}
		return oneTool(&list[i]), nil
	}
	s := section{columns: []column{{title: "TOOL"}, {title: "EFFECT", drop: 1}, {title: "DESCRIPTION", grow: true}}}
	a := Answer{}
	for i := range list {
		t := &list[i]
		first, _, _ := strings.Cut(t.Description, ". ")
		s.rows = append(s.rows, []cell{{text: t.Name}, t.effect(), {text: strings.TrimSuffix(first, ".")}})
		a.rawLines = append(a.rawLines, t.raw)
	}
	a.sections, a.empty = []section{s}, none(s, "the server offers no tool with these flags")
	a.raw = slices.Concat([]byte(`{"tools":[`), bytes.Join(a.rawLines, []byte{','}), []byte("]}"))
	return a, nil
}

func oneTool(t *tool) Answer {
	head := pairs([2]string{"Tool", t.Name}, [2]string{"Title", t.Title})
	head.rows = append(head.rows, []cell{{"Effect", faint}, t.effect()})
	text := section{columns: []column{{prose: true}}}
	for line := range strings.Lines(t.Description) {
		text.rows = append(text.rows, row(strings.TrimRight(line, "\r\n")))
	}
	s := section{title: "Arguments", columns: []column{
		{title: "NAME"},
		{title: "TYPE"},
		{title: "DEFAULT", drop: 1},
		{title: "DESCRIPTION", prose: true},
	}}
	for _, name := range t.Input.names() {
		p := t.Input.Properties.of[name]
		kind := cell{text: p.kind()}
		if slices.Contains(t.Input.Required, name) {
			kind.text += ", required"
			kind.tone = bold
		}
		s.rows = append(s.rows, []cell{{text: name}, kind, {text: string(p.Default)}, {text: p.about()}})
	}
	return Answer{raw: t.raw, rawLines: [][]byte{t.raw}, sections: []section{head, text, s}}
}

func callTool(ctx context.Context, q *Query) (Answer, error) {
	arguments, err := q.toolArguments()
	if err != nil {
		return Answer{}, err
	}
	name := q.Arguments[0]
	text, requestID, err := q.client.toolRequest(ctx, q.toolQuery(), "tools/call", map[string]any{"name": name, "arguments": arguments})
	if err != nil {
		return Answer{}, err
	}
	var r toolResult
	if err := json.Unmarshal(text, &r); err != nil {
		return Answer{}, fmt.Errorf("read the answer of the tool: %w", err)
	}
	if r.Failed {
		return Answer{}, r.failure(name, requestID)
	}
	s := section{columns: []column{{prose: true}}}
	a := Answer{raw: r.Structured}
	for _, line := range r.lines() {
		s.rows = append(s.rows, row(line))
		// The structured content has no place for notes, such as one about an argument that the tool does not have.
		if note, ok := strings.CutPrefix(line, "Note: "); ok {
			a.asides = append(a.asides, note)
		}
	}
	if len(a.raw) == 0 {
		if a.raw, err = json.Marshal(map[string]any{"content": r.Content}); err != nil {
			return Answer{}, err
		}
	}
	a.rawLines, a.sections = [][]byte{a.raw}, []section{s}
	return a, nil
}

// toolArguments are the arguments of a call.
func (q *Query) toolArguments() (json.RawMessage, error) {
	text := strings.TrimSpace(q.ToolArguments)
	if text == "" {
		return json.RawMessage("{}"), nil
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, usage(`--json: give an object of JSON such as {"start_time": "now-1h"}`)
	}
	return json.RawMessage(text), nil
}
