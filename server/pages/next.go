package pages

import (
	"net/url"
	"path"
	"strings"
)

// safeNext returns the page to show after the sign-in, which is always one of ours. An address that a browser could take for
// another host, or that would lead in a circle, becomes the first page.
func safeNext(text string) string {
	const first = "/"
	if len(text) > 8192 || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") ||
		strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == '\\' || r == 0x7f }) {
		return first
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(u.Path, "/") ||
		strings.ContainsAny(u.Path, "\\\x00\r\n\t") {
		return first
	}
	// The result is built from the checked parts: the path in its shortest form, so that it cannot begin with two slashes.
	clean := path.Clean(u.Path)
	if clean == "/login" || strings.HasPrefix(clean, "/login/") || clean == "/logout" {
		return first
	}
	return (&url.URL{Path: clean, RawQuery: u.RawQuery}).RequestURI()
}
