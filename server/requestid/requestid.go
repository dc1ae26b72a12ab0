// Package requestid names a request, so that a caller's answer can be found in the log. The name is in the context and in the
// header X-Request-Id.
package requestid

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/svc-observability/svc/server/limits"
)

// Header carries the id. A request may have it; every answer has it.
const Header = "X-Request-Id"

type key struct{}

// With attaches an id.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// From returns the id, empty when there is none.
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Middleware takes the caller's id if it is well formed (1 to 128 letters, digits, `.`, `_`, `-`), and makes one otherwise. The
// context and the answer get it. A request whose context has an id keeps it.
func Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := From(r.Context())
		if id == "" {
			id = Choose(r.Header.Get(Header))
			r = r.WithContext(With(r.Context(), id))
		}
		w.Header().Set(Header, id)
		next.ServeHTTP(w, r)
	})
}

// Choose returns the caller's id when it is well formed, and makes one otherwise.
func Choose(sent string) string {
	if wellFormed(sent) {
		return sent
	}
	return "req_" + rand.Text()
}

// wellFormed keeps line breaks and control characters out of logs and headers.
func wellFormed(id string) bool {
	if id == "" || len(id) > limits.RequestID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
