package mcp

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// ManifestPaths are the paths of the manifest.
func ManifestPaths() []string {
	return []string{"/.well-known/mcp.json", "/.well-known/mcp/server-card.json"}
}

// entryPaths are the paths of the entry for registries.
func entryPaths() []string { return []string{"/server.json", "/.well-known/mcp/server.json"} }

// Published are the paths of all public documents.
func Published() []string { return append(ManifestPaths(), entryPaths()...) }

const about = "Search traces, logs and metrics of your services, find causes, edit dashboards."

// entry is the entry for a registry of MCP servers (server.json of 2025-12-11): a name under the host's domain, and the address
// of the server.
type entry struct {
	Schema      string   `json:"$schema"`
	Name        string   `json:"name"`
	Title       string   `json:"title"`
	Description string   `json:"description"`
	Version     string   `json:"version"`
	Remotes     []remote `json:"remotes"`
}

type remote struct {
	Type    string         `json:"type"`
	URL     string         `json:"url"`
	Headers []remoteHeader `json:"headers,omitempty"`
}

type remoteHeader struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	IsRequired  bool   `json:"isRequired"`
	IsSecret    bool   `json:"isSecret"`
}

func (s *Server) entry() entry {
	domain := "localhost"
	if u, err := url.Parse(s.cfg.BaseURL); err == nil && u.Hostname() != "" && net.ParseIP(u.Hostname()) == nil {
		parts := strings.Split(strings.ToLower(u.Hostname()), ".")
		slices.Reverse(parts)
		domain = strings.Join(parts, ".")
	}
	return entry{
		Schema:      "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
		Name:        domain + "/" + ServerName,
		Title:       title,
		Description: about,
		Version:     ServerVersion,
		Remotes: []remote{{Type: "streamable-http", URL: s.endpoint(), Headers: []remoteHeader{{
			Name: "Authorization", Description: "Bearer and an API key or MCP key, for programs that cannot sign in with OAuth.", IsSecret: true,
		}}}},
	}
}

func (s *Server) endpoint() string { return strings.TrimRight(s.cfg.BaseURL, "/") + Path }

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

// manifest gives the address of the server and how to use it.
func (s *Server) manifest() manifest {
	return manifest{
		Name:        ServerName,
		Title:       title,
		Version:     ServerVersion,
		Description: about,
		Endpoint:    s.endpoint(),
		Transport:   "streamable-http",
		Auth: manifestAuth{
			Type: "oauth2", Description: "OAuth 2.1 in the browser, or an API key or an MCP key of the organization as a bearer token.",
			ResourceMetadata: s.cfg.ResourceMetadata,
		},
		Capabilities: map[string]any{
			"tools":       map[string]any{},
			"prompts":     map[string]any{},
			"resources":   map[string]any{},
			"completions": map[string]any{},
		},
	}
}

// publish serves a public document that is the same for every caller.
func (s *Server) publish(document any) http.Handler {
	body, err := json.Marshal(document)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case err != nil:
			fail(w, apierr.From(err))
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			fail(w, apierr.New(apierr.MethodNotAllowed, "This document can only be read."))
			return
		}
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Access-Control-Allow-Origin", "*")
		h.Set("Cache-Control", "public, max-age=3600")
		_, _ = w.Write(body) // an error means that the caller disconnected
	})
}
