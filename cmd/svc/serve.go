package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/processors"
)

func (c *cli) serve() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Run the server: the API, OTLP ingest and background work.

The first start on an empty data folder creates an organization, an administrator and keys, and prints them once. With
--bootstrap-file it writes them to the file instead. SIGINT or SIGTERM stops the server cleanly; a second signal stops it at once.`,
		Example: `  svc serve
  svc serve --data-dir /var/lib/svc --api-addr :8080 --public-url https://svc.example.com
  SVC_DATABASE_URL_FILE=/run/secrets/database svc serve --warehouse-url clickhouse://svc@clickhouse:8123/svc`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			return c.runServer(cmd.Context(), cfg)
		},
	}
	settings(cmd)
	return cmd
}

func (c *cli) runServer(ctx context.Context, cfg config.Config) error {
	log := logger(c.stderr, cfg)
	limitHeap()
	processors.Oversubscribe()
	var started atomic.Pointer[app.App]
	ctx, stop := stopSignals(ctx, func() {
		fmt.Fprintln(c.stderr, "svc: second signal, stopping at once")
		if a := started.Load(); a != nil {
			a.Abandon()
		}
		os.Exit(exitFailure)
	})
	defer stop()

	var first bootstrap.File
	a, err := app.New(ctx, cfg, app.Options{
		Version:      readVersion().Version,
		Logger:       log,
		Progress:     progress(c.stderr, log, cfg.LogFormat),
		OnFirstStart: func(b bootstrap.File) error { first = b; return nil },
	})
	if err != nil {
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil // stopped by a signal before the server was ready
		}
		return err
	}
	started.Store(a)
	addresses := a.Addresses()
	err = addresses.Write(addressFile(cfg))
	// Print the banner even after an error: the keys of a first start are shown only once.
	c.banner(cfg, addresses, first)
	if err != nil {
		return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
	}
	err = a.Run(ctx)
	if removed := os.Remove(addressFile(cfg)); removed != nil && !errors.Is(removed, os.ErrNotExist) {
		err = errors.Join(err, removed)
	}
	return err
}

// addressFile is the path of the file that tells other commands where the server listens, because port 0 picks a port. The file
// exists while the server runs.
func addressFile(cfg config.Config) string { return filepath.Join(cfg.DataDir, "addresses.json") }

// stopSignals ends the context at the first SIGINT or SIGTERM. At the second it calls the function again.
func stopSignals(ctx context.Context, again func()) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for stopping := false; ; stopping = true {
			select {
			case <-signals:
			case <-done:
				return
			}
			if stopping {
				again()
			}
			cancel()
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}

// progress reports the steps of the start: as lines for a person, or as log records if the log is for a machine.
func progress(out io.Writer, log *slog.Logger, format string) func(string) {
	if format == "json" {
		return func(step string) { log.Info("starting", "step", step) }
	}
	return func(step string) { fmt.Fprintln(out, "svc: "+step) }
}
