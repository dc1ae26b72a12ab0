package rest

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/grpc-ecosystem/grpc-gateway/v2/runtime"

	"github.com/svc-observability/svc/server/apierr"
	"github.com/svc-observability/svc/server/contract"
	"github.com/svc-observability/svc/server/idempotency"
)

// admitting is the gateway's middleware: it stands between the route and the generated code that binds the request. It admits the
// caller before anything of the request is read.
func (t *transcoder) admitting(next runtime.HandlerFunc) runtime.HandlerFunc {
	var served atomic.Pointer[contract.Method] // the gateway wraps the handler of each route by itself
	return func(w http.ResponseWriter, r *http.Request, pathParams map[string]string) {
		res, ok := w.(*response)
		if !ok {
			return // ServeHTTP is the gateway's only caller
		}
		m := served.Load()
		if m == nil {
			if pattern, ok := runtime.HTTPPattern(r.Context()); ok {
				m, _ = t.contract.ByHTTP(r.Method, pattern.String())
			}
			if m == nil {
				res.fail(notFound(res.request))
				return
			}
			served.Store(m)
		}
		res.method = m
		bound, err := t.read(m, r, pathParams)
		if err != nil {
			res.fail(err)
			return
		}
		next(w, bound, pathParams)
	}
}

// read admits a request, then reads it as strictly as our rules ask. The generated code finds the query and the body in what it
// returns, and no header but the idempotency key: the gateway gives some headers a meaning of its own.
func (t *transcoder) read(m *contract.Method, r *http.Request, pathParams map[string]string) (*http.Request, error) {
	ctx, err := t.admit(r.Context(), m)
	if err != nil {
		return nil, err
	}
	for _, name := range m.HTTP.PathParams {
		if err := checkText(name, pathParams[name], apierr.InvalidRequest); err != nil {
			return nil, err
		}
	}
	query, err := readQuery(m, r.URL.RawQuery)
	if err != nil {
		return nil, err
	}
	keys, err := idempotencyKeys(m, r.Header)
	if err != nil {
		return nil, err
	}
	body, err := t.readBody(m, r)
	if err != nil {
		return nil, err
	}
	bound := r.WithContext(ctx)
	bound.Form, bound.Body, bound.Header = query, body, keys
	bound.Host, bound.RemoteAddr = "", "" // the gateway would forward them as headers
	return bound, nil
}

// checkText refuses text that no identifier holds and that no database stores.
func checkText(name, text string, tag apierr.Tag) error {
	switch {
	case !utf8.ValidString(text):
		return apierr.New(tag, fmt.Sprintf("`%s` is not valid UTF-8.", name), apierr.Param(name))
	case strings.ContainsRune(text, 0):
		return apierr.New(tag, fmt.Sprintf("`%s` holds a zero byte.", name), apierr.Param(name))
	}
	return nil
}

// idempotencyKeys returns the headers that reach the method. It checks the key here because the gateway drops a value that is not
// ASCII without a word.
func idempotencyKeys(m *contract.Method, h http.Header) (http.Header, error) {
	keys, sent := h[idempotency.Header]
	if !sent {
		return nil, nil
	}
	for _, key := range keys {
		if err := idempotency.Check(key); err != nil && m.IdempotencyKey {
			return nil, err
		}
	}
	return http.Header{idempotency.Header: keys}, nil
}
