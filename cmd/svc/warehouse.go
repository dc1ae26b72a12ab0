package main

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/warehouse"
	"github.com/svc-observability/svc/server/warehouse/chdb"
)

func (c *cli) warehouse() *cobra.Command {
	var dataDir, socket string
	cmd := &cobra.Command{
		Use:   "warehouse",
		Short: "Run the embedded ClickHouse engine (serve starts it by itself)",
		Long: `Run the embedded ClickHouse engine and answer ClickHouse's HTTP interface on a unix socket.

'svc serve' starts this process, ends it, and restarts it after a crash. Run it by hand only to read the data of a stopped server.`,
		Example: `  svc warehouse --data-dir ./data/warehouse --socket /tmp/warehouse.sock
  curl --unix-socket /tmp/warehouse.sock http://warehouse/ -d 'SELECT version()'`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			parent := chdb.ParentPipe()
			if parent != nil {
				// The supervisor logs the output of this process as warnings and reports usual events itself.
				cfg.LogLevel = max(cfg.LogLevel, slog.LevelWarn)
			}
			fence, err := warehouse.RowPolicies()
			if err != nil {
				return err
			}
			return chdb.Serve(cmd.Context(), chdb.Config{
				EngineConfig: chdb.EngineConfig{
					LibraryPath: cfg.ChdbLib, DataDir: dataDir, MaxServerMemory: uint64(cfg.Limits.WarehouseMaxMemoryBytes), Fence: fence,
				},
				Socket: socket, Parent: parent, Logger: logger(c.stderr, cfg),
			})
		},
	}
	// This is not the server's data-dir but the engine's own folder inside it.
	cmd.Flags().StringVar(&dataDir, "data-dir", "", "data folder of the engine (required)")
	cmd.Flags().StringVar(&socket, "socket", "", "path of the unix socket (required)")
	settings(cmd, "chdb-lib", "warehouse-max-memory-bytes", "log-level", "log-format")
	required(cmd, "data-dir", "socket")
	return cmd
}

// required makes a missing flag an error of bad usage.
func required(cmd *cobra.Command, names ...string) {
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		for _, name := range names {
			if cmd.Flags().Lookup(name).Value.String() == "" {
				return &usageError{errMissing(name)}
			}
		}
		return nil
	}
}

type errMissing string

func (e errMissing) Error() string { return "--" + string(e) + " is required" }
