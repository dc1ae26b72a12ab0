package mcp

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// allowedOrigin keeps web pages of others out, whose browser would send what the user's machine can reach.
func (s *Server) allowedOrigin(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return true
	}
	u, err := url.Parse(origins[0])
	if err != nil || len(origins) > 1 || u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return true
	}
	base, err := url.Parse(s.cfg.BaseURL)
	return err == nil && base.Hostname() != "" && strings.EqualFold(base.Host, u.Host)
}

// share lets the scripts of an origin that is allowed read the answer: an inspector or a local application in a browser. Credentials are sent by the script
// itself, never by the browser.
func share(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	if origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id")
}

// preflight answers a browser's question of what a script may send. Names of headers that carry arguments (Mcp-Param-…) are the tools' own, so any may come;
// the wildcard leaves out Authorization.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", http.MethodPost)
	h.Set("Access-Control-Allow-Headers", "Authorization, *")
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}
