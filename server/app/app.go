// Package app is the composition root: New names every part of the server in the order in which it is made, Run serves until it is
// told to stop, and what was made is closed in reverse order.
package app

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/mcp"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// Options is what the process gives to the server beside its configuration.
type Options struct {
	// Version is shown by /version and to MCP clients.
	Version string
	// Logger takes the server's log; nil for slog.Default.
	Logger *slog.Logger
	// Progress is told each step of the start, in words for a person; nil for none.
	Progress func(step string)
	// WarehouseCommand starts the embedded engine's process; `warehouse` flags are appended. Nil for this binary's subcommand.
	WarehouseCommand []string
	// OnFirstStart is given the credentials of the organization that the first start on an empty database creates. Beside the
	// bootstrap file they are not kept anywhere in clear.
	OnFirstStart func(bootstrap.File) error
	// Egress are networks that URLs of users may lead to although they are not public; none but in tests.
	Egress []netip.Prefix
	// Watch wraps the handler of the API address: tests look on. Nil for none.
	Watch func(http.Handler) http.Handler
	// Reads wraps the warehouse for the reads of the API: tests make it fail. Nil for none; no setting leads here.
	Reads func(read.ConfinedWarehouse) read.ConfinedWarehouse
	// MCPFixtures add to the MCP server what the protocol's conformance suite calls; nil but in tests. No setting leads here.
	MCPFixtures mcp.Fixtures
}

func (o *Options) reads(w read.ConfinedWarehouse) read.ConfinedWarehouse {
	if o.Reads == nil {
		return w
	}
	return o.Reads(w)
}

// App is a server that is ready to run.
type App struct {
	cfg      config.Config
	opts     Options
	log      *slog.Logger
	registry *prometheus.Registry

	store      *store.Store
	hasher     *auth.Hasher
	supervisor *chdb.Supervisor // nil with a ClickHouse server
	warehouse  *warehouse.Warehouse
	queue      *queue.Log
	pipeline   *pipeline.Pipeline
	usage      *usage.Meter
	outcomes   *outcome.Recorder
	passwords  *auth.Passwords
	signIn     *auth.SignIn

	listeners listeners
	api       *http.Server
	ingest    *http.Server
	otlp      *http.Server

	closers []closer
	closed  sync.Once
}

type closer struct {
	name  string
	close func(context.Context) error
}

// New opens everything that the configuration names: data folder, database, warehouse, queue, listeners. When it fails, what it had
// opened is closed again.
func New(ctx context.Context, cfg config.Config, opts Options) (*App, error) {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	a := &App{cfg: cfg, opts: opts, log: opts.Logger, registry: prometheus.NewRegistry()}
	a.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, step := range []struct {
		name string
		open func(context.Context) error
	}{
		{"Opening the data folder " + cfg.DataDir, a.openDataDir},
		{"Taking the ports", a.listen},
		{"Opening the database", a.openStore},
		{"Starting the warehouse", a.openWarehouse},
		{"Opening the ingest queue", a.openIngest},
		{"Opening the API", a.openAPI},
		{"Watching for deleted organizations", a.openPurge},
		{"Looking for what older versions stored", a.openBackfill},
		{"Checking for a first start", a.createFirst},
	} {
		opts.Progress(step.name)
		if err := step.open(ctx); err != nil {
			return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
		}
	}
	return a, nil
}

// onClose adds what to close; the last one added is closed first.
func (a *App) onClose(name string, fn func(context.Context) error) {
	a.closers = append(a.closers, closer{name, fn})
}

// Run serves until ctx ends or a listener fails, then stops gracefully: it takes no more connections, lets requests under way end,
// stores what is queued, and closes everything, within the shutdown timeout.
func (a *App) Run(ctx context.Context) error {
	failed := make(chan error, 3)
	a.serve(failed)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	a.log.Info("stopping")
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), a.cfg.ShutdownTimeout)
	defer cancel()
	return errors.Join(err, a.Close(stop))
}

