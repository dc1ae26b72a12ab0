// Package app is the composition root. New makes every part of the server, in the order in which the parts need each other. Run
// serves until its context ends. Everything that New made is closed in reverse order.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/datadir"
	"github.com/svc-observability/svc/server/ingest"
	"github.com/svc-observability/svc/server/ingest/marks"
	"github.com/svc-observability/svc/server/ingest/outcome"
	"github.com/svc-observability/svc/server/ingest/pipeline"
	"github.com/svc-observability/svc/server/ingest/queue"
	"github.com/svc-observability/svc/server/ingest/usage"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/integrations"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/mcp"
	"github.com/svc-observability/svc/server/notify"
	"github.com/svc-observability/svc/server/outage"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/scrape"
	"github.com/svc-observability/svc/server/services/charts"
	"github.com/svc-observability/svc/server/store"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// Options are the parts that the process gives to the server besides its configuration.
type Options struct {
	// Version appears in /version and is sent to MCP clients.
	Version string
	// Logger takes the server's log. Nil means slog.Default.
	Logger *slog.Logger
	// Progress receives each step of the start, in words for a person. It may be nil.
	Progress func(step string)
	// WarehouseCommand starts the process of the embedded engine; the `warehouse` flags are appended. Nil means the subcommand of
	// this binary.
	WarehouseCommand []string
	// OnFirstStart receives the credentials of the organization that the first start on an empty database creates. Apart from the
	// bootstrap file, the server keeps them nowhere in clear text.
	OnFirstStart func(bootstrap.File) error
	// Egress lists networks that URLs of users may lead to although they are not public. Only tests set it.
	Egress []netip.Prefix
	// Notify replaces the addresses of PagerDuty, Discord and Telegram. Only tests set it.
	Notify notify.Endpoints
	// Watch, if set, wraps the handler of the API address. Tests set it to observe requests.
	Watch func(http.Handler) http.Handler
	// Reads, if set, replaces the warehouse that the API reads from. Tests set it to make reads fail.
	Reads func(read.ConfinedWarehouse) read.ConfinedWarehouse
	// MCPFixtures adds tools and resources to the MCP server. The conformance suite of the protocol calls them. Only tests set it.
	MCPFixtures mcp.Fixtures
	// adopt takes over the warehouse and the queue of a lost database, see Adopt.
	adopt bool
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
	identity   store.Identity
	supervisor *chdb.Supervisor // nil with an external ClickHouse server
	warehouse  *warehouse.Warehouse
	queue      *queue.Log
	pipeline   *pipeline.Pipeline
	marks      *marks.Marks
	gateway    *ingest.Gateway // nil without the role ingest
	scraper    *scrape.Scraper // nil without the roles ingest and worker
	usage      *usage.Meter
	outcomes   *outcome.Recorder
	passwords  *auth.Passwords
	signIn     *auth.SignIn

	integrations *integrations.Engine
	sender       *notify.Sender
	seals        notify.Seals // of the secrets of alert destinations
	charts       charts.Links // the addresses of pictures in messages

	listeners listeners
	api       *http.Server
	ingest    *http.Server
	otlp      *http.Server

	closers []closer
	closed  sync.Once
}

// New opens everything that the configuration names: data folder, database, warehouse, queue, listeners. If it fails, it closes
// what it has opened.
func New(ctx context.Context, cfg config.Config, opts Options) (*App, error) {
	a := newApp(cfg, opts)
	a.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, step := range []struct {
		name string
		open func(context.Context) error
	}{
		{"Opening the data folder " + cfg.DataDir, a.openDataDir},
		{"Opening the ports", a.listen},
		{"Opening the database", a.openStore},
		{"Starting the warehouse", a.openWarehouse},
		{"Opening the ingest queue", a.openQueue},
		{"Opening the ports of ingest", a.openIngest},
		{"Preparing the integrations", a.openIntegrations},
		{"Preparing the messages of alerts", a.openSender},
		{"Opening the API", a.mountAPI},
		{"Opening the marks of ingest", a.openMarks},
		{"Starting the background work", a.openWork},
		{"Looking for telemetry of older versions", a.openBackfill},
		{"Checking for a first start", a.createFirst},
	} {
		a.opts.Progress(step.name)
		if err := step.open(ctx); err != nil {
			return nil, errors.Join(err, a.Close(context.WithoutCancel(ctx)))
		}
	}
	return a, nil
}

func newApp(cfg config.Config, opts Options) *App {
	if opts.Logger == nil {
		opts.Logger = slog.Default()
	}
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	return &App{cfg: cfg, opts: opts, log: opts.Logger, registry: prometheus.NewRegistry()}
}

// Run serves until ctx ends or a listener fails, and then stops gracefully: it takes no more connections, lets running requests
// end, stores what is queued and closes everything. All of this happens within the shutdown timeout: telemetry that cannot be stored
// in time stays in the queue.
func (a *App) Run(ctx context.Context) error {
	failed := make(chan error, 3)
	a.serve(failed)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	a.log.Info("stopping")
	return errors.Join(err, a.Close(context.WithoutCancel(ctx)))
}

// Abandon ends at once what would outlive this process. It is for a program that exits without Close. Acknowledged telemetry is
// safe in the queue.
func (a *App) Abandon() {
	if a.supervisor != nil {
		a.supervisor.Kill()
	}
}

func (a *App) openDataDir(context.Context) error {
	release, err := datadir.Open(a.cfg.DataDir)
	if err != nil {
		return err
	}
	a.onCloseUntil("data folder", limits.StopEngine, func(context.Context) error { return release() })
	return nil
}

func (a *App) openStore(ctx context.Context) error {
	open := installation.OpenDatabase
	if a.opts.adopt {
		open = installation.CreateDatabase
	}
	s, err := open(ctx, a.cfg)
	if err != nil {
		return err
	}
	a.store = s
	a.onCloseUntil("database", limits.StopEngine, func(context.Context) error { return s.Close() })
	hasher, identity, err := installation.ClaimIdentity(ctx, s, a.cfg)
	if err != nil {
		return err
	}
	a.hasher, a.identity = hasher, identity
	// A key that one node made is unknown to a node with another fingerprint. This line shows such a node.
	a.log.Info("database opened", "dialect", s.Dialect(), "secret_key_fingerprint", hasher.Fingerprint(),
		"installation", identity.Installation)
	s.Subscribe(a.logFeed())
	if err := s.ClaimRegion(ctx, a.cfg.Region); errors.Is(err, store.ErrOtherRegion) {
		// Otherwise this server would accept the keys of the other region. If it refused them, exporters would drop what they
		// send.
		return fmt.Errorf(
			"region: %w. Each region has its own database and data folder. Start this server with the recorded region, or give it another "+
				"database and data folder; 'svc admin region set' corrects a region that was recorded by mistake",
			err,
		)
	} else if err != nil {
		return err
	}
	return nil
}

// logFeed logs once that changes of other processes cannot be followed, and once that they can be followed again.
func (a *App) logFeed() func(store.Change) {
	var down outage.Outage
	return func(c store.Change) {
		if c.Subject != store.SubjectAny {
			return
		}
		switch down.Observe(c.Cause) {
		case outage.Began:
			a.log.Warn("the server cannot follow changes by other processes; it looks keys up once a second", "error", c.Cause)
		case outage.Ended:
			a.log.Info("the server follows changes by other processes again")
		case outage.None:
		}
	}
}
