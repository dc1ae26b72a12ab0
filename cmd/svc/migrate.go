package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) migrate() *cobra.Command {
	cmd := group("migrate", "Migrate the databases, or list their migrations")
	cmd.Long = cmd.Short + `.

'svc serve' migrates the databases at every start. Use this command to migrate them before. The embedded engine runs only inside
a server, which migrates it.`
	up := &cobra.Command{
		Use: "up", Short: "Apply the migrations that are missing", Args: args(cobra.NoArgs),
		Example: "  svc migrate up --database-url postgres://svc@db/svc --warehouse-url clickhouse://svc@clickhouse:8123/svc",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			return c.migrateUp(cmd.Context(), cfg)
		},
	}
	settings(up, placeKeys()...)
	var asJSON bool
	status := &cobra.Command{
		Use: "status", Short: "List migrations; exit 1 when one is missing or was changed", Args: args(cobra.NoArgs),
		Example: "  svc migrate status --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			return c.migrateStatus(cmd.Context(), cfg, asJSON)
		},
	}
	settings(status, placeKeys()...)
	status.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	backfill := &cobra.Command{
		Use: "backfill", Short: "Copy telemetry of older versions into tables that newer versions added", Args: args(cobra.NoArgs),
		Long: `Copy telemetry of older versions into tables that newer versions added.

Groups of errors, calls of databases and queues, and keys of product events have tables of their own, which svc fills when it stores telemetry.
This command adds the telemetry that was stored before these tables existed, and adds nothing twice. With the embedded engine, 'svc serve' does
this by itself. With a ClickHouse server, run the command once after an upgrade, on one machine. You can interrupt it and run it again.`,
		Example: "  svc migrate backfill --warehouse-url clickhouse://svc@clickhouse:8123/svc",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			return c.migrateBackfill(cmd.Context(), cfg)
		},
	}
	settings(backfill, placeKeys()...)
	cmd.AddCommand(up, status, backfill)
	return cmd
}

func (c *cli) migrateUp(ctx context.Context, cfg config.Config) error {
	s, err := installation.OpenDatabase(ctx, cfg) // migrates
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	fmt.Fprintln(c.stderr, "svc: the database is up to date")
	if warehouseRuns(ctx, cfg) == nil {
		return c.migrateWarehouse(ctx, cfg)
	}
	fmt.Fprintln(c.stderr, "svc: the embedded engine is not running; 'svc serve' migrates it when it starts")
	return nil
}

func (c *cli) migrateWarehouse(ctx context.Context, cfg config.Config) error {
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{Logger: logger(c.stderr, cfg)})
	if err != nil {
		return err
	}
	if err := errors.Join(w.Migrate(ctx), w.Close()); err != nil {
		return err
	}
	fmt.Fprintln(c.stderr, "svc: the warehouse is up to date")
	return nil
}

func (c *cli) migrateBackfill(ctx context.Context, cfg config.Config) error {
	if err := warehouseRuns(ctx, cfg); err != nil {
		return err
	}
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{Logger: logger(c.stderr, cfg)})
	if err != nil {
		return err
	}
	hours, err := w.Backfill(ctx)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "svc: read %d hours of telemetry of older versions\n", hours)
	return nil
}

// migration is one line of the status of either database.
type migration struct {
	Database  string     `json:"database"`
	Name      string     `json:"name"`
	State     string     `json:"state"` // applied, pending, changed
	AppliedAt *time.Time `json:"applied_at"`
}

func newMigration(database, name string, applied, changed bool, at time.Time) migration {
	m := migration{Database: database, Name: name, State: "pending"}
	if applied {
		m.State, m.AppliedAt = "applied", &at
	}
	if changed {
		m.State = "changed"
	}
	return m
}

// storeConfig returns the location of the relational database without opening it.
func storeConfig(cfg config.Config) store.Config {
	if url := cfg.DatabaseURL.Reveal(); url != "" {
		return store.Config{URL: url}
	}
	return store.Config{Path: filepath.Join(cfg.DataDir, "svc.db")}
}

func (c *cli) migrateStatus(ctx context.Context, cfg config.Config, asJSON bool) error {
	list, err := relationalMigrations(ctx, cfg)
	if err != nil {
		return err
	}
	if err := warehouseRuns(ctx, cfg); err != nil {
		fmt.Fprintln(c.stderr, "svc: the embedded engine is not running: its migrations are not listed")
	} else {
		more, err := warehouseMigrations(ctx, cfg)
		if err != nil {
			return err
		}
		list = append(list, more...)
	}
	if asJSON {
		if err := c.printJSON(list); err != nil {
			return err
		}
	} else {
		table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		for _, m := range list {
			at := ""
			if m.AppliedAt != nil {
				at = m.AppliedAt.UTC().Format(time.RFC3339)
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", m.Database, m.State, m.Name, at)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if n := behind(list); n > 0 {
		return fmt.Errorf("%d of %d migrations are missing or changed", n, len(list))
	}
	return nil
}

func behind(list []migration) (n int) {
	for _, m := range list {
		if m.State != "applied" {
			n++
		}
	}
	return n
}

func relationalMigrations(ctx context.Context, cfg config.Config) ([]migration, error) {
	statuses, err := store.MigrationStatuses(ctx, storeConfig(cfg))
	if err != nil {
		return nil, err
	}
	var list []migration
	for _, s := range statuses {
		list = append(list, newMigration("relational", s.Name, s.Applied, s.Changed, s.AppliedAt))
	}
	return list, nil
}

func warehouseMigrations(ctx context.Context, cfg config.Config) (list []migration, err error) {
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	statuses, err := w.MigrationStatuses(ctx)
	if err != nil {
		return nil, err
	}
	for _, s := range statuses {
		name := fmt.Sprintf("%s#%d %s", s.File, s.Statement, s.Title)
		list = append(list, newMigration("warehouse", name, s.Applied, s.Changed, s.AppliedAt))
	}
	return list, nil
}
