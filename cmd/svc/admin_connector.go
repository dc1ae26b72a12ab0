package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/proto"

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

// printConnector shows one connector and, with a secret, the settings for the CDN.
func (s *session) printConnector(c store.LogpushConnector, secret string) error {
	id, destination := publicid.Encode(publicid.LogpushConnector, c.ID), ""
	var more []any
	if secret != "" {
		destination = logpushconnectors.Destination(serverAddresses(s.cfg).IngestURL, id, secret)
		more = []any{"secret", secret, "destination_conf", destination}
	}
	v, err := messageJSON(logpushconnectors.ToConnector(c), more...)
	if err != nil {
		return err
	}
	return s.print(v, func(w io.Writer) {
		row(w, "Id", id)
		row(w, "Name", c.Name)
		row(w, "Zone", c.ZoneName)
		row(w, "Service", c.ServiceName)
		row(w, "Data set", c.Dataset)
		row(w, "Enabled", c.DisabledAt == nil)
		row(w, "Last received", at(c.LastReceivedAt))
		if c.LastError != nil {
			row(w, "Last error", *c.LastError)
		}
		row(w, "Secret rotated", at(c.SecretRotatedAt))
		if secret != "" {
			row(w, "Secret", secret+"  (shown only this once)")
			row(w, "Destination", destination)
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
			out := make([]proto.Message, len(list))
			for i, c := range list {
				out[i] = logpushconnectors.ToConnector(c)
			}
			return s.print(out, func(w io.Writer) {
				row(w, "ID", "NAME", "ZONE", "SERVICE", "ENABLED", "LAST RECEIVED", "LAST ERROR")
				for _, c := range list {
					problem := ""
					if c.LastError != nil {
						problem = *c.LastError
					}
					id := publicid.Encode(publicid.LogpushConnector, c.ID)
					row(w, id, c.Name, c.ZoneName, c.ServiceName, c.DisabledAt == nil, at(c.LastReceivedAt), orDash(problem))
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
