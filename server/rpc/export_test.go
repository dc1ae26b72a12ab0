package rpc

import "net/http"

// ZeroByte is for tests.
var ZeroByte = zeroByte

// RefuseUnknownMethods is for tests, which mount some services only.
func (c *Chain) RefuseUnknownMethods(next http.Handler) http.Handler {
	return c.refuseUnknownMethods(next)
}
