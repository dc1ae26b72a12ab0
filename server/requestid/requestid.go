// Package requestid names a request, so that what a caller saw and what the log says can be brought together. The name travels in
// the context and in the header X-Request-Id.
package requestid

import (
	"context"
	"crypto/rand"
	"net/http"
)

// Header carries the id, in requests (optional) and in every answer.
const Header = "X-Request-Id"

const maxLength = 128

type key struct{}

// With attaches an id.
func With(ctx context.Context, id string) context.Context { return context.WithValue(ctx, key{}, id) }

// From returns the id, empty when there is none.
func From(ctx context.Context) string {
	id, _ := ctx.Value(key{}).(string)
	return id
}

// Middleware takes the caller's id when it is well formed (1 to 128 letters, digits, `.`, `_`, `-`), makes one otherwise, attaches
// it to the context and answers with it. A request that already has an id in its context keeps it.
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

// wellFormed keeps line breaks and other surprises out of logs and headers.
func wellFormed(id string) bool {
	if id == "" || len(id) > maxLength {
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
