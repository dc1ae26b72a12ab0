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
	cmd := group("region", "The region of the database, which the first start recorded")
	cmd.AddCommand(c.regionShow(), c.regionSet())
	return cmd
}

// regionJSON is the region of the database. Only administrators of the installation see it: the API has no message for it.
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
		Use: "set REGION --from REGION", Short: "Correct a region that was mistyped at the first start",
		Long: `Correct a region that was mistyped at the first start.

Keys, telemetry and organizations stay as they are. The audit log of every organization records the change. The command does not move data
to another region. Stop all servers first, and start them with the new --region: a running server names the old region until it ends.`,
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
