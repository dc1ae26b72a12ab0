package mcp

import (
	"net"
	"net/http"
	"net/url"
	"strings"
)

// allowedOrigin refuses web pages of other origins. Their browser could send requests to whatever the user's machine can reach.
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

// share lets scripts of an allowed origin read the answer, for example an inspector or a local application in a browser. The
// script sends the credentials itself, never the browser.
func share(h http.Header, origin string) {
	h.Add("Vary", "Origin")
	if origin == "" {
		return
	}
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Retry-After, X-Request-Id")
}

// preflight answers a browser that asks what a script may send. Headers that carry arguments (Mcp-Param-…) get their names from
// the tools, so any header is allowed. The wildcard does not include Authorization, so that is named.
func preflight(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", http.MethodPost)
	h.Set("Access-Control-Allow-Headers", "Authorization, *")
	h.Set("Access-Control-Max-Age", "7200")
	w.WriteHeader(http.StatusNoContent)
}
