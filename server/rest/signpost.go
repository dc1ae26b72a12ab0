package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/svc-observability/svc/server/apierr"
)

// The paths of version 1 began with /api. This server has no earlier clients, so it serves none of them: the answer names the
// successor of the path (docs/adr/0021-no-version-1.md).
const versionOne = "/api"

// successor returns the path under /v2 that took the place of a path of version 1: the family with the same name, in whatever case and
// with whatever separator it is written. A name that no family has leads to the reference.
func (t *transcoder) successor(u *url.URL) (path string, ok bool) {
	rest, ok := strings.CutPrefix(u.Path, versionOne)
	if !ok || rest != "" && rest[0] != '/' {
		return "", false
	}
	name, rest, _ := strings.Cut(strings.Trim(rest, "/"), "/")
	if name == "v1" {
		name, _, _ = strings.Cut(rest, "/")
	}
	for family := range t.gateways {
		if plain(family) == plain(name) {
			return "/v2/" + family, true
		}
	}
	return "/v2/docs", true
}

// plain returns a name in lower case, without separators and without the s of a plural.
func plain(name string) string {
	return strings.TrimSuffix(strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)), "s")
}

// signpost answers a path of version 1 with its successor, also as a link (RFC 5829, section 3.2).
func signpost(res *response, r *http.Request, path string) {
	res.Header().Set("Link", "<"+path+`>; rel="successor-version"`)
	res.fail(apierr.New(apierr.RouteNotFound, fmt.Sprintf(
		"There is no route %s %s: version 1 is not served. Its successor is %s; GET /v2/docs describes version 2.",
		r.Method, escaped(r.URL), path)))
}
