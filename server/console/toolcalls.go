package console

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"connectrpc.com/connect"

	optionsv1 "github.com/svc-observability/svc/gen/svc/options/v1"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/requestid"
)

// toolProtocol is the version of MCP that the tools commands speak. It needs no handshake, so a command is one request.
const toolProtocol = "2026-07-28"

// tagProtocol is the tag of errors of JSON-RPC, which have none.
const tagProtocol = "@svc/cli/ToolNotCalled"

// toolRequest calls one method of MCP.
func (c *Client) toolRequest(
	ctx context.Context, query url.Values, method string, params map[string]any,
) (result json.RawMessage, requestID string, err error) {
	params["_meta"] = map[string]any{
		keyProtocol: toolProtocol,
		"io.modelcontextprotocol/clientInfo": map[string]string{
			"name":    "svc-cli",
			"version": strings.TrimPrefix(c.target.Agent, "svc-cli/"),
		},
		"io.modelcontextprotocol/clientCapabilities": map[string]any{},
	}
	list, err := json.Marshal(params)
	if err != nil {
		return nil, "", err
	}
	e := envelope{Version: "2.0", ID: json.RawMessage("1"), Method: method, Params: list}
	body, err := json.Marshal(e)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, limits.CallTime)
	defer cancel()
	header := http.Header{}
	e.headers(header, toolProtocol)
	res, err := newMCPDoor(c.target, query).post(ctx, body, header)
	if err != nil {
		return nil, "", c.failure(connect.NewError(away(err), err))
	}
	defer func() { _ = res.Body.Close() }()
	requestID = res.Header.Get(requestid.Header)
	var answer *envelope
	var text []byte
	if text, err = io.ReadAll(io.LimitReader(res.Body, limits.GRPCMessage)); err != nil {
		return nil, requestID, c.failure(connect.NewError(away(err), err))
	}
	res.Body = io.NopCloser(strings.NewReader(string(text)))
	err = each(res, func(text []byte) error {
		var a envelope
		if json.Unmarshal(text, &a) == nil && a.Version == "2.0" && a.Method == "" && string(a.ID) == "1" {
			answer = &a
		}
		return nil
	})
	switch {
	case err == nil && answer != nil && answer.Error == nil:
		return answer.Result, requestID, nil
	case err == nil && answer != nil:
		return nil, requestID, toolNotCalled(answer.Error.Message, requestID)
	}
	return nil, requestID, c.refusal(res, text)
}

// toolNotCalled is the error of a call that reached no tool.
func toolNotCalled(text, requestID string) error {
	return &Failure{
		requestID: requestID, tool: true, err: errors.New(text), hint: "'svc tools list' lists the tools.",
		detail: &optionsv1.ErrorDetail{
			Tag: tagProtocol, Type: "invalid_request_error", Code: "tool_not_called", Title: "Tool not called", Recovery: "fix_request",
			Message: text,
		},
	}
}

// away is the code of a request without an answer.
func away(err error) connect.Code {
	if errors.Is(err, context.DeadlineExceeded) {
		return connect.CodeDeadlineExceeded
	}
	return connect.CodeUnavailable
}

// refusal is the error of an answer in the form of REST.
func (c *Client) refusal(res *http.Response, text []byte) error {
	var told struct {
		Error struct {
			Tag       string `json:"_tag"`
			Type      string `json:"type"`
			Code      string `json:"code"`
			Title     string `json:"title"`
			Message   string `json:"message"`
			Retryable bool   `json:"retryable"`
			Recovery  string `json:"recovery"`
			Param     string `json:"param"`
		} `json:"error"`
	}
	if json.Unmarshal(text, &told) != nil || told.Error.Message == "" {
		return c.failure(connect.NewError(connect.CodeUnknown, fmt.Errorf("status %s", res.Status)))
	}
	e := told.Error
	detail := &optionsv1.ErrorDetail{
		Tag: e.Tag, Type: e.Type, Code: e.Code, Title: e.Title, Message: strings.ReplaceAll(e.Message, "`toolsets`", "--toolset"),
		Retryable: e.Retryable, Recovery: e.Recovery, Param: e.Param, Status: int32(res.StatusCode),
	}
	wire := connect.NewError(connect.CodeUnknown, errors.New(e.Message))
	if d, err := connect.NewErrorDetail(detail); err == nil {
		wire.AddDetail(d)
	}
	wire.Meta().Set(requestid.Header, res.Header.Get(requestid.Header))
	if retry := res.Header.Get("Retry-After"); retry != "" {
		wire.Meta().Set("Retry-After", retry)
	}
	return c.failure(wire)
}

// toolResult is the answer of a tool.
type toolResult struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		MimeType string `json:"mimeType"`
		Data     string `json:"data"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	Failed     bool            `json:"isError"`
}

// lines are the texts of the answer, for people.
func (r *toolResult) lines() []string {
	var list []string
	for _, part := range r.Content {
		if part.Type != "text" {
			list = append(list, "("+part.Type+" "+part.MimeType+", "+strconv.Itoa(len(part.Data)*3/4)+" bytes)")
			continue
		}
		list = append(list, strings.Split(strings.TrimRight(part.Text, "\n"), "\n")...)
	}
	return list
}

// failure is the error that a tool reports.
func (r *toolResult) failure(name, requestID string) error {
	var told struct {
		Tag       string `json:"_tag"`
		Message   string `json:"message"`
		Parameter string `json:"parameter"`
	}
	text := strings.Join(r.lines(), "\n")
	if len(r.Structured) == 0 || json.Unmarshal(r.Structured, &told) != nil || told.Tag == "" {
		told.Tag = tagProtocol
	}
	if told.Message == "" {
		told.Message = text
	}
	_, hint, _ := strings.Cut(text, "\n")
	if hint = strings.TrimSpace(safeLines(hint)); hint != "" {
		hint += "\n"
	}
	return &Failure{
		requestID: requestID, tool: true, err: errors.New(told.Message), hint: hint + "'svc tools list " + safe(name) + "' shows the arguments.",
		detail: &optionsv1.ErrorDetail{
			Tag: told.Tag, Type: "invalid_request_error", Code: "tool_failed", Title: "The tool failed", Recovery: "fix_request",
			Message: told.Message, Param: told.Parameter,
		},
	}
}

// safeLines makes each line of a text safe.
func safeLines(text string) string {
	list := strings.Split(text, "\n")
	for i, line := range list {
		list[i] = safe(line)
	}
	return strings.Join(list, "\n")
}
