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
	fmt.Fprintln(c.stdout, "-- Run these on the ClickHouse server as an administrator, and again after each upgrade of svc.")
	fmt.Fprintln(c.stdout, "-- The server must keep users in a writable place: a local directory, or the replicated one of a cluster.")
	fmt.Fprintln(c.stdout, "-- Then add sql_role to the warehouse URL. svc makes a user tenant_… for each organization that uses SQL.")
	fmt.Fprintln(c.stdout, "-- A cluster needs a secret in remote_servers, and svc a user that remote_servers does not name.")
	fmt.Fprint(c.stdout, w.TenantGrants())
	return w.Close()
}
