package oauth

import "net/http"

const (
	resourcePath = "/.well-known/oauth-protected-resource"
	serverPath   = "/.well-known/oauth-authorization-server"
)

// ResourceMetadataURL is the address where programs learn which authorization server the MCP server trusts. It goes into
// WWW-Authenticate (RFC 9728 section 5.1).
func ResourceMetadataURL(base string) string { return base + resourcePath + "/mcp" }

// resourceMetadata describes the MCP server as a protected resource (RFC 9728).
func (s *Server) resourceMetadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	write(w, http.StatusOK, map[string]any{
		"resource":                 s.resource,
		"resource_name":            "svc",
		"authorization_servers":    []string{s.cfg.Issuer},
		"bearer_methods_supported": []string{"header"},
		"scopes_supported":         s.cfg.Scopes,
		"resource_documentation":   s.cfg.Issuer + "/v2/docs",
	})
}

// serverMetadata describes the authorization server (RFC 8414). Fields that do not apply are left out, not null.
func (s *Server) serverMetadata(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=300")
	issuer := s.cfg.Issuer
	write(w, http.StatusOK, map[string]any{
		"issuer":                                         issuer,
		"authorization_endpoint":                         issuer + AuthorizePath,
		"token_endpoint":                                 issuer + tokenPath,
		"registration_endpoint":                          issuer + registerPath,
		"revocation_endpoint":                            issuer + revokePath,
		"scopes_supported":                               s.cfg.Scopes,
		"response_types_supported":                       []string{"code"},
		"response_modes_supported":                       []string{"query"},
		"grant_types_supported":                          []string{"authorization_code", "refresh_token"},
		"code_challenge_methods_supported":               []string{"S256"},
		"token_endpoint_auth_methods_supported":          []string{"none"},
		"revocation_endpoint_auth_methods_supported":     []string{"none"},
		"authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported":          true,
		"service_documentation":                          issuer + "/v2/docs",
	})
}
