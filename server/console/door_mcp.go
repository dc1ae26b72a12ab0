package console

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/svc-observability/svc/server/limits"
)

// mcpPath is where a server speaks MCP.
const mcpPath = "/mcp"

// Names of the protocol that both doors of MCP, the bridge and the tools, use.
const (
	headerSession  = "Mcp-Session-Id"
	headerProtocol = "Mcp-Protocol-Version"
	methodHello    = "initialize"
	methodReady    = "notifications/initialized"
	methodCancel   = "notifications/cancelled"
	keyProtocol    = "io.modelcontextprotocol/protocolVersion"
)

// envelope is the part of a JSON-RPC message that leads it to its place.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// rpcError is an error of the protocol.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Codes of JSON-RPC.
const (
	codeParse   = -32700
	codeInvalid = -32600
	codeAway    = -32000 // the first of those that an implementation gives a meaning
)

// asks reports whether the message is a request, which needs an answer.
func (e *envelope) asks() bool { return len(e.ID) > 0 && string(e.ID) != "null" && e.Method != "" }

// headers are the headers that a message of the newer protocol repeats: its version, its method, and what the method is about.
func (e *envelope) headers(h http.Header, version string) {
	var params struct {
		Name string                     `json:"name"`
		URI  string                     `json:"uri"`
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	if len(e.Params) > 0 && json.Unmarshal(e.Params, &params) != nil {
		params.Name, params.URI, params.Meta = "", "", nil
	}
	var own string
	if json.Unmarshal(params.Meta[keyProtocol], &own) == nil && own != "" {
		version = own
	}
	if version != "" {
		h.Set(headerProtocol, version)
	}
	if own == "" || e.Method == "" {
		return
	}
	h.Set("Mcp-Method", e.Method)
	switch e.Method {
	case "tools/call", "prompts/get":
		h.Set("Mcp-Name", params.Name)
	case "resources/read":
		h.Set("Mcp-Name", params.URI)
	}
}

// mcpDoor sends messages to the MCP endpoint of a server.
type mcpDoor struct {
	target Target
	http   *http.Client
	// query narrows the tools.
	query string
	// wait is how long a server that does not answer may take to come back.
	wait time.Duration
}

func newMCPDoor(target Target, query url.Values) *mcpDoor {
	return &mcpDoor{target: target, http: HTTPClient(target), query: query.Encode()}
}

// post sends a message. It tries again while no connection can be made, because then the server did not see the message.
func (d *mcpDoor) post(ctx context.Context, body []byte, header http.Header) (*http.Response, error) {
	address := strings.TrimRight(d.target.URL, "/") + mcpPath
	if d.query != "" {
		address += "?" + d.query
	}
	pause, until := 100*time.Millisecond, time.Now().Add(d.wait)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		req.Header = header.Clone()
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		res, err := d.http.Do(req)
		if err == nil {
			return res, nil
		}
		var dial *net.OpError
		if !errors.As(err, &dial) || dial.Op != "dial" || time.Now().Add(pause).After(until) {
			return nil, fmt.Errorf("no server answers at %s: %w", d.target.URL, err)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
		pause = min(2*pause, 2*time.Second)
	}
}

// each passes the messages of an answer on: the one of JSON, or those of a stream of events.
func each(res *http.Response, message func([]byte) error) error {
	if !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(io.LimitReader(res.Body, limits.GRPCMessage))
		if err != nil || len(bytes.TrimSpace(body)) == 0 {
			return err
		}
		return message(body)
	}
	return events(res.Body, message)
}

// refused is the reason for which the server did not take a message, in words for a person.
func (d *mcpDoor) refused(res *http.Response, body []byte) string {
	var told struct {
		Error struct {
			Tag     string `json:"_tag"`
			Message string `json:"message"`
		} `json:"error"`
	}
	text := res.Status
	if json.Unmarshal(body, &told) == nil && told.Error.Message != "" {
		text = strings.ReplaceAll(told.Error.Message, "`toolsets`", "--toolset")
		if told.Error.Tag != "" {
			text += " (" + told.Error.Tag + ")"
		}
	}
	switch {
	case res.StatusCode == http.StatusUnauthorized:
		text += " " + d.target.Relogin
	case res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") != "":
		text += " Try again in " + res.Header.Get("Retry-After") + " s."
	case res.StatusCode == http.StatusNotFound:
		// The ingest port answers with an error of its own.
		text = d.target.URL + " has no MCP endpoint: is it the address of the API of an svc server?"
	}
	return safe(strings.TrimSpace(text))
}

// events reads a stream of server-sent events, and passes on the data of each. Lines that begin with a colon keep the stream alive.
func events(r io.Reader, data func([]byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, limits.GRPCMessage)
	var kept []byte
	some := false
	for lines.Scan() {
		line := lines.Bytes()
		if len(line) == 0 {
			if some && len(bytes.TrimSpace(kept)) > 0 {
				if err := data(kept); err != nil {
					return err
				}
			}
			kept, some = nil, false
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if string(name) != "data" {
			continue
		}
		if some {
			kept = append(kept, '\n')
		}
		kept, some = append(kept, bytes.TrimPrefix(value, []byte(" "))...), true
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream of events: %w", err)
	}
	return nil
}
