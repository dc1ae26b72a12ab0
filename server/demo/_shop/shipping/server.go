// Command shipping is the service shipping.
package main

import (
	"context"
	"log"
	"net/http"
	"shop/platform/go"
	"shop/shipping/parcelway"
)

type server struct{ parcelway parcelway.Client }

// route finds what answers a request.
func (s *server) route(ctx context.Context, r *http.Request) (any, error) {
	return s.parcelway.Rates(ctx, r.FormValue("country"))
}

func main() {
	log.Fatal(http.ListenAndServe(":8080", platform.Handler{Route: (&server{}).route}))
}
