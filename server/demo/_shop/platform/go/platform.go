// Package platform is what the services of the shop share.
package platform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// Run runs the work of a request.
func Run(ctx context.Context, work func(context.Context) (any, error)) (any, error) {
	return attempt(ctx, work)
}

func attempt(ctx context.Context, work func(context.Context) (any, error)) (any, error) {
	return work(ctx)
}

// Handler answers requests.
type Handler struct {
	Route func(context.Context, *http.Request) (any, error)
}

// handle answers one request.
func (h Handler) handle(w http.ResponseWriter, r *http.Request) {
	answer, err := Run(r.Context(), func(ctx context.Context) (any, error) { return h.Route(ctx, r) })
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(w, answer)
}

// ServeHTTP implements http.Handler.
func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h.handle(w, r)
}

// Grow takes memory.
func Grow(size int) []byte { return make([]byte, size) }

// Pick picks a host.
func Pick(healthy []string, region string) (string, error) {
	if len(healthy) == 0 {
		return "", errors.New("no healthy upstream in " + region)
	}
	return healthy[0], nil
}

// Experiment runs the plan of a flag.
func Experiment(flag string, plans map[string]func()) error {
	plan := plans[flag]
	if plan == nil {
		return errors.New(flag + ": the request has no plan")
	}
	plan()
	return nil
}

// ReadCache decodes an entry.
func ReadCache(key string, entry []byte) ([]byte, error) {
	if entry[0] != 2 {
		return nil, errors.New("cannot decode the entry for " + key)
	}
	return entry[1:], nil
}

// Prepare reads a request.
func Prepare(request map[string]any) (any, error) {
	if request["totals"] == nil {
		return nil, errors.New("the field totals is missing")
	}
	return request["totals"], nil
}

// Handshake checks a certificate.
func Handshake(expires time.Time, dependency string) error {
	if expires.Before(time.Now()) {
		return fmt.Errorf("certificate of %s has expired", dependency)
	}
	return nil
}

// ReadConnection reads from a dependency.
func ReadConnection(c net.Conn, dependency string, into []byte) error {
	if _, err := c.Read(into); err != nil {
		return fmt.Errorf("connection to %s was reset: %w", dependency, err)
	}
	return nil
}
