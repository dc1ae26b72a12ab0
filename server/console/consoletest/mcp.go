package consoletest

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// serveMCP answers the list of tools, and the calls of the tools that have a file. Other calls get the error of an unknown tool.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params map[string]any  `json:"params"`
	}
	if err == nil {
		err = json.Unmarshal(body, &request)
	}
	if err != nil {
		s.t.Errorf("%s: %v", body, err)
		return
	}
	if r.Header.Get("Mcp-Method") != request.Method || r.Header.Get("Mcp-Protocol-Version") == "" {
		s.t.Errorf("headers of %s: %v", body, r.Header)
	}
	delete(request.Params, "_meta")
	params, err := json.Marshal(request.Params)
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, strings.TrimSpace(request.Method+" "+r.URL.RawQuery)+" "+string(params))
	s.mu.Unlock()
	name := strings.ReplaceAll(request.Method, "/", "_")
	if tool, ok := request.Params["name"].(string); ok {
		name += "_" + tool
	}
	text, err := answers.ReadFile("answers/mcp/" + name + ".json")
	if err != nil {
		text = []byte(`{"error": {"code": -32602, "message": "unknown tool"}}`)
	}
	var answer map[string]json.RawMessage
	if err := json.Unmarshal(text, &answer); err != nil {
		s.t.Errorf("%s: %v", name, err)
		return
	}
	answer["jsonrpc"], answer["id"] = json.RawMessage(`"2.0"`), request.ID
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(answer); err != nil {
		s.t.Error(err)
	}
}