// Close closes everything that New opened, the last first. A second call does nothing.
func (a *App) Close(ctx context.Context) error {
	var errs []error
	a.closed.Do(func() {
		for i := len(a.closers) - 1; i >= 0; i-- {
			if err := a.closers[i].close(ctx); err != nil {
				errs = append(errs, fmt.Errorf("closing %s: %w", a.closers[i].name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// Abandon ends what would outlive this process, at once, before a program exits without Close. What was acknowledged is in the queue.
func (a *App) Abandon() {
	if a.supervisor != nil {
		a.supervisor.Kill()
	}
}

func (a *App) openDataDir(context.Context) error {
	if err := os.MkdirAll(a.cfg.DataDir, 0o700); err != nil {
		return fmt.Errorf("data folder: %w", err)
	}
	release, err := lockDir(a.cfg.DataDir)
	if err != nil {
		return err
	}
	a.onClose("data folder", func(context.Context) error { return release() })
	return nil
}

func (a *App) openStore(ctx context.Context) error {
	s, hasher, err := OpenStore(ctx, a.cfg)
	if err != nil {
		return err
	}
	a.store, a.hasher = s, hasher
	// Nodes whose fingerprints differ do not know each other's keys.
	a.log.Info("database opened", "dialect", s.Dialect(), "secret_key_fingerprint", hasher.Fingerprint())
	s.Subscribe(a.logFeed())
	a.onClose("database", func(context.Context) error { return s.Close() })
	if err := s.ClaimRegion(ctx, a.cfg.Region); errors.Is(err, store.ErrOtherRegion) {
		// The other region's keys would be accepted here, or, if they were refused, exporters would drop what they send.
		return fmt.Errorf("region: %w. A region has a database and a data folder of its own: start this server with the region that it was first started with, or give it others; if that region was a mistake, 'svc admin region set' mends it", err)
	} else if err != nil {
		return err
	}
	return nil
}

// logFeed tells once when changes of other processes cannot be followed, and when they can be again.
func (a *App) logFeed() func(store.Change) {
	var down atomic.Bool
	return func(c store.Change) {
		switch {
		case c.Subject != store.SubjectAny:
		case c.Cause != nil && down.CompareAndSwap(false, true):
			a.log.Warn("changes by other processes cannot be followed; keys are looked up once a second", "error", c.Cause)
		case c.Cause == nil && down.CompareAndSwap(true, false):
			a.log.Info("changes by other processes are followed again")
		}
	}
}

// OpenStore opens the relational database that the configuration names, migrated, and the hasher of its secrets. It works beside a
// running server.
func OpenStore(ctx context.Context, cfg config.Config) (*store.Store, *auth.Hasher, error) {
	hasher, err := OpenHasher(cfg)
	if err != nil {
		return nil, nil, err
	}
	sc := store.Config{URL: cfg.DatabaseURL.Reveal()}
	if sc.URL == "" {
		sc.Path = filepath.Join(cfg.DataDir, "svc.db")
	}
	s, err := store.Open(ctx, sc)
	if err != nil {
		if sc.URL != "" {
			return nil, nil, fmt.Errorf("database-url: %w", err)
		}
		return nil, nil, err
	}
	return s, hasher, nil
}

// PepperFile is where the key of the hashes is, unless the configuration gives it.
func PepperFile(cfg config.Config) string { return filepath.Join(cfg.DataDir, "secrets", "pepper") }

// OpenHasher returns the hasher of secrets that the configuration names. It makes the pepper file when that is missing.
func OpenHasher(cfg config.Config) (*auth.Hasher, error) {
	if text := cfg.SecretKey.Reveal(); text != "" {
		sum := sha256.Sum256([]byte(text))
		return auth.NewHasher(sum[:])
	}
	pepper, err := auth.LoadPepper(PepperFile(cfg))
	if err != nil {
		return nil, err
	}
	return auth.NewHasher(pepper)
}
