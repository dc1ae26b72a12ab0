package oauth

import (
	"net/url"
	"slices"
	"strings"

	"github.com/svc-observability/svc/server/limits"
)

const maxURI = limits.ClientAddress

// checkRedirect returns the reason why browsers cannot be sent back to an address, or an empty text if they can. Allowed are
// https everywhere, http on the user's own machine, and the scheme of an application (RFC 8252).
func checkRedirect(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxURI || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }):
		return "it is not a URL of at most " + limits.Number(maxURI) + " ASCII characters"
	case strings.ContainsFunc(u.Host, func(r rune) bool { return r >= 0x7f }):
		return "its host holds characters outside ASCII"
	case u.Scheme == "":
		return "it has no scheme"
	case strings.Contains(text, "#"):
		return "it has a fragment"
	case strings.Contains(text, "*"):
		return "it holds *, but redirect addresses have no wildcards"
	case u.User != nil:
		return "it holds a user name"
	}
	switch scheme := strings.ToLower(u.Scheme); {
	case scheme == "https":
		if u.Hostname() == "" {
			return "it has no host"
		}
	case scheme == "http":
		if !loopback(u) {
			return "it must begin with https://; http:// is allowed only for this machine (localhost, 127.0.0.1, [::1])"
		}
	case slices.Contains([]string{
		"javascript", "data", "vbscript", "blob", "file", "filesystem", "about", "view-source", "ftp", "ws", "wss",
		"mailto", "tel", "sms", "intent", "jar",
	}, scheme):
		return "browsers must not be sent to " + scheme + ": addresses"
	}
	return ""
}

func loopback(u *url.URL) bool {
	return u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

// sameRedirect compares two addresses exactly, except for the port on the user's own machine: a program learns its port when it
// starts (RFC 8252 section 7.3).
func sameRedirect(registered, given string) bool {
	if registered == given {
		return true
	}
	a, errA := url.Parse(registered)
	b, errB := url.Parse(given)
	if errA != nil || errB != nil || !loopback(a) || !loopback(b) {
		return false
	}
	a.Host, b.Host = a.Hostname(), b.Hostname()
	return a.String() == b.String()
}
