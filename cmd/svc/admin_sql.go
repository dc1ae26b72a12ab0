package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/limits"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

func (c *cli) adminSQL() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "sql STATEMENT",
		Short: "Run a read-only statement on the warehouse, over all organizations",
		Long: `Run a read-only statement on the warehouse, over all organizations.

The statement goes through the socket in the data folder of a running server, which only the owner of the folder can use, or to the
ClickHouse server of --warehouse-url. '-' reads the statement from standard input.`,
		Example: `  svc admin sql 'SELECT ServiceName, count() FROM spans GROUP BY ServiceName' --format PrettyCompact
  svc admin sql - < report.sql`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			statement := list[0]
			if statement == "-" {
				var err error
				if statement, err = c.readStdin(limits.RESTBody); err != nil {
					return err
				}
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			if err := warehouseRuns(cmd.Context(), cfg); err != nil {
				return err
			}
			w, err := app.OpenWarehouse(cmd.Context(), cfg, app.Options{Logger: logger(c.stderr, cfg)})
			if err != nil {
				return err
			}
			return errors.Join(w.RawQuery(cmd.Context(), statement, format, shown(c.stdout)), w.Close())
		},
	}
	settings(cmd, placeKeys()...)
	cmd.Flags().StringVar(&format, "format", "TSV", "output format of ClickHouse, such as TSV, JSONEachRow, PrettyCompact")
	return cmd
}

// warehouseRuns returns an error if the embedded engine does not run. The engine runs only inside a server.
func warehouseRuns(ctx context.Context, cfg config.Config) error {
	if cfg.WarehouseURL.Reveal() != "" {
		return nil
	}
	conn, err := chdb.DialUnix(ctx, app.Socket(cfg))
	if err != nil {
		var op *net.OpError
		if errors.Is(err, os.ErrNotExist) || errors.As(err, &op) {
			return fmt.Errorf(
				"no server runs on the data folder %s (nothing answers at %s): start 'svc serve' with this --data-dir",
				cfg.DataDir,
				app.Socket(cfg),
			)
		}
		return err
	}
	return conn.Close()
}
