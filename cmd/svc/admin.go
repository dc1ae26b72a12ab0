package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/mail"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/bootstrap"
	"github.com/svc-observability/svc/server/config"
	"github.com/svc-observability/svc/server/installation"
)

func (c *cli) admin() *cobra.Command {
	cmd := group("admin", "Manage organizations, users, ingest and the warehouse as the owner of the data folder")
	org := group("org", "Organizations")
	org.AddCommand(c.adminOrgCreate(), c.adminOrgList())
	user := group("user", "Users")
	user.AddCommand(c.adminUserCreate(), c.adminUserSetPassword())
	cmd.AddCommand(
		org,
		user,
		c.adminIngestKey(),
		c.adminMapping(),
		c.adminSampling(),
		c.adminPlan(),
		c.adminConnector(),
		c.adminUsage(),
		c.adminOutcomes(),
		c.adminRegion(),
		c.adminInstallation(),
		c.adminSQL(),
	)
	return cmd
}

func (c *cli) adminOrgCreate() *cobra.Command {
	var email string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create NAME",
		Short: "Create an organization with an administrator, an API key and ingest keys, and print them once",
		Long: `Create an organization with an administrator, an API key and ingest keys, and print them once.

The command works with and without a running server.`,
		Example: `  svc admin org create "Second team" --json --data-dir ./data`,
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			name := strings.TrimSpace(list[0])
			if name == "" {
				return &usageError{errors.New("NAME is empty")}
			}
			if err := checkEmail(email); email != "" && err != nil {
				return err
			}
			cfg, err := c.load(cmd)
			if err != nil {
				return err
			}
			s, hasher, err := installation.OpenStore(cmd.Context(), cfg)
			if err != nil {
				return err
			}
			created, err := bootstrap.CreateOrganization(cmd.Context(), s, hasher, name, email)
			if err = errors.Join(err, s.Close()); err != nil {
				return err
			}
			at := serverAddresses(cfg)
			created.BaseURL, created.IngestURL, created.OTLPGRPCAddr = at.BaseURL, at.IngestURL, at.OTLPGRPCAddr
			if asJSON {
				return c.printJSON(created)
			}
			_, err = fmt.Fprintf(
				c.stdout,
				"Organization        %s\nAPI key             %s\nPrivate ingest key  %s\nPublic ingest key   %s\nSign-in             %s  %s\n",
				created.OrgID,
				created.APIKey,
				created.PrivateKey,
				created.PublicKey,
				created.AdminEmail,
				created.AdminPassword,
			)
			return err
		},
	}
	settings(cmd, append(placeKeys(), "api-addr", "ingest-addr", "otlp-grpc-addr", "public-url", "ingest-public-url")...)
	cmd.Flags().StringVar(&email, "email", "", "email address of the administrator (default: a generated one)")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON with the fields of the bootstrap file")
	return cmd
}

func checkEmail(text string) error {
	if a, err := mail.ParseAddress(text); err != nil || a.Address != text {
		return &usageError{fmt.Errorf("%q is not an email address", text)}
	}
	return nil
}

// serverAddresses returns the addresses of the running server, or those of the configuration if no server runs.
func serverAddresses(cfg config.Config) bootstrap.File {
	var at bootstrap.File
	if text, err := os.ReadFile(addressFile(cfg)); err == nil && json.Unmarshal(text, &at) == nil {
		return at
	}
	at = bootstrap.File{BaseURL: cfg.PublicURL, IngestURL: cfg.IngestPublicURL, OTLPGRPCAddr: cfg.OTLPGRPCAddr}
	if at.BaseURL == "" {
		at.BaseURL = "http://" + cfg.APIAddr
	}
	if at.IngestURL == "" {
		at.IngestURL = "http://" + cfg.IngestAddr
	}
	return at
}
