package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/wording"
)

// These are codes of JSON-RPC 2.0.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
)

// protocolAnswer holds back the SDK's answer, which is one piece, until send knows whether it is a protocol message. The SDK
// answers requests that it cannot read with plain text, and wrong params with the words of Go's JSON reader.
type protocolAnswer struct {
	http.ResponseWriter
	status int
	body   bytes.Buffer
}

// WriteHeader keeps the status.
func (a *protocolAnswer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// Write keeps the bytes.
func (a *protocolAnswer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush does nothing: the answer is sent at the end.
func (a *protocolAnswer) Flush() {}

type rpcError struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// send passes on the answer to request. If it is not a protocol message, it becomes a JSON-RPC error.
func (a *protocolAnswer) send(request []byte) {
	h := a.Header()
	body, status := a.body.Bytes(), a.status
	plain := status >= http.StatusBadRequest && strings.HasPrefix(h.Get("Content-Type"), "text/plain")
	switch {
	case plain:
		status, body = protocolError(request, a.body.String())
	case bytes.Contains(body, []byte("into Go ")) && bytes.Contains(body, []byte(`"error":`)):
		var e rpcError
		if json.Unmarshal(body, &e) != nil || e.Error.Code != codeInvalidParams {
			break
		}
		body = e.with(codeInvalidParams, "The params do not have the form that this method takes.")
	}
	if plain {
		h.Del("X-Content-Type-Options")
		h.Set("Content-Type", "application/json")
	}
	h.Del("Content-Length")
	if status != 0 {
		a.ResponseWriter.WriteHeader(status)
	}
	_, _ = a.ResponseWriter.Write(body) // an error means that the caller disconnected
}

// protocolError is the answer to a request that the SDK refused in plain text.
func protocolError(request []byte, text string) (status int, body []byte) {
	var asked struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	e := rpcError{}
	switch {
	case !json.Valid(request):
		return http.StatusBadRequest, e.with(codeParse, "The body is not valid JSON.")
	case json.Unmarshal(request, &asked) != nil:
		return http.StatusBadRequest, e.with(codeInvalidRequest, "The body is not a JSON-RPC 2.0 message.")
	}
	e.ID = asked.ID
	switch {
	case strings.Contains(text, "nsupported protocol version"):
		return http.StatusBadRequest, e.with(codeInvalidRequest, strings.TrimSpace(strings.TrimPrefix(text, "Bad Request: ")))
	case strings.Contains(text, "not handled") && len(asked.ID) > 0:
		return http.StatusOK, e.with(codeMethodNotFound, "This server has no method "+wording.Clip(asked.Method, 80)+".")
	case strings.Contains(text, `missing required "params"`) && len(asked.ID) > 0:
		return http.StatusOK, e.with(codeInvalidParams, "The method "+wording.Clip(asked.Method, 80)+" needs params.")
	default:
		return http.StatusBadRequest, e.with(
			codeInvalidRequest,
			"The body is not a JSON-RPC 2.0 request: it needs \"jsonrpc\":\"2.0\", a method and, except for notifications, an id that is a number or text.",
		)
	}
}

func (e rpcError) with(code int, message string) []byte {
	e.Version, e.Error.Code, e.Error.Message = "2.0", code, message
	if len(e.ID) == 0 {
		e.ID = json.RawMessage("null")
	}
	body, err := json.Marshal(e)
	if err != nil { // cannot happen: the id is valid JSON, the rest is text
		return nil
	}
	return body
}
