package mcp

import (
	"net/http"
	"testing"
)

// TestToolListLength: a client puts the whole list before its model. Four characters are about one token.
func TestToolListLength(t *testing.T) {
	srv := server(t, &backend{}, full(), nil)
	header := map[string]string{"Authorization": "Bearer full", "Content-Type": "application/json"}
	for _, c := range []struct {
		who, query string
		most       int
	}{
		{"all tools", "", 22_000},
		{"an agent on call", "?toolsets=oncall", 8_000},
		{"an agent on call that looks into telemetry itself", "?toolsets=telemetry,errors,alerts&readonly=true", 8_000},
	} {
		res, body := send(t, http.MethodPost, srv.URL+Path+c.query, listTools, header)
		tokens := len(body) / 4
		if res.StatusCode != http.StatusOK || tokens > c.most || tokens == 0 {
			t.Errorf("%s: status %d, about %d tokens, want at most %d", c.who, res.StatusCode, tokens, c.most)
		}
		t.Logf("%s: about %d tokens", c.who, tokens)
	}
}
