package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/svc-observability/svc/server/apierr"
)

// canonical returns the URL with a RawPath whose segments are escaped in one way, and the family of the path. The gateway
// compares literal segments as they are written, and decodes a path twice when RawPath is empty. It would also accept an empty
// segment, as after a trailing slash, as the value of a parameter. So the family of such a path is empty.
func canonical(u *url.URL) (_ *url.URL, family string) {
	path := u.EscapedPath()
	if strings.HasSuffix(path, "/") || strings.Contains(path, "//") {
		return u, ""
	}
	if strings.Contains(path, "%") {
		segments, err := split(path)
		if err != nil {
			return u, ""
		}
		for i, s := range segments {
			segments[i] = url.PathEscape(s)
		}
		path = "/" + strings.Join(segments, "/")
		c := *u
		c.RawPath = path
		u = &c
	}
	rest, ok := strings.CutPrefix(path, "/v2/")
	if !ok {
		return u, ""
	}
	family, _, _ = strings.Cut(rest, "/")
	return u, family
}

// split decodes each segment of an escaped path by itself, so that an escaped slash stays inside its segment.
func split(path string) (segments []string, err error) {
	segments = strings.Split(strings.TrimPrefix(path, "/"), "/")
	for i, s := range segments {
		if segments[i], err = url.PathUnescape(s); err != nil {
			return nil, err
		}
	}
	return segments, nil
}

// routingFailed answers a request for which the gateway has no handler, and OPTIONS.
func (t *transcoder) routingFailed(
	_ context.Context, _ *runtime.ServeMux, _ runtime.Marshaler, w http.ResponseWriter, r *http.Request, status int,
) {
	res, ok := w.(*response)
	if !ok {
		return // ServeHTTP is the gateway's only caller
	}
	segments, err := split(r.URL.EscapedPath())
	if status != http.StatusMethodNotAllowed || err != nil {
		res.fail(notFound(res.request))
		return
	}
	allow := []string{http.MethodOptions}
	for _, m := range t.contract.Route(segments) {
		allow = append(allow, m.HTTP.Method)
		if m.HTTP.Method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	slices.Sort(allow)
	methods := strings.Join(slices.Compact(allow), ", ")
	res.Header().Set("Allow", methods)
	if r.Method == http.MethodOptions {
		res.ResponseWriter.WriteHeader(http.StatusNoContent)
		res.written = true
		return
	}
	res.fail(apierr.New(apierr.MethodNotAllowed, fmt.Sprintf("%s is not offered here; this path takes %s.", res.request.Method, methods)))
}

// escaped returns the path in a form for messages. A page that shows the message must not run code that a caller put into the
// path.
func escaped(u *url.URL) string { return (&url.URL{Path: u.Path}).EscapedPath() }

func notFound(r *http.Request) error {
	return apierr.New(apierr.RouteNotFound, fmt.Sprintf("There is no route %s %s.", r.Method, escaped(r.URL)))
}
