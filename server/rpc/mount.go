package rpc

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"connectrpc.com/connect"

	"github.com/svc-observability/svc/server/apierr"
)

// Handler returns the handler of every API method: services, on which each service of the contract is mounted with Options. It fails
// when a service is missing.
func (c *Chain) Handler(services *http.ServeMux) (http.Handler, error) {
	var missing []string
	for _, name := range c.contract.Services() {
		probe := &http.Request{Method: http.MethodPost, URL: &url.URL{Path: "/" + name + "/"}}
		if _, pattern := services.Handler(probe); pattern == "" {
			missing = append(missing, name)
		}
	}
	if len(missing) > 0 {
		return nil, fmt.Errorf("rpc: these services of the contract are not mounted: %s", strings.Join(missing, ", "))
	}
	return c.refuseUnknownMethods(services), nil
}

// refuseUnknownMethods passes on the calls of methods that the contract has, and bounds their size. It answers every other call in the
// caller's own protocol: the generated handlers would send a 404 in plain text, which clients cannot read.
func (c *Chain) refuseUnknownMethods(next http.Handler) http.Handler {
	errorWriter := connect.NewErrorWriter()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := c.contract.ByProcedure(r.URL.Path); ok {
			next.ServeHTTP(w, c.bound(r))
			return
		}
		err := c.wireError(r.Context(), "unknown", errNotOffered(r.URL.Path))
		if writeErr := errorWriter.Write(w, r, err); writeErr != nil {
			c.logger.DebugContext(r.Context(), "an answer could not be written", "error", writeErr,
				"tag", apierr.Spec(apierr.RouteNotFound).GetTag())
		}
	})
}
