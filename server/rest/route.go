package rest

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
)

// pathParams are the decoded values of a route's parameters by field name.
type pathParams map[string]string

type paramsKey struct{}

// route finds the method of a request. It is nil, without an error, for OPTIONS on a path that exists.
func (d *door) route(header http.Header, r *http.Request) (*contract.Method, pathParams, error) {
	segments, ok := split(r.URL)
	if !ok {
		return nil, nil, notFound(r)
	}
	candidates := d.contract.Route(segments)
	if len(candidates) == 0 {
		return nil, nil, notFound(r)
	}
	wanted := r.Method
	if wanted == http.MethodHead {
		wanted = http.MethodGet
	}
	for _, m := range candidates {
		if m.HTTP.Method != wanted {
			continue
		}
		params := pathParams{}
		for i, s := range segments {
			if name, ok := m.HTTP.PathParam(i); ok {
				params[name] = s
			}
		}
		return m, params, nil
	}
	allow := []string{http.MethodOptions}
	for _, m := range candidates {
		allow = append(allow, m.HTTP.Method)
		if m.HTTP.Method == http.MethodGet {
			allow = append(allow, http.MethodHead)
		}
	}
	slices.Sort(allow)
	header.Set("Allow", strings.Join(slices.Compact(allow), ", "))
	if r.Method == http.MethodOptions {
		return nil, nil, nil
	}
	return nil, nil, apierr.New(apierr.MethodNotAllowed, fmt.Sprintf("%s is not offered here; this path takes %s.", r.Method, header.Get("Allow")))
}

func notFound(r *http.Request) error {
	return apierr.New(apierr.RouteNotFound, fmt.Sprintf("There is no route %s %s.", r.Method, strings.ToValidUTF8(r.URL.Path, "\uFFFD")))
}

// split decodes the segments of a path, each by itself, so that an escaped slash stays inside its segment. An empty segment, which a
// trailing slash makes too, matches nothing.
func split(u *url.URL) (segments []string, ok bool) {
	raw, ok := strings.CutPrefix(u.EscapedPath(), "/")
	if !ok {
		return nil, false
	}
	segments = strings.Split(raw, "/")
	for i, s := range segments {
		decoded, err := url.PathUnescape(s)
		if err != nil || decoded == "" {
			return nil, false
		}
		segments[i] = decoded
	}
	return segments, true
}

// checkPath refuses text that no identifier holds and that storage would trip over.
func checkPath(m *contract.Method, params pathParams) error {
	for _, name := range m.HTTP.PathParams {
		if err := checkText(name, params[name], apierr.InvalidRequest); err != nil {
			return err
		}
	}
	return nil
}

func checkText(name, text string, tag apierr.Tag) error {
	switch {
	case !utf8.ValidString(text):
		return apierr.New(tag, fmt.Sprintf("`%s` is not valid UTF-8.", name), apierr.Param(name))
	case strings.ContainsRune(text, 0):
		return apierr.New(tag, fmt.Sprintf("`%s` holds a zero byte.", name), apierr.Param(name))
	}
	return nil
}

// checkIdempotencyKey refuses what would not get as far as the method: the gateway drops text that is not ASCII.
func checkIdempotencyKey(m *contract.Method, h http.Header) error {
	for _, key := range h[idempotency.Header] {
		if err := idempotency.Check(key); err != nil && m.IdempotencyKey {
			return err
		}
	}
	return nil
}

// innerRequest is the request as the gateway gets it: routed beyond doubt, its body read, HEAD as GET.
func innerRequest(ctx context.Context, r *http.Request, m *contract.Method, params pathParams, b *body) *http.Request {
	segments := strings.Split(m.HTTP.Path, "/")
	for i := 1; i < len(segments); i++ {
		if name, ok := m.HTTP.PathParam(i - 1); ok {
			segments[i] = url.PathEscape(params[name])
		}
	}
	inner := r.WithContext(context.WithValue(ctx, paramsKey{}, params))
	inner.Method = m.HTTP.Method
	inner.Body = b
	inner.Header = http.Header{"Content-Type": {"application/json"}}
	if keys, ok := r.Header[idempotency.Header]; ok {
		inner.Header[idempotency.Header] = keys
	}
	u := *r.URL
	u.RawPath = strings.Join(segments, "/")
	inner.URL = &u
	return inner
}

// exactPathParams gives the gateway's handlers the decoded values; its own decoding keeps some escapes.
func exactPathParams(next runtime.HandlerFunc) runtime.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request, fromGateway map[string]string) {
		if probe, ok := r.Context().Value(probeKey{}).(*probe); ok {
			if p, ok := runtime.HTTPPattern(r.Context()); ok {
				probe.pattern = p.String()
			}
			return
		}
		if params, ok := r.Context().Value(paramsKey{}).(pathParams); ok {
			fromGateway = params
		}
		next(w, r, fromGateway)
	}
}

type probeKey struct{}

// discard takes the answer to a probe.
type discard struct{}

// Header returns headers that nobody reads.
func (discard) Header() http.Header { return http.Header{} }

// WriteHeader does nothing.
func (discard) WriteHeader(int) {}

// Write does nothing.
func (discard) Write(b []byte) (int, error) { return len(b), nil }

// probe asks the gateway where it would route a request.
type probe struct{ pattern string }

// checkRoutes proves at start that the gateway knows every route of the contract and takes it for the same method: it tries routes in
// the reverse order of their declaration, so a literal route must be declared after a parameter that would swallow it.
func (d *door) checkRoutes() error {
	for _, m := range d.contract.Methods() {
		if m.NoREST {
			continue
		}
		params := pathParams{}
		for _, name := range m.HTTP.PathParams {
			params[name] = "probe~value"
		}
		found := &probe{}
		ctx := context.WithValue(context.Background(), probeKey{}, found)
		r := &http.Request{Method: m.HTTP.Method, URL: &url.URL{Path: "/"}}
		d.gateway.ServeHTTP(discard{}, innerRequest(ctx, r.WithContext(ctx), m, params, &body{}))
		got, _ := d.contract.ByHTTP(m.HTTP.Method, found.pattern)
		switch {
		case found.pattern == "":
			return fmt.Errorf("rest: %s %s (%s) is not registered with the gateway", m.HTTP.Method, m.HTTP.Path, m.FullName)
		case got != m:
			return fmt.Errorf("rest: %s %s (%s) is swallowed by %s: declare it after that one", m.HTTP.Method, m.HTTP.Path, m.FullName, found.pattern)
		}
	}
	return nil
}
