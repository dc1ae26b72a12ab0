package rpc

import (
	"net/http"
	"strings"

	"github.com/svc-observability/svc/server/contract"
)

// RouteCalls sends the paths of the contract's methods to calls and all others to mux. A pattern of http.ServeMux cannot end within a path
// segment, as `/svc.v2.` does.
func RouteCalls(calls, mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if IsCall(r.URL.Path) {
			calls.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// IsCall reports whether a path is that of a method of the contract, for Connect, gRPC and gRPC-Web.
func IsCall(path string) bool { return strings.HasPrefix(path, "/"+contract.Package+".") }
