// Package warehousetest gives tests a migrated warehouse. It also has the suite that both the embedded engine and a ClickHouse
// server must pass.
package warehousetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// URLVariable names the variable with the URL of a ClickHouse server on which to run the tests too.
const URLVariable = "SVC_TEST_CLICKHOUSE_URL"

// configVariable passes a test's additions to config.xml to the engine's process.
const configVariable = "SVC_TEST_ENGINE_CONFIG"

const startTimeout = 60 * time.Second

// Main runs a test binary that uses this package. TestMain calls it: os.Exit(warehousetest.Main(m)). The binary starts itself
// again as the engine's process.
func Main(m *testing.M) int {
	if len(os.Args) > 1 && os.Args[1] == "warehouse" {
		if err := Serve(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	}
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Serve runs the engine's process. A test binary calls it when its arguments are `warehouse` followed by args.
func Serve(args []string) error {
	flags := flag.NewFlagSet("warehouse", flag.ContinueOnError)
	var cfg chdb.Config
	flags.StringVar(&cfg.DataDir, "data-dir", "", "")
	flags.StringVar(&cfg.Socket, "socket", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	cfg.Parent = chdb.ParentPipe()
	cfg.ExtraConfig = os.Getenv(configVariable)
	cfg.MaxServerMemory = 2 << 30
	var err error
	if cfg.Fence, err = warehouse.RowPolicies(); err != nil {
		return err
	}
	return chdb.Serve(context.Background(), cfg)
}

// Engine is an embedded engine of a test with its warehouse.
type Engine struct {
	*warehouse.Warehouse
	Supervisor *chdb.Supervisor
	DataDir    string
	Socket     string
}

func open(ctx context.Context, dir, config string, log *slog.Logger) (*Engine, error) {
	if config == "" {
		if err := CopyMigrated(ctx, filepath.Join(dir, "warehouse")); err != nil {
			return nil, err
		}
	}
	return start(ctx, dir, config, log)
}

func start(ctx context.Context, dir, config string, log *slog.Logger) (*Engine, error) {
	e := &Engine{DataDir: filepath.Join(dir, "warehouse"), Socket: filepath.Join(dir, "warehouse.sock")}
	var err error
	e.Supervisor, err = chdb.Start(ctx, chdb.SupervisorConfig{
		DataDir: e.DataDir, Socket: e.Socket, Logger: log, Env: []string{configVariable + "=" + config},
	})
	if err != nil {
		return nil, err
	}
	e.Warehouse, err = warehouse.Open(ctx, warehouse.Config{Socket: e.Socket, Logger: log})
	if err == nil {
		err = e.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	return e, nil
}

// Stop ends the engine gracefully. The end of the test calls it automatically.
func (e *Engine) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var err error
	if e.Warehouse != nil {
		err = e.Warehouse.Close()
	}
	return errors.Join(err, e.Supervisor.Stop(ctx))
}

// NewEngine starts a separate engine for a test, with all migrations applied, and stops it at the end of the test.
func NewEngine(t testing.TB) *Engine {
	t.Helper()
	return NewEngineIn(t, t.TempDir(), "")
}

// NewEngineIn is NewEngine with a given folder and additions to config.xml. The folder may be that of an earlier engine.
func NewEngineIn(t testing.TB, dir, config string) *Engine {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	e, err := open(ctx, dir, config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("cannot start the warehouse: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Stop(); err != nil {
			t.Errorf("cannot stop the warehouse: %v", err)
		}
	})
	return e
}

// New returns a migrated warehouse that only this test uses.
func New(t testing.TB) *warehouse.Warehouse {
	t.Helper()
	return NewEngine(t).Warehouse
}

// shared is the one engine of a test binary. It is global because it outlives the tests.
var shared sharedEngine

type sharedEngine struct {
	once   sync.Once
	engine *Engine
	dir    string
	err    error
}

func (s *sharedEngine) open() {
	if s.dir, s.err = os.MkdirTemp("", "svc-warehouse-"); s.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	s.engine, s.err = open(ctx, s.dir, "", slog.New(slog.DiscardHandler))
}

func (s *sharedEngine) close() error {
	var err error
	if s.engine != nil {
		err = s.engine.Stop()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// Shared returns the migrated warehouse that all tests of this binary share. Each test uses its own organization, see OrgID.
func Shared(t testing.TB) *warehouse.Warehouse {
	t.Helper()
	shared.once.Do(shared.open)
	if shared.err != nil {
		t.Fatalf("cannot start the shared warehouse: %v", shared.err)
	}
	return shared.engine.Warehouse
}

// Server returns a migrated warehouse on the ClickHouse server of SVC_TEST_CLICKHOUSE_URL, in a separate database that it drops
// at the end. Without the variable it skips the test with a message.
func Server(t testing.TB) *warehouse.Warehouse {
	t.Helper()
	raw := os.Getenv(URLVariable)
	if raw == "" {
		t.Skipf("not run against a ClickHouse server: %s is not set", URLVariable)
	}
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatalf("%s is not a URL", URLVariable)
	}
	u.Path = "/svc_test_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	w, err := warehouse.Open(ctx, warehouse.Config{URL: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Migrate(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
		defer cancel()
		if err := w.Exec(ctx, "DROP DATABASE "+strings.TrimPrefix(u.Path, "/")); err != nil {
			t.Errorf("cannot drop the test's database: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}
