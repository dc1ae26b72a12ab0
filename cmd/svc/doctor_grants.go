package main

import (
	"context"
	"fmt"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/config"
)

// printGrants prints the statements that an operator runs on a ClickHouse server to allow organizations to use SQL.
func (c *cli) printGrants(ctx context.Context, cfg config.Config) error {
	if cfg.WarehouseURL.Reveal() == "" {
		fmt.Fprintln(c.stdout, "-- The embedded engine needs no grants: svc writes its rights and row policies at every start.")
		return nil
	}
	w, err := app.OpenWarehouse(ctx, cfg, app.Options{})
	if err != nil {
		return err
	}
	fmt.Fprintln(
		c.stdout,
		"-- Run these on the ClickHouse server as an administrator, with a password for …, and again after each upgrade of svc.",
	)
	fmt.Fprintln(
		c.stdout,
		"-- Then add sql_user and sql_password to the warehouse URL. svc's own user needs CREATE DATABASE and DROP DATABASE ON tenant_*.*,",
	)
	fmt.Fprintln(c.stdout, "-- SHOW ROW POLICIES ON *.*, and SELECT on the system tables.")
	fmt.Fprint(c.stdout, w.TenantGrants())
	return w.Close()
}
