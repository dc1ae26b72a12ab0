package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminRegion() *cobra.Command {
	cmd := group("region", "The region that the database belongs to, as the first start wrote it")
	cmd.AddCommand(c.regionShow(), c.regionSet())
	return cmd
}

type regionJSON struct {
	Object string `json:"object"`
	Region string `json:"region"`
}

func (c *cli) regionShow() *cobra.Command {
	return c.onDatabase(&cobra.Command{Use: "show", Aliases: []string{"get"}, Short: "Show the region"},
		func(ctx context.Context, s *session, _ []string) error {
			region, err := s.Region(ctx)
			if err != nil {
				return noRegion(err)
			}
			return s.print(regionJSON{"region", region}, func(w io.Writer) { row(w, region) })
		})
}

func (c *cli) regionSet() *cobra.Command {
	var from string
	cmd := &cobra.Command{
		Use: "set REGION --from REGION", Short: "Mend a region that was mistyped at the first start",
		Long: `Mend a region that was mistyped at the first start.

Keys, telemetry and organizations stay as they are; every organization finds the change in its audit log. It is not a way to move data
to another region. Stop the servers first, and start all of them with the new --region: those that run name the old one until they end.`,
		Example: "  svc admin region set eu --from ue --data-dir ./data",
		Args: args(func(_ *cobra.Command, list []string) error {
			if len(list) != 1 {
				return errors.New("give one REGION")
			}
			return config.CheckRegion(list[0])
		}),
	}
	cmd.Flags().StringVar(&from, "from", "", "the region that is recorded now, as 'svc admin region show' prints it (required)")
	cmd = c.onDatabase(cmd, func(ctx context.Context, s *session, list []string) error {
		err := s.ChangeRegion(ctx, from, list[0])
		if errors.Is(err, store.ErrOtherRegion) {
			return fmt.Errorf("--from: %w", err)
		}
		if err != nil {
			return noRegion(err)
		}
		return s.print(regionJSON{"region", list[0]}, func(w io.Writer) {
			row(w, fmt.Sprintf("The region is %s, no longer %s. Start every server with --region %s (SVC_REGION).", list[0], from, list[0]))
		})
	})
	required(cmd, "from")
	return cmd
}

func noRegion(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return errors.New("no region is recorded: no server has been started on this database yet")
	}
	return err
}
