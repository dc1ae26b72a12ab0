// Command edge-gateway is the service edge-gateway.
package main

import (
	"context"
	"log"
	"net/http"
	"shop/platform/go"
)

type server struct{}

// route finds what answers a request.
func (s *server) route(ctx context.Context, r *http.Request) (any, error) {
	return platform.Pick([]string{r.Host}, "eu-central-1")
}

func main() {
	log.Fatal(http.ListenAndServe(":8080", platform.Handler{Route: (&server{}).route}))
}
