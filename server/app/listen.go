package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/framing"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/port"
)

// listeners are the ports of this process. The ingest ports are nil without that role.
type listeners struct {
	api, ingest, otlp net.Listener
}

// listen takes the ports before anything slow starts, so that a port that is in use fails the start at once.
func (a *App) listen(ctx context.Context) error {
	for _, l := range []struct {
		to   *net.Listener
		key  string
		addr string
		on   bool
		each int // connections of one address
	}{
		// Every role serves health and metrics.
		{&a.listeners.api, "api-addr", a.cfg.APIAddr, true, limits.ConnectionsOfAddress},
		{&a.listeners.ingest, "ingest-addr", a.cfg.IngestAddr, a.cfg.Roles.Has(config.RoleIngest), 0},
		{&a.listeners.otlp, "otlp-grpc-addr", a.cfg.OTLPGRPCAddr, a.cfg.Roles.Has(config.RoleIngest), 0},
	} {
		if !l.on {
			continue
		}
		ln, err := (&net.ListenConfig{}).Listen(ctx, "tcp", l.addr)
		if err != nil {
			if errors.Is(err, syscall.EADDRINUSE) {
				return fmt.Errorf("--%s %s is in use by another process; stop it, or choose another port (0 picks a free one)", l.key, l.addr)
			}
			return fmt.Errorf("--%s: %w", l.key, err)
		}
		*l.to = port.Bound(ln, l.each)
		// Serving closes the listener too. A second close is harmless.
		a.onClose(l.key, func(context.Context) error {
			if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				return err
			}
			return nil
		})
	}
	return nil
}

// baseURL is the address under which clients reach the API.
func (a *App) baseURL() string { return urlOf(a.cfg.PublicURL, a.listeners.api) }

// ingestURL is the address under which exporters reach OTLP over HTTP.
func (a *App) ingestURL() string { return urlOf(a.cfg.IngestPublicURL, a.listeners.ingest) }

func urlOf(public string, ln net.Listener) string {
	switch {
	case public != "":
		return strings.TrimRight(public, "/")
	case ln == nil:
		return ""
	}
	return "http://" + reachable(ln.Addr())
}

// reachable returns the address under which this machine reaches a listener. For a listener on all interfaces, that is the
// loopback address.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
}

// serve starts to answer on every port. It sends the first failure of a listener to failed. Package framing guards the ports that speak
// HTTP/1.
func (a *App) serve(failed chan<- error) {
	for _, s := range []*http.Server{a.ingest, a.otlp} {
		if s != nil {
			s.ConnState = port.NoteState
		}
	}
	if a.api != nil {
		go run("api", func() error { return a.api.Serve(framing.Listen(a.listeners.api, true)) }, failed)
	}
	if a.ingest != nil {
		go run("ingest", func() error { return a.ingest.Serve(framing.Listen(a.listeners.ingest, false)) }, failed)
	}
	if a.otlp != nil {
		go run("otlp grpc", func() error { return a.otlp.Serve(a.listeners.otlp) }, failed)
	}
}

func run(name string, serve func() error, failed chan<- error) {
	if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		failed <- fmt.Errorf("%s listener: %w", name, err)
	}
}

// httpServer makes a server that ends with the program.
func (a *App) httpServer(name string, h http.Handler) *http.Server {
	s := port.Server(h)
	a.onCloseDoor(name+" server", a.shutdown(s, name))
	return s
}

// shutdown lets running requests end, and cuts them off when the time for that is over.
func (a *App) shutdown(s *http.Server, name string) func(context.Context) error {
	return func(ctx context.Context) error {
		err := s.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			a.log.Warn("requests were cut off at the end of the shutdown timeout", "server", name)
			return s.Close()
		}
		return err
	}
}

// Addresses are the addresses that the server listens on.
func (a *App) Addresses() bootstrap.File {
	b := bootstrap.File{IngestURL: a.ingestURL()}
	if a.cfg.Roles.Has(config.RoleAPI) {
		b.BaseURL = a.baseURL()
	}
	if a.listeners.otlp != nil {
		b.OTLPGRPCAddr = reachable(a.listeners.otlp.Addr())
	}
	return b
}

// createFirst creates the first organization of an empty database, and writes the bootstrap file.
func (a *App) createFirst(ctx context.Context) error {
	return bootstrap.Start(ctx, bootstrap.Config{
		Store: a.store, Hasher: a.hasher, Addresses: a.Addresses(), Path: a.cfg.BootstrapFile, OnFirstStart: a.opts.OnFirstStart,
	})
}
