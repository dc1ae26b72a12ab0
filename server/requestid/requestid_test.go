package requestid_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/svc-observability/svc/server/requestid"
)

func TestMiddleware(t *testing.T) {
	for _, c := range []struct {
		name, given string
		kept        bool
	}{
		{"none", "", false},
		{"plain", "req-1_2.3", true},
		{"longest", strings.Repeat("x", 128), true},
		{"too long", strings.Repeat("x", 129), false},
		{"space", "a b", false},
		{"line break", "a\nb", false},
		{"quote", `a"b`, false},
		{"not ASCII", "é", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var seen string
			h := requestid.Middleware(requestid.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				seen = requestid.From(r.Context())
			})))
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header[requestid.Header] = []string{c.given}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			answered := w.Header().Get(requestid.Header)
			if seen == "" || answered != seen || len(w.Header().Values(requestid.Header)) != 1 {
				t.Errorf("the handler saw %q, the caller %q", seen, answered)
			}
			if (seen == c.given) != c.kept {
				t.Errorf("given %q, used %q", c.given, seen)
			}
		})
	}
	if got := requestid.From(t.Context()); got != "" {
		t.Errorf("an id out of nothing: %q", got)
	}
}
