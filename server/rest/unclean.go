package rest

import (
	"net/http"
	"path"
)

// RouteUnclean sends every path that is not in its shortest form to the REST door: `/v2//api_keys`, for example, or an escaped slash. All
// other paths go to mux, which would answer such a path with a redirect in HTML.
func RouteUnclean(door, mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, shortest := r.URL.Path, path.Clean(r.URL.Path); p != shortest && p != shortest+"/" {
			door.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}
