package testkit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/warehouse/chdb"
	"github.com/svc-observability/svc/server/warehouse/warehousetest"
)

const stopTimeout = 30 * time.Second

// Main runs a test binary that uses this package; its TestMain calls os.Exit(testkit.Main(m)). The binary also starts itself
// again as the engine's process.
func Main(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == "warehouse" {
		if err := warehousetest.Serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	http.DefaultClient.Transport = watchProcesses(http.DefaultTransport)
	code := m.Run()
	if shared.stop != nil {
		shared.stop()
	}
	if template.root != "" {
		_ = os.RemoveAll(template.root)
	}
	// The last test may have ended before its answer was checked.
	for _, problem := range unfit() {
		fmt.Fprintln(os.Stderr, "against the OpenAPI document:", problem)
		code = max(code, 1)
	}
	if built {
		if path, err := binary(); err == nil {
			_ = os.RemoveAll(filepath.Dir(path))
		}
	}
	return code
}

// Library finds the engine's library for processes that run outside of the checkout.
func Library(t testing.TB) string {
	t.Helper()
	path, err := chdb.Locate("")
	if err != nil {
		t.Fatal(err)
	}
	if path, err = filepath.Abs(path); err != nil {
		t.Fatal(err)
	}
	return path
}

var shared struct {
	once   sync.Once
	server *Server
	err    error
	stop   func()
}

// Shared is one server for all tests of the binary. Tests must not disturb each other in it: each uses its own names or its own
// organization.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		var dir string
		if dir, shared.err = os.MkdirTemp("", "svc-shared-"); shared.err != nil {
			return
		}
		shared.server, shared.stop, shared.err = start(dir, func(*config.Config) {})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	reportUnfit(t)
	return shared.server
}

// NewOrganization creates another organization, as `svc admin org create` does. It returns the server with the credentials of
// that organization.
func (s *Server) NewOrganization(t testing.TB, name string) *Server {
	t.Helper()
	cfg := config.Default()
	cfg.DataDir, cfg.DatabaseURL = s.DataDir, s.database
	st, hasher, err := installation.OpenStore(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	created, err := bootstrap.CreateOrganization(t.Context(), st, hasher, name, "")
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	other := *s
	merge(&other.File, created)
	return &other
}

// Start runs a separate server for the test in this process. The options contain what no setting can express.
func Start(t testing.TB, configure func(*config.Config), options ...func(*app.Options)) *Server {
	t.Helper()
	if configure == nil {
		configure = func(*config.Config) {}
	}
	s, stop, err := start(t.TempDir(), configure, options...)
	if err != nil {
		t.Fatal(err)
	}
	reportUnfit(t) // after the server has stopped: cleanups run in reverse order
	t.Cleanup(stop)
	return s
}

func start(dir string, configure func(*config.Config), options ...func(*app.Options)) (*Server, func(), error) {
	auth.HashCheaply()
	cfg := config.Default()
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.APIAddr, cfg.IngestAddr, cfg.OTLPGRPCAddr = "127.0.0.1:0", "127.0.0.1:0", "127.0.0.1:0"
	configure(&cfg)
	level := slog.LevelWarn
	if testing.Verbose() {
		level = slog.LevelInfo
	}
	s := &Server{DataDir: cfg.DataDir, database: cfg.DatabaseURL}
	checker, err := document()
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	opts := app.Options{
		Version: "test", Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})),
		WarehouseCommand: []string{os.Args[0], "warehouse"}, Watch: checker.Watch,
		OnFirstStart: func(b bootstrap.File) error {
			s.File = b
			return nil
		},
	}
	for _, set := range options {
		set(&opts)
	}
	a, err := app.New(ctx, cfg, opts)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	done := make(chan error, 1)
	go func() { done <- a.Run(ctx) }()
	return s, func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				fmt.Fprintln(os.Stderr, "server under test:", err)
			}
		case <-time.After(stopTimeout):
			fmt.Fprintln(os.Stderr, "server under test did not stop")
		}
		_ = os.RemoveAll(dir)
	}, nil
}
