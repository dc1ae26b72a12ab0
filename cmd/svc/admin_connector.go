package main

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/svc-observability/svc/server/auth"
	"github.com/svc-observability/svc/server/publicid"
	"github.com/svc-observability/svc/server/services/logpushconnectors"
	"github.com/svc-observability/svc/server/store"
)

func (c *cli) adminConnector() *cobra.Command {
	cmd := group("connector", "Log push connectors, through which a CDN sends its request logs")
	cmd.AddCommand(
		c.connectorList(),
		c.connectorCreate(),
		c.connectorRoll(),
		c.connectorEnable(true),
		c.connectorEnable(false),
		c.connectorDelete(),
	)
	return cmd
}

// connectorJSON is a log push connector, with the names of the API.
type connectorJSON struct {
	Object          string     `json:"object"`
	ID              string     `json:"id"`
	Name            string     `json:"name"`
	ZoneName        string     `json:"zone_name"`
	ServiceName     string     `json:"service_name"`
	Dataset         string     `json:"dataset"`
	Enabled         bool       `json:"enabled"`
	SecretPrefix    string     `json:"secret_prefix"`
	LastReceivedAt  *time.Time `json:"last_received_at"`
	LastError       *string    `json:"last_error"`
	SecretRotatedAt *time.Time `json:"secret_rotated_at"`
	CreatedAt       time.Time  `json:"created_at"`
	UpdatedAt       time.Time  `json:"updated_at"`
	CreatedBy       *string    `json:"created_by"`
	// Only create and roll set the secret.
	Secret          string `json:"secret,omitempty"`
	DestinationConf string `json:"destination_conf,omitempty"`
}

func toConnectorJSON(c store.LogpushConnector) connectorJSON {
	return connectorJSON{
		Object:          "logpush_connector",
		ID:              publicid.Encode(publicid.LogpushConnector, c.ID),
		Name:            c.Name,
		ZoneName:        c.ZoneName,
		ServiceName:     c.ServiceName,
		Dataset:         c.Dataset,
		Enabled:         c.DisabledAt == nil,
		SecretPrefix:    c.SecretPrefix,
		LastReceivedAt:  c.LastReceivedAt,
		LastError:       c.LastError,
		SecretRotatedAt: c.SecretRotatedAt,
		CreatedAt:       c.CreatedAt,
		UpdatedAt:       c.UpdatedAt,
		CreatedBy:       nullable(string(c.CreatedBy)),
	}
}

// printConnector shows one connector and, with a secret, the settings for the CDN.
func (s *session) printConnector(c store.LogpushConnector, secret string) error {
	v := toConnectorJSON(c)
	if secret != "" {
		v.Secret = secret
		v.DestinationConf = logpushconnectors.Destination(serverAddresses(s.cfg).IngestURL, v.ID, secret)
	}
	return s.print(v, func(w io.Writer) {
		row(w, "Id", v.ID)
		row(w, "Name", v.Name)
		row(w, "Zone", v.ZoneName)
		row(w, "Service", v.ServiceName)
		row(w, "Data set", v.Dataset)
		row(w, "Enabled", v.Enabled)
		row(w, "Last received", at(v.LastReceivedAt))
		if v.LastError != nil {
			row(w, "Last error", *v.LastError)
		}
		row(w, "Secret rotated", at(v.SecretRotatedAt))
		if secret != "" {
			row(w, "Secret", secret+"  (shown only this once)")
			row(w, "Destination", v.DestinationConf)
		}
	})
}

func (c *cli) connectorList() *cobra.Command {
	return c.onOrg(
		&cobra.Command{Use: "list", Short: "List the connectors, oldest first"},
		func(ctx context.Context, s *session, _ []string) error {
			list, err := s.ListLogpushConnectors(ctx, s.org.ID)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				s.none("log push connector")
			}
			out := make([]connectorJSON, len(list))
			for i, c := range list {
				out[i] = toConnectorJSON(c)
			}
			return s.print(out, func(w io.Writer) {
				row(w, "ID", "NAME", "ZONE", "SERVICE", "ENABLED", "LAST RECEIVED", "LAST ERROR")
				for _, c := range out {
					problem := ""
					if c.LastError != nil {
						problem = *c.LastError
					}
					row(w, c.ID, c.Name, c.ZoneName, c.ServiceName, c.Enabled, at(c.LastReceivedAt), orDash(problem))
				}
			})
		},
	)
}

func (c *cli) connectorCreate() *cobra.Command {
	var in store.NewLogpushConnector
	cmd := &cobra.Command{
		Use: "create NAME --zone ZONE", Short: "Create a connector; print its secret and its destination once", Args: nameArgument(),
		Example: "  svc admin connector create website --zone example.com --ingest-public-url https://ingest.example.com",
	}
	cmd.Flags().StringVar(&in.ZoneName, "zone", "", "zone of the CDN, as in example.com (required)")
	cmd.Flags().StringVar(&in.ServiceName, "service-name", "", "service of the logs (default cloudflare/ZONE)")
	cmd = c.onOrg(cmd, func(ctx context.Context, s *session, list []string) error {
		in.Name = list[0]
		text, secret, err := s.secret(auth.PrefixConnector)
		if err != nil {
			return err
		}
		in.Secret = secret
		connector, err := s.CreateLogpushConnector(ctx, s.org.ID, in)
		if err != nil {
			return err
		}
		return s.printConnector(connector, text)
	})
	required(cmd, "zone")
	return cmd
}

func connectorArgument() cobra.PositionalArgs {
	return idArgument(publicid.LogpushConnector, "a log push connector")
}

func (c *cli) connectorRoll() *cobra.Command {
	return c.onOrg(&cobra.Command{
		Use: "roll ID", Short: "Give a connector a new secret, print it once, and refuse the old one", Args: connectorArgument(),
	}, func(ctx context.Context, s *session, list []string) error {
		text, secret, err := s.secret(auth.PrefixConnector)
		if err != nil {
			return err
		}
		connector, err := s.RollLogpushConnector(ctx, s.org.ID, decodeID(publicid.LogpushConnector, list[0]), secret)
		if err != nil {
			return s.missing(err, "log push connector", list[0])
		}
		return s.printConnector(connector, text)
	})
}

func (c *cli) connectorEnable(enabled bool) *cobra.Command {
	use, short := "disable", "Refuse a connector until it is enabled again"
	if enabled {
		use, short = "enable", "Accept a disabled connector again"
	}
	return c.onOrg(&cobra.Command{Use: use + " ID", Short: short, Args: connectorArgument()},
		func(ctx context.Context, s *session, list []string) error {
			connector, err := s.SetLogpushConnectorDisabled(ctx, s.org.ID, decodeID(publicid.LogpushConnector, list[0]), !enabled)
			if err != nil {
				return s.missing(err, "log push connector", list[0])
			}
			return s.printConnector(connector, "")
		})
}

func (c *cli) connectorDelete() *cobra.Command {
	return c.onOrg(&cobra.Command{Use: "delete ID", Short: "Delete a connector; its logs stay", Args: connectorArgument()},
		func(ctx context.Context, s *session, list []string) error {
			if err := s.DeleteLogpushConnector(ctx, s.org.ID, decodeID(publicid.LogpushConnector, list[0])); err != nil {
				return s.missing(err, "log push connector", list[0])
			}
			return s.printDeleted(list[0])
		})
}
