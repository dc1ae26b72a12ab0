package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/app"
	"github.com/svc-observability/svc/server/installation"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminInstallation() *cobra.Command {
	cmd := group("installation", "The database, secret key, warehouse and queue that belong together")
	cmd.AddCommand(c.installationShow(), c.installationAdopt())
	return cmd
}

// installationJSON has the identities of the parts that belong together. Only administrators of the installation see it: the API has no
// message for it.
type installationJSON struct {
	Object    string `json:"object"`
	ID        string `json:"id"`
	SecretKey string `json:"secret_key_fingerprint"`
}

func (s *session) printInstallation(id store.Identity) error {
	return s.print(installationJSON{"installation", id.Installation, id.SecretKey}, func(w io.Writer) {
		row(w, "Installation", id.Installation)
		row(w, "Secret key (fingerprint)", id.SecretKey)
	})
}

func (c *cli) installationShow() *cobra.Command {
	return c.onDatabase(&cobra.Command{
		Use: "show", Aliases: []string{"get"}, Short: "Show the id of the installation and the fingerprint of its secret key",
	}, func(ctx context.Context, s *session, _ []string) error {
		id, err := s.Identity(ctx)
		if errors.Is(err, store.ErrNotFound) {
			return errors.New("no installation is recorded: no server has been started on this database yet")
		}
		if err != nil {
			return err
		}
		return s.printInstallation(id)
	})
}

func (c *cli) installationAdopt() *cobra.Command {
	var lost string
	var asJSON bool
	cmd := &cobra.Command{
		Use: "adopt --lost secret-key|database", Short: "Start anew with a part of the installation that is lost for good",
		Long: `Start anew with a part of the installation that is lost for good. Stop all servers first. A backup of the part is always better.

--lost secret-key: the secret key of the settings, or a new file in the folder secrets, becomes the key of the database. Organizations, users,
dashboards and telemetry stay. Every API key, ingest key, session, share link and OAuth grant stops working: people sign in with their
passwords and make new keys. The audit log of every organization records the change.

--lost database: the warehouse and the queue of this data folder become those of the database of the settings, which is created if it is
missing. The telemetry stays until its retention ends, but no organization of the new database can read it.`,
		Example: "  svc admin installation adopt --lost secret-key --data-dir ./data",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			part := installation.Lost(lost)
			if part != installation.LostSecretKey && part != installation.LostDatabase {
				return &usageError{fmt.Errorf("--lost: %q is neither %s nor %s", lost, installation.LostSecretKey, installation.LostDatabase)}
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			id, err := app.Adopt(cmd.Context(), cfg, app.Options{Logger: logger(c.stderr, cfg)}, part)
			if err != nil {
				return err
			}
			return (&session{cli: c, cfg: cfg, json: asJSON}).printInstallation(id)
		},
	}
	settings(cmd)
	cmd.Flags().StringVar(&lost, "lost", "", "the part that is lost: secret-key or database (required)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	required(cmd, "lost")
	return cmd
}
