package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// ManifestPaths are where Manifest belongs.
func ManifestPaths() []string {
	return []string{"/.well-known/mcp.json", "/.well-known/mcp/server-card.json"}
}

type manifest struct {
	Name         string         `json:"name"`
	Title        string         `json:"title"`
	Version      string         `json:"version"`
	Description  string         `json:"description"`
	Endpoint     string         `json:"endpoint"`
	Transport    string         `json:"transport"`
	Auth         manifestAuth   `json:"auth"`
	Capabilities map[string]any `json:"capabilities"`
}

type manifestAuth struct {
	Type             string `json:"type"`
	Description      string `json:"description"`
	ResourceMetadata string `json:"resource_metadata,omitempty"`
}

// Manifest says where the server is and how to use it. It is public and the same for everybody.
func (s *Server) Manifest() http.Handler {
	body, err := json.Marshal(manifest{
		Name: ServerName, Title: title, Version: s.cfg.Version, Description: "Search traces, logs and metrics of your services.",
		Endpoint: strings.TrimRight(s.cfg.BaseURL, "/") + Path, Transport: "streamable-http",
		Auth: manifestAuth{
			Type: "oauth2", Description: "OAuth 2.1 in the browser, or an API key or an MCP key of the organization as a bearer token.",
			ResourceMetadata: s.cfg.ResourceMetadata,
		},
		Capabilities: map[string]any{"tools": map[string]any{}, "prompts": map[string]any{}, "resources": map[string]any{}, "completions": map[string]any{}},
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case err != nil:
			fail(w, apierr.From(err))
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, apierr.New(apierr.MethodNotAllowed, "The manifest can only be read."))
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(body) // the caller went away: nobody to tell
	})
}
