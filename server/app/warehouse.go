package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/query"
	"github.com/svc-observability/svc/server/query/read"
	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

// migrateFor bounds how long a start waits for a ClickHouse server that does not answer yet.
const migrateFor = time.Minute

// Socket returns the path of the embedded engine's unix socket in the data folder.
func Socket(cfg config.Config) string { return filepath.Join(cfg.DataDir, "warehouse.sock") }

func (a *App) openWarehouse(ctx context.Context) error {
	var damaged error
	if a.cfg.WarehouseURL.Reveal() == "" {
		var err error
		if damaged, err = a.startEngine(ctx); err != nil {
			return err
		}
	}
	wh, err := OpenWarehouse(ctx, a.cfg, a.opts)
	if err != nil {
		return err
	}
	a.warehouse = wh
	if len(wh.Hosts()) > 1 {
		a.registry.MustRegister(warehouseHosts{wh})
	}
	a.onCloseUntil("warehouse", limits.StopEngine, func(context.Context) error { return wh.Close() })
	if damaged != nil {
		a.repairLater(damaged)
		return nil
	}
	a.opts.Progress("Migrating the warehouse")
	deadline := time.Now().Add(migrateFor)
	for {
		err := a.prepareWarehouse(ctx)
		if err == nil {
			return nil
		}
		if !errors.Is(err, warehouse.ErrUnavailable) || time.Now().After(deadline) {
			if a.goesOnWithout(ctx, err) {
				a.repairLater(err)
				return nil
			}
			return err
		}
		a.log.Warn("the warehouse does not answer yet", "error", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// OpenWarehouse prepares the connection to the warehouse that the configuration names: a ClickHouse server, or the embedded engine
// of the server that runs on the data folder.
func OpenWarehouse(ctx context.Context, cfg config.Config, opts Options) (*warehouse.Warehouse, error) {
	wc := warehouse.Config{URL: cfg.WarehouseURL.Reveal(), Logger: opts.Logger}
	if wc.URL == "" {
		wc.Socket = Socket(cfg)
		return warehouse.Open(ctx, wc)
	}
	// A command may run before the first start, when there is no secret key yet. It gets no SQL of organizations then.
	hasher, err := installation.ReadHasher(cfg)
	if err == nil {
		wc.TenantKey, err = hasher.Key("users of the warehouse")
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return warehouse.Open(ctx, wc)
}

// startEngine starts the process of the embedded engine. The process gets its settings as every svc process does: by flags and
// variables. If the engine cannot open the data of an existing installation, the error is damaged, and the process is started again
// and again.
func (a *App) startEngine(ctx context.Context) (damaged, err error) {
	command := a.opts.WarehouseCommand
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("finding this program: %w", err)
		}
		command = []string{self, "warehouse"}
	}
	dir, socket := filepath.Join(a.cfg.DataDir, "warehouse"), Socket(a.cfg)
	env := []string{"SVC_WAREHOUSE_MAX_MEMORY_BYTES=" + strconv.FormatInt(int64(a.cfg.Limits.WarehouseMaxMemoryBytes), 10)}
	if a.cfg.ChdbLib != "" {
		env = append(env, chdb.LibraryVariable+"="+a.cfg.ChdbLib)
	}
	process := chdb.SupervisorConfig{
		Command: append(append([]string{}, command...), "--data-dir", dir, "--socket", socket), Env: env,
		DataDir: dir, Socket: socket, Logger: a.log,
	}
	s, err := chdb.Start(ctx, process)
	if errors.Is(err, chdb.ErrCannotOpen) && a.goesOnWithout(ctx, err) {
		damaged = err
		s, err = chdb.StartLater(process)
	}
	if err != nil {
		return nil, err
	}
	a.supervisor = s
	a.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "svc_warehouse_restarts_total", Help: "Restarts of the process of the embedded engine.",
	}, func() float64 { return float64(s.Restarts()) }))
	a.onCloseUntil("embedded engine", limits.StopEngine, a.stopEngine)
	return damaged, nil
}

// rollups returns the time since which the rollups are complete.
func (a *App) rollups(ctx context.Context) query.Rollups {
	return read.Rollups(ctx, a.warehouse, a.log)
}
