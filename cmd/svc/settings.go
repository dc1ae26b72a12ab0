package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/warehouse"
)

const configFlag = "config"

// settings adds --config and the flags of the named keys. Without names it adds the flags of all keys.
func settings(cmd *cobra.Command, keys ...string) {
	config.AddFlags(cmd.Flags(), keys...)
	cmd.Flags().String(configFlag, "", "YAML file of settings (SVC_CONFIG)")
}

// placeKeys are the settings for the location of the data, for commands that may run beside a server.
func placeKeys() []string {
	return []string{"data-dir", "database-url", "warehouse-url", "secret-key", "log-level", "log-format"}
}

func (c *cli) load(cmd *cobra.Command) (config.Config, error) {
	file, err := cmd.Flags().GetString(configFlag)
	if err != nil {
		return config.Config{}, fmt.Errorf("read --%s: %w", configFlag, err)
	}
	cfg, err := config.Load(config.Sources{Environ: c.environ, Flags: cmd.Flags(), File: file})
	if err != nil {
		return config.Config{}, err
	}
	if raw := cfg.WarehouseURL.Reveal(); raw != "" {
		if _, err := warehouse.ParseURL(raw); err != nil {
			return config.Config{}, cfg.Invalid("warehouse-url", err.Error())
		}
	}
	return cfg, nil
}

// logger writes to stderr in the configured form.
func logger(out io.Writer, cfg config.Config) *slog.Logger {
	options := &slog.HandlerOptions{Level: cfg.LogLevel}
	if cfg.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(out, options))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
